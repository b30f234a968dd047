/* SPDX-License-Identifier: MIT
 *
 * timeline_priv.h - the timeline of one process, and what its formats share.
 */
#ifndef NM_TIMELINE_PRIV_H
#define NM_TIMELINE_PRIV_H

#include "arena.h"
#include "timeline_report.h"
#include "vector.h"

struct nm_timeline_interval {
	int64_t begin, instructions, working_set;
};

/* The columns of the view `timeline` from `reads` to `loads`. */
enum { NM_TIMELINE_FIGURES = 9 };
extern const char *const nm_timeline_figures[NM_TIMELINE_FIGURES];

/* What a level counted in an interval. */
struct nm_timeline_cell {
	int64_t figures[NM_TIMELINE_FIGURES];
	const char *object, *function, *file; /* that miss most; NULL: nothing missed, or unknown */
	int64_t line;                         /* 0: unknown */
};

/* Misses by interval: of a level, an object or a line. */
struct nm_timeline_row {
	const char *name;
	int64_t *misses; /* [interval] */
	int64_t total;
	struct nm_timeline_cell *cells; /* [interval], of a level; else NULL */
};

/* A part of the run that is of one phase. */
struct nm_timeline_stretch {
	int64_t phase, interval, intervals, begin, instructions;
	const char *name;
};

struct nm_process_timeline {
	struct nm_strings pool;
	const char *process, *level;
	const char *others; /* further processes, by commas; NULL: none */
	int64_t instructions;
	struct nm_vec(struct nm_timeline_interval) intervals;
	struct nm_vec(struct nm_timeline_stretch) stretches;
	struct nm_vec(struct nm_timeline_row) levels; /* from the nearest on */
	struct nm_vec(struct nm_timeline_row) parts;  /* objects or lines, those that miss most first */
};

/* load.c */
int nm_timeline_load(struct nm_process_timeline *timeline, struct nm_profile *profile,
		     const struct nm_timeline_request *request, struct nm_error *err);
void nm_timeline_done(struct nm_process_timeline *timeline);

/* Mean values by column of a picture, as rates per instruction; a column is an equal share of the instructions. What an
 * interval counts is spread evenly over it. `values`: [interval], sums. */
void nm_timeline_rates(const struct nm_process_timeline *timeline, const int64_t *values, double *ret_rates,
		       unsigned columns);
/* The same of the working set, in bytes: the largest of the intervals that a column meets. */
void nm_timeline_working_set(const struct nm_process_timeline *timeline, double *ret_bytes, unsigned columns);
double nm_timeline_most(const double *values, unsigned count);

/* The letter that stands for a phase in pictures. */
static inline char nm_phase_letter(int64_t phase) { return (char)('A' + phase % 26); }

/* A phase's name, its instructions and its misses at the level of the rows of parts; 0: there is no such phase. */
struct nm_phase_sums {
	const char *name;
	int64_t instructions, misses;
};
int nm_timeline_phase(const struct nm_process_timeline *timeline, int64_t phase,
		      struct nm_phase_sums *ret_sums);

/* The formats: 0 or NM_ENOMEM. */
int nm_timeline_text(const struct nm_process_timeline *timeline, const struct nm_timeline_request *request,
		     const struct nm_style *style, FILE *out);
int nm_timeline_svg(const struct nm_process_timeline *timeline, const struct nm_timeline_request *request,
		    FILE *out);
int nm_timeline_json(const struct nm_process_timeline *timeline, const struct nm_timeline_request *request,
		     FILE *out);
/* A code, and err. */
int nm_timeline_csv(const struct nm_process_timeline *timeline, struct nm_profile *profile, FILE *out,
		    struct nm_error *err);

#endif
