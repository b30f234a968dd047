/* SPDX-License-Identifier: MIT
 *
 * cells.c - see cells.h.
 */
#include "cells.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"

/* A packed key: 12 bits of thread, 26 of site, 26 of object.  Numbers beyond share the last one. */
enum { THREAD_MAX = (1 << 12) - 1, SITE_MAX = (1 << 26) - 1, OBJECT_MAX = (1 << 26) - 1 };

/* Keeps the reference counters as long as the list of cells. */
static int grow_references(struct nm_cells *cells)
{
	struct nm_cell_references *bigger;
	size_t room = cells->list.room;

	if (cells->references_room >= cells->list.count + 1)
		return 0;
	if (room < cells->list.count + 1)
		room = cells->list.count * 2;
	bigger = realloc(cells->references, room * sizeof *bigger);
	if (!bigger)
		return NM_ENOMEM;
	memset(bigger + cells->references_room, 0, (room - cells->references_room) * sizeof *bigger);
	cells->references = bigger;
	cells->references_room = room;
	return 0;
}

int nm_cells_init(struct nm_cells *cells)
{
	memset(cells, 0, sizeof *cells);
	cells->recent = calloc(NM_CELLS_RECENT, sizeof *cells->recent);
	if (!cells->recent || nm_vec_push(&cells->list, (struct nm_cell){0}))
		return NM_ENOMEM;
	return grow_references(cells);
}

void nm_cells_done(struct nm_cells *cells)
{
	nm_vec_free(&cells->sites);
	nm_map_done(&cells->site_of_pc);
	nm_vec_free(&cells->list);
	nm_map_done(&cells->cell_of);
	free(cells->references);
	free(cells->recent);
}

int nm_cells_site(struct nm_cells *cells, uint64_t pc, struct nm_module *module, uint64_t bias,
		  uint32_t *ret_site)
{
	uint64_t site = nm_map_get(&cells->site_of_pc, pc, UINT64_MAX);

	if (site == UINT64_MAX) {
		site = cells->sites.count;
		if (nm_vec_push(&cells->sites, (struct nm_site){pc, module, bias}) ||
		    nm_map_put(&cells->site_of_pc, pc, site))
			return NM_ENOMEM;
	}
	*ret_site = site > SITE_MAX ? SITE_MAX : (uint32_t)site;
	return 0;
}

void nm_cells_forget_code(struct nm_cells *cells, uint64_t low, uint64_t end)
{
	for (size_t i = 0; i < cells->sites.count; i++)
		if (cells->sites.at[i].pc - low < end - low &&
		    nm_map_get(&cells->site_of_pc, cells->sites.at[i].pc, UINT64_MAX) == i)
			nm_map_remove(&cells->site_of_pc, cells->sites.at[i].pc);
}

static uint32_t lookup(struct nm_cells *cells, uint32_t thread, uint32_t site, uint32_t object)
{
	uint64_t key = (uint64_t)thread << 52 | (uint64_t)site << 26 | object;
	uint64_t cell = nm_map_get(&cells->cell_of, key, 0);

	if (cell)
		return (uint32_t)cell;
	cell = cells->list.count;
	if (grow_references(cells) || nm_vec_push(&cells->list, (struct nm_cell){thread, site, object}) ||
	    nm_map_put(&cells->cell_of, key, cell))
		return 0;
	return (uint32_t)cell;
}

uint32_t nm_cells_get(struct nm_cells *cells, uint32_t thread, uint32_t site, uint32_t object)
{
	struct nm_cell_recent *r;

	if (thread > THREAD_MAX)
		thread = THREAD_MAX;
	if (object > OBJECT_MAX)
		object = OBJECT_MAX;
	r = &cells->recent[(site * 2654435761u ^ object * 40503u) >> 7 & (NM_CELLS_RECENT - 1)];
	if (r->cell && r->site == site && r->object == object && r->thread == thread)
		return r->cell;
	*r = (struct nm_cell_recent){thread, site, object, lookup(cells, thread, site, object)};
	return r->cell;
}
