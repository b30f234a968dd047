/* SPDX-License-Identifier: MIT
 *
 * monitor.h - reports every event in a hierarchy: hits, misses, loads and replacements at each level.
 *
 * A monitored hierarchy simulates references one by one, and reports each event at the level where it
 * happens:
 * - A reference, or a fill for the level above, is one event for each line that it touches: a hit or a load.
 *   A load comes after the replacement of the line that has to leave, if any.
 * - A miss comes once, before the first load of a reference. A fetch that stands for several instructions
 *   misses once; the others are hits. Then the next level is asked. So each touched line ends in one event:
 *   the hit at the level that serves it, or the load at the last level.
 * - Writes that a level passes on (write-through, no allocation) are references of the next level. A write
 *   that does not load its line is a miss without a load.
 * - Before an inclusive level replaces a line, it is invalidated above. Evictions of a level are its
 *   replacements and invalidations.
 * - Prefetched lines come after the reference that caused them. They are not loads, here or at further
 *   levels.
 * - Lines that a coherence protocol takes are invalidated in the caches that lose them, before the hit or
 *   miss of the reference that causes it.
 * - Lines that are resident at the end are not reported.
 */
#ifndef NM_MONITOR_H
#define NM_MONITOR_H

#include <stdint.h>

enum nm_event_kind {
	NM_EVENT_HIT,
	NM_EVENT_MISS,
	NM_EVENT_LOAD,
	NM_EVENT_REPLACE,
	NM_EVENT_INVALIDATE,
	NM_EVENT_PREFETCH,
	NM_EVENTS
};

/* Their names, ended by NULL. */
extern const char *const nm_event_names[];

/* Why a line was invalidated. */
enum nm_cause {
	NM_CAUSE_NONE,      /* it was not */
	NM_CAUSE_INCLUSION, /* an inclusive level behind has evicted it */
	NM_CAUSE_WRITE,     /* another core writes to it */
	NM_CAUSE_READ,      /* the core reads it, and another one had written to it (protocol=opt) */
	NM_CAUSE_SYNCHRONISATION,
	NM_CAUSE_NON_TEMPORAL, /* a non-temporal store writes to it */
	NM_CAUSES
};
extern const char *const nm_cause_names[NM_CAUSES]; /* "", "inclusion", ... */

struct nm_event {
	/* that causes it: 1 is the first; a fetch counts as the instructions that it stands for */
	uint64_t reference;
	uint64_t address; /* first byte that the reference touches in the line of its first level */
	uint64_t line;    /* first byte of the line that is hit, missing, loaded, prefetched or leaves */
	uint64_t set;
	uint32_t bytes; /* that the reference touches there */
	/* accesses that this event stands for: 1, except for hits of fetches; 0: its reference is not counted */
	uint32_t times;
	uint32_t attr;   /* of the reference */
	uint32_t victim; /* if a line leaves: the attribution key that had loaded it; else 0 */
	uint8_t kind;    /* enum nm_event_kind */
	uint8_t level;   /* index in the machine */
	uint16_t core;   /* 1 + the core that owns the cache; 0: all cores share it */
	uint8_t last;    /* this is the last level */
	uint8_t cause;   /* of an invalidation: enum nm_cause */
};

/* Whether a line leaves its level in such an event. */
static inline int nm_event_leaves(unsigned kind)
{
	return kind == NM_EVENT_REPLACE || kind == NM_EVENT_INVALIDATE;
}

/* Whether the reference that causes such an event does not touch the line. */
static inline int nm_event_of_untouched_line(unsigned kind) { return kind >= NM_EVENT_REPLACE; }

/* Called for every event, in order. */
struct nm_monitor {
	void (*event)(void *self, const struct nm_event *event);
	void *self;
};

struct nm_hierarchy;

/* Before the first batch: makes a hierarchy report to a monitor. */
void nm_hierarchy_watch(struct nm_hierarchy *hierarchy, const struct nm_monitor *monitor);
/* Events of references of weight 0 are reported too. */
void nm_hierarchy_watch_uncounted(struct nm_hierarchy *hierarchy);

#endif
