/* SPDX-License-Identifier: MIT */
#include "reuse_sums.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "errors.h"
#include "map.h"

/* ---- pairs of keys ---- */

static int find_pair(struct nm_reuse_pairs *p, struct nm_map *numbers, const struct nm_kept_sample *at,
		     uint32_t *ret_number)
{
	const uint64_t key = (uint64_t)at->starter << 32 | at->key;

	*ret_number = (uint32_t)nm_map_get(numbers, key, p->list.count);
	if (*ret_number < p->list.count)
		return 0;
	return nm_map_put(numbers, key, *ret_number) ||
		       nm_vec_push(&p->list, (struct nm_reuse_pair){.starter = at->starter, .key = at->key})
		   ? NM_ENOMEM
		   : 0;
}

int reuse_pairs_make(struct nm_reuse_pairs *p, const struct nm_reuse_samples *samples)
{
	struct nm_map numbers = {0};
	int status;

	*p = (struct nm_reuse_pairs){.of_sample = malloc((samples->count + 1) * sizeof *p->of_sample)};
	status = p->of_sample ? 0 : NM_ENOMEM;
	for (size_t i = 0; i < samples->count && !status; i++)
		status = find_pair(p, &numbers, &samples->at[i], &p->of_sample[i]);
	nm_map_done(&numbers);
	return status;
}

void reuse_pairs_done(struct nm_reuse_pairs *p)
{
	nm_vec_free(&p->list);
	free(p->of_sample);
}

static void add_sample(struct nm_reuse_sum *sum, const struct nm_kept_sample *at, double miss)
{
	const double start = at->starter && !at->further, end = at->key && !at->aside, hit = end * (1 - miss);
	const double weight = at->weight, variance = weight * (weight - 1);
	const double loss = weight * nm_replicate_loss(at);
	const unsigned part = nm_replicate_without(at) - 1;

	sum->samples += start > 0;
	sum->starts += weight * start;
	sum->ends += weight * end;
	sum->hits += weight * hit;
	sum->starts_squared += variance * start;
	sum->starts_ends += variance * start * end;
	sum->starts_hits += variance * start * hit;
	sum->lost_starts[part] += loss * start;
	sum->lost_hits[part] += loss * hit;
}

void reuse_pairs_add_doubt(struct nm_reuse_pairs *p, const struct nm_reuse_samples *samples, size_t i,
			   double fewer, double more)
{
	const struct nm_kept_sample *at = &samples->at[i];
	struct nm_reuse_sum *sum = &p->list.at[p->of_sample[i]].sum;

	assert(i < samples->count && fewer >= 0 && more >= 0);
	if (!at->key || at->aside)
		return;
	sum->fewer += at->weight * fewer;
	sum->more += at->weight * more;
}

void reuse_pairs_add_changes(struct nm_reuse_pairs *p, const struct nm_reuse_samples *samples, size_t i,
			     const double changes[NM_REPLICATES])
{
	const struct nm_kept_sample *at = &samples->at[i];
	struct nm_reuse_sum *sum = &p->list.at[p->of_sample[i]].sum;

	assert(i < samples->count);
	for (unsigned r = 0; r < NM_REPLICATES && at->key && !at->aside; r++)
		sum->changes[r] += at->weight * changes[r];
}

void reuse_pairs_sum(struct nm_reuse_pairs *p, const struct nm_reuse_samples *samples, const double *miss)
{
	for (size_t i = 0; i < p->list.count; i++)
		p->list.at[i].sum = (struct nm_reuse_sum){0};
	for (size_t i = 0; i < samples->count; i++)
		add_sample(&p->list.at[p->of_sample[i]].sum, &samples->at[i], miss[i]);
}

/* ---- groups ---- */

static void add_starts(struct nm_reuse_sum *sum, const struct nm_reuse_sum *more)
{
	sum->samples += more->samples;
	sum->starts += more->starts;
	sum->starts_squared += more->starts_squared;
	for (unsigned r = 0; r < NM_REPLICATES; r++)
		sum->lost_starts[r] += more->lost_starts[r];
}

