/* SPDX-License-Identifier: MIT
 *
 * footprint.h - how many lines a stretch of references touches, as reuse samples let expect.
 *
 * Of the references of a stretch, those count whose line is not touched again before its end. A reference with u
 * others behind it there counts with the probability S(u) that its line is not touched within u references. So
 * the expected number of lines of a stretch is the sum of S(u) over its references (Eklov and Hagersten, ISPASS
 * 2010, section 3). Reuses of any length have their part in S.
 *
 * Beside the paper: programs have phases. The run is cut into windows, each with its own S, and each reference has
 * that of its window. A sample whose line was not touched again until the end of the run tells only that S was not
 * shorter (Kaplan and Meier, JASA 1958).
 */
#ifndef NM_FOOTPRINT_H
#define NM_FOOTPRINT_H

#include "estimator.h"

enum { NM_WINDOWS = 64 };

struct nm_footprint {
	const struct nm_reuse_samples *samples;
	uint32_t windows;
	double length;    /* references of a window */
	size_t *first;    /* [windows + 1] of the samples in each window, in order of time */
	uint32_t *order;  /* [samples] of a window's samples by that time: */
	double *time;     /* references up to the next touch of the line, or up to the end of the run */
	double *survives; /* S from that time on */
	double *sum;      /* S summed up to that time */
	double *at_once;  /* [windows] S(0): lines per reference */
};

/* Cuts a run into windows with enough samples each.  0 or NM_ENOMEM. */
int footprint_make(struct nm_footprint *ret_footprint, const struct nm_reuse_samples *samples);
void footprint_done(struct nm_footprint *footprint);

/* Finds S of each window, for all samples (replicate 0) or one of their replicates (reuse_samples.c). */
void footprint_weigh(struct nm_footprint *footprint, unsigned replicate);

uint32_t footprint_window(const struct nm_footprint *footprint, double reference);

/* Expected lines that the references behind `from`, up to `to`, touch. */
double footprint_lines(const struct nm_footprint *footprint, double from, double to);

/* Expected stack distance of each sample that was touched again; of the others: INFINITY. [samples->count] */
void footprint_distances(const struct nm_footprint *footprint, double *ret_distances);

#endif
