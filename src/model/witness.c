/* SPDX-License-Identifier: MIT
 *
 * witness.c - see witness.h.
 *
 * A line is followed until more stays were told than are allowed: FOLLOWED for each time that the lines were halved, and
 * one of FOLLOWED_PART loads.
 */
#include "witness.h"

#include <string.h>

#include "cache.h"
#include "map.h"

enum {
	GAP_GROWTH = 2048,   /* the part of all loads so far that a gap is */
	FOLLOWED = 8192,     /* stays of followed lines before they are halved, each time */
	FOLLOWED_PART = 128, /* one of so many loads is allowed in any case */
	REST = 4096          /* stays that are told at the end, or not many more */
};

void nm_witness_init(struct nm_witness *w)
{
	memset(w, 0, sizeof *w);
	w->due = w->gap = 1;
	w->chosen = UINT64_MAX;
	w->allowed = FOLLOWED;
}

void nm_witness_done(struct nm_witness *w)
{
	for (unsigned i = 0; i < NM_GLIMPSE_LISTS; i++)
		nm_vec_free(&w->lists[i].list);
}

void nm_witness_next(struct nm_witness *w)
{
	w->to = &w->lists[w->batches++ % NM_GLIMPSE_LISTS];
	w->to->chosen = w->chosen;
	w->latest = 0;
}

static void push(struct nm_witness *w, const struct nm_glimpse *glimpse)
{
	if (nm_vec_push(&w->to->list, *glimpse))
		w->failed = 1;
}

/* Tells of the stay at a place, which stands for so many. */
static void tell_stay(struct nm_cache *c, uint32_t place, uint32_t weight)
{
	struct nm_witness *w = c->witness;
	const struct nm_stay *stay = &c->stays[place];
	struct nm_glimpse g = {.address = c->tags[place] << c->line_shift,
			       .served = stay->served,
			       .weight = weight,
			       .cell = stay->cell,
			       .stay = 1,
			       .followed = nm_witness_hash(c->tags[place]) <= w->chosen};

	if (!weight && !g.followed)
		return;
	memcpy(g.mask, nm_cache_mask(c, place), c->words * sizeof *g.mask);
	push(w, &g);
	w->followed += g.followed;
	if (w->followed > w->allowed + w->loads / FOLLOWED_PART) {
		w->chosen /= 2;
		w->to->chosen = w->chosen;
		w->allowed += FOLLOWED;
	}
}

static uint64_t gap_after(uint64_t loads)
{
	uint64_t mean = loads / GAP_GROWTH < NM_GLIMPSE_GAP - 1 ? loads / GAP_GROWTH : NM_GLIMPSE_GAP - 1;

	return 1 + mean / 2 + nm_mix64(loads) % (mean + 1);
}

void nm_witness_load(struct nm_witness *w, uint64_t address, uint32_t cell, unsigned write)
{
	struct nm_glimpse miss = {
	    .address = address, .weight = (uint32_t)w->gap, .cell = cell, .write = (uint8_t)write};

	w->weight = miss.weight;
	w->loads += w->gap;
	w->due = w->gap = gap_after(w->loads);
	push(w, &miss);
	w->latest = w->failed ? 0 : w->to->list.count;
}

/* Between a load of the first level and what further levels load for it no other load comes, but of another line. */
void nm_witness_further(struct nm_witness *w, uint64_t address, const struct nm_cache *c)
{
	struct nm_glimpse *miss = w->latest ? &w->to->list.at[w->latest - 1] : NULL;

	if (miss && miss->address >> c->line_shift == address >> c->line_shift)
		miss->loaded |= 1u << c->level;
}

void nm_witness_stay(struct nm_cache *c, uint32_t place)
{
	uint32_t weight = c->witness->weight;

	c->witness->weight = 0;
	tell_stay(c, place, weight);
}

void nm_witness_rest(struct nm_cache *c)
{
	uint64_t step = c->places / REST + 1;

	for (uint32_t place = 0; place < c->places; place++)
		if (c->tags[place] < NM_NO_VICTIM)
			tell_stay(c, place, place % step ? 0 : (uint32_t)step);
}
