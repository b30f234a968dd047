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

/* In a group: the references, misses and cold misses that a sample is, each from -1 to 1. */
static void add(struct nm_reuse_sum *sum, double weight, double references, double misses, double cold)
{
	const double variance = weight * (weight - 1);

	sum->samples += references > 0;
	sum->references += weight * references;
	sum->misses += weight * misses;
	sum->cold += weight * cold;
	sum->references_squared += variance * references * references;
	sum->references_misses += variance * references * misses;
	sum->references_cold += variance * references * cold;
	sum->misses_squared += variance * misses * misses;
}

void nm_reuse_sum_add(struct nm_reuse_sum *sums, const struct nm_groups *groups,
		      const struct nm_kept_sample *sample, double miss)
{
	const uint32_t from = nm_group_of(groups, sample->starter), to = nm_group_of(groups, sample->key);
	const double start = sample->starter && !sample->further, end = sample->key && !sample->aside;
	const double hit = end * (1 - miss), w = sample->weight;

	add(&sums[0], w, start, start - hit, start - end);
	if (from && from == to) {
		add(&sums[from], w, start, start - hit, start - end);
		return;
	}
	if (from)
		add(&sums[from], w, start, start, start);
	if (to)
		add(&sums[to], w, 0, -hit, -end);
}

void nm_reuse_conclude(const struct nm_reuse_sum *sum, uint64_t references, struct nm_estimate *ret)
{
	const int known = references && sum->references_squared > 0;
	const double n = references ? (double)references : sum->references, excess = sum->references - n;
	const double of_cold = known ? sum->references_cold / sum->references_squared : 0;
	const double slope = known ? sum->references_misses / sum->references_squared : sum->misses / n;
	struct nm_estimate e = {
	    .miss_ratio = NAN, .cold_ratio = NAN, .low = 0, .high = 1, .samples = sum->samples};

	if (sum->references > 0) {
		const double variance = sum->misses_squared - 2 * slope * sum->references_misses +
					slope * slope * sum->references_squared + sum->variance;

		e.cold_ratio = fmin(fmax((sum->cold - of_cold * excess) / n, 0), 1);
		e.miss_ratio = fmin(fmax((sum->misses - slope * excess) / n, e.cold_ratio), 1);
		set_interval(&e, n * n / fmax(sum->references_squared, 1e-9),
			     normal_975 * sqrt(fmax(variance, 0)) / n);
	}
	*ret = e;
}
