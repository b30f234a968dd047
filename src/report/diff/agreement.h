/* SPDX-License-Identifier: MIT
 *
 * agreement.h - a simulated profile beside a sampled one: where the model and the machine disagree.
 *
 * What is compared follows from what was sampled:
 * - accesses with where their data came from: those that a level did not serve, with the level's misses;
 * - page faults: with the first touches of pages, the cold misses of a level whose lines are pages, a TLB;
 * - time: with the cycles that misses are estimated to cost.
 * Each row has its share of both totals. Model and machine disagree on it if the model's share is not in the interval
 * that chance leaves to the samples' share (95 %). A reason is named only where the profiles hold evidence for it
 * (reasons.c).
 */
#ifndef NM_DIFF_AGREEMENT_H
#define NM_DIFF_AGREEMENT_H

#include "rows.h"

enum nm_compared { NM_COMPARED_MISSES, NM_COMPARED_TOUCHES, NM_COMPARED_TIME };

enum { NM_MODEL, NM_MACHINE, NM_AGREEMENT_SIDES };

/* What sums of rows are here. */
enum {
	NM_MODEL_COUNT = NM_DIFF_MISSES,
	NM_MODEL_CONFLICTS = NM_DIFF_REFERENCES, /* of these */
	NM_MACHINE_SAMPLES = NM_DIFF_LOADS,
	NM_MACHINE_TLB = NM_DIFF_CYCLES /* of these, that missed the TLB */
};

struct nm_agreement {
	const struct nm_diff_request *request;
	struct nm_diff_side sides[NM_AGREEMENT_SIDES];
	char has[NM_DIFF_KEYS];
	enum nm_compared compared;
	int loads_only;    /* only loads were sampled: stores of the model do not count */
	const char *level; /* of the model; NULL: time */
	const char *events, *host;
	struct nm_diff_rows rows;
	double model, samples, tlb_misses; /* totals */
};

/* `request` allows a level, a process, keys of code and objects, a limit, a frame and a layout. NM_EINVAL: the
 * profiles have nothing to compare. */
int nm_agreement_run(const struct nm_diff_input *model, const struct nm_diff_input *machine,
		     const struct nm_diff_request *request, const struct nm_style *style, FILE *out,
		     struct nm_error *err);

/* agreement_show.c: 0 or NM_ENOMEM. */
int nm_agreement_show(struct nm_agreement *agreement, const struct nm_style *style, FILE *out,
		      struct nm_error *err);

/* reasons.c: why a row may be another on the machine. word: NULL: the profiles do not tell; evidence: malloc'ed, or
 * NULL. 0, or a code. */
struct nm_reason {
	const char *word;
	char *evidence;
};
int nm_agreement_reason(const struct nm_agreement *agreement, const struct nm_diff_row *row,
			struct nm_reason *ret_reason, struct nm_error *err);

#endif
