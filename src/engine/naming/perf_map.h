/* SPDX-License-Identifier: MIT
 *
 * perf_map.h - functions of code that a program generates, from the map that it writes for perf:
 * /tmp/perf-PID.map, lines of "START SIZE NAME", the numbers hexadecimal.
 */
#ifndef NM_PERF_MAP_H
#define NM_PERF_MAP_H

#include "decode.h"
#include "map.h"
#include "sort.h"
#include "vector.h"

struct nm_symbols;

struct nm_perf_entry {
	uint64_t low, end;
	const char *name; /* interned in the store */
};

/* All zeros: not looked for yet. */
struct nm_perf_map {
	int is_open, fd;
	uint64_t read;                            /* bytes of the file, whole lines */
	struct nm_vec(struct nm_perf_entry) list; /* in the file's order */
	struct nm_vec(struct nm_keyed) by_low;    /* low -> index in the list, of the first `by_low.count` */
	uint64_t longest;                         /* entry */
	struct nm_map versions;                   /* pc -> how many different blocks have begun there */
	struct nm_map known;                      /* hash of a block -> index in the list and 1 */
};

void nm_perf_map_done(struct nm_perf_map *map);

/* *ret_name: the function of a block that is defined now, or NULL. 0 or NM_ENOMEM. */
int nm_perf_map_find(struct nm_perf_map *map, struct nm_symbols *symbols, uint32_t pid,
		     const struct nm_wire_block_info *block, const char **ret_name);

#endif
