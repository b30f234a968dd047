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

/* A logarithmic axis of sizes in bytes, with at most `most` ticks, at powers of two. */
struct nm_axis nm_size_axis(double low, double high, unsigned most);

/* An axis of miss ratios up to `largest`: from 0, or, if logarithmic, from `least`, the smallest above 0. */
struct nm_axis nm_ratio_axis(double least, double largest, int logarithmic);

/* Where a value lies: 0 is the low end of the axis, 1 the high end; values beyond an end lie on it. */
double nm_axis_place(const struct nm_axis *axis, double value);

/* "48K", "1.5M"; "12 %", "0.05 %". */
void nm_size_text(double bytes, char ret_text[NM_TICK_TEXT]);
void nm_percent_text(double ratio, char ret_text[NM_TICK_TEXT]);

#endif
