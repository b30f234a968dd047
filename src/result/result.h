/* SPDX-License-Identifier: MIT
 *
 * result.h - the result of analysing one process image, in terms of the source.
 *
 * Plain data: the engine and its passes fill it, the profile writer stores it, tests build it by hand.
 * Strings are borrowed from the symbol store of the run and may be shared; NULL means unknown. Arrays are
 * owned; an index names an element of another array.
 */
#ifndef NM_RESULT_H
#define NM_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "contention.h"
#include "event_query.h"
#include "hierarchy.h"
#include "latent.h"
#include "machine.h"
#include "object_kind.h"
#include "simulated_pmu.h"
#include "traffic.h"

/* The word for a kind, as it stands in the view `objects`: "heap", "global", ... */
const char *nm_object_kind_name(enum nm_object_kind kind);

struct nm_result_object {
	const char *name; /* unique within the result, e.g. "matrix", "heap parse_node (tree.c:88)" */
	enum nm_object_kind kind;
	const char *type;         /* source type or NULL */
	uint64_t bytes;           /* of a variable or mapping; of all blocks ever, for a bucket */
	uint64_t blocks, largest; /* heap buckets: number of blocks, bytes of the largest */
	const char *allocated_at; /* "file:line" of the allocating line or the declaration, or NULL */
	uint64_t call;  /* tells allocating calls of one name apart, the same in every run; 0: there is one */
	uint32_t chain; /* 1 + index of the allocating context, if buckets are distinguished by it */
};

/* A program or library that was loaded. */
struct nm_result_module {
	const char *path, *name; /* name: last component of the path */
	const char *build_id;    /* in hexadecimal digits, or NULL */
};

/* One line of one function with the calls that it is inlined through, or one instruction of it. */
struct nm_result_site {
	const char *function, *file, *module; /* of the innermost inlined function */
	uint32_t line;                        /* 0: unknown */
	int64_t built, user_built; /* when the file of the module, user_module was last written, seconds since
				    * 1970; 0: unknown */
	uint64_t address;          /* of the instruction in the module; 0 if sites are lines */
	const char *md5;           /* digest of the file when it was compiled, or NULL */
	/* The nearest frame of the user's code; the innermost one if there is none. */
	const char *user_function, *user_file, *user_module, *user_md5;
	uint32_t user_line;
	int is_library; /* no frame is the user's code */
	/* "get (a.h:7) < sum (b.c:12)": all frames, innermost first; NULL: nothing is inlined */
	const char *inlined;
};

struct nm_result_thread { /* if the machine has several cores */
	uint32_t thread, core;
};

/* How threads were merged, if the machine has several cores. */
struct nm_result_order {
	uint32_t quantum; /* references; 0: there is one core */
	int random;       /* drawn from this seed: */
	uint64_t seed;
	uint64_t stalls; /* locks that a thread ignored because all threads waited */
};

struct nm_result_attribution {
	uint32_t thread;       /* 1, 2, ... in order of their starts */
	uint32_t site, object; /* indices */
	uint32_t region;       /* index; 0: outside of all, or there are none; one for each phase */
};

/* A region that the program names, in a phase; [0] is what is outside of all, in the first. */
struct nm_result_region {
	const char *name; /* with those around it, "step/forces"; NULL outside of all */
	uint64_t entries, instructions;
	uint32_t phase; /* index, where the run is counted by phase; else 0 */
};

/* A call chain: the call of a function from a site, in the context of the caller. [0] is the root. */
struct nm_result_context {
	uint32_t parent;      /* index, less than its own */
	uint32_t site;        /* of the call; UINT32_MAX: unknown */
	const char *function; /* that is called */
	uint64_t calls;
	/* 1 + the variable that the function destroys, in no call of the user's code; 0: it is not so */
	uint32_t destroys;
};

struct nm_result_context_attr {
	uint32_t context, attr; /* indices */
};

enum { NM_RESULT_STRIDES = 4 };

struct nm_result_stride {
	int64_t bytes;
	uint64_t count; /* accesses that followed it, at least; 0: no stride */
};

/* Strides of an attribution's accesses, sampled (pass_strides.c). */
struct nm_result_strides {
	uint32_t attr;    /* index; may occur several times */
	uint64_t sampled; /* steps */
	uint64_t halved;  /* of these: about half as long as the one before */
	struct nm_result_stride strides[NM_RESULT_STRIDES];
};