static void add_ends(struct nm_reuse_sum *sum, const struct nm_reuse_sum *more)
{
	sum->ends += more->ends;
	sum->hits += more->hits;
	sum->fewer += more->fewer;
	sum->more += more->more;
	for (unsigned r = 0; r < NM_REPLICATES; r++) {
		sum->lost_hits[r] += more->lost_hits[r];
		sum->changes[r] += more->changes[r];
	}
}

static void add_both(struct nm_reuse_sum *sum, const struct nm_reuse_sum *more)
{
	sum->starts_ends += more->starts_ends;
	sum->starts_hits += more->starts_hits;
}

void reuse_pairs_add(const struct nm_reuse_pairs *p, const struct nm_groups *groups,
		     struct nm_reuse_sum *sums)
{
	for (size_t i = 0; i < p->list.count; i++) {
		const struct nm_reuse_pair *pair = &p->list.at[i];
		const uint32_t from = nm_group_of(groups, pair->starter), to = nm_group_of(groups, pair->key);

		add_starts(&sums[0], &pair->sum);
		add_ends(&sums[0], &pair->sum);
		add_both(&sums[0], &pair->sum);
		if (from)
			add_starts(&sums[from], &pair->sum);
		if (to)
			add_ends(&sums[to], &pair->sum);
		if (from && from == to)
			add_both(&sums[from], &pair->sum);
	}
}

/* ---- estimates ---- */

/* Wilson's interval of a share of n, widened to the normal one of `half` on each side. */
static void set_interval(struct nm_estimate *e, double n, double half)
{
	const double z = NM_NORMAL_975, p = e->miss_ratio;
	const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
	const double wilson = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));

	e->low = fmax(0, fmin(p - half, centre - wilson));
	e->high = fmin(1, fmax(p + half, centre + wilson));
}

/* The variance of a group's misses, each corrected by `slope` for each reference that the samples stand for. */
static double variance_of(const struct nm_reuse_sum *sum, double slope)
{
	double lost[NM_REPLICATES], changes[NM_REPLICATES], all = 0;

	for (unsigned r = 0; r < NM_REPLICATES; r++)
		all += lost[r] = sum->lost_starts[r] * (1 - slope) - sum->lost_hits[r];
	for (unsigned r = 0; r < NM_REPLICATES; r++)
		changes[r] = (all - NM_REPLICATES * lost[r]) / (NM_REPLICATES - 1) + sum->changes[r];
	return nm_replicate_variance(changes);
}

/* references: of the group; 0: not known. */
static struct nm_estimate conclude_sum(const struct nm_reuse_sum *sum, uint64_t references)
{
	const int known = references && sum->starts_squared > 0;
	const double n = references ? (double)references : sum->starts, excess = sum->starts - n;
	const double misses = sum->starts - sum->hits, cold = sum->starts - sum->ends;
	const double of_cold = known ? 1 - sum->starts_ends / sum->starts_squared : 0;
	const double slope = known ? 1 - sum->starts_hits / sum->starts_squared : misses / n;
	struct nm_estimate e = {
	    .miss_ratio = NAN, .cold_ratio = NAN, .low = 0, .high = 1, .samples = sum->samples};

	if (sum->starts > 0) {
		e.cold_ratio = fmin(fmax((cold - of_cold * excess) / n, 0), 1);
		e.miss_ratio = fmin(fmax((misses - slope * excess) / n, e.cold_ratio), 1);
		set_interval(&e, n * n / fmax(sum->starts_squared, 1e-9),
			     NM_STUDENT_975 * sqrt(variance_of(sum, slope)) / n);
		e.low = fmax(0, e.miss_ratio - hypot(e.miss_ratio - e.low, sum->more / n));
		e.high = fmin(1, e.miss_ratio + hypot(e.high - e.miss_ratio, sum->fewer / n));
	}
	return e;
}

void reuse_conclude(const struct nm_reuse_sum *sums, const struct nm_groups *groups,
		    const struct nm_model_errors *errors, struct nm_estimate *ret)
{
	assert(groups->count > 0);
	for (uint32_t group = 0; group < groups->count; group++) {
		ret[group] = conclude_sum(&sums[group], groups->references ? groups->references[group] : 0);
		nm_estimate_widen(&ret[group], group ? &errors->group : &errors->whole);
	}
}
