/* SPDX-License-Identifier: MIT
 *
 * caches.h - the simulated caches under the debugger: machines side by side in lock-step, fed one reference
 * at a time, with what each reference did and what is known of every slot.
 *
 * The model (hierarchy.h) decides all; here its events are noted. Everything in here is state of one moment:
 * it follows from the references that were fed alone.
 */
#ifndef NM_DEBUG_CACHES_H
#define NM_DEBUG_CACHES_H

#include "cache.h"
#include "debug_program.h"

enum { NM_EFFECTS = 48 /* of one reference that are kept */ };

enum nm_effect_class {
	NM_CLASS_NONE,
	NM_CLASS_COLD,
	NM_CLASS_CAPACITY,
	NM_CLASS_CONFLICT,
	NM_CLASS_COHERENCE,
	NM_CLASSES
};
extern const char *const nm_effect_class_names[NM_CLASSES]; /* NULL, "cold", ... */

/* What is known of a slot beside the model's own figures; a position 0: nothing. */
struct nm_slot_history {
	uint64_t loaded_at, last_used; /* positions */
	uint64_t used_by;              /* attribution key of the last use */
};

/* The same, small, of the line that was in the slot at its last event: lines that move without one, while
 * measuring is off, have no history. Moments keep many of these. */
struct nm_line_history {
	uint32_t line; /* its number, the low bits */
	uint32_t loaded_at, last_used;
	uint32_t used_by; /* attribution key of the last use */
};
#define NM_MOST_REFERENCES UINT32_MAX

/* One event (monitor.h) of the last reference. */
struct nm_effect {
	uint64_t line; /* first byte of the line that is hit, missing, loaded or leaves */
	uint32_t set, way;
	uint8_t kind;  /* enum nm_event_kind */
	uint8_t class; /* of a load: enum nm_effect_class */
	uint8_t level;
	uint8_t dirty;                  /* of a line that leaves */
	uint8_t false_sharing;          /* of a load: no byte that it touches was written by another core */
	uint16_t core;                  /* 1 + whose cache it is; 0: all share it */
	uint32_t attr;                  /* that had loaded the line that leaves */
	struct nm_slot_history history; /* of the line that leaves, or was hit: before this reference */
};

/* Sums of one attribution key, or one set, at one level. */
struct nm_tally {
	uint64_t references, misses;
	uint64_t of_class[NM_CLASSES];
	uint64_t evictions; /* lines that it loaded and that left again */
};

struct nm_slot {
	uint64_t line; /* first byte; NM_NO_LINE: empty */
	uint64_t reuse;
	struct nm_slot_history history;
	uint32_t attr; /* that loaded it */
	uint8_t dirty;
	uint8_t state; /* enum nm_copy_state; NM_COPY_NONE without a protocol */
};

struct nm_watched_unit {
	const struct nm_cache *cache;
	struct nm_line_history *history; /* by slot */
};

struct nm_caches {
	const struct nm_debug_program *program;
	const struct nm_machine *machine;
	struct nm_hierarchy *hierarchy;
	struct nm_watched_unit (*units)[NM_MAX_LEVELS]; /* by core */
	struct nm_tally *by_attr[NM_MAX_LEVELS], *by_set[NM_MAX_LEVELS];
	size_t memory_changes;     /* of the program that have come */
	uint64_t position, misses; /* misses: of the first data level of the first machine */
	unsigned first;            /* that level */
	struct nm_effect effects[NM_EFFECTS];
	unsigned effect_count;
	struct nm_loads before[NM_MAX_LEVELS]; /* of the reference in hand, at its miss there */
	struct nm_extras before_extras[NM_MAX_LEVELS];
	uint32_t missed, counted; /* levels, a bit each, where it missed, and where it was counted */
	const struct nm_reference *reference;
};

/* program and machine are borrowed. Codes of nm_hierarchy_new(). */
int nm_caches_new(struct nm_caches **ret_caches, const struct nm_debug_program *program,
		  const struct nm_machine *machine, struct nm_error *err);
void nm_caches_free(struct nm_caches *caches);

/* Feeds the next reference.  0 or a code of nm_hierarchy_run(). */
int nm_caches_feed(struct nm_caches *caches, const struct nm_reference *reference);

/* Slots of a level's cache of one core, in the order of sets and ways; `ways` of a set, sectors one by
 * one. */
unsigned nm_caches_ways(const struct nm_caches *caches, unsigned level);
uint64_t nm_caches_sets(const struct nm_caches *caches, unsigned level);
struct nm_slot nm_caches_slot(const struct nm_caches *caches, unsigned level, unsigned core, uint64_t set,
			      unsigned way);

/* The set that an address belongs to. */
uint64_t nm_caches_set(const struct nm_caches *caches, unsigned level, unsigned core, uint64_t address);

static inline int nm_slot_same(const struct nm_slot *a, const struct nm_slot *b)
{
	return a->line == b->line && a->reuse == b->reuse && a->history.loaded_at == b->history.loaded_at &&
	       a->history.last_used == b->history.last_used && a->attr == b->attr && a->dirty == b->dirty &&
	       a->state == b->state;
}

/* Where the line around an address is: 1 and the slot, or 0. */
int nm_caches_find(const struct nm_caches *caches, unsigned level, unsigned core, uint64_t address,
		   struct nm_slot *ret_slot, uint64_t *ret_set, unsigned *ret_way);

/* The effect of the last reference at a level: its first hit, miss or load there; or NULL. */
const struct nm_effect *nm_effect_at(const struct nm_effect *effects, unsigned count, unsigned level);

/* The line that left for effect i, or NULL. */
const struct nm_effect *nm_effect_victim(const struct nm_effect *effects, unsigned count, unsigned i);

#endif
