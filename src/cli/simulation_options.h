/* SPDX-License-Identifier: MIT
 *
 * simulation_options.h - options shared by the commands that simulate (record, replay, nest, monitor, accuracy) or
 * read samples (sample, import), and the run that they describe.
 */
#ifndef NM_SIMULATION_OPTIONS_H
#define NM_SIMULATION_OPTIONS_H

#include <stdint.h>

#include "event_query.h"
#include "machine.h"
#include "options.h"
#include "run.h"

struct nm_simulation_options {
	struct nm_option_list machines, caches; /* as typed; both empty: the host */
	int64_t threads;                        /* 0: as many as are of use */
	int64_t cores;                          /* 0: one, or ONE_MACHINE_CORES */
	int one_machine;                        /* for all processes */
	const char *map;                        /* "THREAD=CORE,...", or NULL */
	int64_t quantum;                        /* references; 0: the usual number */
	const char *schedule;                   /* "round-robin", "random:SEED", or NULL */
	int64_t relocations;                    /* 0: none */
	const char *pmu;                        /* samplers of a simulated PMU, or NULL */
	int64_t schedules;                      /* orders that are simulated; 0: one */
	const char *output;                     /* path of the profile, or NULL */
	int stored;                             /* the references can be read twice */
	int layouts;                            /* candidates are simulated, on all processors */
	int huge_pages;                         /* 0, or 1 + which: simulate each TLB with such pages too */
	int instructions;                       /* simulate fetches too */
	int by_instruction;                     /* count single instructions, keep their code */
	int contexts;                           /* count by call chain too */
	int heap_chains;            /* and tell heap buckets apart by the chain that allocated them */
	int sets;                   /* count loads and replacements by set too */
	int distances;              /* count stack and reuse distances too */
	const char *distance_limit; /* a size, or NULL */
	const char *estimates;      /* "METHOD@RATE,...", or NULL */
	const char *from, *until;   /* positions, or NULL */
	const char *in;             /* a function, or NULL */
	const char *exact;          /* path of a profile that names data at instructions, or NULL */
	const char *user_folders;   /* of the user's sources, or NULL */
	int embed_sources;
	struct nm_option_list source_roots; /* only files below these; empty: all */
	/* Functions that allocate for their callers. */
	struct nm_option_list allocators;
	/* Functions that return pieces of memory: "NAME", "NAME:ARGUMENT", "NAME=BYTES". */
	struct nm_option_list pools;
	int quiet;
};

/* Rows for a command's table of options. type: its struct; member: its nm_simulation_options. */
#define NM_ROW_OUTPUT(type, member)                                                              \
	{                                                                                        \
		"output", 'o', "FILE", "write the profile there (nearmiss.nmp)", NM_OPTION_TEXT, \
		    offsetof(type, member.output), NULL                                          \
	}
#define NM_ROW_MACHINE(type, member)                                                                     \
	{                                                                                                \
		"machine", 'm', "NAME,...",                                                              \
		    "simulate machines of `nearmiss machines`, or a description (host)", NM_OPTION_LIST, \
		    offsetof(type, member.machines), NULL                                                \
	}
#define NM_ROW_CACHE(type, member)                                                            \
	{                                                                                     \
		"cache", 'c', "SPEC", "simulate these levels, e.g. L1d=32K,8,64:L2=1M,16,64", \
		    NM_OPTION_LIST, offsetof(type, member.caches), NULL                       \
	}
#define NM_ROW_HUGE_PAGES(type, member)                                                                  \
	{                                                                                                \
		"huge-pages", 0, "SIZE", "simulate each TLB a second time, with transparent huge pages", \
		    NM_OPTION_CHOICE, offsetof(type, member.huge_pages), "no|2M|1G"                      \
	}
#define NM_ROW_INSTR(type, member)                                                    \
	{                                                                             \
		"instr", 0, NULL, "simulate instruction fetches too", NM_OPTION_FLAG, \
		    offsetof(type, member.instructions), NULL                         \
	}
