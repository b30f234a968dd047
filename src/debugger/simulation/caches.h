/* SPDX-License-Identifier: MIT
 *
 * caches.h - the simulated caches of the debugger: machines in lock-step, simulated one reference at a
 * time, with the effects of each reference and the history of every slot.
 *
 * The model (hierarchy.h) simulates; this module records its events. All its state belongs to one checkpoint:
 * it depends only on the references so far.
 */
#ifndef NM_DEBUG_CACHES_H
#define NM_DEBUG_CACHES_H

#include "cache.h"
#include "debug_program.h"

enum { NM_EFFECTS = 48 /* kept of one reference */ };

enum nm_effect_class {
	NM_CLASS_NONE,
	NM_CLASS_COLD,
	NM_CLASS_CAPACITY,
	NM_CLASS_CONFLICT,
	NM_CLASS_COHERENCE,
	NM_CLASSES
};
extern const char *const nm_effect_class_names[NM_CLASSES]; /* NULL, "cold", ... */

/* The history of a slot, which the model does not have; a position 0: unknown. */
struct nm_slot_history {
	uint64_t loaded_at, last_used; /* positions */
	uint64_t used_by;              /* attribution key of the last use */
};

/* The same in little space, as checkpoints keep many: of the line that was in the slot at the last event. A line
 * that moves without an event, while counting is off, has no history. */
struct nm_line_history {
	uint32_t line; /* low bits of its number */
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
	uint16_t core;                  /* 1 + core of the cache; 0: a shared cache */
	uint32_t attr;                  /* key that had loaded the line that leaves */
	struct nm_slot_history history; /* of the line that leaves, or was hit: before this reference */
};

/* Sums of one attribution key, or one set, at one level. */
struct nm_sums {
	uint64_t references, misses;
	uint64_t of_class[NM_CLASSES];
	uint64_t evictions; /* of lines that it had loaded */
};

struct nm_slot {
	uint64_t line; /* first byte; NM_NO_LINE: empty */
	uint64_t reuse;
	struct nm_slot_history history;
	uint32_t attr; /* key that loaded it */
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
	struct nm_sums *by_attr[NM_MAX_LEVELS], *by_set[NM_MAX_LEVELS];
	size_t memory_changes;     /* number of the program's changes so far */
	uint64_t position, misses; /* misses: at level `first` */
	unsigned first;            /* the first data level of the first machine */
	struct nm_effect effects[NM_EFFECTS];
	unsigned effect_count;
	struct nm_loads before[NM_MAX_LEVELS]; /* counters at the miss of the current reference */
	struct nm_extras before_extras[NM_MAX_LEVELS];
	uint32_t missed, counted; /* levels where it missed, and where it was counted: a bit each */
	const struct nm_reference *reference;
};

/* program and machine are borrowed. Codes of nm_hierarchy_new(). */
int nm_caches_new(struct nm_caches **ret_caches, const struct nm_debug_program *program,
		  const struct nm_machine *machine, struct nm_error *err);
void nm_caches_free(struct nm_caches *caches);

/* Simulates the next reference. 0 or a code of nm_hierarchy_run(). */
int nm_caches_feed(struct nm_caches *caches, const struct nm_reference *reference);

/* Slots of a level's cache of one core, in the order of sets and ways; `ways` of a set, sectors one by
 * one. */
unsigned nm_caches_ways(const struct nm_caches *caches, unsigned level);
uint64_t nm_caches_sets(const struct nm_caches *caches, unsigned level);
struct nm_slot nm_caches_slot(const struct nm_caches *caches, unsigned level, unsigned core, uint64_t set,
			      unsigned way);

/* The set of an address. */
uint64_t nm_caches_set(const struct nm_caches *caches, unsigned level, unsigned core, uint64_t address);

static inline int nm_slot_same(const struct nm_slot *s, const struct nm_slot *b)
{
	return s->line == b->line && s->reuse == b->reuse && s->history.loaded_at == b->history.loaded_at &&
	       s->history.last_used == b->history.last_used && s->attr == b->attr && s->dirty == b->dirty &&
	       s->state == b->state;
}

/* Finds the line that contains an address: 1 and the slot, or 0. */
int nm_caches_find(const struct nm_caches *caches, unsigned level, unsigned core, uint64_t address,
		   struct nm_slot *ret_slot, uint64_t *ret_set, unsigned *ret_way);

/* The effect of the last reference at a level: its first hit, miss or load there; or NULL. */
const struct nm_effect *nm_effect_at(const struct nm_effect *effects, unsigned count, unsigned level);

/* The line that was evicted by effect i, or NULL. */
const struct nm_effect *nm_effect_victim(const struct nm_effect *effects, unsigned count, unsigned i);

#endif
