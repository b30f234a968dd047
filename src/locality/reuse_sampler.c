/* SPDX-License-Identifier: MIT
 *
 * A byte-wide filter by a hash of the line counts the watches there, so that nearly all lines that nobody
 * watches are told by one look. A reference that is chosen gets a *limit*: the largest weight of its object at
 * which it would still have been chosen. Where a rate was halved, samples of smaller limits are dropped when the
 * list has doubled. Until the end, the weight of a sample in the list is its limit.
 *
 * A reference hits or misses by the line whose last touch is longest ago, the first of them if they are equal.
 * Whether a watched line is that one tell the touches of its neighbours while it is watched: those that the
 * reference which ends the watch touches too must have been touched since.
 */
#include "reuse_sampler.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "errors.h"
#include "map.h"
#include "vector.h"

enum { FILTER_BITS = 16, FIRST_THINNING = 1 << 16 };

struct watch {
	uint64_t start;
	uint64_t before, behind; /* references that first touched the line's neighbours since; 0: none */
	uint32_t starter;
	uint32_t next; /* of those that are free: 1 + index; 0: the last */
	float limit;
	uint8_t further, not_last; /* of the lines of the reference that began it */
};

struct object {
	uint64_t left;   /* references up to the next one to be chosen, which is the last of them */
	double weight;   /* references that a sample stands for: 1 / its rate */
	double log_pass; /* log(1 - its rate) */
	uint32_t taken;  /* samples at this rate, or as many as those before are thinned to */
};

struct nm_reuse_sampler {
	struct nm_reuse_samples *samples;
	double most;     /* weight of an object: 1 / the rate that was asked for */
	uint32_t enough; /* samples of an object with less weight */
	uint64_t random, reference;
	size_t thin_at; /* so many samples */
	struct nm_vec(struct object) objects;
	struct nm_vec(uint32_t) object_of; /* [key] */
	struct nm_map watched; /* line -> index of its watch: the next touch ends it, so it has one at most */
	struct nm_vec(struct watch) watches;
	uint32_t free;
	uint8_t filter[1 << FILTER_BITS];
};

/* Uniform in (0, 1]. */
static double draw_uniform(struct nm_reuse_sampler *s)
{
	s->random += 0x9e3779b97f4a7c15ull;
	return ((double)(nm_mix64(s->random) >> 11) + 1) * 0x1p-53;
}

static uint64_t draw_gap(struct nm_reuse_sampler *s, const struct object *o)
{
	const double n = floor(log(draw_uniform(s)) / o->log_pass);

	return n < 0x1p62 ? 1 + (uint64_t)n : 1ull << 62;
}

/* ---- rates of objects ---- */

static void set_weight(struct nm_reuse_sampler *s, struct object *o, double weight)
{
	o->taken = (uint32_t)(o->taken * (o->weight / weight));
	o->weight = weight;
	o->log_pass = log1p(-1 / weight);
	o->left = draw_gap(s, o);
}

static struct object *object_of(struct nm_reuse_sampler *s, uint32_t key)
{
	assert(key < s->object_of.count);
	return &s->objects.at[s->object_of.at[key]];
}

int nm_reuse_sampler_keys(struct nm_reuse_sampler *s, const uint32_t *objects, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (nm_vec_push(&s->object_of, objects[i]))
			return NM_ENOMEM;
		while (s->objects.count <= objects[i]) {
			if (nm_vec_push(&s->objects, (struct object){.weight = 1}))
				return NM_ENOMEM;
			set_weight(s, &s->objects.at[s->objects.count - 1], 1);
		}
	}
	return 0;
}

/* Drops samples that would not have been chosen at the rates that their objects have now. */
static void thin_samples(struct nm_reuse_sampler *s)
{
	struct nm_reuse_samples *samples = s->samples;
	size_t n = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (samples->at[i].weight >= (float)object_of(s, samples->at[i].starter)->weight)
			samples->at[n++] = samples->at[i];
	samples->count = n;
	s->thin_at = n < FIRST_THINNING / 2 ? FIRST_THINNING : 2 * n;
}

static int add_sample(struct nm_reuse_sampler *s, const struct nm_reuse_sample *sample)
{
	if (s->samples->count >= s->thin_at)
		thin_samples(s);
	return nm_reuse_samples_add(s->samples, sample);
}

/* ---- watches ---- */

struct nm_reuse_sampler *nm_reuse_sampler_new(struct nm_reuse_samples *samples, double rate, uint32_t enough,
					      uint64_t seed)
{
	struct nm_reuse_sampler *s = calloc(1, sizeof *s);

	assert(rate > 0 && rate <= 1 && enough >= 2);
	if (!s)
		return NULL;
	s->samples = samples;
	s->most = 1 / rate;
	s->enough = enough;
	s->random = seed;
	s->thin_at = FIRST_THINNING;
	return s;
}

void nm_reuse_sampler_free(struct nm_reuse_sampler *s)
{
	if (!s)
		return;
	nm_vec_free(&s->objects);
	nm_vec_free(&s->object_of);
	nm_map_done(&s->watched);
	nm_vec_free(&s->watches);
	free(s);
}

