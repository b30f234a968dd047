/* SPDX-License-Identifier: MIT
 *
 * statcache.c - StatCache: fully associative caches with random replacement, from reuse samples (Berg and
 * Hagersten, ISPASS 2004).
 *
 * Evictions are followed through the run (expected_evictions.h). A sample misses with the probability that its
 * line has left the cache after as many evictions as lie between its two touches.
 *
 * Intervals: those of independent samples (estimator.h). An error in the number of evictions acts on all samples:
 * its part is what hits change if the evictions were those of a replicate, by their derivative.
 */
#include <math.h>
#include <stdlib.h>

#include "errors.h"
#include "expected_evictions.h"
#include "reuse_sums.h"

static const struct nm_model_errors errors = {.whole = {.part = 0.01, .least = 0.0004},
					      .group = {.part = 0.03, .least = 0.0008}};

/* A moment, as a part of the way from the start of a window to its end. */
struct moment {
	uint32_t window;
	float part;
};

struct statcache {
	struct nm_reuse_samples *samples;
	int prepared;
	struct nm_evictions evictions;
	struct nm_reuse_pairs pairs;
	struct moment *start, *end; /* of each sample */
	uint64_t lines;             /* of the cache of the last estimate, whatever the groups; 0: none yet */
	double *misses;             /* the probability of each sample there */
	/* Evictions of each replicate beyond those of all samples, at the start of each window and at the end. */
	double excess[NM_WINDOWS + 1][NM_REPLICATES];
};

static int statcache_make(void **ret_self, const struct nm_estimator_setup *setup)
{
	struct statcache *s = calloc(1, sizeof *s);

	if (!s)
		return NM_ENOMEM;
	s->samples = setup->samples;
	*ret_self = s;
	return 0;
}

static void statcache_release(void *self)
{
	struct statcache *s = self;

	evictions_done(&s->evictions);
	reuse_pairs_done(&s->pairs);
	free(s->start);
	free(s->end);
	free(s->misses);
	free(s);
}

static struct moment moment_of(const struct nm_footprint *f, double reference)
{
	const uint32_t window = footprint_window(f, reference);

	return (struct moment){window, (float)(reference / f->length - window)};
}

static int prepare_samples(struct statcache *s)
{
	const size_t n = s->samples->count + 1;
	struct nm_footprint f;
	int status = footprint_make(&f, s->samples);

	s->start = malloc(n * sizeof *s->start);
	s->end = malloc(n * sizeof *s->end);
	s->misses = calloc(n, sizeof *s->misses);
	if (!s->start || !s->end || !s->misses)
		status = NM_ENOMEM;
	if (!status)
		status = evictions_make(&s->evictions, &f);
	for (size_t i = 0; i < s->samples->count && !status; i++) {
		const struct nm_kept_sample *at = &s->samples->at[i];

		s->start[i] = moment_of(&f, (double)at->start);
		if (at->distance != NM_NO_REUSE)
			s->end[i] = moment_of(&f, (double)(at->start + at->distance));
	}
	footprint_done(&f);
	s->prepared = 1;
	return status ? status : reuse_pairs_make(&s->pairs, s->samples);
}

/* By how much more lines each replicate has evicted by a moment. */
static void excess_at(const struct statcache *s, const struct moment *at, double ret[NM_REPLICATES])
{
	const double *from = s->excess[at->window], *to = s->excess[at->window + 1];

	for (unsigned r = 0; r < NM_REPLICATES; r++)
		ret[r] = from[r] + (to[r] - from[r]) * (double)at->part;
}

/* Adds what the evictions of each replicate change. */
static void add_changes(struct statcache *s, size_t i)
{
	const double slope =
	    (s->misses[i] - 1) * s->evictions.log_stay; /* of the probability, by evictions */
	double start[NM_REPLICATES], changes[NM_REPLICATES];

	excess_at(s, &s->start[i], start);
	excess_at(s, &s->end[i], changes);
	for (unsigned r = 0; r < NM_REPLICATES; r++)
		changes[r] = slope * (changes[r] - start[r]);
	reuse_pairs_add_changes(&s->pairs, s->samples, i, changes);
}

/* Finds what a cache of so many lines does with each sample. */
static void follow_size(struct statcache *s, uint64_t lines)
{
	struct nm_evictions *e = &s->evictions;

	s->lines = lines;
	evictions_solve(e, lines);
	for (size_t i = 0; i < s->samples->count; i++) {
		const struct nm_kept_sample *at = &s->samples->at[i];
		const double start = (double)at->start;

		if (at->distance != NM_NO_REUSE)
			s->misses[i] = evictions_leave(e, evictions_by(e, 0, start + (double)at->distance) -
							      evictions_by(e, 0, start));
	}
	for (uint32_t window = 0; window <= e->windows; window++)
		for (unsigned r = 0; r < NM_REPLICATES; r++)
			s->excess[window][r] = e->paths[1 + r].evicted[window] - e->paths[0].evicted[window];
	reuse_pairs_sum(&s->pairs, s->samples, s->misses);
	for (size_t i = 0; i < s->samples->count; i++)
		if (s->samples->at[i].distance != NM_NO_REUSE && s->misses[i] < 1)
			add_changes(s, i);
}

static int statcache_estimate(void *self, const struct nm_groups *groups, uint64_t lines,
			      struct nm_estimate *ret)
{
	struct statcache *s = self;
	struct nm_reuse_sum *sums = calloc(groups->count, sizeof *sums);

	if (!sums || (!s->prepared && prepare_samples(s))) {
		free(sums);
		return NM_ENOMEM;
	}
	if (lines != s->lines)
		follow_size(s, lines);
	reuse_pairs_add(&s->pairs, groups, sums);
	reuse_conclude(sums, groups, &errors, ret);
	free(sums);
	return 0;
}

const struct nm_estimator nm_estimator_statcache = {
    .name = "statcache",
    .policy = "random",
    .summary = "random replacement, from reuse distances (Berg 2004)",
    .make = statcache_make,
    .estimate = statcache_estimate,
    .free = statcache_release};
