/* SPDX-License-Identifier: MIT
 *
 * statstack.c - StatStack: fully associative LRU caches, from reuse samples (Eklov and Hagersten, ISPASS
 * 2010).
 *
 * Of the references between two touches of a line, those count for the stack distance whose line is not
 * touched again before the second touch. A reference with k - 1 others behind it in that window counts with
 * the probability that its reuse distance is k or more. So the expected stack distance of reuse distance D is
 * the sum of these probabilities for k = 1 ... D, and the reference misses in caches of as many lines or
 * fewer.
 *
 * Beside the paper: programs have phases. The run is cut into up to WINDOWS windows, each with its own
 * distribution, and the sum takes for each reference that of the window in which it lies.
 *
 * AET (Hu et al., USENIX ATC 2016) asks for the time in which the same sum reaches the size of the cache; so
 * it predicts the same misses, and has no file here.
 *
 * Intervals: those of independent samples (estimator.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bins.h"
#include "errors.h"
#include "reuse_sums.h"

enum { WINDOWS = 64, SAMPLES_A_WINDOW = 100 };

static const struct nm_model_errors errors = {.whole = {.part = 0.05, .least = 0.0004},
					      .group = {.part = 0.15, .least = 0.0005}};

/* Of the samples that start in a window: */
struct window {
	double survivors[NM_BINS + 1]; /* per reference: distances that are the lowest of a bin or more, */
	double sum[NM_BINS + 1];       /* summed over distances from 1 up to that one */
};

struct statstack {
	struct nm_reuse_samples *samples;
	float *distance; /* expected stack distance of each sample; NULL: not yet */
	struct nm_reuse_pairs pairs;
	uint64_t lines; /* of the cache of the last estimate; 0: none yet */
	double *misses; /* of each sample there: 0 or 1 */
};

/* How the run is cut. */
struct cut {
	struct window *windows;
	uint32_t count;
	double length; /* references of a window */
	double slot;   /* of a slot of the samples */
};

static int make(void **ret_self, const struct nm_estimator_setup *setup)
{
	struct statstack *s = calloc(1, sizeof *s);

	if (!s)
		return NM_ENOMEM;
	s->samples = setup->samples;
	*ret_self = s;
	return 0;
}

static void release(void *self)
{
	struct statstack *s = self;

	nm_reuse_pairs_done(&s->pairs);
	free(s->distance);
	free(s->misses);
	free(s);
}

static double low(unsigned bin) { return (double)nm_bin_low(bin); }

static double middle(unsigned bin) { return (low(bin) + (double)nm_bin_high(bin)) / 2; }

static uint32_t window_of(const struct cut *cut, double reference)
{
	const double at = reference / cut->length;

	return at < cut->count ? (uint32_t)at : cut->count - 1;
}

static double start_of(const struct cut *cut, const struct nm_kept_sample *sample)
{
	return (sample->slot + 0.5) * cut->slot;
}

/* From weights of samples in bins to numbers of those at a bin or above, per reference, and their sums. Within
 * a bin distances are evenly spread. */
static void accumulate(struct window *w, double references)
{
	for (unsigned bin = NM_BINS; bin-- > 0;)
		w->survivors[bin] += w->survivors[bin + 1];
	for (unsigned bin = 0; bin <= NM_BINS; bin++)
		w->survivors[bin] /= fmax(references, 1);
	for (unsigned bin = 0; bin + 1 < NM_BINS; bin++) {
		const double width = low(bin + 1) - low(bin),
			     fall = w->survivors[bin] - w->survivors[bin + 1];

		w->sum[bin + 1] = w->sum[bin] + width * w->survivors[bin] - fall * (width + 1) / 2;
	}
}

/* The sum of the probabilities that a distance is k or more, k = 1 ... distance. */
static double sum_up_to(const struct window *w, double distance)
{
	const unsigned bin = nm_bin_of((uint64_t)distance);
	const double width = (double)(nm_bin_high(bin) - nm_bin_low(bin)) + 1, more = distance - low(bin);
	const double fall = w->survivors[bin] - w->survivors[bin + 1];

	return w->sum[bin] + more * w->survivors[bin] - fall * more * (more + 1) / (2 * width);
}

