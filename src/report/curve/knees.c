/* SPDX-License-Identifier: MIT
 *
 * knees.c - where curves stop falling: the sizes at which something fits.
 *
 * The *bend* at a size is how much a curve falls over the octave before it, less how much over the octave
 * after it. A knee is where the bend is larger than anywhere within an octave, and large enough: on its own
 * (least_bend), and as a part of the fall of the whole curve (least_part). A cliff has its knee at its foot,
 * an even slope has none. Knees below knee_from are left out: in such caches only neighbouring bytes of a
 * line are reused. So are falls that intervals do not support: those before and after must not meet.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "curve_priv.h"

static const double least_bend = 0.0005, least_part = 0.04, knee_from = 4096;
static const double most_left = 0.1; /* of an object's misses, where it fits */

enum { STEPS_AN_OCTAVE = 8 };

static double ratio_at(const struct nm_curve *c, double bytes) { return nm_curve_at(c, bytes).ratio; }

static double bend_at(const struct nm_curve *c, double bytes)
{
	return ratio_at(c, bytes / 2) - 2 * ratio_at(c, bytes) + ratio_at(c, bytes * 2);
}

/* Whether the bend is the largest within an octave; of equal ones the smallest size counts. */
static int is_peak(const struct nm_curve *c, double bytes)
{
	const double here = bend_at(c, bytes);

	for (int i = 1; i <= STEPS_AN_OCTAVE; i++)
		if (bend_at(c, bytes * exp2((double)i / STEPS_AN_OCTAVE)) > here ||
		    bend_at(c, bytes * exp2((double)-i / STEPS_AN_OCTAVE)) >= here)
			return 0;
	return 1;
}

/* The point of an exact curve, at most a step below, where it bends most. */
static double sharpen_knee(const struct nm_curve *c, double bytes)
{
	const double lowest = bytes * exp2(-1.0 / STEPS_AN_OCTAVE);
	double best = bytes;

	for (size_t i = c->exact ? c->points.count : 0; i-- > 0;) {
		const double at = c->points.at[i].bytes;

		if (at > lowest && at <= bytes && bend_at(c, at) >= bend_at(c, best))
			best = at;
	}
	return best;
}

static int falls_for_sure(const struct nm_curve *c, double bytes)
{
	return c->exact || nm_curve_at(c, bytes / 2).low > nm_curve_at(c, bytes).high;
}

/* Whether hardly any misses of an object are left at a size, as far as its interval tells, but cold ones. */
static int object_fits(const struct nm_curve *object, double bytes)
{
	const struct nm_curve_point at = nm_curve_at(object, bytes);
	const double before = ratio_at(object, bytes / 2) - object->cold_ratio;

	return (object->exact ? at.ratio : at.high) - object->cold_ratio <= most_left * before;
}

/* Keeps those with the largest falls, in order of their sizes. */
static unsigned insert_knee(struct nm_knee *knees, unsigned n, struct nm_knee knee)
{
	unsigned least = 0;

	if (n < NM_MAX_KNEES) {
		knees[n] = knee;
		return n + 1;
	}
	for (unsigned i = 1; i < n; i++)
		if (knees[i].before - knees[i].after < knees[least].before - knees[least].after)
			least = i;
	if (knee.before - knee.after > knees[least].before - knees[least].after) {
		memmove(&knees[least], &knees[least + 1], (n - least - 1) * sizeof *knees);
		knees[n - 1] = knee;
	}
	return n;
}

unsigned nm_knees_find(const struct nm_curve *c, double from, double to, struct nm_knee *knees)
{
	const double start = fmax(from, knee_from);
	const double least = fmax(least_bend, least_part * (ratio_at(c, start) - ratio_at(c, to)));
	unsigned n = 0;

	for (double bytes = start; bytes <= to; bytes *= exp2(1.0 / STEPS_AN_OCTAVE)) {
		const double at = sharpen_knee(c, bytes);

		if (bend_at(c, bytes) >= least && is_peak(c, bytes) && falls_for_sure(c, at))
			n = insert_knee(knees, n,
					(struct nm_knee){.curve = c,
							 .bytes = at,
							 .before = ratio_at(c, at / 2),
							 .after = ratio_at(c, at)});
	}
	return n;
}

/* The object of a knee is the one whose misses fall most there. */
static void name_knee(struct nm_knee *knee, const struct nm_curves *objects)
{
	double all = 0, most = 0;

	for (size_t i = 0; i < objects->list.count; i++) {
		const struct nm_curve *c = &objects->list.at[i];
		double gain;

		if (strcmp(c->process, knee->curve->process) || strcmp(c->method, knee->curve->method))
			continue;
		gain = (ratio_at(c, knee->bytes / 2) - ratio_at(c, knee->bytes)) * nm_curve_weight(c);
		all += fmax(gain, 0);
		if (gain > most) {
			most = gain;
			knee->object = c->name;
			knee->fits = object_fits(c, knee->bytes);
		}
	}
	knee->share = all > 0 ? most / all : 0;
}

/* Names the knees of a source's curves. */
static int name_knees(struct nm_curves *curves, const struct nm_curve_source *source,
		      const struct nm_curve_request *request, struct nm_error *err)
{
	struct nm_curve_request all = {.process = request->process};
	struct nm_curves objects = {0};
	int status = nm_curves_load(&objects, source, &all, "object", err);

	for (size_t i = 0; i < curves->knees.count && !status; i++) {
		struct nm_knee *knee = &curves->knees.at[i];

		if (knee->curve->source != source->label)
			continue;
		name_knee(knee, &objects);
		if (knee->object && !(knee->object = nm_intern(&curves->pool, knee->object)))
			status = nm_fail_memory(err);
	}
	nm_curves_done(&objects);
	return status;
}

int nm_knees_make(struct nm_curves *curves, const struct nm_curve_source *sources, size_t count,
		  const struct nm_curve_request *request, struct nm_error *err)
{
	int status = 0;

	assert(sources || !count);
	for (size_t i = 0; i < curves->list.count; i++) {
		struct nm_knee found[NM_MAX_KNEES];
		unsigned n = curves->list.at[i].method_index
				 ? 0
				 : nm_knees_find(&curves->list.at[i], curves->from, curves->to, found);

		for (unsigned k = 0; k < n; k++)
			if (nm_vec_push(&curves->knees, found[k]))
				return nm_fail_memory(err);
	}
	for (size_t i = 0; i < count && !status && !strcmp(request->by, "total") && curves->knees.count; i++)
		status = name_knees(curves, &sources[i], request, err);
	return status;
}
