/* SPDX-License-Identifier: MIT
 *
 * general_priv.h - shared by general.c and prefetch_fill.c: how lines enter and leave slots of general
 * levels.
 */
#ifndef NM_GENERAL_PRIV_H
#define NM_GENERAL_PRIV_H

#include "general.h"

/* Reports an event, if the hierarchy is monitored; general levels are slow enough to check each time. */
static inline void emit_event(const struct nm_cache *c, enum nm_event_kind kind, uint64_t line,
			      uint32_t times, uint32_t victim)
{
	if (c->sink)
		nm_event_sink_emit(c, kind, line, times, victim);
}

static inline int is_exclusive(const struct nm_cache *c) { return c && c->spec.inclusion == NM_EXCLUSIVE; }

/* Gives a line a slot in its set, evicting another one if no way is free. */
uint32_t general_vacate(struct nm_cache *c, uint64_t line, uint32_t evictor);

/* Puts a line at a slot without touching it: it keeps the time of its last touch. */
void general_place_line(struct nm_cache *c, uint64_t line, uint32_t slot);

/* Begins a residency at a slot; moves it to another. */
void general_begin_residency(struct nm_cache *c, uint32_t slot, uint32_t attr);
void general_move_residency(struct nm_cache *c, uint32_t from, uint32_t to);

/* Frees a slot, and its way if no other sector is left. */
void general_free_slot(struct nm_cache *c, uint32_t slot);

/* Tells the policy of a request for a line. */
void general_touch_slot(struct nm_cache *c, uint32_t slot);

#endif
