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
	double *misses;             /* the probability of each sample there, */
	double *slope;              /* and its derivative by evictions */
	double (*changes)[NM_REPLICATES]; /* of evictions at the start of each window, and at the end */
};

static int make(void **ret_self, const struct nm_estimator_setup *setup)
{
	struct statcache *s = calloc(1, sizeof *s);

	if (!s)
		return NM_ENOMEM;
	s->samples = setup->samples;
	*ret_self = s;
	return 0;
}

static void release(void *self)
{
	struct statcache *s = self;

	nm_evictions_done(&s->evictions);
	nm_reuse_pairs_done(&s->pairs);
	free(s->start);
	free(s->end);
	free(s->misses);
	free(s->slope);
	free(s->changes);
	free(s);
}

static struct moment moment_of(const struct nm_footprint *f, double reference)
{
	const uint32_t window = nm_footprint_window(f, reference);

	return (struct moment){window, (float)(reference / f->length - window)};
}

static int prepare(struct statcache *s)
{
	const size_t n = s->samples->count + 1;
	struct nm_footprint f;
	int status = nm_footprint_make(&f, s->samples);

	s->start = malloc(n * sizeof *s->start);
	s->end = malloc(n * sizeof *s->end);
	s->misses = calloc(n, sizeof *s->misses);
	s->slope = calloc(n, sizeof *s->slope);
	s->changes = calloc(NM_WINDOWS + 1, sizeof *s->changes);
	if (!s->start || !s->end || !s->misses || !s->slope || !s->changes)
		status = NM_ENOMEM;
	if (!status)
		status = nm_evictions_make(&s->evictions, &f);
	for (size_t i = 0; i < s->samples->count && !status; i++) {
		const struct nm_kept_sample *at = &s->samples->at[i];

		s->start[i] = moment_of(&f, (double)at->start);
		if (at->distance != NM_NO_REUSE)
			s->end[i] = moment_of(&f, (double)(at->start + at->distance));
	}
	nm_footprint_done(&f);
	s->prepared = 1;
	return status ? status : nm_reuse_pairs_make(&s->pairs, s->samples);
}

/* Finds what a cache of so many lines does with each sample. */
static void follow(struct statcache *s, uint64_t lines)
{
	struct nm_evictions *e = &s->evictions;

	s->lines = lines;
	nm_evictions_solve(e, lines);
	for (size_t i = 0; i < s->samples->count; i++) {
		const struct nm_kept_sample *at = &s->samples->at[i];
		const double start = (double)at->start;

		if (at->distance == NM_NO_REUSE)
			continue;
		s->misses[i] = nm_evictions_leave(e, nm_evictions_by(e, 0, start + (double)at->distance) -
							 nm_evictions_by(e, 0, start));
		s->slope[i] = (s->misses[i] - 1) * e->log_stay;
	}
	for (uint32_t window = 0; window <= e->windows; window++)
		for (unsigned r = 0; r < NM_REPLICATES; r++)
			s->changes[window][r] = e->paths[1 + r].evicted[window] - e->paths[0].evicted[window];
	nm_reuse_pairs_sum(&s->pairs, s->samples, s->misses);
}

/* What a group's misses change with the evictions at the start of each window: adds that of a moment. */
static void add_slope(double *slopes, const struct moment *at, double slope)
{
	slopes[at->window] += slope * (1 - at->part);
	slopes[at->window + 1] += slope * at->part;
}

/* Adds what misses change in each replicate by its evictions. slopes: [groups->count * (windows + 1)], zeros. */
static void add_changes(const struct statcache *s, const struct nm_groups *groups, double *slopes,
			struct nm_reuse_sum *sums)
{
	const size_t moments = s->evictions.windows + 1;

	for (size_t i = 0; i < s->samples->count; i++) {
		const struct nm_kept_sample *at = &s->samples->at[i];
		const double slope = at->key && !at->aside ? at->weight * s->slope[i] : 0;
		const uint32_t group = nm_group_of(groups, at->key);

		if (!(slope > 0))
			continue;
		for (uint32_t to = 0;; to = group) {
			add_slope(&slopes[to * moments], &s->end[i], slope);
			add_slope(&slopes[to * moments], &s->start[i], -slope);
			if (to == group)
				break;
		}
	}
	for (uint32_t group = 0; group < groups->count; group++)
		for (size_t i = 0; i < moments; i++)
			for (unsigned r = 0; r < NM_REPLICATES; r++)
				sums[group].changes[r] += slopes[group * moments + i] * s->changes[i][r];
}

static int estimate(void *self, const struct nm_groups *groups, uint64_t lines, struct nm_estimate *ret)
{
	struct statcache *s = self;
	struct nm_reuse_sum *sums = calloc(groups->count, sizeof *sums);
	double *slopes = calloc((size_t)groups->count * (NM_WINDOWS + 1), sizeof *slopes);
	int status = sums && slopes && (s->prepared || !prepare(s)) ? 0 : NM_ENOMEM;

	if (!status) {
		if (lines != s->lines)
			follow(s, lines);
		nm_reuse_pairs_add(&s->pairs, groups, sums);
		add_changes(s, groups, slopes, sums);
		nm_reuse_conclude(sums, groups, &errors, ret);
	}
	free(slopes);
	free(sums);
	return status;
}

const struct nm_estimator nm_estimator_statcache = {
    .name = "statcache",
    .policy = "random",
    .summary = "random replacement, from reuse distances (Berg 2004)",
    .make = make,
    .estimate = estimate,
    .free = release};
