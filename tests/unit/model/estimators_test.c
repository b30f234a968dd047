/* SPDX-License-Identifier: MIT
 *
 * estimators_test.c - reuse samples beside a look back over the stream; footprints beside their sums, one step of
 * S at a time; StatCache beside the paper's equation where most of a run lies behind the moment when a cache is
 * full; what few and no samples give.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bins.h"
#include "estimator.h"
#include "footprint.h"
#include "histograms.h"
#include "numbers.h"
#include "reuse_sampler.h"
#include "reuse_sums.h"
#include "stack.h"

enum { REFS = 4000, SLOT = 1000, KEYS = 4, GROUPS = 3, LONGEST = 300 /* stretch that twins sum up */ };

static const uint32_t group_of[KEYS + 1] = {0, 1, 2, 2, 0};
static const struct nm_groups groups = {.of_key = group_of, .keys = KEYS + 1, .count = GROUPS};

struct stream {
	uint64_t lines[REFS];
	uint32_t keys[REFS];
};

/* Each key has lines of its own. `near`: one each, so that distances stay below 64, where bins are single. */
static void make_stream(struct stream *s, int near)
{
	for (size_t i = 0; i < REFS; i++) {
		s->keys[i] = 1 + (uint32_t)below(KEYS);
		s->lines[i] = s->keys[i] << 20 | (uint32_t)(near ? 0 : below(below(8) ? 30 : 600));
	}
}

static size_t next_touch(const struct stream *s, size_t at)
{
	size_t i = at + 1;

	while (i < REFS && s->lines[i] != s->lines[at])
		i++;
	return i;
}

/* Each key is an object of its own. */
static void sample(const struct stream *s, double rate, uint32_t enough, uint64_t seed,
		   struct nm_reuse_samples *ret)
{
	static const uint32_t objects[KEYS + 1] = {0, 1, 2, 3, 4};
	struct nm_reuse_sampler *sampler;

	*ret = (struct nm_reuse_samples){0};
	sampler = nm_reuse_sampler_new(ret, rate, enough, seed);
	assert_non_null(sampler);
	assert_int_equal(nm_reuse_sampler_keys(sampler, objects, KEYS + 1), 0);
	for (size_t i = 0; i < REFS; i++)
		assert_int_equal(nm_reuse_sampler_touch(sampler, s->lines[i], s->lines[i], s->keys[i]), 0);
	assert_int_equal(nm_reuse_sampler_finish(sampler), 0);
	nm_reuse_sampler_free(sampler);
}

static uint64_t slot_of(const struct nm_kept_sample *at) { return (at->start - 1) / SLOT; }

static unsigned bin_of(const struct nm_kept_sample *at)
{
	return at->distance == NM_NO_REUSE ? NM_BIN_COLD : nm_bin_of(at->distance);
}

/* At rate 1, and of objects of few references, each reference is a sample. */
static void test_sampler(void **state)
{
	static struct stream s;
	struct nm_reuse_samples samples;

	(void)state;
	rng_state = 1;
	make_stream(&s, 0);
	for (unsigned small = 0; small < 2; small++) {
		uint64_t expected[REFS / SLOT][NM_BIN_COLD + 1] = {{0}};

		sample(&s, small ? 1e-6 : 1, small ? REFS : 2, 1, &samples);
		assert_int_equal(samples.count, REFS);
		for (size_t i = 0; i < REFS; i++) {
			size_t next = next_touch(&s, i);

			expected[i / SLOT][next < REFS ? nm_bin_of(next - i - 1) : NM_BIN_COLD]++;
		}
		for (size_t i = 0; i < samples.count; i++) {
			assert_true(expected[slot_of(&samples.at[i])][bin_of(&samples.at[i])]-- > 0);
			assert_true(samples.at[i].weight == 1);
		}
		nm_reuse_samples_free(&samples);
	}
}

/* At other rates the samples of an object stand for its references, in each part of the run, however often
 * its rate was halved; and it has enough samples, if it has the references, but not many more. */
