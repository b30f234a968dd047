/* SPDX-License-Identifier: MIT
 *
 * cells.h - what references are charged to: a cell is one (thread, site, object).
 *
 * A site is one instruction.  Cells are dense numbers, so models count in flat arrays; reads and writes are
 * counted here, as the references are made.  A small direct-mapped cache stands before the hash, for sites
 * that alternate between objects.
 */
#ifndef NM_CELLS_H
#define NM_CELLS_H

#include <stdint.h>

#include "map.h"
#include "vector.h"

struct nm_module;

struct nm_site {
	uint64_t pc;              /* at run time */
	struct nm_module *module; /* or NULL: code without a file */
	uint64_t bias;
};

struct nm_cell {
	uint32_t thread, site, object;
};

struct nm_cell_references {
	uint64_t count[2]; /* reads (or instructions fetched), writes */
};

struct nm_cell_recent {
	uint32_t thread, site, object, cell;
};

enum { NM_CELLS_RECENT = 4096 };

struct nm_cells {
	struct nm_vec(struct nm_site) sites;
	struct nm_map site_of_pc;
	struct nm_vec(struct nm_cell) list;    /* [0] is no cell */
	struct nm_cell_references *references; /* [list.room] */
	size_t references_room;
	struct nm_map cell_of; /* packed (thread, site, object) */
	struct nm_cell_recent *recent;
};

int nm_cells_init(struct nm_cells *cells);
void nm_cells_done(struct nm_cells *cells);

/* 0 or NM_ENOMEM. */
int nm_cells_site(struct nm_cells *cells, uint64_t pc, struct nm_module *module, uint64_t bias,
		  uint32_t *ret_site);

/* Forgets the places of [low, end): other code may come there. */
void nm_cells_forget_code(struct nm_cells *cells, uint64_t low, uint64_t end);

/* The cell, made if it is new; 0 only when memory is exhausted. */
uint32_t nm_cells_get(struct nm_cells *cells, uint32_t thread, uint32_t site, uint32_t object);

#endif
