/* SPDX-License-Identifier: MIT
 *
 * estimators.c - the table of estimators, and what they share.
 */
#include <math.h>
#include <string.h>

#include "estimator.h"

const struct nm_estimator *const nm_estimators[] = {&nm_estimator_statcache, &nm_estimator_statstack,
						    &nm_estimator_shards, &nm_estimator_shards_size, NULL};

const struct nm_estimator *nm_estimator_named(const char *name)
{
	for (size_t i = 0; nm_estimators[i]; i++)
		if (!strcmp(nm_estimators[i]->name, name))
			return nm_estimators[i];
	return NULL;
}

/* 97.5 % of a normal distribution lie below. */
static const double normal_975 = 1.96;

void nm_estimate_spread(struct nm_estimate *e, double variance)
{
	const double half = normal_975 * sqrt(variance);

	e->low = fmax(0, e->miss_ratio - half);
	e->high = fmin(1, e->miss_ratio + half);
}

void nm_estimate_widen(struct nm_estimate *e, const struct nm_model_error *error)
{
	const double model =
	    normal_975 * hypot(error->part * fmax(0, e->miss_ratio - e->cold_ratio), error->least);

	e->low = fmax(0, e->miss_ratio - hypot(e->miss_ratio - e->low, model));
	e->high = fmin(1, e->miss_ratio + hypot(e->high - e->miss_ratio, model));
}

/* Wilson's interval of a share of n, widened to the normal one of `half` on each side. */
static void set_interval(struct nm_estimate *e, double n, double half)
{
	const double z = normal_975, p = e->miss_ratio;
	const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
	const double wilson = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	e->low = fmax(0, fmin(p - half, centre - wilson));
	e->high = fmin(1, fmax(p + half, centre + wilson));
}

/* Of ends / starts: samples are in one of them, or in both. */
static double variance_of_ends(const struct nm_reuse_sum *sum)
{
	const double starts = (double)sum->starts, ends = (double)sum->ends, own = (double)sum->own;
	const double ratio = ends / starts;

	return ((starts - own) * ratio * ratio + (ends - own) + own * (1 - ratio) * (1 - ratio)) /
	       (starts * starts);
}

void nm_reuse_conclude(const struct nm_reuse_sum *sum, struct nm_estimate *ret)
{
	const double starts = (double)sum->starts, ends = (double)sum->ends;
	struct nm_estimate e = {
	    .miss_ratio = NAN, .cold_ratio = NAN, .low = 0, .high = 1, .samples = sum->starts};

	if (sum->starts) {
		const double warm = fmin(1, ends / starts), missing = ends > 0 ? sum->misses / ends : 0;
		const double variance = fmax(sum->squares - missing * missing * ends, 0) + sum->variance;

		e.cold_ratio = 1 - warm;
		e.miss_ratio = fmin(1, e.cold_ratio + warm * missing);
		set_interval(&e, starts,
			     normal_975 * hypot(warm * sqrt(variance) / fmax(ends, 1),
						(1 - missing) * sqrt(variance_of_ends(sum))));
	}
	*ret = e;
}
