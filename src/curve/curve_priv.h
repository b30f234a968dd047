/* SPDX-License-Identifier: MIT
 *
 * curve_priv.h - curves, their knees, and what the plots of both formats share.
 */
#ifndef NM_CURVE_PRIV_H
#define NM_CURVE_PRIV_H

#include "arena.h"
#include "curve.h"
#include "scale.h"
#include "vector.h"

struct nm_curve_point {
	double bytes, ratio, low, high; /* low, high: the 95 % interval */
};

/* Points ascend in size. Of an exact curve the ratio stays from one to the next and is 1 before the first;
 * others are interpolated. */
struct nm_curve {
	const char *source; /* the profile's label, or NULL */
	const char *process, *name, *method, *policy;
	int exact;
	unsigned group;              /* curves of one name in one profile, however found, have the same */
	unsigned method_index;       /* of the methods that are shown, in the order of their first curves */
	int64_t references, samples; /* references: 0 where they are not known, only samples of them */
	double cold_ratio;
	struct nm_vec(struct nm_curve_point) points;
};

/* A size from which on a curve has fallen by much. */
struct nm_knee {
	const struct nm_curve *curve;
	double bytes, before, after; /* miss ratios */
	const char *object;          /* whose misses it takes away most; NULL: not known */
	double share;                /* of the misses that it takes away */
};

enum { NM_MAX_KNEES = 6 };

struct nm_curves {
	struct nm_strings pool;
	struct nm_vec(struct nm_curve) list;
	struct nm_vec(struct nm_knee) knees; /* in order of curves, then sizes */
	unsigned groups, methods;
	double from, to; /* bytes that are shown */
};

/* A size that may lie outside of the points. */
struct nm_curve_point nm_curve_at(const struct nm_curve *curve, double bytes);

/* How many references it stands for, in a unit of its profile and method. */
static inline double nm_curve_weight(const struct nm_curve *curve)
{
	return (double)(curve->references ? curve->references : curve->samples);
}

/* ---- load.c ---- */

/* Appends the curves of a scope. */
int nm_curves_load(struct nm_curves *curves, const struct nm_curve_source *source,
		   const struct nm_curve_request *request, const char *scope, struct nm_error *err);
void nm_curves_done(struct nm_curves *curves);

/* ---- choose.c ---- */

/* Leaves those that miss most, by weight of all sizes; numbers groups and methods; chooses the sizes to be
 * shown. */
int nm_curves_choose(struct nm_curves *curves, const struct nm_curve_request *request, struct nm_error *err);

/* ---- knees.c ---- */

/* The knees of one curve, at most NM_MAX_KNEES.  Returns how many. */
unsigned nm_knees_find(const struct nm_curve *curve, double from, double to, struct nm_knee *ret_knees);
/* Finds those of the first method's curves; names them by objects where the scope is the total. */
int nm_knees_make(struct nm_curves *curves, const struct nm_curve_source *sources, size_t count,
		  const struct nm_curve_request *request, struct nm_error *err);

/* ---- legend.c ---- */

/* What a curve is called beside others: its name, with what tells it from them. In the pool; NULL: out of
 * memory. */
const char *nm_curve_label(struct nm_curves *curves, const struct nm_curve *curve);
/* What is plotted: the scope, or the program. */
const char *nm_curve_title(struct nm_curves *curves, const struct nm_curve_request *request);

/* ---- the formats: 0 or NM_ENOMEM ---- */

int nm_curves_text(struct nm_curves *curves, const struct nm_curve_request *request,
		   const struct nm_style *style, FILE *out);
int nm_curves_svg(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out);
int nm_curves_csv(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out);
int nm_curves_json(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out);

#endif
