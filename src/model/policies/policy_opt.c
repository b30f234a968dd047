/* SPDX-License-Identifier: MIT
 *
 * policy_opt.c - Belady's OPT: the line whose next use is farthest away leaves. oracle.h knows the next uses.
 *
 * The ways of a set form a heap with the farthest use on top. A touch postpones the use of its line, which
 * moves up only; a load takes the slot of the way that left, and moves up or down. Both take time logarithmic
 * in the ways. A repeated request for the set's latest line changes nothing and is not recorded: the line is
 * resident, and its next use matters only when another line comes. So most hits of a first level cost a
 * compare, and no memory.
 *
 * While requests are being recorded, ways leave in turn, and nothing is counted.
 */
#include <assert.h>

#include "oracle.h"
#include "policy.h"

struct way {
	uint64_t use;
	uint32_t slot; /* of the way, in the heap */
	uint32_t heap; /* the way in this slot of the heap */
};

struct set {
	uint32_t filled, last; /* ways in the heap; the way asked for last, + 1 */
	struct way ways[];
};

static void put_way(struct set *s, uint32_t slot, uint32_t way)
{
	s->ways[slot].heap = way;
	s->ways[way].slot = slot;
}

static void sift_up(struct set *s, uint32_t slot, uint32_t way)
{
	for (uint32_t up; slot && s->ways[s->ways[up = (slot - 1) / 2].heap].use < s->ways[way].use;
	     slot = up)
		put_way(s, slot, s->ways[up].heap);
	put_way(s, slot, way);
}

static void sift_down(struct set *s, uint32_t slot, uint32_t way)
{
	for (uint32_t down; (down = 2 * slot + 1) < s->filled; slot = down) {
		if (down + 1 < s->filled &&
		    s->ways[s->ways[down + 1].heap].use > s->ways[s->ways[down].heap].use)
			down++;
		if (s->ways[s->ways[down].heap].use <= s->ways[way].use)
			break;
		put_way(s, slot, s->ways[down].heap);
	}
	put_way(s, slot, way);
}

static void opt_touch(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	struct set *s = nm_replacement_state(r, set);

	if (s->last == way + 1)
		return;
	s->last = way + 1;
	if (!nm_next_uses_known(r->next_uses)) {
		r->failed |= nm_next_uses_record(r->next_uses, r->tags[set * r->ways + way]) != 0;
		return;
	}
	s->ways[way].use = nm_next_uses_get(r->next_uses);
	sift_up(s, s->ways[way].slot, way);
}

/* The victim's way is on top of the heap; others are filled in order. */
static void opt_fill(struct nm_replacement *r, uint64_t set, uint32_t way)
{
	struct set *s = nm_replacement_state(r, set);

	s->last = way + 1;
	if (!nm_next_uses_known(r->next_uses)) {
		r->failed |= nm_next_uses_record(r->next_uses, r->tags[set * r->ways + way]) != 0;
		return;
	}
	assert(way == s->filled || way == s->ways[0].heap);
	s->ways[way].use = nm_next_uses_get(r->next_uses);
	if (way == s->filled)
		sift_up(s, s->filled++, way);
	else
		sift_down(s, 0, way);
}

static uint32_t opt_victim(struct nm_replacement *r, uint64_t set)
{
	const struct set *s = nm_replacement_state(r, set);

	return nm_next_uses_known(r->next_uses) ? s->ways[0].heap : s->last % r->ways;
}

/* A heap of ways, each once, whose uses do not come later than those of the way above. */
static int opt_is_valid(const struct nm_replacement *r, uint64_t set)
{
	const struct set *s = nm_replacement_state(r, set);

	for (uint32_t slot = 0; slot < s->filled; slot++) {
		const uint32_t way = s->ways[slot].heap;

		if (way >= r->ways || s->ways[way].slot != slot ||
		    s->ways[way].use > s->ways[s->ways[(slot - (slot > 0)) / 2].heap].use)
			return 0;
	}
	return s->filled <= r->ways && s->last <= r->ways;
}

const struct nm_policy nm_policy_opt = {.name = "opt",
					.looks_ahead = 1,
					.way_bytes = sizeof(struct way),
					.set_bytes = sizeof(struct set),
					.touch = opt_touch,
					.load = opt_fill,
					.victim = opt_victim,
					.is_valid = opt_is_valid};
