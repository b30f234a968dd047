/* SPDX-License-Identifier: MIT
 *
 * reuse_sampler.c - see reuse_sampler.h.
 *
 * A byte-wide filter by a hash of the line counts the watches there, so that nearly all lines that nobody
 * watches are told by one look.
 */
#include "reuse_sampler.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "errors.h"
#include "map.h"
#include "vector.h"

enum { FILTER_BITS = 16 };

struct watch {
	uint64_t start;
	uint32_t starter;
	uint32_t next; /* of those that are free: 1 + index; 0: the last */
};

struct nm_reuse_sampler {
	struct nm_reuse_samples *samples;
	double log_pass; /* log(1 - rate) */
	uint64_t random, reference,
	    chosen;            /* numbers of the reference that is made, and of the next to be chosen */
	struct nm_map watched; /* line -> index of its watch: the next touch ends it, so it has one at most */
	struct nm_vec(struct watch) watches;
	uint32_t free;
	uint8_t filter[1 << FILTER_BITS];
};

/* Uniform in (0, 1]. */
static double uniform(struct nm_reuse_sampler *s)
{
	s->random += 0x9e3779b97f4a7c15ull;
	return ((double)(nm_mix64(s->random) >> 11) + 1) * 0x1p-53;
}

static uint64_t gap(struct nm_reuse_sampler *s)
{
	const double n = floor(log(uniform(s)) / s->log_pass);

	return n < 0x1p62 ? 1 + (uint64_t)n : 1ull << 62;
}

struct nm_reuse_sampler *nm_reuse_sampler_new(struct nm_reuse_samples *samples, double rate, uint64_t seed)
{
	struct nm_reuse_sampler *s = calloc(1, sizeof *s);

	assert(rate > 0 && rate <= 1);
	if (!s)
		return NULL;
	s->samples = samples;
	s->log_pass = log1p(-rate);
	s->random = seed;
	s->chosen = gap(s);
	return s;
}

void nm_reuse_sampler_free(struct nm_reuse_sampler *s)
{
	if (!s)
		return;
	nm_map_done(&s->watched);
	nm_vec_free(&s->watches);
	free(s);
}

static uint8_t *filter_of(struct nm_reuse_sampler *s, uint64_t line)
{
	return &s->filter[line * 0x9e3779b97f4a7c15ull >> (64 - FILTER_BITS)];
}

/* A full counter stays full. */
static int watch(struct nm_reuse_sampler *s, uint64_t line, uint32_t key)
{
	uint8_t *filter = filter_of(s, line);
	uint32_t index = s->free - 1;

	if (s->free)
		s->free = s->watches.at[index].next;
	else if (nm_vec_push(&s->watches, (struct watch){0}))
		return NM_ENOMEM;
	else
		index = (uint32_t)s->watches.count - 1;
	s->watches.at[index] = (struct watch){.start = s->reference, .starter = key};
	*filter = (uint8_t)(*filter + (*filter < UINT8_MAX));
	return nm_map_put(&s->watched, line, index);
}

static int end_watch(struct nm_reuse_sampler *s, uint64_t line, uint32_t key)
{
	const uint64_t index = nm_map_get(&s->watched, line, UINT64_MAX);
	uint8_t *filter = filter_of(s, line);
	struct watch *w;
	struct nm_reuse_sample sample;

	if (index == UINT64_MAX || s->watches.at[index].start == s->reference)
		return 0;
	w = &s->watches.at[index];
	sample = (struct nm_reuse_sample){w->start, s->reference - w->start - 1, w->starter, key};
	w->next = s->free;
	s->free = (uint32_t)index + 1;
	nm_map_remove(&s->watched, line);
	*filter = (uint8_t)(*filter - (*filter < UINT8_MAX));
	return nm_reuse_samples_add(s->samples, &sample);
}

int nm_reuse_sampler_touch(struct nm_reuse_sampler *s, uint64_t line, uint32_t key, int first)
{
	s->reference += first != 0;
	if (*filter_of(s, line) && end_watch(s, line, key))
		return NM_ENOMEM;
	if (s->reference < s->chosen || !first)
		return 0;
	s->chosen += gap(s);
	return watch(s, line, key);
}

int nm_reuse_sampler_finish(struct nm_reuse_sampler *s)
{
	uint64_t line, index;
	int status = 0;

	for (size_t i = 0; !status && nm_map_next(&s->watched, &i, &line, &index);) {
		const struct watch *w = &s->watches.at[index];

		status = nm_reuse_samples_add(
		    s->samples, &(struct nm_reuse_sample){w->start, NM_NO_REUSE, w->starter, 0});
	}
	return status;
}