static void test_rates_of_objects(void **state)
{
	enum { ENOUGH = 100, SEEDS = 200 };
	static struct stream s;
	uint64_t counts[KEYS + 1] = {0}, before[KEYS + 1] = {0};
	double weights[KEYS + 1] = {0}, early[KEYS + 1] = {0}, cold = 0, all_cold = 0;

	(void)state;
	rng_state = 2;
	make_stream(&s, 0);
	for (size_t i = 0; i < REFS; i++) {
		s.keys[i] = s.keys[i] == 4 && below(20) ? 3 : s.keys[i]; /* key 4 is rare */
		counts[s.keys[i]]++;
		before[s.keys[i]] += i < SLOT;
		all_cold += next_touch(&s, i) == REFS;
	}
	assert_in_range(counts[4], 1, ENOUGH - 1);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct nm_reuse_samples samples;
		uint64_t taken[KEYS + 1] = {0};

		sample(&s, 1e-6, ENOUGH, seed, &samples);
		for (size_t i = 0; i < samples.count; i++) {
			const struct nm_kept_sample *at = &samples.at[i];

			taken[at->starter]++;
			weights[at->starter] += at->weight;
			early[at->starter] += slot_of(at) ? 0 : at->weight;
			cold += at->distance == NM_NO_REUSE ? at->weight : 0;
		}
		for (uint32_t key = 1; key < 4; key++)
			assert_in_range(taken[key], ENOUGH / 4, ENOUGH * 3 / 2);
		assert_int_equal(taken[4], counts[4]);
		nm_reuse_samples_free(&samples);
	}
	for (uint32_t key = 1; key <= KEYS; key++) {
		assert_true(fabs(weights[key] / SEEDS / (double)counts[key] - 1) < 0.03);
		assert_true(fabs(early[key] / SEEDS / (double)before[key] - 1) < 0.06);
	}
	assert_true(fabs(cold / SEEDS / all_cold - 1) < 0.03);
}

/* ---- twins --------------------------------------------------------------------------------------- */

/* S of a window: how probable it is that a line is not touched within u references. Of the samples that have not
 * been touched or lost before the t-th, the part that is touched by it, for each t up to u. */
static void twin_survival(const struct nm_footprint *f, uint32_t window, double survival[REFS])
{
	survival[0] = 1;
	for (uint64_t t = 1; t < REFS; t++) {
		double waiting = 0, touched = 0;

		for (size_t i = 0; i < f->samples->count && t < LONGEST; i++) {
			const struct nm_kept_sample *at = &f->samples->at[i];
			const int ends = at->distance != NM_NO_REUSE;
			const uint64_t time = ends ? at->distance + 1 : REFS - at->start;

			if ((uint32_t)((double)(at->start - 1) / f->length) != window || time < t)
				continue;
			waiting += at->weight;
			touched += ends && time == t ? at->weight : 0;
		}
		survival[t] = survival[t - 1] * (waiting > 0 ? 1 - touched / waiting : 1);
	}
}

/* In steps of half a reference, since windows may end in the middle of one. */
static double twin_lines(const struct nm_footprint *f, const double *survival, uint64_t from, uint64_t to)
{
	double lines = 0;

	for (double x = (double)from + 0.25; x < (double)to; x += 0.5) {
		const uint32_t window = (uint32_t)(x / f->length);

		lines += survival[window * REFS + (uint64_t)((double)to - x)] / 2;
	}
	return lines;
}

static void compare_footprint(const struct nm_reuse_samples *samples)
{
	struct nm_footprint f;
	double *survival, *distances = malloc(samples->count * sizeof *distances);

	assert_int_equal(footprint_make(&f, samples), 0);
	footprint_weigh(&f, 0);
	footprint_distances(&f, distances);
	survival = malloc((size_t)f.windows * REFS * sizeof *survival);
	assert_true(distances && survival && f.windows > 1);
	for (uint32_t window = 0; window < f.windows; window++)
		twin_survival(&f, window, &survival[window * REFS]);
	for (unsigned n = 0; n < 200; n++) {
		const uint64_t from = below(REFS - LONGEST), to = from + below(LONGEST);

		assert_true(fabs(footprint_lines(&f, (double)from, (double)to) -
				 twin_lines(&f, survival, from, to)) < 1e-6);
	}
	for (size_t i = 0; i < samples->count; i++) {
		const struct nm_kept_sample *at = &samples->at[i];

		assert_int_equal(isinf(distances[i]) != 0, at->distance == NM_NO_REUSE);
		if (at->distance < LONGEST - 1)
			assert_true(fabs(distances[i] + 1 -
					 twin_lines(&f, survival, at->start, at->start + at->distance + 1)) <
				    1e-6);
	}
	free(survival);
	free(distances);
	footprint_done(&f);
}

