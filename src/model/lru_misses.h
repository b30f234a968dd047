/* SPDX-License-Identifier: MIT
 *
 * lru_misses.h - counts the misses of LRU caches, and nothing else: no classes, reuse, evictors or write-backs.
 * Relocations are simulated with it: many machines over one stream, of which only misses are asked. So are the
 * samplers of a PMU, for which a level is watched: then it also knows which key had loaded each of its lines.
 *
 * The counts are those of hierarchy.h for the same references; a test holds one against the other.
 */
#ifndef NM_LRU_MISSES_H
#define NM_LRU_MISSES_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* A reference, of a whole stream or of a stripped one (strip.h). */
struct nm_lru_misses_ref {
	uint64_t address;
	uint32_t key;  /* of the attribution; 0: none, as in strip.c what hits for certain */
	uint32_t area; /* index of a shift */
	uint16_t size; /* bytes, at least 1 */
	uint8_t is_fetch;
	uint8_t by_pages; /* for nm_strip_add: the area is shifted by whole pages */
};

struct nm_lru_misses;

/* 0, or NM_EINVAL: names a rule of the machine that is not simulated here. what: such as "relocations". */
int nm_lru_misses_check(const struct nm_machine *machine, const char *what, struct nm_error *err);

/* The levels of a machine that nm_lru_misses_check accepts, empty. NULL: out of memory. */
struct nm_lru_misses *nm_lru_misses_new(const struct nm_machine *machine);
void nm_lru_misses_free(struct nm_lru_misses *caches);

/* Before the first reference: calls `load` at each load of a line of a level, with the key whose reference had
 * loaded the line that it evicts; 0: it evicts none. 0 or NM_ENOMEM. */
int nm_lru_misses_watch(struct nm_lru_misses *caches, unsigned level,
			void (*load)(void *self, uint32_t victim), void *self);

/* From now on, keys are below. 0 or NM_ENOMEM. */
int nm_lru_misses_reserve(struct nm_lru_misses *caches, size_t keys);

/* References, each at its address + shifts[area]. */
void nm_lru_misses_run(struct nm_lru_misses *caches, const struct nm_lru_misses_ref *refs, size_t count,
		       const uint64_t *shifts);

/* By key, of all that were reserved. */
const uint64_t *nm_lru_misses_of(const struct nm_lru_misses *caches, unsigned level);
size_t nm_lru_misses_keys(const struct nm_lru_misses *caches);

#endif
