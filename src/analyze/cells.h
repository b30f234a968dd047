/* SPDX-License-Identifier: MIT
 *
 * cells.h - what references are charged to: a cell is one (thread, place, object).
 *
 * A site is one instruction; its place is its line in the source (or, without debug information, its function): all
 * that the result tells apart, unless it was asked to tell instructions apart.  Cells are dense numbers, so models
 * count in flat arrays; reads and writes are counted here, as the references are made.  A small direct-mapped cache
 * stands before the hash, for places that alternate between objects.
 *
 * Tried and dropped: one cell for each instruction and object, folded to places at the end.  gcc -O2 on a file
 * of 300 lines then took 754 MB instead of 330 MB, most of it pairs of cells that evict each other.
 */
#ifndef NM_CELLS_H
#define NM_CELLS_H

#include <stdint.h>

#include "map.h"
#include "result.h"
#include "symbol.h"
#include "vector.h"

struct nm_site {
	uint64_t pc;              /* at run time */
	struct nm_module *module; /* or NULL: code without a file */
	uint64_t bias;
	uint32_t place; /* index in nm_cells.places */
};

/* A place that the stream named. */
struct nm_named_place {
	uint64_t pc;
	struct nm_result_site place;
};

struct nm_cell {
	uint32_t thread, place, object;
};

struct nm_cell_references {
	uint64_t count[2]; /* reads (or instructions fetched), writes */
};

struct nm_cell_recent {
	uint64_t key;
	uint32_t cell; /* 0: none */
};

enum { NM_CELLS_RECENT_BITS = 12 };

/* A packed key: 12 bits of thread, 26 of place, 26 of object.  Numbers beyond share the last one. */
enum { NM_THREAD_MAX = (1 << 12) - 1, NM_PLACE_MAX = (1 << 26) - 1, NM_OBJECT_MAX = (1 << 26) - 1 };

struct nm_cells {
	struct nm_vec(struct nm_site) sites;
	struct nm_map site_of_pc;
	int by_instruction; /* a place is one instruction, not a line; */
	int by_pc; /* also of code without a file, which is else one place, or those that the stream names */
	struct nm_vec(struct nm_named_place) named;
	struct nm_vec(struct nm_result_site) places;
	struct nm_map place_of;                /* hash of a place -> its index; equal hashes are told apart */
	struct nm_vec(struct nm_cell) list;    /* [0] is no cell */
	struct nm_cell_references *references; /* [list.room] */
	size_t references_room;
	struct nm_map cell_of; /* packed (thread, place, object) */
	struct nm_cell_recent *recent;
};

int nm_cells_init(struct nm_cells *cells);
void nm_cells_done(struct nm_cells *cells);

/* The site of the instruction at pc, an index in `sites`.  0 or NM_ENOMEM. */
int nm_cells_site(struct nm_cells *cells, uint64_t pc, struct nm_module *module, uint64_t bias,
		  uint32_t *ret_site);

/* Code that no module holds: the stream tells where the instruction at pc stands.  0 or NM_ENOMEM. */
int nm_cells_name_place(struct nm_cells *cells, uint64_t pc, struct nm_result_site place);

/* The places that were named in `from`, for a forked child.  0 or NM_ENOMEM. */
int nm_cells_inherit_places(struct nm_cells *cells, const struct nm_cells *from);

/* Forgets the places of [low, end): other code may come there. */
void nm_cells_forget_code(struct nm_cells *cells, uint64_t low, uint64_t end);

/* The cell of a key that the cache does not have, made if it is new; 0 only when memory is exhausted. */
uint32_t nm_cells_find(struct nm_cells *cells, uint64_t key, struct nm_cell_recent *recent);

/* The same for (thread, place, object). */
static inline uint32_t nm_cells_get(struct nm_cells *cells, uint32_t thread, uint32_t place, uint32_t object)
{
	uint64_t high = thread < NM_THREAD_MAX ? thread : NM_THREAD_MAX;
	uint64_t low = object < NM_OBJECT_MAX ? object : NM_OBJECT_MAX;
	uint64_t key = high << 52 | (uint64_t)place << 26 | low;
	struct nm_cell_recent *r = &cells->recent[key * 0x9e3779b97f4a7c15ull >> (64 - NM_CELLS_RECENT_BITS)];

	return r->cell && r->key == key ? r->cell : nm_cells_find(cells, key, r);
}

#endif
