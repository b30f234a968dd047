/* SPDX-License-Identifier: MIT
 *
 * families_check.c - see families_check.h.
 */
#include "families_check.h"

#include <math.h>
#include <stdlib.h>

#include "reuse_sampler.h"
#include "stack.h"

static const uint32_t object_of[FAMILY_KEYS] = {0, 1, 1, 2, 2, 3, 3}, no_objects[FAMILY_KEYS];

static void must(int failed)
{
	if (failed)
		exit(125);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x >> 12;
	*x ^= *x << 25;
	*x ^= *x >> 27;
	return *x * 0x2545f4914f6cdd1dull;
}

/* ---- truth ---- */

static void add(double *counts, uint32_t key)
{
	counts[0]++;
	counts[object_of[key]]++;
	counts[FAMILY_OBJECTS + key]++;
}

/* The nearest size that analyses ask for: four in each octave. */
static uint64_t quarter_of(double lines)
{
	const double step = exp2(floor(log2(lines))) / 4;

	return (uint64_t)(round(lines / step) * step);
}

/* Sizes from a 64th of the lines that are touched on, with some just below and above all of them. */
static void choose_sizes(const struct family_stream *s, struct family_truth *truth)
{
	static const double parts[FAMILY_SIZES] = {1. / 64, 1. / 32, 1. / 16, 1. / 8, 0.2,  1. / 3,
						   0.5,     0.7,     0.85,    0.97,   1.05, 1.5};
	uint8_t *touched = calloc(s->footprint, 1);
	double lines = 0;

	must(!touched);
	for (size_t i = 0; i < s->count; i++) {
		lines += !touched[s->lines[i]];
		touched[s->lines[i]] = 1;
	}
	free(touched);
	for (unsigned i = 0; i < FAMILY_SIZES; i++)
		truth->lines[i] = quarter_of(fmax(4, lines * parts[i]));
}

/* A cache of random replacement, which fills ways that are free first. */
static void simulate(const struct family_stream *s, uint64_t lines, uint64_t seed, double *misses)
{
	uint32_t *way_of = calloc(s->footprint, sizeof *way_of); /* 1 + way; 0: it is not there */
	uint32_t *line_in = malloc(lines * sizeof *line_in);
	uint64_t used = 0, random = 2 * seed + 1;

	must(!way_of || !line_in);
	for (size_t i = 0; i < s->count; i++) {
		const uint32_t line = s->lines[i];
		uint64_t way = used;

		if (way_of[line])
			continue;
		add(misses, s->keys[i]);
		if (used == lines)
			way_of[line_in[way = (uint64_t)((next_random(&random) >> 32) * lines >> 32)]] = 0;
		else
			used++;
		line_in[way] = line;
		way_of[line] = (uint32_t)way + 1;
	}
	free(way_of);
	free(line_in);
}

static void count_distances(const struct family_stream *s, struct family_truth *truth)
{
	enum { BATCH = 4096 };
	static struct nm_touch touches[BATCH];
	struct nm_lru_stack *stack = nm_stack_new(0);
	size_t n = 0;

	must(!stack);
	for (size_t i = 0; i < s->count; i++) {
		if (!i || s->lines[i] != s->lines[i - 1])
			touches[n++] = (struct nm_touch){.line = s->lines[i],
							 .first = i + 1,
							 .last = i + 1,
							 .key = s->keys[i],
							 .last_key = s->keys[i]};
		if (n < BATCH && i + 1 < s->count)
			continue;
		must(nm_stack_touch(stack, touches, n));
		for (size_t k = 0; k < n; k++)
			for (unsigned size = 0; size < FAMILY_SIZES && touches[k].stack >= truth->lines[size];
			     size++)
				add(truth->lru[size], touches[k].key);
		n = 0;
	}
	nm_stack_free(stack);
}

