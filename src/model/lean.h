/* SPDX-License-Identifier: MIT
 *
 * lean.h - counts the misses of LRU caches, and nothing else: no classes, reuse, evictors or write-backs.
 * Relocations are simulated with it: many machines over one stream, of which only misses are asked.
 *
 * The counts are those of hierarchy.h for the same references; a test holds one against the other.
 */
#ifndef NM_LEAN_H
#define NM_LEAN_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* A reference of a stripped stream (strip.h). */
struct nm_lean_ref {
	uint64_t address;
	uint32_t key;  /* of the attribution; 0: it hits for certain */
	uint32_t area; /* index of a shift */
	uint16_t size; /* bytes, at least 1 */
	uint8_t is_fetch;
};

struct nm_lean;

/* 0, or NM_EINVAL: names a rule of the machine that is not simulated here. */
int nm_lean_check(const struct nm_machine *machine, struct nm_error *err);

/* The levels of a machine that nm_lean_check accepts, empty; borrowed until nm_lean_free. NULL: out of memory. */
struct nm_lean *nm_lean_new(const struct nm_machine *machine);
void nm_lean_free(struct nm_lean *lean);

/* From now on, keys are below. 0 or NM_ENOMEM. */
int nm_lean_reserve(struct nm_lean *lean, size_t keys);

/* References, each at its address + shifts[area]. */
void nm_lean_run(struct nm_lean *lean, const struct nm_lean_ref *refs, size_t count, const uint64_t *shifts);

/* By key, of all that were reserved. */
const uint64_t *nm_lean_misses(const struct nm_lean *lean, unsigned level);
size_t nm_lean_keys(const struct nm_lean *lean);

/* The fewest ways of the caches that take the program's references. */
unsigned nm_lean_ways(const struct nm_machine *machine);

#endif
