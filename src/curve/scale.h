/* SPDX-License-Identifier: MIT
 *
 * scale.h - axes of plots: where a value lies, and which values are labelled.
 */
#ifndef NM_SCALE_H
#define NM_SCALE_H

#include <stddef.h>

enum { NM_MAX_TICKS = 32, NM_TICK_TEXT = 16 };

struct nm_axis {
	double low, high;
	int logarithmic; /* low is above 0 then */
	double tick[NM_MAX_TICKS];
	unsigned ticks;
};

/* Sizes in bytes, logarithmic: ticks at powers of two, at most `most`. */
struct nm_axis nm_size_axis(double low, double high, unsigned most);

/* Miss ratios up to the largest: from 0 on, or logarithmic from the least that is not 0. */
struct nm_axis nm_ratio_axis(double least, double largest, int logarithmic);

/* 0 at the axis' low end, 1 at its high end, cut at both. */
double nm_axis_place(const struct nm_axis *axis, double value);

/* "48K", "1.5M"; "12 %", "0.05 %". */
void nm_size_text(double bytes, char ret_text[NM_TICK_TEXT]);
void nm_percent_text(double ratio, char ret_text[NM_TICK_TEXT]);

#endif