/* A field of the structure that an object is, or that its elements are. */
struct nm_result_field {
	/* index; fields of an object are consecutive, and so are those of each of its types */
	uint32_t object;
	const char *type;              /* the structure, */
	uint64_t structure;            /* its size in bytes */
	const char *name, *field_type; /* the latter may be NULL */
	uint64_t offset, bytes;        /* in the structure */
	uint64_t residencies,
	    /* of lines with a part of the field and of an element that was used; of those, with the field
	     * used */
	    used;
};

/* An attribution key's sampled accesses to a field, and its weighted misses on it (fields.h): of the first
 * level and, by depth (nm_machine_depth), of further ones. */
enum { NM_FIELD_DEPTHS = 4 };
struct nm_result_field_use {
	uint32_t attr, field; /* indices; by attribution key, then field */
	uint64_t accesses[2]; /* reads, writes */
	uint64_t misses[NM_FIELD_DEPTHS][2];
};

/* Two fields of one structure: residencies of lines with a part of both in which both were used, or one;
 * elements of which at least one was accessed, and both. */
struct nm_result_affinity {
	uint32_t field, other; /* indices, field < other */
	uint64_t together, apart, visits, both;
};

/* The followed lines of an object in the first level (sampler.h). */
struct nm_result_lines {
	uint32_t object;                /* index */
	uint64_t lines;                 /* their number */
	uint64_t residencies, accesses; /* of them */
	/* the fewest lines with 90 % of the accesses; with 90 % of the residencies */
	uint64_t hot, hot_residencies;
	/* lines whose residencies use at most an eighth of them, on average */
	uint64_t idle;
};

/* A number that a pass found for an object, and that has no table of its own in the profile. */
struct nm_result_figure {
	const char *pass, *name; /* string constants */
	uint32_t object;         /* index */
	uint64_t value;
};

/* References of an attribution by their distance to the previous touch of the line (stack.h, histograms.h). */
struct nm_result_distance {
	uint32_t attr, previous; /* indices: of the reference, of the previous touch; UINT32_MAX: unknown */
	uint16_t bin;            /* bins.h */
	uint8_t unit;            /* enum nm_distance_unit; only NM_DISTANCE_LINES have `previous` */
	uint64_t count;
};

/* A sampled recording: it has reuse samples, and no counts of caches and instructions. */
struct nm_result_sampling {
	uint32_t rate; /* samples in 10^9 references; 0: every reference was recorded */
	uint32_t line, seed;
	uint64_t samples;
};

/* Whose curve it is: the process's, a thread's (number), an object's (index), or that of the function or line
 * of a site (index). */
enum nm_scope {
	NM_SCOPE_TOTAL,
	NM_SCOPE_THREAD,
	NM_SCOPE_OBJECT,
	NM_SCOPE_FUNCTION,
	NM_SCOPE_LINE,
	NM_SCOPES
};

/* A point of an estimated curve (estimator.h). */
struct nm_result_estimate {
	const char *method, *policy; /* string constants */
	double rate;                 /* tells curves of one method apart; 0: there is one */
	enum nm_scope scope;
	uint32_t whose;
	uint64_t size; /* bytes */
	double miss_ratio, cold_ratio, low, high;
	uint64_t samples;
};

/* An attribution's touches of bytes of a block that cores contend for; touch.attr is an index. */
struct nm_result_touch {
	struct nm_contended_touch touch;
	int64_t position;                 /* in the variable or heap block; -1: unknown */
	const char *type, *field;         /* the structure there and its field, or NULL */
	uint64_t structure, field_offset; /* size of the structure, offset of the field in it */
};

/* The coherence of one machine. */
struct nm_result_coherence {
	unsigned level; /* its first data level */
	uint64_t block; /* bytes */
	struct nm_traffic traffic;
	struct nm_result_touch *touches;
	size_t touch_count;
	struct nm_contention_pair *pairs; /* by, of: indices of attributions; some more than once */
	size_t pair_count;
	uint64_t left_out;                      /* touches beyond the limit, which were not kept */
	struct nm_result_touch *latent_touches; /* without counts */
	size_t latent_touch_count;
	struct nm_latent_pair *latent; /* pairs of these touches; some more than once */
	size_t latent_count;
};

/* What depends on the order of threads, for another order than the result's own. */
struct nm_result_schedule {
	struct nm_result_order order;
	struct nm_counts totals[NM_MAX_LEVELS];
	struct nm_counts *counts[NM_MAX_LEVELS]; /* [attr_count]; NULL, but of one machine */
	struct nm_extras *extras[NM_MAX_LEVELS]; /* [attr_count]; NULL: the level counts none */
	struct nm_result_coherence *coherence;
	size_t coherence_count;
};

/* Samples of a processor's counters that agree in all this (data_source.h), and the sum of their
 * latencies in cycles. */
