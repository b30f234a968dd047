/* SPDX-License-Identifier: MIT
 *
 * pass_estimates.c - curves estimated from samples (estimator.h). The samples are drawn from all references
 * at the rates that the user requested, or are those of a sampled recording.
 *
 * Estimators that need reuse samples of one rate share them. References that are not counted are left out,
 * because to an estimator every touch is part of the curve.
 */
#include <stdlib.h>
#include <string.h>

#include "estimates.h"
#include "pass.h"
#include "reuse_sampler.h"

enum { DEFAULT_LINE = 64 /* of machines without data caches */, TOUCHES = 1024, SEED = 1 };

struct entry {
	const struct nm_estimator *estimator;
	void *self;
	double rate;
	struct nm_reuse_samples *samples; /* NULL: it is given touches */
};

struct sampling {
	struct nm_reuse_samples samples;
	struct nm_reuse_sampler *sampler;
	double rate;
};

struct estimates {
	const struct nm_coalesced_table *coalesced;
	unsigned shift; /* of addresses to lines */
	struct entry entries[NM_MAX_ESTIMATES];
	unsigned count;
	struct sampling samplings[NM_MAX_ESTIMATES];
	unsigned sampling_count;
	int has_touched;              /* some entries are given touches */
	int sampled;                  /* the recording is */
	struct nm_reuse_samples sent; /* by the collector of a sampled recording */
	struct nm_line_touch touches[TOUCHES];
	size_t touch_count;
	uint32_t told; /* 1: a touch of the last reference is among the touches, or was */
	uint64_t top;  /* the line touched last */
};

static void estimates_release(void *self)
{
	struct estimates *e = self;

	for (unsigned i = 0; i < e->count; i++)
		if (e->entries[i].self)
			e->entries[i].estimator->free(e->entries[i].self);
	for (unsigned i = 0; i < e->sampling_count; i++) {
		nm_reuse_sampler_free(e->samplings[i].sampler);
		nm_reuse_samples_free(&e->samplings[i].samples);
	}
	nm_reuse_samples_free(&e->sent);
	free(e);
}

/* The samples at a rate.  NULL: out of memory. */
static struct nm_reuse_samples *samples_at(struct estimates *e, double rate)
{
	struct sampling *s = e->samplings;

	for (; s < e->samplings + e->sampling_count; s++)
		if (s->rate == rate)
			return &s->samples;
	*s = (struct sampling){.rate = rate};
	s->sampler = nm_reuse_sampler_new(&s->samples, rate, NM_REUSE_ENOUGH, SEED);
	e->sampling_count++;
	return s->sampler ? &s->samples : NULL;
}

static int add_entry(struct estimates *e, const struct nm_estimate_request *request,
		     struct nm_reuse_samples *samples)
{
	struct entry *entry = &e->entries[e->count];
	const struct nm_estimator_setup setup = {.rate = request->rate, .samples = samples};

	*entry = (struct entry){.estimator = request->estimator, .rate = request->rate, .samples = samples};
	e->has_touched |= request->estimator->touch != NULL;
	e->count++;
	return request->estimator->make(&entry->self, &setup);
}

static unsigned estimates_needs(const struct nm_engine_options *options)
{
	return options->estimate_count ? NM_PASS_KEYS : 0;
}

static int estimates_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	const struct nm_engine_options *options = setup->options;
	const struct nm_level_spec *level = nm_machine_data_cache(options->machine);
	struct estimates *e = calloc(1, sizeof *e);
	int status = e ? 0 : NM_ENOMEM;

	if (e) {
		e->coalesced = setup->coalesced;
		e->shift = (unsigned)__builtin_ctz(level ? level->line : DEFAULT_LINE);
		e->top = UINT64_MAX;
	}
	for (unsigned i = 0; !status && i < options->estimate_count; i++) {
		const struct nm_estimate_request *request = &options->estimates[i];
		struct nm_reuse_samples *samples =
		    request->estimator->touch ? NULL : samples_at(e, request->rate);

		if (!samples && !request->estimator->touch)
			status = NM_ENOMEM;
		else
			status = add_entry(e, request, samples);
	}
	if (!status) {
		*ret_self = e;
		return 0;
	}
	if (e)
		estimates_release(e);
	return nm_fail_memory(err);
}

static int touch_estimators(struct estimates *e)
{
	int status = 0;

	for (unsigned i = 0; i < e->count && !status; i++)
		if (e->entries[i].estimator->touch)
			status =
			    e->entries[i].estimator->touch(e->entries[i].self, e->touches, e->touch_count);
	e->touch_count = 0;
	return status;
}

