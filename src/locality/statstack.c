/* SPDX-License-Identifier: MIT
 *
 * statstack.c - StatStack: fully associative LRU caches, from reuse samples (Eklov and Hagersten, ISPASS
 * 2010).
 *
 * The expected stack distance of a sample is the number of lines that the references between its two touches
 * touch (footprint.h). It misses in caches of as many lines or fewer.
 *
 * AET (Hu et al., USENIX ATC 2016) asks for the time in which the same sum reaches the size of the cache; so
 * it predicts the same misses, and has no file here.
 *
 * Intervals: those of independent samples (estimator.h), and of the expected distances, whose errors are those of
 * the replicates. Where a curve has a step, a size near it may lie on either side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "footprint.h"
#include "reuse_sums.h"

static const struct nm_model_errors errors = {.whole = {.part = 0.015, .least = 0.0004},
					      .group = {.part = 0.03, .least = 0.0005}};

struct statstack {
	struct nm_reuse_samples *samples;
	double *distance; /* expected stack distance of each sample; NULL: not yet */
	double *error;    /* by which it may be off */
	struct nm_reuse_pairs pairs;
	uint64_t lines; /* of the cache of the last estimate; 0: none yet */
	double *misses; /* of each sample there: 0 or 1 */
};

static int statstack_make(void **ret_self, const struct nm_estimator_setup *setup)
{
	struct statstack *s = calloc(1, sizeof *s);

	if (!s)
		return NM_ENOMEM;
	s->samples = setup->samples;
	*ret_self = s;
	return 0;
}

static void statstack_release(void *self)
{
	struct statstack *s = self;

	reuse_pairs_done(&s->pairs);
	free(s->distance);
	free(s->error);
	free(s->misses);
	free(s);
}

/* The error of each distance, from those in the replicates. scratch: as many. */
static void find_errors(struct statstack *s, struct nm_footprint *f, double *scratch)
{
	for (unsigned r = 1; r <= NM_REPLICATES; r++) {
		footprint_weigh(f, r);
		footprint_distances(f, scratch);
		for (size_t i = 0; i < s->samples->count; i++)
			if (isfinite(scratch[i]))
				s->error[i] += pow(scratch[i] - s->distance[i], 2);
	}
	for (size_t i = 0; i < s->samples->count; i++)
		s->error[i] = 1.7 * sqrt(s->error[i] * (NM_REPLICATES - 1) / NM_REPLICATES);
}

static int prepare_samples(struct statstack *s)
{
	const size_t n = s->samples->count + 1;
	struct nm_footprint f;
	int status = footprint_make(&f, s->samples);

	s->distance = malloc(n * sizeof *s->distance);
	s->error = calloc(n, sizeof *s->error);
	s->misses = malloc(n * sizeof *s->misses);
	if (!s->distance || !s->error || !s->misses)
		status = NM_ENOMEM;
	if (!status) {
		footprint_weigh(&f, 0);
		footprint_distances(&f, s->distance);
		find_errors(s, &f, s->misses);
	}
	footprint_done(&f);
	return status ? status : reuse_pairs_make(&s->pairs, s->samples);
}

static int statstack_estimate(void *self, const struct nm_groups *groups, uint64_t lines,
			      struct nm_estimate *ret)
{
	struct statstack *s = self;
	struct nm_reuse_sum *sums = calloc(groups->count, sizeof *sums);

	if (!sums || (!s->distance && prepare_samples(s))) {
		free(sums);
		return NM_ENOMEM;
	}
	if (lines != s->lines) {
		s->lines = lines;
		for (size_t i = 0; i < s->samples->count; i++)
			s->misses[i] = s->distance[i] >= (double)lines - 0.5;
		reuse_pairs_sum(&s->pairs, s->samples, s->misses);
		for (size_t i = 0; i < s->samples->count; i++)
			reuse_pairs_add_doubt(
			    &s->pairs, s->samples, i,
			    (s->distance[i] + s->error[i] >= (double)lines - 0.5) - s->misses[i],
			    s->misses[i] - (s->distance[i] - s->error[i] >= (double)lines - 0.5));
	}
	reuse_pairs_add(&s->pairs, groups, sums);
	reuse_conclude(sums, groups, &errors, ret);
	free(sums);
	return 0;
}

const struct nm_estimator nm_estimator_statstack = {.name = "statstack",
						    .policy = "lru",
						    .summary = "LRU, from reuse distances (Eklov 2010)",
						    .make = statstack_make,
						    .estimate = statstack_estimate,
						    .free = statstack_release};