#define NM_ROW_CORES(type, member)                                                                   \
	{                                                                                            \
		"cores", 0, "N", "simulate N cores with private first levels (1)", NM_OPTION_NUMBER, \
		    offsetof(type, member.cores), NULL                                               \
	}
#define NM_ROW_MAP(type, member)                                                                 \
	{                                                                                        \
		"map", 0, "THREAD=CORE,...", "run a thread on this core (default: round robin)", \
		    NM_OPTION_TEXT, offsetof(type, member.map), NULL                             \
	}
#define NM_ROW_QUANTUM(type, member)                                                                   \
	{                                                                                              \
		"quantum", 0, "N", "merge the threads of several cores in steps of N references (64)", \
		    NM_OPTION_NUMBER, offsetof(type, member.quantum), NULL                             \
	}
#define NM_ROW_SCHEDULE(type, member)                                                                  \
	{                                                                                              \
		"schedule", 0, "RULE", "whose step is next: round-robin or random:SEED (round-robin)", \
		    NM_OPTION_TEXT, offsetof(type, member.schedule), NULL                              \
	}
#define NM_ROW_SCHEDULES(type, member)                                                                       \
	{                                                                                                    \
		"schedules", 0, "K", "merge the threads by K schedules, for ranges of what depends on them", \
		    NM_OPTION_NUMBER, offsetof(type, member.schedules), NULL                                 \
	}
#define NM_ROW_RELOCATE(type, member)                                                                     \
	{                                                                                                 \
		"relocate", 0, "K", "simulate K other placements of memory too, for intervals of misses", \
		    NM_OPTION_NUMBER, offsetof(type, member.relocations), NULL                            \
	}
#define NM_ROW_PMU(type, member)                                                                      \
	{                                                                                             \
		"pmu", 0, "SAMPLER,...", "sample misses as a processor would, for nearmiss accuracy", \
		    NM_OPTION_TEXT, offsetof(type, member.pmu), NULL                                  \
	}
#define NM_ROW_THREADS(type, member)                                                              \
	{                                                                                         \
		"threads", 0, "N", "threads of the simulation itself (0: as many as are of use)", \
		    NM_OPTION_NUMBER, offsetof(type, member.threads), NULL                        \
	}
#define NM_ROW_ASM(type, member)                                                                     \
	{                                                                                            \
		"asm", 0, NULL, "count single instructions and keep their code, for annotate --asm", \
		    NM_OPTION_FLAG, offsetof(type, member.by_instruction), NULL                      \
	}
#define NM_ROW_SETS(type, member)                                                              \
	{                                                                                      \
		"sets", 0, NULL, "count loads and evictions by set too, for evictions --sets", \
		    NM_OPTION_FLAG, offsetof(type, member.sets), NULL                          \
	}
#define NM_ROW_CALLGRAPH(type, member)                                                               \
	{                                                                                            \
		"callgraph", 'g', NULL, "count by call chain too, for callers and inclusive counts", \
		    NM_OPTION_FLAG, offsetof(type, member.contexts), NULL                            \
	}
#define NM_ROW_ONE_MACHINE(type, member)                                                           \
	{                                                                                          \
		"one-machine", 0, NULL, "run all processes on the cores of one machine (4 cores)", \
		    NM_OPTION_FLAG, offsetof(type, member.one_machine), NULL                       \
	}
#define NM_ROW_HEAP_CHAINS(type, member)                                                                    \
	{                                                                                                   \
		"heap-chains", 0, NULL, "separate heap blocks by the whole call chain that allocates them", \
		    NM_OPTION_FLAG, offsetof(type, member.heap_chains), NULL                                \
	}
#define NM_ROW_DISTANCES(type, member)                                                             \
	{                                                                                          \
		"distances", 0, NULL, "count reuse distances too, for curves of every cache size", \
		    NM_OPTION_FLAG, offsetof(type, member.distances), NULL                         \
	}
#define NM_ROW_ESTIMATE(type, member)                                                                 \
	{                                                                                             \
		"estimate", 0, "METHOD[@RATE],...",                                                   \
		    "estimate curves by statcache, statstack, shards or shards-size", NM_OPTION_TEXT, \
		    offsetof(type, member.estimates), NULL                                            \
	}