void family_find_truth(const struct family_stream *s, uint64_t seed, struct family_truth *truth)
{
	double counts[FAMILY_GROUPS] = {0};

	*truth = (struct family_truth){.lines = {0}};
	choose_sizes(s, truth);
	count_distances(s, truth);
	for (unsigned size = 0; size < FAMILY_SIZES; size++)
		simulate(s, truth->lines[size], seed + size, truth->random[size]);
	for (size_t i = 0; i < s->count; i++)
		add(counts, s->keys[i]);
	for (unsigned group = 0; group < FAMILY_GROUPS; group++) {
		truth->references[group] = (uint64_t)counts[group];
		for (unsigned size = 0; size < FAMILY_SIZES && counts[group] > 0; size++) {
			truth->lru[size][group] /= counts[group];
			truth->random[size][group] /= counts[group];
		}
	}
}

/* ---- estimates ---- */

static void take_samples(const struct family_stream *s, const struct family_method *method, uint64_t seed,
			 struct nm_reuse_samples *samples)
{
	struct nm_reuse_sampler *sampler =
	    nm_reuse_sampler_new(samples, method->rate, method->recorded ? 2 : NM_REUSE_ENOUGH, seed);

	must(!sampler ||
	     nm_reuse_sampler_keys(sampler, method->recorded ? no_objects : object_of, FAMILY_KEYS));
	for (size_t i = 0; i < s->count; i++)
		must(nm_reuse_sampler_touch(sampler, s->lines[i], s->lines[i], s->keys[i]));
	must(nm_reuse_sampler_finish(sampler));
	nm_reuse_sampler_free(sampler);
}

static void touch_lines(const struct family_stream *s, const struct nm_estimator *estimator, void *self)
{
	enum { BATCH = 1024 };
	struct nm_line_touch touches[BATCH];
	size_t n = 0;

	must(estimator->keys(self, object_of, FAMILY_KEYS));
	for (size_t i = 0; i < s->count; i++) {
		if (!i || s->lines[i] != s->lines[i - 1])
			touches[n++] = (struct nm_line_touch){s->lines[i], s->keys[i], 0};
		if (n == BATCH || i + 1 == s->count) {
			must(estimator->touch(self, touches, n));
			n = 0;
		}
	}
}

void family_estimate(const struct family_stream *s, const struct family_truth *truth,
		     const struct family_method *method, uint64_t seed,
		     struct nm_estimate ret[FAMILY_SIZES][FAMILY_GROUPS])
{
	static const uint32_t by_key[FAMILY_KEYS] = {0, 1, 2, 3, 4, 5, 6};
	struct nm_reuse_samples samples = {0};
	const struct nm_estimator_setup setup = {.rate = method->rate, .samples = &samples};
	struct nm_groups groups = {.keys = FAMILY_KEYS, .count = 1 + FAMILY_OBJECTS};
	struct nm_estimate keys[FAMILY_KEYS];
	uint64_t references[FAMILY_KEYS] = {s->count};
	void *self;

	must(method->estimator->make(&self, &setup));
	if (method->estimator->touch)
		touch_lines(s, method->estimator, self);
	else
		take_samples(s, method, seed, &samples);
	for (uint32_t key = 1; key < FAMILY_KEYS; key++)
		references[key] = truth->references[FAMILY_OBJECTS + key];
	for (unsigned size = 0; size < FAMILY_SIZES; size++) {
		groups.of_key = object_of;
		groups.count = 1 + FAMILY_OBJECTS;
		groups.references = method->recorded ? NULL : truth->references;
		must(method->estimator->estimate(self, &groups, truth->lines[size], ret[size]));
		groups.of_key = by_key;
		groups.count = FAMILY_KEYS;
		groups.references = method->recorded ? NULL : references;
		must(method->estimator->estimate(self, &groups, truth->lines[size], keys));
		for (unsigned key = 1; key < FAMILY_KEYS; key++)
			ret[size][FAMILY_OBJECTS + key] = keys[key];
	}
	method->estimator->free(self);
	nm_reuse_samples_free(&samples);
}
