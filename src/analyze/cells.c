/* SPDX-License-Identifier: MIT
 *
 * cells.c - see cells.h.
 */
#include "cells.h"

#include <stdlib.h>
#include <string.h>

#include "errors.h"

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
	cells->recent = calloc(1u << NM_CELLS_RECENT_BITS, sizeof *cells->recent);
	if (!cells->recent || nm_vec_push(&cells->list, (struct nm_cell){0}))
		return NM_ENOMEM;
	return grow_references(cells);
}

void nm_cells_done(struct nm_cells *cells)
{
	nm_vec_free(&cells->sites);
	nm_map_done(&cells->site_of_pc);
	nm_vec_free(&cells->named);
	nm_vec_free(&cells->places);
	nm_map_done(&cells->place_of);
	nm_vec_free(&cells->list);
	nm_map_done(&cells->cell_of);
	free(cells->references);
	free(cells->recent);
}

static struct nm_result_site source_of(const struct nm_cells *cells, uint64_t pc, struct nm_module *module,
				       uint64_t bias)
{
	struct nm_result_site r = {0};
	struct nm_position p;

	if (!module) {
		r.address = cells->by_pc ? pc : 0;
		return r;
	}
	r.module = nm_module_name(module);
	r.address = cells->by_instruction ? pc - bias : 0;
	r.built = nm_module_modified(module);
	if (nm_module_positions(module, pc - bias, &p, 1)) {
		r.function = p.function;
		r.file = p.file;
		r.line = p.line;
		r.md5 = p.file ? nm_module_digest(module, p.file) : NULL;
	}
	return r;
}

static int same_place(const struct nm_result_site *a, const struct nm_result_site *b)
{
	return a->function == b->function && a->file == b->file && a->module == b->module &&
	       a->line == b->line && a->address == b->address;
}

static int find_place(struct nm_cells *cells, struct nm_result_site s, uint32_t *ret_place)
{
	uint64_t key = nm_mix64(
	    (uintptr_t)s.function ^
	    nm_mix64((uintptr_t)s.file ^ nm_mix64((uintptr_t)s.module + s.line + nm_mix64(s.address))));
	uint64_t at;

	while ((at = nm_map_get(&cells->place_of, key, UINT64_MAX)) != UINT64_MAX &&
	       !same_place(&cells->places.at[at], &s))
		key++;
	if (at == UINT64_MAX) {
		at = cells->places.count;
		if (nm_vec_push(&cells->places, s) || nm_map_put(&cells->place_of, key, at))
			return NM_ENOMEM;
	}
	*ret_place = at > NM_PLACE_MAX ? NM_PLACE_MAX : (uint32_t)at;
	return 0;
}

int nm_cells_site(struct nm_cells *cells, uint64_t pc, struct nm_module *module, uint64_t bias,
		  uint32_t *ret_site)
{
	uint64_t site = nm_map_get(&cells->site_of_pc, pc, UINT64_MAX);
	struct nm_site fresh = {pc, module, bias, 0};

	if (site == UINT64_MAX) {
		site = cells->sites.count;
		if (find_place(cells, source_of(cells, pc, module, bias), &fresh.place) ||
		    nm_vec_push(&cells->sites, fresh) || nm_map_put(&cells->site_of_pc, pc, site))
			return NM_ENOMEM;
	}
	*ret_site = (uint32_t)site;
	return 0;
}

int nm_cells_name_place(struct nm_cells *cells, uint64_t pc, struct nm_result_site place)
{
	struct nm_site fresh = {pc, NULL, 0, 0};
	struct nm_result_site told = place;
	size_t site = cells->sites.count;

	told.address = cells->by_pc ? pc : 0;

	if (find_place(cells, told, &fresh.place) || nm_vec_push(&cells->sites, fresh) ||
	    nm_map_put(&cells->site_of_pc, pc, site))
		return NM_ENOMEM;
	return nm_vec_push(&cells->named, (struct nm_named_place){pc, place});
}

int nm_cells_inherit_places(struct nm_cells *cells, const struct nm_cells *from)
{
	int status = 0;

	for (size_t i = 0; i < from->named.count && !status; i++)
		status = nm_cells_name_place(cells, from->named.at[i].pc, from->named.at[i].place);
	return status;
}

void nm_cells_forget_code(struct nm_cells *cells, uint64_t low, uint64_t end)
{
	for (size_t i = 0; i < cells->sites.count; i++)
		if (cells->sites.at[i].pc - low < end - low &&
		    nm_map_get(&cells->site_of_pc, cells->sites.at[i].pc, UINT64_MAX) == i)
			nm_map_remove(&cells->site_of_pc, cells->sites.at[i].pc);
}

static uint32_t make(struct nm_cells *cells, uint64_t key)
{
	size_t cell = cells->list.count;
	struct nm_cell fresh = {(uint32_t)(key >> 52), (uint32_t)(key >> 26) & NM_PLACE_MAX,
				(uint32_t)key & NM_OBJECT_MAX};

	if (grow_references(cells) || nm_vec_push(&cells->list, fresh) ||
	    nm_map_put(&cells->cell_of, key, cell))
		return 0;
	return (uint32_t)cell;
}

uint32_t nm_cells_find(struct nm_cells *cells, uint64_t key, struct nm_cell_recent *recent)
{
	uint32_t cell = (uint32_t)nm_map_get(&cells->cell_of, key, 0);

	if (!cell)
		cell = make(cells, key);
	*recent = (struct nm_cell_recent){key, cell};
	return cell;
}
