/* SPDX-License-Identifier: MIT
 *
 * pmu_judge.c - how far estimates are from the truth; see pmu_estimates.h.
 */
#include <assert.h>
#include <math.h>

#include "pmu_estimates.h"
#include "samples_report.h"

static const double least_group = 0.1, least_part = 0.01;

static double share_of(uint64_t count, uint64_t all) { return all ? 100 * (double)count / (double)all : 0; }

/* Pairs of ranked parts: in the same order, in the opposite one, and those that truth or estimates tie. */
struct order {
	double pairs, same, opposite, tied, estimates_tied;
};

static void compare_parts(const struct nm_estimated_part *p, const struct nm_estimated_part *e,
			  unsigned sampler, struct order *order)
{
	const int truth = (p->truth > e->truth) - (p->truth < e->truth),
		  estimate = (p->samples[sampler] > e->samples[sampler]) -
			     (p->samples[sampler] < e->samples[sampler]);

	assert(sampler < NM_PMU_SAMPLERS);
	order->pairs++;
	order->tied += !truth;
	order->estimates_tied += !estimate;
	order->same += truth * estimate > 0;
	order->opposite += truth * estimate < 0;
}

/* Whether truth puts a before b, by more than `within` points, and the estimates b before a. */
static int is_swapped(const struct nm_estimated_part *p, const struct nm_estimated_part *e, unsigned sampler,
		      uint64_t all, double within)
{
	assert(sampler < NM_PMU_SAMPLERS);
	return share_of(p->truth, all) - share_of(e->truth, all) > within &&
	       p->samples[sampler] < e->samples[sampler];
}

static int is_ranked(const struct nm_estimates *e, const struct nm_estimated_part *part)
{
	const uint64_t all = e->groups.at[part->group].truth;

	return (double)all >= least_group * (double)e->truth &&
	       (double)part->truth >= least_part * (double)all;
}

/* Compares the part with those behind it in its group. */
static void rank_parts(const struct nm_estimates *e, size_t i, unsigned sampler, double within,
		       struct order *order, struct nm_accuracy *to)
{
	const struct nm_estimated_part *p = &e->parts.at[i], *b;
	const uint64_t all = e->groups.at[p->group].truth;

	assert(i < e->parts.count);
	for (size_t k = i + 1; k < e->parts.count && e->parts.at[k].group == p->group; k++) {
		b = &e->parts.at[k];
		if (!is_ranked(e, b))
			continue;
		compare_parts(p, b, sampler, order);
		to->swapped += (uint64_t)(is_swapped(p, b, sampler, all, within) ||
					  is_swapped(b, p, sampler, all, within));
	}
}

static void judge_part(const struct nm_estimates *e, const struct nm_estimated_part *part, unsigned sampler,
		       struct nm_accuracy *to)
{
	const struct nm_estimated_group *group = &e->groups.at[part->group];
	const double truth = share_of(part->truth, group->truth),
		     error = fabs(share_of(part->samples[sampler], group->samples[sampler]) - truth);
	double low, high;

	assert(sampler < NM_PMU_SAMPLERS);
	if (group->samples[sampler] && (!to->worst || error > to->error)) {
		to->error = error;
		to->worst = part;
	}
	if (!is_ranked(e, part))
		return;
	nm_samples_interval((double)part->samples[sampler], (double)group->samples[sampler], &low, &high);
	to->ranked++;
	to->covered += 100 * low <= truth && truth <= 100 * high;
}

struct nm_accuracy nm_accuracy_of(const struct nm_estimates *e, unsigned sampler, double within)
{
	struct nm_accuracy accuracy = {.samples = 0};
	struct order order = {.pairs = 0};

	for (size_t g = 0; g < e->groups.count; g++)
		accuracy.samples += e->groups.at[g].samples[sampler];
	for (size_t i = 0; i < e->parts.count; i++) {
		const struct nm_estimated_part *part = &e->parts.at[i];

		if ((double)e->groups.at[part->group].truth < least_group * (double)e->truth)
			continue;
		judge_part(e, part, sampler, &accuracy);
		if (is_ranked(e, part))
			rank_parts(e, i, sampler, within, &order, &accuracy);
	}
	accuracy.tau = (order.same - order.opposite) /
		       sqrt((order.pairs - order.tied) * (order.pairs - order.estimates_tied));
	return accuracy;
}
