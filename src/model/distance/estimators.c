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

void nm_estimate_interval(struct nm_estimate *e, double variance)
{
	const double z = normal_975, p = e->miss_ratio, spread = p * (1 - p);
	double n = variance > 0 && spread > 0 ? spread / variance : (double)e->samples;
	double centre, half;

	if (n > (double)e->samples) /* a variance that few samples make look small */
		n = (double)e->samples;
	if (!(n > 0)) {
		e->low = 0;
		e->high = 1;
		return;
	}
	centre = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * sqrt(spread / n + z * z / (4 * n * n));
	e->low = fmin(p, fmax(0, centre - half));
	e->high = fmax(p, fmin(1, centre + half));
}

void nm_estimate_widen(struct nm_estimate *e, const struct nm_model_error *error)
{
	const double model =
	    normal_975 * hypot(error->part * fmax(0, e->miss_ratio - e->cold_ratio), error->least);

	e->low = fmax(0, e->miss_ratio - hypot(e->miss_ratio - e->low, model));
	e->high = fmin(1, e->miss_ratio + hypot(e->high - e->miss_ratio, model));
}

void nm_reuse_conclude(const struct nm_reuse_sum *sum, struct nm_estimate *ret)
{
	const double starts = (double)sum->starts;
	struct nm_estimate e = {
	    .miss_ratio = NAN, .cold_ratio = NAN, .low = 0, .high = 1, .samples = sum->starts};

	if (sum->starts) {
		e.cold_ratio = fmax(0, 1 - (double)sum->ends / starts);
		e.miss_ratio = fmin(1, sum->misses / starts + e.cold_ratio);
		nm_estimate_interval(&e, sum->variance / (starts * starts) +
					     e.cold_ratio * (1 - e.cold_ratio) / starts);
	}
	*ret = e;
}