static void test_footprint(void **state)
{
	static struct stream s;

	(void)state;
	for (uint64_t seed = 0; seed < 2; seed++) {
		struct nm_reuse_samples samples;

		rng_state = seed;
		make_stream(&s, 0);
		sample(&s, seed ? 0.1 : 1, 100, seed, &samples);
		compare_footprint(&samples);
		nm_reuse_samples_free(&samples);
	}
}

/* Equation 6 by halving: the sum of f over the samples of the whole run, cold ones included. */
static double twin_statcache(const struct nm_reuse_samples *samples, uint64_t lines)
{
	const double stay = 1 - 1.0 / (double)lines;
	double low = 0, high = 1;

	for (unsigned step = 0; step < 50; step++) {
		const double ratio = (low + high) / 2;
		double sum = 0, n = 0;

		for (size_t i = 0; i < samples->count; i++) {
			const struct nm_kept_sample *at = &samples->at[i];

			n += at->weight;
			sum +=
			    at->weight *
			    (at->distance == NM_NO_REUSE ? 1 : 1 - pow(stay, (double)at->distance * ratio));
		}
		*(sum / n > ratio ? &low : &high) = ratio;
	}
	return low;
}

static double compare_statcache_at(void *estimator, uint64_t lines)
{
	static const struct nm_groups no_groups = {.of_key = group_of, .keys = 0, .count = 1};
	struct nm_estimate got[GROUPS], whole;

	assert_int_equal(nm_estimator_statcache.estimate(estimator, &groups, lines, got), 0);
	for (uint32_t group = 0; group < GROUPS; group++) {
		assert_true(got[group].low <= got[group].miss_ratio);
		assert_true(got[group].high >= got[group].miss_ratio);
		assert_true(got[group].cold_ratio <= got[group].miss_ratio);
	}
	assert_int_equal(nm_estimator_statcache.estimate(estimator, &no_groups, lines, &whole), 0);
	assert_true(whole.miss_ratio == got[0].miss_ratio && whole.low == got[0].low);
	return whole.miss_ratio;
}

/* Misses fall with the size, whichever sizes were asked for before; caches that are soon full have the misses of
 * the paper's equation. */
static void test_statcache(void **state)
{
	static struct stream s;

	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct nm_reuse_samples samples;
		struct nm_estimator_setup setup = {.rate = 1, .samples = &samples};
		double before = 1, first;
		void *estimator;

		rng_state = seed;
		make_stream(&s, seed % 2);
		sample(&s, seed < 2 ? 1 : 0.1, 200, seed, &samples);
		assert_int_equal(nm_estimator_statcache.make(&estimator, &setup), 0);
		first = compare_statcache_at(estimator, 1);
		for (uint64_t lines = 1; lines < 4000; lines += lines / 8 + 1) {
			const double ratio = compare_statcache_at(estimator, lines);

			assert_true(ratio <= before + 1e-6);
			assert_true(lines > 40 || seed % 2 ||
				    fabs(ratio - twin_statcache(&samples, lines)) < 0.01);
			before = ratio;
		}
		assert_true(compare_statcache_at(estimator, 1) == first);
		nm_estimator_statcache.free(estimator);
		nm_reuse_samples_free(&samples);
	}
}

