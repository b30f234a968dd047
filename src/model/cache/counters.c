/* SPDX-License-Identifier: MIT
 *
 * counters.c - counts per attribution key in arrays that double, and the eviction matrix as a hash from
 * (evictor, victim) to a count. Both grow with the number of attribution keys, not with the length of the
 * run.
 */
#include "counters.h"

#include <stdlib.h>
#include <string.h>

int nm_counters_init(struct nm_counters *t, int has_extras, int foresees)
{
	enum { PAIRS = 64 };
	*t = (struct nm_counters){.has_extras = has_extras,
				  .foresees = foresees,
				  .pairs = calloc(PAIRS, sizeof *t->pairs),
				  .pair_mask = PAIRS - 1,
				  .pair_shift = 64 - 6};
	t->recent = calloc(NM_PAIRS_RECENT, sizeof *t->recent);
	return t->pairs && t->recent ? nm_counters_reach(t, 1) : NM_ENOMEM;
}

void nm_counters_done(struct nm_counters *t)
{
	free(t->loads);
	free(t->residencies);
	free(t->own);
	free(t->extras);
	free(t->foreseen);
	free(t->touched);
	free(t->before);
	free(t->pairs);
	free(t->recent);
	*t = (struct nm_counters){0};
}

/* Grows `*array`, aligned to cache lines of the host; new elements are 0. */
static int grow(void *array, size_t size, size_t had, size_t room)
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

int nm_counters_reach(struct nm_counters *t, size_t count)
{
	if (count <= t->attr_count)
		return 0;
	if (count > t->attr_room) {
		size_t room = t->attr_room ? t->attr_room : 64;
		while (room < count)
			room *= 2;
		if (grow(&t->loads, sizeof *t->loads, t->attr_room, room) ||
		    grow(&t->residencies, sizeof *t->residencies, t->attr_room, room) ||
		    grow(&t->own, sizeof *t->own, t->attr_room, room) ||
		    grow(&t->touched, 1, t->attr_room / NM_TOUCHED_KEYS, room / NM_TOUCHED_KEYS) ||
		    (t->before && grow(&t->before, sizeof *t->before, t->attr_room, room)) ||
		    (t->foresees && grow(&t->foreseen, sizeof *t->foreseen, t->attr_room, room)) ||
		    (t->has_extras && grow(&t->extras, sizeof *t->extras, t->attr_room, room)))
			return NM_ENOMEM;
		t->attr_room = room;
	}
	t->attr_count = count;
	return 0;
}

int nm_counters_track(struct nm_counters *t) { return grow(&t->before, sizeof *t->before, 0, t->attr_room); }

static struct nm_pair *pair_slot(struct nm_pair *pairs, unsigned shift, uint64_t key)
{
	size_t i = nm_counters_slot(key, shift), mask = ~0ull >> shift;
	while (pairs[i].count && pairs[i].key != key)
		i = (i + 1) & mask;
	return &pairs[i];
}

static int grow_pairs(struct nm_counters *t)
{
	size_t room = (t->pair_mask + 1) * 2;
	struct nm_pair *pairs = calloc(room, sizeof *pairs);
	if (!pairs)
		return NM_ENOMEM;
	for (size_t i = 0; i <= t->pair_mask; i++)
		if (t->pairs[i].count)
			*pair_slot(pairs, t->pair_shift - 1, t->pairs[i].key) = t->pairs[i];
	free(t->pairs);
	t->pairs = pairs;
	t->pair_mask = room - 1;
	t->pair_shift--;
	return 0;
}

static int add(struct nm_counters *t, const struct nm_pair *p)
{
	struct nm_pair *pair = pair_slot(t->pairs, t->pair_shift, p->key);
	int fresh = !pair->count;

	pair->key = p->key;
	pair->count += p->count;
	return fresh && ++t->pair_count * 2 > t->pair_mask ? grow_pairs(t) : 0;
}

static int add_waiting(struct nm_counters *t)
{
	unsigned n = t->waiting_count;

	t->waiting_count = 0;
	for (unsigned i = 0; i < n; i++)
		if (add(t, &t->waiting[i]))
			return NM_ENOMEM;
	return 0;
}

int nm_counters_replace(struct nm_counters *t, struct nm_pair *recent, uint64_t key)
{
	if (recent->count) {
		__builtin_prefetch(&t->pairs[nm_counters_slot(recent->key, t->pair_shift)], 1);
		t->waiting[t->waiting_count++] = *recent;
	}
	*recent = (struct nm_pair){key, 1};
	return t->waiting_count == NM_PAIRS_WAITING ? add_waiting(t) : 0;
}

int nm_counters_flush(struct nm_counters *t)
{
	for (unsigned i = 0; i < NM_PAIRS_RECENT; i++)
		if (nm_counters_replace(t, &t->recent[i], 0))
			return NM_ENOMEM;
	memset(t->recent, 0, NM_PAIRS_RECENT * sizeof *t->recent);
	return add_waiting(t);
}
