/* SPDX-License-Identifier: MIT */
#include "regions.h"

#include <assert.h>

#include "errors.h"

int nm_regions_init(struct nm_regions *r)
{
	return nm_vec_push(&r->list, (struct nm_region){0}) || nm_vec_push(&r->lanes, (struct nm_lane_of){0})
		   ? NM_ENOMEM
		   : 0;
}

void nm_regions_done(struct nm_regions *r)
{
	nm_vec_free(&r->list);
	nm_vec_free(&r->lanes);
	nm_map_done(&r->children);
	nm_map_done(&r->names);
	nm_map_done(&r->copies);
}

/* Names are few: each gets a number, so that a region's key fits into a word. */
static int number_name(struct nm_regions *r, const char *name, uint32_t *ret_number)
{
	const uint64_t known = nm_map_get(&r->names, (uintptr_t)name, 0);

	*ret_number = known ? (uint32_t)known : (uint32_t)r->names.count + 1;
	return known ? 0 : nm_map_put(&r->names, (uintptr_t)name, *ret_number);
}

static uint64_t key_of(uint32_t parent, uint32_t name) { return (uint64_t)parent << 32 | name; }

static int add_region(struct nm_regions *r, uint32_t name, struct nm_region fresh)
{
	if (nm_map_put(&r->children, key_of(fresh.parent, name), r->list.count))
		return NM_ENOMEM;
	return nm_vec_push(&r->list, fresh);
}

int nm_regions_in_phase(struct nm_regions *r, uint32_t region, uint32_t phase, uint32_t *ret_copy)
{
	struct nm_region copy = r->list.at[region];
	const uint64_t key = key_of(phase, region);

	assert(region < r->list.count);
	assert(!copy.phase);
	*ret_copy = phase ? (uint32_t)nm_map_get(&r->copies, key, 0) : region;
	if (*ret_copy || !phase)
		return 0;
	*ret_copy = region;
	if (r->list.count == NM_REGIONS_MAX)
		return 0;
	copy.entries = copy.instructions = 0;
	copy.phase = phase;
	*ret_copy = (uint32_t)r->list.count;
	return nm_map_put(&r->copies, key, *ret_copy) || nm_vec_push(&r->list, copy) ? NM_ENOMEM : 0;
}

/* Open regions are indices, so copies keep their places; the child is in none of the parent's phases. */
int nm_regions_copy(struct nm_regions *r, const struct nm_regions *from)
{
	int status = 0;

	assert(r->list.count == 1);
	for (size_t i = 1; i < from->list.count && !status; i++) {
		struct nm_region fresh = from->list.at[i];
		uint32_t number;

		fresh.entries = fresh.instructions = 0;
		status = fresh.phase ? nm_vec_push(&r->list, fresh) : number_name(r, fresh.name, &number);
		if (!status && !fresh.phase)
			status = add_region(r, number, fresh);
	}
	return status;
}

/* The region that has the name, from one outwards; 0: none has. */
static uint32_t find_around(const struct nm_regions *r, uint32_t region, const char *name)
{
	while (region && r->list.at[region].name != name)
		region = r->list.at[region].parent;
	return region;
}

int nm_regions_begin(struct nm_regions *r, struct nm_open_regions *open, struct nm_symbols *symbols,
		     const char *name)
{
	const uint32_t outer = nm_regions_innermost(open);
	uint32_t region = find_around(r, outer, name), number;

	if (!region) {
		if (number_name(r, name, &number))
			return NM_ENOMEM;
		region = (uint32_t)nm_map_get(&r->children, key_of(outer, number), 0);
		if (!region && r->list.count < NM_REGIONS_MAX) {
			struct nm_region fresh = {.parent = outer, .name = name, .path = name};

			if (outer)
				fresh.path =
				    nm_symbols_format(symbols, "%s/%s", r->list.at[outer].path, name);
			region = (uint32_t)r->list.count;
			if (!fresh.path || add_region(r, number, fresh))
				return NM_ENOMEM;
		}
	}
	region = region ? region : outer;
	r->list.at[region].entries += r->list.at[region].name == name;
	return nm_vec_push(open, (struct nm_open_region){region, name});
}

int nm_regions_end(struct nm_open_regions *open, const char *name)
{
	for (size_t i = open->count; i-- > 0;)
		if (open->at[i].name == name) {
			open->count = i;
			return 1;
		}
	return 0;
}

int nm_regions_lane(struct nm_regions *r, uint32_t thread, uint32_t region, uint32_t *ret_lane)
{
	assert(region < r->list.count);
	*ret_lane = region ? 0 : NM_LANE_MAX;
	if (r->lanes.count + (region != 0) > NM_LANE_MAX) /* the last one is for threads */
		return 0;
	*ret_lane = (uint32_t)r->lanes.count;
	return nm_vec_push(&r->lanes, (struct nm_lane_of){thread, region});
}