static uint8_t *filter_of(struct nm_reuse_sampler *s, uint64_t line)
{
	return &s->filter[line * 0x9e3779b97f4a7c15ull >> (64 - FILTER_BITS)];
}

/* A line and its neighbours are in the filter. A full counter stays full. */
static void filter_in(struct nm_reuse_sampler *s, uint64_t line)
{
	for (uint64_t near = line - 1; near != line + 2; near++) {
		uint8_t *filter = filter_of(s, near);

		*filter = (uint8_t)(*filter + (*filter < UINT8_MAX));
	}
}

static void filter_out(struct nm_reuse_sampler *s, uint64_t line)
{
	for (uint64_t near = line - 1; near != line + 2; near++) {
		uint8_t *filter = filter_of(s, near);

		*filter = (uint8_t)(*filter - (*filter < UINT8_MAX));
	}
}

static int watch_line(struct nm_reuse_sampler *s, uint64_t line, const struct watch *w)
{
	uint32_t index = s->free - 1;

	if (s->free)
		s->free = s->watches.at[index].next;
	else if (nm_vec_push(&s->watches, (struct watch){0}))
		return NM_ENOMEM;
	else
		index = (uint32_t)s->watches.count - 1;
	s->watches.at[index] = *w;
	filter_in(s, line);
	return nm_map_put(&s->watched, line, index);
}

/* Tells the watches of the lines beside a line that it is touched. */
static void note_touch(struct nm_reuse_sampler *s, uint64_t line)
{
	const uint64_t lower = nm_map_get(&s->watched, line - 1, UINT64_MAX);
	const uint64_t upper = nm_map_get(&s->watched, line + 1, UINT64_MAX);

	if (lower != UINT64_MAX && !s->watches.at[lower].behind)
		s->watches.at[lower].behind = s->reference;
	if (upper != UINT64_MAX && !s->watches.at[upper].before)
		s->watches.at[upper].before = s->reference;
}

/* The running reference touches lines from `first` to `last`. */
static int end_watch(struct nm_reuse_sampler *s, uint64_t line, uint64_t first, uint64_t last, uint32_t key)
{
	const uint64_t index = nm_map_get(&s->watched, line, UINT64_MAX), now = s->reference;
	struct nm_reuse_sample sample;
	struct watch w;

	if (index == UINT64_MAX)
		return 0;
	w = s->watches.at[index];
	s->watches.at[index].next = s->free;
	s->free = (uint32_t)index + 1;
	nm_map_remove(&s->watched, line);
	filter_out(s, line);
	sample = (struct nm_reuse_sample){.start = w.start,
					  .distance = now - w.start - 1,
					  .starter = w.starter,
					  .key = key,
					  .weight = w.limit,
					  .further = w.further};
	if (line > first)
		sample.aside = !w.before || w.before == now;
	if (line < last && !w.not_last)
		sample.aside |= !w.behind || w.behind == now;
	return add_sample(s, &sample);
}

/* Whether a reference of an object is chosen: its limit, or 0. */
static double choose_reference(struct nm_reuse_sampler *s, struct object *o)
{
	double limit;

	if (--o->left)
		return 0;
	limit = o->weight / draw_uniform(s);
	o->taken += o->taken < UINT32_MAX;
	o->left = draw_gap(s, o);
	if (o->taken > s->enough && o->weight < s->most)
		set_weight(s, o, fmin(2 * o->weight, s->most));
	return limit;
}

int nm_reuse_sampler_touch(struct nm_reuse_sampler *s, uint64_t first, uint64_t last, uint32_t key)
{
	const double limit = choose_reference(s, object_of(s, key));

	assert(first <= last);
	s->reference++;
	for (uint64_t line = first; line <= last; line++) {
		if (!*filter_of(s, line))
			continue;
		note_touch(s, line);
		if (end_watch(s, line, first, last, key))
			return NM_ENOMEM;
	}
	for (uint64_t line = first; line <= last && limit > 0; line++)
		if (watch_line(s, line,
			       &(struct watch){.start = s->reference,
					       .starter = key,
					       .limit = (float)limit,
					       .further = line > first,
					       .not_last = line < last}))
			return NM_ENOMEM;
	return 0;
}

int nm_reuse_sampler_finish(struct nm_reuse_sampler *s)
{
	uint64_t line, index;
	int status = 0;

	for (size_t i = 0; !status && nm_map_next(&s->watched, &i, &line, &index);) {
		const struct watch *w = &s->watches.at[index];

		status = add_sample(s, &(struct nm_reuse_sample){.start = w->start,
								 .distance = NM_NO_REUSE,
								 .starter = w->starter,
								 .weight = w->limit,
								 .further = w->further});
	}
	s->samples->references = s->reference;
	if (!status)
		thin_samples(s);
	for (size_t i = 0; i < s->samples->count; i++)
		s->samples->at[i].weight = (float)object_of(s, s->samples->at[i].starter)->weight;
	return status;
}