struct nm_result_sample {
	uint32_t attr; /* index */
	uint8_t event; /* index of sample_events */
	uint8_t operation, level, snoop, tlb;
	uint8_t is_miss, is_locked;
	uint16_t latency_bin; /* bins.h; 0: no latency is known */
	uint64_t count, latency;
	/* Of samples that were joined with a recording: the structure and its field, or NULL; and whether the
	 * instruction accesses other data too, so that these samples are a share. */
	const char *type, *field;
	uint8_t is_shared;
};

/* What the samplers of a simulated PMU (simulated_pmu.h) did. */
struct nm_result_pmu {
	struct nm_pmu spec; /* count 0: there was none */
	unsigned level;
	struct nm_result_pmu_sampler {
		uint64_t interrupts, tagged_accesses;
		/* in a second copy of the caches, which the handler of the interrupts uses too: misses of the
		 * program and of the handler at the level */
		uint64_t program_misses, handler_misses;
	} samplers[NM_PMU_SAMPLERS];
};

/* `count` samples of one sampler. */
struct nm_result_pmu_sample {
	uint32_t sampler; /* index */
	uint32_t attr;    /* index: of the reference that missed */
	uint32_t victim;  /* index: whose line it evicted; UINT32_MAX: none, or the rule does not report it */
	uint64_t count;
};

enum { NM_RESULT_EVENTS = 16 }; /* whose samples are told apart */

struct nm_result_level {
	struct nm_counts total;
	struct nm_counts *counts;         /* [attr_count] */
	struct nm_counts *context_counts; /* [context_attr_count] */
	struct nm_extras *extras;         /* [attr_count]; NULL: the level counts none */
	/* between attribution keys; in no order, and some pairs more than once */
	struct nm_eviction *evictions;
	size_t eviction_count;
};

/* What a candidate layout of the program's data gives instead of the result's own. */
struct nm_result_layout {
	struct nm_result_level levels[NM_MAX_LEVELS];
	struct nm_walk *walks;
	uint64_t *relocated;
};

/* An interval of the run. */
struct nm_result_interval {
	uint64_t begin, instructions; /* executed before it; in it */
	uint64_t working_set; /* bytes of the distinct lines that the first data level loaded; estimated */
};

/* What it counted at a level: references, misses, loads and their classes. */
struct nm_result_interval_level {
	struct nm_counts counts;
	uint32_t object, site; /* indices: of the most misses; UINT32_MAX: nothing missed */
};

/* The part of an object (index), or of a line of the user's code (index of one of its sites). */
struct nm_result_interval_part {
	uint32_t interval, whose;
	uint8_t level, of_site;
	uint64_t read_misses, write_misses, loads;
};

/* A stretch of intervals that is of one phase (src/engine/passes/phases.h). */
struct nm_result_stretch {
	uint32_t first, count; /* intervals */
	uint32_t phase;        /* index */
};

/* What misses most in it, at the first data level: indices, UINT32_MAX: nothing is listed by interval. */
enum { NM_RESULT_PHASES = 16 /* of a process, at most */ };
struct nm_result_phase {
	uint32_t object, site;
	int is_quiet; /* it hardly misses */
};

/* Sampled accesses of an attribution, and of its function in its object those whose address the access before loaded. */
struct nm_result_chasing {
	uint64_t accesses, chases;
};

struct nm_result_line { /* of the code from `address` to the next one's */
	uint64_t address;
	const char *function, *file; /* innermost, through inlining */
	uint32_t line;
};

struct nm_result_code { /* of a function, or of one instruction if its function is unknown */
	const char *module, *function;
	uint64_t address;
	size_t size;
	uint8_t *bytes;               /* owned */
	struct nm_result_line *lines; /* owned */
	size_t line_count;
};