static int touch_lines(struct estimates *e, uint64_t first, uint64_t last, uint32_t key)
{
	for (unsigned i = 0; i < e->sampling_count; i++)
		if (nm_reuse_sampler_touch(e->samplings[i].sampler, first, last, key))
			return NM_ENOMEM;
	e->told = 0;
	for (uint64_t line = first; line <= last && e->has_touched; line++) {
		if (line == e->top)
			continue;
		e->top = line;
		e->touches[e->touch_count++] = (struct nm_line_touch){line, key, e->told};
		e->told = 1;
		if (e->touch_count == TOUCHES && touch_estimators(e))
			return NM_ENOMEM;
	}
	return 0;
}

static int estimates_batch(void *self, const struct nm_pass_batch *b)
{
	struct estimates *e = self;
	struct nm_ref refs[NM_COALESCED_MAX];

	if (!e->count)
		return 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct nm_ref *r = &b->refs[i];
		unsigned n = r->kind == NM_REF_FETCH ? 0 : nm_pass_expand(e->coalesced, r, refs);

		for (unsigned k = 0; k < n; k++) {
			const uint64_t first = refs[k].address >> e->shift;
			const uint64_t last = (refs[k].address + refs[k].size - 1) >> e->shift;

			if (touch_lines(e, first, last, r->weight ? refs[k].attr : 0))
				return NM_ENOMEM;
		}
	}
	return 0;
}

static int estimates_keys(void *self, const struct nm_attribution *attributions, size_t count)
{
	struct estimates *e = self;
	uint32_t *objects = calloc(count + 1, sizeof *objects);
	int status = objects ? 0 : NM_ENOMEM;

	for (size_t i = 0; i < count && objects; i++)
		objects[i] = attributions[i].object;
	if (!status)
		status = touch_estimators(e);
	for (unsigned i = 0; i < e->sampling_count && !status; i++)
		status = nm_reuse_sampler_keys(e->samplings[i].sampler, objects, count);
	for (unsigned i = 0; i < e->count && !status; i++)
		if (e->entries[i].estimator->keys)
			status = e->entries[i].estimator->keys(e->entries[i].self, objects, count);
	free(objects);
	return status;
}

/* Of a sampled recording: all estimators that need reuse samples. */
static int estimates_reuse(void *self, const struct nm_reuse_sample *sample)
{
	struct estimates *e = self;

	e->sampled = 1;
	return nm_reuse_samples_add(&e->sent, sample);
}

static int use_sent(struct estimates *e)
{
	int status = 0;

	assert(!e->count);
	for (size_t i = 0; nm_estimators[i] && !status; i++) {
		const struct nm_estimate_request request = {.estimator = nm_estimators[i], .rate = 1};

		if (!nm_estimators[i]->touch)
			status = add_entry(e, &request, &e->sent);
	}
	return status;
}

static int end_samplings(struct estimates *e)
{
	int status = touch_estimators(e);

	for (unsigned i = 0; i < e->sampling_count && !status; i++)
		status = nm_reuse_sampler_finish(e->samplings[i].sampler);
	return status;
}

/* Whether a method is requested at several rates. */
static int has_rates(const struct estimates *e, const struct nm_estimator *estimator)
{
	unsigned n = 0;

	for (unsigned i = 0; i < e->count; i++)
		n += e->entries[i].estimator == estimator;
	return n > 1;
}

static int estimates_finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct estimates *e = self;
	uint64_t *references = e->sampled ? NULL : nm_pass_references(merge, result);
	int status = e->sampled ? use_sent(e) : references ? end_samplings(e) : NM_ENOMEM;

	for (unsigned i = 0; i < e->count && !status; i++) {
		const struct nm_estimate_query query = {
		    .estimator = e->entries[i].estimator,
		    .self = e->entries[i].self,
		    .rate = has_rates(e, e->entries[i].estimator) ? e->entries[i].rate : 0,
		    .attr_of = e->sampled ? merge->attrs : merge->keys,
		    .keys = e->sampled ? nm_program_attributions(merge->program) : merge->key_count,
		    .references = references,
		    .line = e->sampled ? nm_program_sampled_line(merge->program) : 1u << e->shift};

		status = nm_estimates_add(result, &query);
	}
	free(references);
	return status;
}

const struct nm_pass nm_pass_estimates = {.name = "estimates",
					  .separate = 1,
					  .needs = estimates_needs,
					  .make = estimates_make,
					  .batch = estimates_batch,
					  .keys = estimates_keys,
					  .reuse = estimates_reuse,
					  .finish = estimates_finish,
					  .free = estimates_release};
