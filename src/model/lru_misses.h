/* SPDX-License-Identifier: MIT
 *
 * lru_misses.h - counts the misses of LRU caches, and nothing else: no classes, reuse, evictors or write-backs.
 * Relocations are simulated with it: many machines over one stream, of which only misses are asked. So are sweeps of
 * loop nests (nest/warp.c), and the samplers of a PMU, for which a level is watched: then it also knows which key had
 * loaded each of its lines.
 *
 * The counts are those of hierarchy.h for the same references; a test holds one against the other.
 */
#ifndef NM_LRU_MISSES_H
#define NM_LRU_MISSES_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

struct nm_lru_misses_ref {
	uint64_t address;
	uint32_t key;  /* of the attribution */
	uint32_t area; /* index of a shift */
	uint16_t size; /* bytes, at least 1 */
	uint8_t is_fetch;
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

/* Touches the line of an address in the levels that data enter, the first of which must be one; counts nothing. How
 * many of them, from the first on, lacked the line and load it. */
unsigned nm_lru_misses_touch(struct nm_lru_misses *caches, uint64_t address);

/* The same references to data, `rounds` times, each a step further from one round to the next; refs[].address are left
 * behind the last round. The machine has one first level of data; areas are not shifted. */
enum { NM_LRU_MISSES_LOOP = 128 /* references at most */ };
void nm_lru_misses_loop(struct nm_lru_misses *caches, struct nm_lru_misses_ref *refs, const int64_t *steps,
			uint32_t count, uint64_t rounds);

/* The lines that the levels have room for; stores which they hold, [nm_lru_misses_lines]. */
size_t nm_lru_misses_lines(const struct nm_lru_misses *caches);
void nm_lru_misses_save(const struct nm_lru_misses *caches, uint64_t *lines);

/* Whether the levels hold just the stored lines, in the same order, but moved: by moves[a], whole lines, if a are the
 * upper bits of a line's addresses. All moves turn the sets alike, whose numbers are powers of two. */
enum { NM_LRU_MISSES_AREA = 48 /* the lowest of these bits */ };
int nm_lru_misses_is_moved(const struct nm_lru_misses *caches, const uint64_t *lines, const int64_t *moves);

/* By key, of all that were reserved. */
const uint64_t *nm_lru_misses_by_key(const struct nm_lru_misses *caches, unsigned level);
size_t nm_lru_misses_keys(const struct nm_lru_misses *caches);

#endif
