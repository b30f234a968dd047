/* SPDX-License-Identifier: MIT
 *
 * count_changes.c - see count_changes.h. Misses mark groups of keys as touched, so that only those are compared.
 */
#include "count_changes.h"

#include <assert.h>
#include <string.h>

#include "hierarchy_priv.h"

_Static_assert((int)NM_CHANGES == (int)NM_LOADS,
	       "a change has the counts of struct nm_loads, in their order");

int nm_hierarchy_track_changes(struct nm_hierarchy *h)
{
	for (unsigned u = 0; u < unit_count(h); u++)
		if (nm_counters_track(&h->units[u].counters))
			return NM_ENOMEM;
	for (unsigned core = 0; core < h->cores; core++) {
		struct nm_cache *first = entry_levels_of(h, core)->entry[0];

		if (first)
			first->sketch = h->sketch;
	}
	return 0;
}

/* Adds what a key's loads have changed by. */
static void add_change(struct nm_counters *c, size_t key, struct nm_change *change)
{
	uint64_t now[NM_LOADS];

	memcpy(now, &c->loads[key], sizeof now);
	for (unsigned i = 0; i < NM_LOADS; i++) {
		change->counts[i] += (uint32_t)now[i] - c->before[key][i];
		c->before[key][i] = (uint32_t)now[i];
	}
}

enum { GROUPS = sizeof(uint64_t) /* looked at together */ };

/* A byte for each of some groups of keys: whether it has been touched at the level. */
static uint64_t take_touched(const struct nm_hierarchy *h, unsigned level, size_t group)
{
	uint64_t touched = 0;

	for (unsigned u = h->begin[level]; u < h->begin[level + 1]; u++) {
		uint8_t *at = &h->units[u].counters.touched[group];
		uint64_t some;

		memcpy(&some, at, sizeof some);
		if (some)
			memset(at, 0, sizeof some);
		touched |= some;
	}
	return touched;
}

static int take_group(struct nm_hierarchy *h, unsigned level, size_t group, struct nm_change_list *list)
{
	static const struct nm_change none;

	if (nm_vec_reserve(list, NM_TOUCHED_KEYS))
		return NM_ENOMEM;
	for (size_t key = group * NM_TOUCHED_KEYS; key < (group + 1) * NM_TOUCHED_KEYS; key++) {
		struct nm_change *change = &list->at[list->count];

		*change = none;
		for (unsigned u = h->begin[level]; u < h->begin[level + 1]; u++)
			add_change(&h->units[u].counters, key, change);
		list->count += memcmp(change, &none, sizeof none) != 0;
		change->key = (uint32_t)key;
	}
	return 0;
}

static void take_references(struct nm_hierarchy *h, unsigned level, uint64_t ret_refs[2])
{
	ret_refs[0] = ret_refs[1] = 0;
	for (unsigned u = h->begin[level]; u < h->begin[level + 1]; u++) {
		const struct nm_cache *c = &h->units[u];
		struct nm_counters *t = &h->units[u].counters;
		const uint64_t now[2] = {c->first ? t->reads : t->own_total[0],
					 c->first ? t->writes : t->own_total[1]};

		for (unsigned k = 0; k < 2; k++)
			ret_refs[k] += now[k] - t->refs_before[k];
		memcpy(t->refs_before, now, sizeof now);
	}
}

int nm_hierarchy_take_changes(struct nm_hierarchy *h, unsigned level, struct nm_change_list *list,
			      uint64_t ret_refs[2])
{
	const struct nm_counters *c = &unit_of(h, level, 0)->counters; /* as many keys in all */
	const size_t groups = c->attr_room / NM_TOUCHED_KEYS;

	assert(h->same[level] == level);
	assert(groups % GROUPS == 0); /* there is room for 64 keys, doubled */
	for (size_t first = 0; first < groups; first += GROUPS) {
		const uint64_t touched = take_touched(h, level, first);

		for (unsigned i = 0; touched && i < GROUPS; i++)
			if (((const uint8_t *)&touched)[i] && take_group(h, level, first + i, list))
				return NM_ENOMEM;
	}
	take_references(h, level, ret_refs);
	return 0;
}

void nm_hierarchy_take_sketch(struct nm_hierarchy *h, uint8_t *sketch)
{
	nm_sketch_merge(sketch, h->sketch);
	memset(h->sketch, 0, sizeof h->sketch);
}

int nm_hierarchy_next_level(const struct nm_hierarchy *h, unsigned level) { return h->next_level[level]; }

struct nm_counts nm_change_counts(const struct nm_change *change)
{
	const uint64_t *n = change->counts, loads = n[NM_CHANGE_READS] + n[NM_CHANGE_WRITES];

	return (struct nm_counts){
	    .read_misses = n[NM_CHANGE_READS] - n[NM_CHANGE_MORE_READS],
	    .write_misses = n[NM_CHANGE_WRITES] + n[NM_CHANGE_AROUND] - n[NM_CHANGE_MORE_WRITES],
	    .cold = n[NM_CHANGE_COLD],
	    .capacity = n[NM_CHANGE_CAPACITY],
	    .conflict = n[NM_CHANGE_CONFLICT],
	    .coherence = loads - n[NM_CHANGE_COLD] - n[NM_CHANGE_CAPACITY] - n[NM_CHANGE_CONFLICT],
	    .loads = loads};
}