/* Samples miss in caches of their expected stack distance or less. */
static void test_statstack(void **state)
{
	static struct stream s;
	struct nm_reuse_samples samples;
	struct nm_estimator_setup setup = {.rate = 1, .samples = &samples};
	struct nm_footprint f;
	double distances[REFS];
	void *estimator;

	(void)state;
	rng_state = 5;
	make_stream(&s, 0);
	sample(&s, 1, 2, 1, &samples);
	assert_int_equal(footprint_make(&f, &samples), 0);
	footprint_weigh(&f, 0);
	footprint_distances(&f, distances);
	footprint_done(&f);
	assert_int_equal(nm_estimator_statstack.make(&estimator, &setup), 0);
	for (uint64_t lines = 1; lines < 1000; lines = lines * 3 / 2 + 1) {
		struct nm_estimate got[GROUPS];
		double misses = 0;

		for (size_t i = 0; i < samples.count; i++)
			misses += distances[i] >= (double)lines - 0.5;
		assert_int_equal(nm_estimator_statstack.estimate(estimator, &groups, lines, got), 0);
		assert_true(fabs(got[0].miss_ratio - misses / REFS) < 1e-9);
		assert_true(got[0].low <= got[0].miss_ratio && got[0].miss_ratio <= got[0].high);
		assert_int_equal(got[0].samples, REFS);
		assert_int_equal(got[1].samples + got[2].samples < REFS, 1);
	}
	nm_estimator_statstack.free(estimator);
	nm_reuse_samples_free(&samples);
}

/* ---- sums ----------------------------------------------------------------------------------------- */

/* Samples that stand for two references each, three of four of them hits. Where the group is known to have
 * more references than they stand for, the rest are taken to hit as often. Ten more samples end here only, and
 * ten only start here, as its misses do. */
static void test_known_references(void **state)
{
	enum {
		SAMPLES = 100,
		FOREIGN = 10,
		STARTS = SAMPLES + FOREIGN,
		ALL = STARTS + FOREIGN,
		REFERENCES = 250
	};
	static const struct nm_model_errors none = {.whole = {.part = 0}};
	static const uint64_t references[GROUPS] = {[1] = REFERENCES};
	const double hits = 2 * 0.75 * SAMPLES + 2 * FOREIGN, rest = REFERENCES - 2 * STARTS;
	const double hit_part = 0.75 * SAMPLES / STARTS, cold_part = (double)FOREIGN / STARTS;
	struct nm_groups counted = groups;
	struct nm_kept_sample list[ALL];
	const struct nm_reuse_samples samples = {.at = list, .count = ALL};
	double miss[ALL];
	struct nm_reuse_sum sums[GROUPS] = {{0}};
	struct nm_reuse_pairs pairs;
	struct nm_estimate unknown[GROUPS], known[GROUPS];

	(void)state;
	for (unsigned i = 0; i < ALL; i++) {
		list[i] = (struct nm_kept_sample){
		    .starter = i < STARTS ? 1 : 4, .key = i < SAMPLES || i >= STARTS ? 1 : 4, .weight = 2};
		miss[i] = i < SAMPLES && i % 4 == 0;
	}
	counted.references = references;
	assert_int_equal(reuse_pairs_make(&pairs, &samples), 0);
	reuse_pairs_sum(&pairs, &samples, miss);
	reuse_pairs_add(&pairs, &groups, sums);
	reuse_conclude(sums, &groups, &none, unknown);
	reuse_conclude(sums, &counted, &none, known);
	assert_true(fabs(unknown[1].miss_ratio - (1 - hits / (2 * STARTS))) < 1e-9);
	assert_true(fabs(known[1].miss_ratio - (1 - (hits + hit_part * rest) / REFERENCES)) < 1e-9);
	assert_true(fabs(known[1].cold_ratio - cold_part * rest / REFERENCES) < 1e-9);
	assert_int_equal(known[1].samples, STARTS);
	reuse_pairs_done(&pairs);
}