struct nm_result {
	const char *process; /* last component of the name that it was called by, e.g. "cc1" */
	const char *path;    /* position in the tree of forks and execs, e.g. "0", "0.1", "0.1x"; sorts */
	const char *command; /* argv joined by blanks */
	int exit_status;     /* or 128 + signal; -1 if the stream ended early (killed) */
	uint64_t instructions, references, lost_words;
	uint64_t repeated;   /* of the instructions: string instructions beyond one for each 64 bytes */
	unsigned window_met; /* enum nm_watched: what the window names that occurred as often as it says */
	struct nm_result_sampling sampling;
	struct nm_machine machine;
	int is_of_one_machine; /* with other processes: evictions and coherence are in a result of the machine */
	struct nm_result_object *objects;
	size_t object_count;
	struct nm_result_site *sites;
	size_t site_count;
	struct nm_result_thread *threads; /* all threads; none if there is one core */
	struct nm_result_order order;
	size_t thread_count;
	struct nm_result_attribution *attrs;
	size_t attr_count;
	struct nm_result_region *regions; /* NULL if the program names none, and it is not counted by phase */
	int by_phase;                     /* it is counted by phase */
	size_t region_count;
	struct nm_result_context *contexts; /* only if asked for */
	size_t context_count;
	struct nm_result_context_attr *context_attrs; /* by context, then attribution key */
	size_t context_attr_count;
	struct nm_result_level levels[NM_MAX_LEVELS]; /* machine.count of them */
	struct nm_result_strides *strides;
	size_t stride_count;
	struct nm_result_chasing *chasing; /* [attr_count], until nm_result_share_chases; NULL: not sampled */
	struct nm_walk *walks;             /* [attr_count]; NULL: the machine has no coverage */
	struct nm_result_field *fields;
	size_t field_count;
	struct nm_result_field_use *field_uses;
	size_t field_use_count;
	struct nm_result_affinity *affinities;
	size_t affinity_count;
	struct nm_result_lines *lines; /* by object */
	size_t line_count;
	struct nm_result_coherence *coherence;
	size_t coherence_count;
	struct nm_result_schedule *schedules; /* further orders of the threads */
	size_t schedule_count;
	struct nm_result_layout *layouts; /* of the candidates */
	size_t layout_count;
	uint64_t *relocated; /* [relocations][machine.count][attr_count]: misses if memory lay elsewhere */
	size_t relocations;
	struct nm_result_pmu pmu;
	struct nm_result_pmu_sample *pmu_samples; /* in no order, some rows more than once */
	size_t pmu_sample_count;
	int by_instruction;          /* sites are instructions */
	struct nm_result_code *code; /* of the functions that loaded lines, if by_instruction */
	size_t code_count;
	struct nm_result_module *modules; /* loaded at the end, or whose code accessed data */
	size_t module_count;
	const char **undebugged; /* paths of modules that ran without DWARF, for a hint; then count */
	size_t undebugged_count;
	struct nm_result_figure *figures;
	size_t figure_count, figure_room;
	/* unsorted, some bins more than once; only if asked for */
	struct nm_result_distance *distances;
	size_t distance_count;
	uint32_t distance_line;               /* bytes; 0: distances were not asked for */
	uint64_t distance_limit;              /* lines; longer distances are `beyond`; 0: no limit */
	struct nm_result_estimate *estimates; /* by method, scope, whose, size */
	size_t estimate_count;
	struct nm_result_sample *samples; /* of a processor's counters; in no order */
	size_t sample_count;
	const char *sample_events[NM_RESULT_EVENTS]; /* what was sampled: perf's names */
	size_t event_count;
	struct nm_result_interval *intervals;             /* the run, without gaps */
	struct nm_result_interval_level *interval_levels; /* [interval_count][machine.count] */
	size_t interval_count;
	/* of the objects and lines that miss most in the run; by interval and level */
	struct nm_result_interval_part *interval_parts;
	size_t interval_part_count;
	struct nm_result_stretch *stretches; /* the run, without gaps; neighbours differ in their phases */
	size_t stretch_count;
	struct nm_result_phase *phases; /* in the order of their beginnings */
	size_t phase_count;
	struct nm_filtered_events events; /* single events, if a query asked for some */
};

/* Of an attribution of the machine's result, whose objects and sites are unknown: the process, in the order of their
 * tree (UINT32_MAX: one without a result), and the attribution of its result. */
struct nm_result_owner {
	uint32_t process, attr;
};

/* Appends a figure; pass and name must outlive the result. 0 or NM_ENOMEM. */
int nm_result_add_figure(struct nm_result *result, const char *pass, const char *name, uint32_t object,
			 uint64_t value);

/* What a phase is called, after what misses most in it; of those that are called the same, all but the first have a
 * number behind it. malloc'ed; NULL: out of memory. phase_name.c */
char *nm_result_phase_name(const struct nm_result *result, size_t phase);

/* The result with a candidate's layout, without what was found of the layout as it is. Its arrays are those of
 * `result`: it is not freed. */
struct nm_result nm_result_with_layout(const struct nm_result *result, size_t layout);

/* Counts misses that are dependent: of an attribution's loads that no prefetcher covers, the share of its
 * accesses that are pointer chases, at most all. Once, when the levels are counted. */
void nm_result_share_chases(struct nm_result *result);

void nm_result_free(struct nm_result *result); /* frees the arrays, not the strings */

#endif