/* Each window between the touches gives the sum over its part of the references. */
static double expect(const struct cut *cut, double start, double distance)
{
	const double end = start + distance + 1;
	double sum = 0, from = start + 1;

	for (uint32_t i = window_of(cut, from); from < end; i++) {
		const double behind = i + 1 < cut->count ? fmin((i + 1) * cut->length, end) : end;

		if (behind > from)
			sum += sum_up_to(&cut->windows[i], end - from) -
			       sum_up_to(&cut->windows[i], end - behind);
		from = fmax(from, behind);
	}
	return sum;
}

/* Windows are whole slots, and at most WINDOWS. */
static struct cut plan(const struct nm_reuse_samples *samples)
{
	const uint32_t slots = samples->count ? samples->at[samples->count - 1].slot + 1 : 1;
	const double affordable = nm_reuse_samples_effective(samples) / SAMPLES_A_WINDOW;
	const uint32_t most = affordable < 1 ? 1 : affordable < WINDOWS ? (uint32_t)affordable : WINDOWS;
	const uint32_t length = (slots + most - 1) / most;

	return (struct cut){.count = (slots + length - 1) / length,
			    .length = (double)length * (double)samples->slot,
			    .slot = (double)samples->slot};
}

static void fill(struct cut *cut, const struct nm_reuse_samples *samples)
{
	double in_window[WINDOWS] = {0};

	for (size_t i = 0; i < samples->count; i++) {
		const struct nm_kept_sample *sample = &samples->at[i];
		const uint32_t window = window_of(cut, start_of(cut, sample));

		cut->windows[window].survivors[sample->bin < NM_BINS ? sample->bin : NM_BINS] +=
		    sample->weight;
		in_window[window] += sample->further ? 0 : sample->weight;
	}
	for (uint32_t i = 0; i < cut->count; i++)
		accumulate(&cut->windows[i], in_window[i]);
}

/* Samples of one slot and bin have one expected distance. */
static int prepare(struct statstack *s)
{
	const struct nm_reuse_samples *samples = s->samples;
	struct cut cut;
	double last = 0;

	nm_reuse_samples_sort(s->samples);
	cut = plan(samples);
	cut.windows = calloc(cut.count, sizeof *cut.windows);
	s->distance = malloc((samples->count + 1) * sizeof *s->distance);
	s->misses = malloc((samples->count + 1) * sizeof *s->misses);
	if (!cut.windows || !s->distance || !s->misses) {
		free(cut.windows);
		return NM_ENOMEM;
	}
	if (samples->count)
		fill(&cut, samples);
	for (size_t i = 0; i < samples->count; i++) {
		const struct nm_kept_sample *at = &samples->at[i];

		if (at->bin < NM_BINS && (!i || at->slot != at[-1].slot || at->bin != at[-1].bin))
			last = expect(&cut, start_of(&cut, at), middle(at->bin));
		s->distance[i] = (float)last;
	}
	free(cut.windows);
	return nm_reuse_pairs_make(&s->pairs, samples);
}

static int estimate(void *self, const struct nm_groups *groups, uint64_t lines, struct nm_estimate *ret)
{
	struct statstack *s = self;
	struct nm_reuse_sum *sums = calloc(groups->count, sizeof *sums);

	if (!sums || (!s->distance && prepare(s))) {
		free(sums);
		return NM_ENOMEM;
	}
	if (lines != s->lines) {
		s->lines = lines;
		for (size_t i = 0; i < s->samples->count; i++)
			s->misses[i] = s->distance[i] >= (double)lines - 0.5;
		nm_reuse_pairs_sum(&s->pairs, s->samples, s->misses);
	}
	nm_reuse_pairs_add(&s->pairs, groups, sums);
	nm_reuse_conclude(sums, groups, &errors, ret);
	free(sums);
	return 0;
}

const struct nm_estimator nm_estimator_statstack = {.name = "statstack",
						    .policy = "lru",
						    .summary = "LRU, from reuse distances (Eklov 2010)",
						    .make = make,
						    .estimate = estimate,
						    .free = release};
