/* SPDX-License-Identifier: MIT
 *
 * estimators.c - the table of estimators, and what they share.
 */
#include <assert.h>
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

void nm_estimate_spread(struct nm_estimate *e, double variance)
{
	const double half = NM_STUDENT_975 * sqrt(variance);

	assert(!(variance < 0));
	e->low = fmax(0, e->miss_ratio - half);
	e->high = fmin(1, e->miss_ratio + half);
}

void nm_estimate_widen(struct nm_estimate *e, const struct nm_model_error *error)
{
	const double model =
	    NM_NORMAL_975 * hypot(error->part * fmax(0, e->miss_ratio - e->cold_ratio), error->least);

	assert(error->part >= 0 && error->least >= 0);
	e->low = fmax(0, e->miss_ratio - hypot(e->miss_ratio - e->low, model));
	e->high = fmin(1, e->miss_ratio + hypot(e->high - e->miss_ratio, model));
}
