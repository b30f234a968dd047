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

/* Points ascend in size. An exact curve is a step function: its ratio stays the same until the next point,
 * and is 1 before the first. Other curves are interpolated, those of sweeps between the sizes that were simulated. */
struct nm_curve {
	const char *source; /* the profile's label, or NULL */
	const char *process, *name, *method, *policy;
	int exact;
	int simulated;               /* by a sweep, at these sizes alone */
	unsigned group;              /* the same for all methods of one name in one profile */
	unsigned method_index;       /* methods are numbered in the order of their first curves */
	int64_t references, samples; /* references: 0 if only samples are known */
	double cold_ratio;
	struct nm_vec(struct nm_curve_point) points;
};

/* A size at which a curve stops falling. */
struct nm_knee {
	const struct nm_curve *curve;
	double bytes, before, after; /* miss ratios */
	const char *object;          /* the one that stops missing most there; NULL: not known */
	double share;                /* the object's part of the misses that go away */
	int fits;                    /* hardly any of the object's misses are left, but cold ones */
};

enum { NM_MAX_KNEES = 6 };

struct nm_curves {
	struct nm_strings pool;
	struct nm_vec(struct nm_curve) list;
	struct nm_vec(struct nm_knee) knees; /* in order of curves, then sizes */
	struct nm_vec(const char *) notes;   /* sentences, kept in the pool */
	unsigned groups, methods;
	double from, to; /* bytes that are shown */
};

/* The curve at any size, also outside of its points. */
struct nm_curve_point nm_curve_at(const struct nm_curve *curve, double bytes);

/* How much a curve counts beside others of its profile and method. */
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

/* Keeps the curves that miss most; numbers groups and methods; chooses the sizes that are shown. */
int nm_curves_choose(struct nm_curves *curves, const struct nm_curve_request *request, struct nm_error *err);

/* ---- knees.c ---- */

/* The knees of one curve, at most NM_MAX_KNEES. Returns how many there are. */
unsigned nm_knees_find(const struct nm_curve *curve, double from, double to, struct nm_knee *ret_knees);
/* Finds the knees of the first method's curves. If the scope is the total, names the object of each. */
int nm_knees_make(struct nm_curves *curves, const struct nm_curve_source *sources, size_t count,
		  const struct nm_curve_request *request, struct nm_error *err);

/* ---- notes.c ---- */

/* Makes the notes of the curves that are shown. 0 or NM_ENOMEM. */
int nm_curve_notes(struct nm_curves *curves);

/* ---- curve_text.c ---- */

/* The name of a curve with what tells it from the others, kept in the pool. NULL: out of memory. */
const char *nm_curve_label(struct nm_curves *curves, const struct nm_curve *curve);
/* The heading of a plot. NULL: out of memory. */
const char *nm_curve_title(struct nm_curves *curves, const struct nm_curve_request *request);

/* ---- the formats: 0 or NM_ENOMEM ---- */

int nm_curves_text(struct nm_curves *curves, const struct nm_curve_request *request,
		   const struct nm_style *style, FILE *out);
int nm_curves_svg(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out);
int nm_curves_csv(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out);
int nm_curves_json(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out);

#endif