#define NM_ROW_DISTANCE_LIMIT(type, member)                                                                \
	{                                                                                                  \
		"distance-limit", 0, "SIZE", "do not tell distances apart from there on, to bound memory", \
		    NM_OPTION_TEXT, offsetof(type, member.distance_limit), NULL                            \
	}
#define NM_ROW_ALLOC_FN(type, member)                                                                \
	{                                                                                            \
		"alloc-fn", 0, "NAME", "a function that allocates for its callers; may be repeated", \
		    NM_OPTION_LIST, offsetof(type, member.allocators), NULL                          \
	}
#define NM_ROW_POOL_FN(type, member)                                                                    \
	{                                                                                               \
		"pool-fn", 0, "NAME[:N]",                                                               \
		    "a function that hands out pieces of blocks, of argument N's size", NM_OPTION_LIST, \
		    offsetof(type, member.pools), NULL                                                  \
	}
#define NM_ROW_USER_PATH(type, member)                                                                     \
	{                                                                                                  \
		"user-path", 0, "DIR:...", "only code with sources below DIR is yours (default: by rule)", \
		    NM_OPTION_TEXT, offsetof(type, member.user_folders), NULL                              \
	}
#define NM_ROW_FROM(type, member)                                                                      \
	{                                                                                              \
		"from", 0, "POSITION",                                                                 \
		    "count from there on, in warm caches: instructions, 1e6refs, enter:FUNCTION, ...", \
		    NM_OPTION_TEXT, offsetof(type, member.from), NULL                                  \
	}
#define NM_ROW_UNTIL(type, member)                                                                         \
	{                                                                                                  \
		"until", 0, "POSITION", "count up to there", NM_OPTION_TEXT, offsetof(type, member.until), \
		    NULL                                                                                   \
	}
#define NM_ROW_IN(type, member)                                                                           \
	{                                                                                                 \
		"in", 0, "FUNCTION", "count while this function, or what it calls, runs", NM_OPTION_TEXT, \
		    offsetof(type, member.in), NULL                                                       \
	}
#define NM_ROW_EMBED_SOURCES(type, member)                                                           \
	{                                                                                            \
		"embed-sources", 0, NULL, "keep the sources in the profile, for annotate elsewhere", \
		    NM_OPTION_FLAG, offsetof(type, member.embed_sources), NULL                       \
	}
#define NM_ROW_SOURCE_ROOT(type, member)                                                         \
	{                                                                                        \
		"source-root", 0, "DIR", "keep only sources below this folder; may be repeated", \
		    NM_OPTION_LIST, offsetof(type, member.source_roots), NULL                    \
	}
#define NM_ROW_EXACT(type, member)                                                                \
	{                                                                                         \
		"exact", 'x', "PROFILE",                                                          \
		    "name data at instructions as this recording of the same build (--asm) does", \
		    NM_OPTION_TEXT, offsetof(type, member.exact), NULL                            \
	}
#define NM_ROW_QUIET(type, member)                                                \
	{                                                                         \
		"quiet", 'q', NULL, "no progress and no summary", NM_OPTION_FLAG, \
		    offsetof(type, member.quiet), NULL                            \
	}

/* The run that the options describe. It points into itself: do not copy it. */
struct nm_chosen_simulation {
	struct nm_machine machine;
	struct nm_event_query sets;
	struct nm_pmu pmu;
	struct nm_run_request run;
};

/* Finds the host, a machine by name, or one that a file describes. 0, or a status after a message. */
int nm_find_machine(const char *name, struct nm_machine *ret_machine);

/* Calls take(arg, ...) for each machine of NAME[,NAME...], until one call does not return 0. An exit
 * status. */
int nm_each_machine(const char *names, int (*take)(void *arg, struct nm_machine *machine), void *arg);

/* Joins all machines that were named into one. 0, or a status after a message. */
int nm_simulation_prepare(const struct nm_command *self, const struct nm_simulation_options *options,
			  struct nm_chosen_simulation *ret_simulation);

#endif
