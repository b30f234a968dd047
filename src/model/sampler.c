/* SPDX-License-Identifier: MIT
 *
 * The number of followed lines is halved when more residencies have been sampled than allowed: FOLLOWED for
 * each halving so far, and one in FOLLOWED_PART loads.
 */
#include "sampler.h"

#include <assert.h>
#include <string.h>

#include "cache.h"
#include "map.h"

enum {
	GAP_GROWTH = 2048,   /* a gap is this part of all loads so far */
	FOLLOWED = 8192,     /* residencies of followed lines before they are halved, each time */
	FOLLOWED_PART = 128, /* one in this many loads is allowed in any case */
	REST = 4096          /* about how many residencies are sampled at the end */
};

void nm_sampler_init(struct nm_sampler *w)
{
	memset(w, 0, sizeof *w);
	w->due = w->gap = 1;
	w->chosen = UINT64_MAX;
	w->allowed = FOLLOWED;
}

void nm_sampler_done(struct nm_sampler *s)
{
	for (unsigned i = 0; i < NM_SAMPLE_LISTS; i++)
		nm_vec_free(&s->lists[i].list);
}

void nm_sampler_next(struct nm_sampler *s)
{
	s->to = &s->lists[s->batches++ % NM_SAMPLE_LISTS];
	s->to->chosen = s->chosen;
	s->latest = 0;
}

static void push_sample(struct nm_sampler *s, const struct nm_line_sample *sample)
{
	if (nm_vec_push(&s->to->list, *sample))
		s->failed = 1;
}

/* Samples the residency at a slot, which stands for `weight` of them. */
static void sample_residency(struct nm_cache *c, uint32_t slot, uint32_t weight)
{
	struct nm_sampler *s = c->sampler;
	const struct nm_residency *residency = &c->residencies[slot];
	struct nm_line_sample g = {.address = c->tags[slot] << c->line_shift,
				   .served = residency->served,
				   .weight = weight,
				   .attr = residency->attr,
				   .residency = 1,
				   .followed = nm_sampler_hash(c->tags[slot]) <= s->chosen};

	assert(slot < c->slots);
	if (!weight && !g.followed)
		return;
	memcpy(g.mask, nm_cache_mask(c, slot), c->words * sizeof *g.mask);
	push_sample(s, &g);
	s->followed += g.followed;
	if (s->followed > s->allowed + s->loads / FOLLOWED_PART) {
		s->chosen /= 2;
		s->to->chosen = s->chosen;
		s->allowed += FOLLOWED;
	}
}

static uint64_t gap_after(uint64_t loads)
{
	uint64_t mean = loads / GAP_GROWTH < NM_SAMPLE_GAP - 1 ? loads / GAP_GROWTH : NM_SAMPLE_GAP - 1;

	return 1 + mean / 2 + nm_mix64(loads) % (mean + 1);
}

void nm_sampler_sample_fill(struct nm_sampler *s, uint64_t address, uint32_t attr, unsigned write)
{
	struct nm_line_sample miss = {
	    .address = address, .weight = (uint32_t)s->gap, .attr = attr, .write = (uint8_t)write};

	assert(s->to && s->gap);
	s->weight = miss.weight;
	s->loads += s->gap;
	s->due = s->gap = gap_after(s->loads);
	push_sample(s, &miss);
	s->latest = s->failed ? 0 : s->to->list.count;
}

void nm_sampler_further(struct nm_sampler *s, size_t miss, const struct nm_cache *c)
{
	assert(miss && miss <= s->to->list.count);
	s->to->list.at[miss - 1].loaded |= 1u << c->level;
}

void nm_sampler_residency(struct nm_cache *c, uint32_t slot)
{
	uint32_t weight = c->sampler->weight;

	assert(nm_cache_next_resident(c, slot) == slot);
	c->sampler->weight = 0;
	sample_residency(c, slot, weight);
}

void nm_sampler_rest(struct nm_cache *c)
{
	uint64_t step = c->slots / REST + 1, next = 0;

	for (uint32_t slot; (slot = nm_cache_next_resident(c, next)) != NM_NO_SLOT; next = (uint64_t)slot + 1)
		sample_residency(c, slot, slot % step ? 0 : (uint32_t)step);
}
