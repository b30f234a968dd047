/* SPDX-License-Identifier: MIT
 *
 * grouped.c - accesses that share an address word (plan.h) become a group (coalesced.h): for each object, or set of objects,
 * that they reach, there is one, with the cell of each access.  How often it was handed over is shared out to these
 * cells at the end.
 *
 * A group nearly always lies in one object, so there is a hash from access and object to group, and a small
 * direct-mapped cache before it, as there is for cells.
 */
#include "engine_priv.h"

#include <string.h>

uint32_t nm_engine_cell(struct nm_engine *e, uint32_t origin, uint32_t object)
{
	return nm_cells_get(&e->cells, e->thread->number, e->cells.sites.at[e->origin_sites.at[origin]].place,
			    object);
}

/* Lists the accesses of a group, each with its cell.  objects: of each, or, where they have one in common, that one;
 * step: 1 or 0.  0: memory is exhausted. */
static unsigned list_members(struct nm_engine *e, uint32_t origin, const uint32_t *objects, unsigned step,
			     struct nm_coalesced_member *ret_members)
{
	const struct nm_origin *o = &e->origins.at[origin];
	const struct nm_plan_tables *t = &e->tables.at[o->plan->tables];
	const struct nm_sharers s = nm_plan_sharers(t, o->access);
	unsigned n = 0;

	for (uint32_t i = s.first; i < s.end; i++) {
		uint32_t single = o->plan->first_origin + t->single[i].lane;
		uint64_t word = nm_lane_of(&e->origins.at[single], word);

		ret_members[n] =
		    (struct nm_coalesced_member){.cell = nm_engine_cell(e, single, objects[n * step]),
						 .distance = t->single[i].distance,
						 .size = (uint8_t)nm_word_size(word),
						 .kind = (uint8_t)nm_word_kind(word)};
		if (!ret_members[n++].cell)
			return 0;
	}
	return n;
}

uint32_t nm_engine_coalesced(struct nm_engine *e, uint32_t origin, uint32_t object)
{
	struct nm_coalesced_member members[NM_COALESCED_MAX];
	uint64_t key = (uint64_t)origin << 26 | (object < NM_OBJECT_MAX ? object : NM_OBJECT_MAX);
	struct nm_cell_recent *r = &e->coalesced_recent[nm_mix64(key) >> (64 - NM_CELLS_RECENT_BITS)];
	unsigned n;

	if (r->cell && r->key == key)
		return r->cell;
	*r = (struct nm_cell_recent){key, (uint32_t)nm_map_get(&e->coalesced_of, key, 0)};
	if (!r->cell && (n = list_members(e, origin, &object, 0, members))) {
		r->cell = nm_coalesced_add(e->coalesced, members, n);
		if (r->cell && nm_map_put(&e->coalesced_of, key, r->cell))
			r->cell = 0;
	}
	return r->cell;
}

uint32_t nm_engine_mixed_coalesced(struct nm_engine *e, uint32_t origin, const uint32_t *objects)
{
	struct nm_coalesced_member members[NM_COALESCED_MAX];
	unsigned n = list_members(e, origin, objects, 1, members);
	uint64_t key = n;
	uint32_t group;

	for (unsigned i = 0; i < n; i++)
		key = nm_mix64(key ^ members[i].cell);
	for (key |= 1ull << 63; (group = (uint32_t)nm_map_get(&e->coalesced_of, key, 0)); key++) {
		const struct nm_coalesced *g = nm_coalesced_at(e->coalesced, group);

		if (g->members == n && !memcmp(g->member, members, n * sizeof *members))
			return group;
	}
	group = n ? nm_coalesced_add(e->coalesced, members, n) : 0;
	return group && nm_map_put(&e->coalesced_of, key, group) ? 0 : group;
}

void nm_engine_share(struct nm_engine *e)
{
	for (uint32_t i = 1; i < e->coalesced->count; i++) {
		struct nm_coalesced *g = nm_coalesced_at(e->coalesced, i);

		for (uint32_t k = 0; k < g->members; k++)
			e->cells.references[g->member[k].cell].count[g->member[k].kind] += g->count;
		g->count = 0;
	}
}