/* References to one line or two: they hit or miss by the larger of the distances, as the exact stack has them. */
static void test_two_lines(void **state)
{
	enum { LINES = 500 };

	(void)state;
	for (unsigned kind = 0; kind < 3; kind++) {
		static const uint32_t objects[] = {0, 1};
		struct nm_reuse_samples samples = {0};
		struct nm_reuse_sampler *sampler = nm_reuse_sampler_new(&samples, 1, 2, 1);
		uint64_t last[LINES + 1] = {0}, expected[NM_BIN_COLD + 1] = {0}, references = 0;

		rng_state = 7;
		assert_int_equal(nm_reuse_sampler_keys(sampler, objects, 2), 0);
		for (uint64_t i = 1; i <= REFS; i++) {
			/* walks on; jumps among pairs; jumps, to one line or two */
			const uint64_t line = kind == 0   ? i % LINES
					      : kind == 1 ? 2 * below(LINES / 2)
							  : below(LINES);
			const uint64_t end = line + (kind < 2 || below(2)),
				       oldest = last[line] < last[end] ? last[line] : last[end];

			expected[oldest ? nm_bin_of(i - oldest - 1) : NM_BIN_COLD]++;
			last[line] = last[end] = i;
			assert_int_equal(nm_reuse_sampler_touch(sampler, line, end, 1), 0);
		}
		assert_int_equal(nm_reuse_sampler_finish(sampler), 0);
		for (size_t i = 0; i < samples.count; i++) {
			const struct nm_kept_sample *at = &samples.at[i];

			references += !at->further;
			if (at->distance != NM_NO_REUSE && !at->aside)
				assert_true(expected[bin_of(at)]-- > 0);
		}
		assert_int_equal(references, REFS);
		for (unsigned bin = 0; bin < NM_BIN_COLD; bin++)
			assert_int_equal(expected[bin], 0);
		nm_reuse_sampler_free(sampler);
		nm_reuse_samples_free(&samples);
	}
}

/* ---- SHARDS --------------------------------------------------------------------------------------- */

enum { TOUCHES = 400000, SMALL_OBJECT = 300, SHARED = 3000, LARGE_OBJECT = 60000 };

/* A third of the touches walks a small object (key 1, object 1), the others jump in a large one (key 2,
 * object 2), half of them in a quarter of it; some of these touch two lines. A third object (key 3) has no
 * lines of its own, but shares some of the large one. None touches the line touched last. */
static void make_touches(struct nm_line_touch *touches)
{
	for (size_t i = 0; i < TOUCHES; i++)
		touches[i] =
		    i % 3
			? (struct nm_line_touch){1 << 20 | below(below(2) ? LARGE_OBJECT : LARGE_OBJECT / 4),
						 2, i % 24 == 2}
			: (struct nm_line_touch){i / 3 % SMALL_OBJECT, 1, 0};
	for (size_t i = 4; i < TOUCHES; i += 6)
		touches[i] = (struct nm_line_touch){1 << 20 | below(SHARED), 3, 0};
	for (size_t i = 1; i < TOUCHES; i++)
		if (touches[i].line == touches[i - 1].line)
			touches[i].line ^= 1;
}

