/* SPDX-License-Identifier: MIT
 *
 * prefetch_report.h - what prefetches of a line's loads would do: the loads, from a profile of instructions, and the
 * two tables of their trials (src/engine/prefetch_whatif.h), by distance and by size of the table.
 *
 * Cycles are those of docs/cost.md: what a reference waits for the level that serves it, by the kinds of the loads
 * and of all other references. References follow each other as if none missed; the load of a late prefetch waits as
 * it would for a level with the latency that is left. Each prefetch costs two instructions, itself and the load that
 * finds its address.
 */
#ifndef NM_PREFETCH_REPORT_H
#define NM_PREFETCH_REPORT_H

#include "diff.h"
#include "levels.h"
#include "machine.h"
#include "prefetch_trials.h"
#include "vector.h"

/* An instruction of the line that loads, and its figures at the first level that takes data. */
struct nm_prefetch_load {
	const char *module; /* NULL: code without a file */
	uint64_t address;
	const char *function, *object; /* object: that it misses most */
	int64_t misses;
	int is_chosen; /* at least a tenth of the line's misses are its own */
};

/* Parts of the loads of lines that are dependent, that are covered. */
struct nm_prefetch_kinds {
	double dependent, covered;
};

struct nm_prefetch_line {
	struct nm_strings pool;
	struct nm_levels levels;
	int64_t line;
	struct nm_vec(struct nm_prefetch_load) loads; /* those that miss most first */
	struct nm_prefetch_kinds own, others;
	double instructions; /* of the run */
	double pace;         /* cycles from one reference to the next, if none misses */
};

/* Finds the loads of a line in a profile with instructions. *ret_line must be {0}; call nm_prefetch_line_done in any
 * case. NM_EINVAL: there is no such line, or none that loads. */
int nm_prefetch_line_find(struct nm_prefetch_line *ret_line, struct nm_profile *profile, const char *file,
			  int64_t line, struct nm_error *err);
void nm_prefetch_line_done(struct nm_prefetch_line *line);

/* Machines, here and below, have levels of data alone, each behind the one before. Gives the levels the latencies that
 * reports use; and a copy of the machine those in references, for trials. */
void nm_prefetch_line_latencies(const struct nm_prefetch_line *line, struct nm_machine *machine);
struct nm_machine nm_prefetch_line_paced(const struct nm_prefetch_line *line,
					 const struct nm_machine *machine);

/* A trial, and the one of its machine without prefetches. */
struct nm_prefetch_result {
	const struct nm_machine *machine;
	unsigned distance;
	const struct nm_prefetch_sums *sums, *before;
};

/* Cycles of the run without the prefetches; those that the prefetches save, less their costs. */
double nm_prefetch_run_cycles(const struct nm_prefetch_line *line, const struct nm_prefetch_result *result);
double nm_prefetch_saves(const struct nm_prefetch_line *line, const struct nm_prefetch_result *result);

/* The machine with the caches behind the first one `exponent` times twice as large or, below 0, half, but none smaller
 * than the one before: where lines wait for their use stays as it is. */
struct nm_machine nm_prefetch_scaled(const struct nm_machine *machine, int exponent);

/* Exponents with which a footprint fits each level but the first, and none, and 0: descending, as the same table
 * would be larger and larger on the machine as it is; how many. */
enum { NM_PREFETCH_SCALES = NM_MAX_DEPTH + 1 };
unsigned nm_prefetch_scales(const struct nm_machine *machine, uint64_t footprint,
			    int ret_exponents[NM_PREFETCH_SCALES]);

struct nm_prefetch_report {
	const struct nm_prefetch_line *line;
	uint64_t footprint; /* bytes that the loads access */
	const struct nm_prefetch_result *distances, *sizes;
	unsigned distance_count, size_count;
	const int *exponents; /* [size_count] */
	int by_size;          /* CSV and JSON: the second table */
};

/* Index of the least distance that saves at most a fiftieth less cycles than the one that saves most. */
unsigned nm_prefetch_best(const struct nm_prefetch_line *line, const struct nm_prefetch_result *distances,
			  unsigned count);

/* 0 or a code. */
int nm_prefetch_show(const struct nm_prefetch_report *report, enum nm_diff_layout layout,
		     const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
