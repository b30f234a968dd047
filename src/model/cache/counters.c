/* SPDX-License-Identifier: MIT
 *
 * counters.c - counts per attribution key in arrays that double, and the eviction matrix as a hash from
 * (evictor, victim) to a count. Both grow with the number of attribution keys, not with the length of the
 * run.
 */
#include "counters.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int nm_counters_init(struct nm_counters *c, int has_extras, int has_covered)
{
	enum { PAIRS = 64 };
	*c = (struct nm_counters){.has_extras = has_extras,
				  .has_covered = has_covered,
				  .pairs = calloc(PAIRS, sizeof *c->pairs),
				  .pair_mask = PAIRS - 1,
				  .pair_shift = 64 - 6};
	c->recent = calloc(NM_PAIRS_RECENT, sizeof *c->recent);
	return c->pairs && c->recent ? nm_counters_reserve(c, 1) : NM_ENOMEM;
}

void nm_counters_done(struct nm_counters *c)
{
	free(c->loads);
	free(c->residencies);
	free(c->own);
	free(c->extras);
	free(c->covered);
	free(c->touched);
	free(c->before);
	free(c->pairs);
	free(c->recent);
	*c = (struct nm_counters){0};
}

/* Grows `*array`, aligned to cache lines of the host; new elements are 0. */
static int grow_counters(void *array, size_t size, size_t had, size_t room)
{
	void *old, *grown = aligned_alloc(64, (room * size + 63) / 64 * 64);

	memcpy(&old, array, sizeof old);
	if (!grown)
		return NM_ENOMEM;
	if (had)
		memcpy(grown, old, had * size);
	memset((char *)grown + had * size, 0, (room - had) * size);
	free(old);
	memcpy(array, &grown, sizeof grown);
	return 0;
}

int nm_counters_reserve(struct nm_counters *c, size_t count)
{
	if (count <= c->attr_count)
		return 0;
	if (count > c->attr_room) {
		size_t room = c->attr_room ? c->attr_room : 64;
		while (room < count)
			room *= 2;
		if (grow_counters(&c->loads, sizeof *c->loads, c->attr_room, room) ||
		    grow_counters(&c->residencies, sizeof *c->residencies, c->attr_room, room) ||
		    grow_counters(&c->own, sizeof *c->own, c->attr_room, room) ||
		    grow_counters(&c->touched, 1, c->attr_room / NM_TOUCHED_KEYS, room / NM_TOUCHED_KEYS) ||
		    (c->before && grow_counters(&c->before, sizeof *c->before, c->attr_room, room)) ||
		    (c->has_covered && grow_counters(&c->covered, sizeof *c->covered, c->attr_room, room)) ||
		    (c->has_extras && grow_counters(&c->extras, sizeof *c->extras, c->attr_room, room)))
			return NM_ENOMEM;
		c->attr_room = room;
	}
	c->attr_count = count;
	return 0;
}

int nm_counters_count_extras(struct nm_counters *c)
{
	if (c->has_extras)
		return 0;
	c->has_extras = 1;
	return grow_counters(&c->extras, sizeof *c->extras, 0, c->attr_room);
}

int nm_counters_track(struct nm_counters *t)
{
	assert(!t->before);
	return grow_counters(&t->before, sizeof *t->before, 0, t->attr_room);
}

static struct nm_pair *pair_slot(struct nm_pair *pairs, unsigned shift, uint64_t key)
{
	size_t i = nm_counters_slot(key, shift), mask = ~0ull >> shift;
	while (pairs[i].count && pairs[i].key != key)
		i = (i + 1) & mask;
	return &pairs[i];
}

static int grow_pairs(struct nm_counters *c)
{
	size_t room = (c->pair_mask + 1) * 2;
	struct nm_pair *pairs = calloc(room, sizeof *pairs);
	if (!pairs)
		return NM_ENOMEM;
	for (size_t i = 0; i <= c->pair_mask; i++)
		if (c->pairs[i].count)
			*pair_slot(pairs, c->pair_shift - 1, c->pairs[i].key) = c->pairs[i];
	free(c->pairs);
	c->pairs = pairs;
	c->pair_mask = room - 1;
	c->pair_shift--;
	return 0;
}

int nm_counters_add_pair(struct nm_counters *c, const struct nm_pair *p)
{
	struct nm_pair *pair = pair_slot(c->pairs, c->pair_shift, p->key);
	int fresh = !pair->count;

	pair->key = p->key;
	pair->count += p->count;
	return fresh && ++c->pair_count * 2 > c->pair_mask ? grow_pairs(c) : 0;
}

/* Adds arrays of uint64_t. */
static void add_sums(void *to, const void *from, size_t bytes)
{
	uint64_t *sums = to;
	const uint64_t *more = from;

	for (size_t i = 0; i < bytes / sizeof *sums; i++)
		sums[i] += more[i];
}

static int add_waiting(struct nm_counters *c)
{
	unsigned n = c->waiting_count;

	c->waiting_count = 0;
	for (unsigned i = 0; i < n; i++)
		if (nm_counters_add_pair(c, &c->waiting[i]))
			return NM_ENOMEM;
	return 0;
}

int nm_counters_replace(struct nm_counters *c, struct nm_pair *recent, uint64_t key)
{
	assert(c->waiting_count < NM_PAIRS_WAITING);
	if (recent->count) {
		__builtin_prefetch(&c->pairs[nm_counters_slot(recent->key, c->pair_shift)], 1);
		c->waiting[c->waiting_count++] = *recent;
	}
	*recent = (struct nm_pair){key, 1};
	return c->waiting_count == NM_PAIRS_WAITING ? add_waiting(c) : 0;
}

int nm_counters_add(struct nm_counters *to, const struct nm_counters *from)
{
	int status = nm_counters_reserve(to, from->attr_count);

	assert(!from->waiting_count && !from->has_extras && to->has_covered == from->has_covered);
	if (status)
		return status;
	add_sums(to->loads, from->loads, from->attr_count * sizeof *to->loads);
	add_sums(to->residencies, from->residencies, from->attr_count * sizeof *to->residencies);
	add_sums(to->own, from->own, from->attr_count * sizeof *to->own);
	if (to->has_covered)
		add_sums(to->covered, from->covered, from->attr_count * sizeof *to->covered);
	to->reads += from->reads;
	to->writes += from->writes;
	add_sums(to->own_total, from->own_total, sizeof to->own_total);
	for (size_t i = 0; i <= from->pair_mask && !status; i++)
		if (from->pairs[i].count)
			status = nm_counters_add_pair(to, &from->pairs[i]);
	return status;
}

int nm_counters_flush(struct nm_counters *c)
{
	for (unsigned i = 0; i < NM_PAIRS_RECENT; i++)
		if (nm_counters_replace(c, &c->recent[i], 0))
			return NM_ENOMEM;
	memset(c->recent, 0, NM_PAIRS_RECENT * sizeof *c->recent);
	return add_waiting(c);
}