/* References of each key, and of all, by the bin of their exact distance. */
static void count_exactly(const struct nm_line_touch *touches, uint64_t counts[4][NM_BIN_COLD + 1])
{
	static struct nm_touch found[TOUCHES];
	struct nm_lru_stack *stack = nm_stack_new(0);
	struct nm_histograms *histograms = nm_histograms_new();
	struct nm_bin_count *rows;
	uint64_t reference = 0;
	size_t n;

	for (size_t i = 0; i < TOUCHES; i++) {
		const uint32_t key = touches[i].key;

		reference += !touches[i].same;
		found[i] = (struct nm_touch){.line = touches[i].line,
					     .first = reference,
					     .last = reference,
					     .key = key,
					     .last_key = key};
	}
	assert_int_equal(nm_stack_touch(stack, found, TOUCHES), 0);
	assert_int_equal(nm_histograms_add(histograms, found, TOUCHES), 0);
	assert_int_equal(nm_histograms_list(histograms, &rows, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (rows[i].unit == NM_DISTANCE_LINES) {
			counts[0][rows[i].bin] += rows[i].count;
			counts[rows[i].key][rows[i].bin] += rows[i].count;
		}
	free(rows);
	nm_histograms_free(histograms);
	nm_stack_free(stack);
}

static uint64_t sum(const uint64_t *counts)
{
	uint64_t all = 0;

	for (unsigned bin = 0; bin <= NM_BIN_COLD; bin++)
		all += counts[bin];
	return all;
}

static double ratio_at(const uint64_t *counts, uint64_t lines)
{
	double misses = 0;

	for (unsigned bin = nm_bin_of(lines); bin <= NM_BIN_COLD; bin++)
		misses += (double)counts[bin];
	return misses / (double)sum(counts);
}

/* The mean error over sizes of the whole must be below `whole`, that of the small object be 0 where all it
 * meets is exact, and that of the one that shares lines small, though most of its first touches look cold. */
static void compare_shards(const struct nm_estimator *estimator, double rate, double whole)
{
	static struct nm_line_touch touches[TOUCHES];
	static uint64_t counts[4][NM_BIN_COLD + 1];
	static const uint32_t objects[] = {0, 1, 2, 3}, of_key[] = {0, 1, 2, 3};
	uint64_t references[4];
	const struct nm_groups by_key = {.of_key = of_key, .keys = 4, .count = 4, .references = references};
	const struct nm_estimator_setup setup = {.rate = rate};
	double error = 0, sizes = 0, covered = 0, shared = 0;
	void *self;

	rng_state = 3;
	memset(counts, 0, sizeof counts);
	make_touches(touches);
	count_exactly(touches, counts);
	for (unsigned key = 0; key < 4; key++)
		references[key] = sum(counts[key]);
	assert_int_equal(estimator->make(&self, &setup), 0);
	assert_int_equal(estimator->keys(self, objects, 4), 0);
	for (size_t i = 0; i < TOUCHES; i += 1000)
		assert_int_equal(estimator->touch(self, &touches[i], 1000), 0);
	for (uint64_t lines = 64; lines < 1 << 17; lines *= 2, sizes++) {
		struct nm_estimate got[4];
		double truth = ratio_at(counts[0], lines);

		assert_int_equal(estimator->estimate(self, &by_key, lines, got), 0);
		error += fabs(got[0].miss_ratio - truth);
		shared += fabs(got[3].miss_ratio - ratio_at(counts[3], lines));
		covered += truth >= got[0].low - 1e-9 && truth <= got[0].high + 1e-9;
		assert_true(rate < 1 || fabs(got[0].miss_ratio - truth) < 1e-9 ||
			    estimator == &nm_estimator_shards_size);
		if (lines < SMALL_OBJECT / 2 || lines > 8 * SMALL_OBJECT)
			assert_true(fabs(got[1].miss_ratio - ratio_at(counts[1], lines)) < 1e-9);
	}
	assert_true(error / sizes <= whole);
	assert_true(shared / sizes <= whole / 2);
	assert_true(covered / sizes > 0.8);
	estimator->free(self);
}

static void test_shards(void **state)
{
	(void)state;
	compare_shards(&nm_estimator_shards, 1, 1e-9);
	compare_shards(&nm_estimator_shards, 0.1, 0.01);
	compare_shards(&nm_estimator_shards, 0.01, 0.03);
	compare_shards(&nm_estimator_shards_size, 1, 0.01);
}

static void feed(const struct nm_estimator *estimator, double rate, const struct nm_line_touch *touches,
		 const uint32_t *objects, size_t keys, void **ret_self)
{
	const struct nm_estimator_setup setup = {.rate = rate};

	assert_int_equal(estimator->make(ret_self, &setup), 0);
	assert_int_equal(estimator->keys(*ret_self, objects, keys), 0);
	assert_int_equal(estimator->touch(*ret_self, touches, TOUCHES), 0);
}

/* A walk around a few lines, which a walk through many separates: one of a hundred of these is sampled, so a
 * round looks by a hundred lines longer or not longer at all. Intervals hold the truth at all sizes (but for two of a
 * hundred touches), and no more than what may be wrong. */
static void test_blurred_distances(void **state)
{
	enum { FEW = 128, MANY = 150000 };
	static struct nm_line_touch touches[TOUCHES];
	static uint64_t counts[4][NM_BIN_COLD + 1];
	static const uint32_t objects[] = {0, 1, 2}, of_key[] = {0, 1, 2};
	const struct nm_groups by_key = {.of_key = of_key,
					 .keys = 3,
					 .count = 3,
					 .references = (uint64_t[]){TOUCHES, TOUCHES / 2, TOUCHES / 2}};
	void *self;

	(void)state;
	for (size_t i = 0; i < TOUCHES; i++)
		touches[i] = i % 2 ? (struct nm_line_touch){1 << 20 | (i / 2 % MANY), 2, 0}
				   : (struct nm_line_touch){i / 2 % FEW, 1, 0};
	count_exactly(touches, counts);
	feed(&nm_estimator_shards, 0.01, touches, objects, 3, &self);
	for (uint64_t octave = 4; octave < 1 << 17; octave *= 2)
		for (uint64_t lines = octave; lines < 2 * octave; lines += octave / 4) {
			struct nm_estimate got[3];

			assert_int_equal(nm_estimator_shards.estimate(self, &by_key, lines, got), 0);
			for (unsigned group = 0; group < 2; group++) {
				const double truth = ratio_at(counts[group], lines);

				assert_true(truth >= got[group].low - 0.02 &&
					    truth <= got[group].high + 0.02);
			}
			if (lines > 64 * FEW)
				assert_true(got[1].high - got[1].low < 1e-3);
		}
	nm_estimator_shards.free(self);
}

/* More keys than a bounded memory has rows for, in groups of a hundred: half of the touches of each are cold,
 * and what is not known of a key is part of its group's interval. */
static void test_many_keys(void **state)
{
	enum { MANY = TOUCHES / 4, TOGETHER = 100, ALL = MANY / TOGETHER + 1 };
	static struct nm_line_touch touches[TOUCHES];
	static uint32_t objects[MANY + 1], of_key[MANY + 1];
	static uint64_t references[ALL + 1];
	static struct nm_estimate got[ALL + 1];
	const struct nm_groups by_key = {
	    .of_key = of_key, .keys = MANY + 1, .count = ALL + 1, .references = references};
	unsigned held = 0;
	void *self;

	(void)state;
	for (uint32_t key = 1; key <= MANY; key++) {
		objects[key] = key;
		of_key[key] = 1 + key / TOGETHER;
		references[of_key[key]] += 4;
	}
	references[0] = TOUCHES;
	for (uint32_t i = 0; i < TOUCHES; i++)
		touches[i] = (struct nm_line_touch){i / 4 * 2 + i % 2, 1 + i / 4, 0};
	feed(&nm_estimator_shards_size, 1, touches, objects, MANY + 1, &self);
	assert_int_equal(nm_estimator_shards_size.estimate(self, &by_key, 4, got), 0);
	for (uint32_t group = 0; group <= ALL; group++)
		held += got[group].low <= 0.5 + 1e-4 && got[group].high >= 0.5 - 1e-4;
	assert_true(fabs(got[0].miss_ratio - 0.5) < 0.01);
	assert_true(held > 0.93 * ALL);
	nm_estimator_shards_size.free(self);
}

/* No sample: nothing is known. One: next to nothing. */
static void test_few(void **state)
{
	(void)state;
	for (size_t i = 0; nm_estimators[i]; i++) {
		struct nm_reuse_samples samples = {0};
		struct nm_estimator_setup setup = {.rate = 1, .samples = &samples};
		struct nm_estimate got[GROUPS];
		void *estimator;

		if (nm_estimators[i]->touch)
			continue;
		assert_ptr_equal(nm_estimator_named(nm_estimators[i]->name), nm_estimators[i]);
		for (unsigned n = 0; n < 2; n++) {
			assert_int_equal(nm_estimators[i]->make(&estimator, &setup), 0);
			assert_int_equal(nm_estimators[i]->estimate(estimator, &groups, 10, got), 0);
			assert_int_equal(got[0].samples, n);
			assert_int_equal(!!isnan(got[0].miss_ratio), !n);
			assert_true(isnan(got[2].miss_ratio));
			assert_true(got[0].high - got[0].low > 0.7);
			nm_estimators[i]->free(estimator);
			assert_int_equal(
			    nm_reuse_samples_add(
				&samples,
				&(struct nm_reuse_sample){
				    .start = 1, .distance = 5, .starter = 1, .key = 1, .weight = 100}),
			    0);
		}
		nm_reuse_samples_free(&samples);
	}
	assert_null(nm_estimator_named("stat"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sampler),   cmocka_unit_test(test_rates_of_objects),
	    cmocka_unit_test(test_footprint), cmocka_unit_test(test_statcache),
	    cmocka_unit_test(test_statstack), cmocka_unit_test(test_shards),
	    cmocka_unit_test(test_few),       cmocka_unit_test(test_blurred_distances),
	    cmocka_unit_test(test_many_keys), cmocka_unit_test(test_known_references),
	    cmocka_unit_test(test_two_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
