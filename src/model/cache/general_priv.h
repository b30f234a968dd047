/* SPDX-License-Identifier: MIT
 *
 * general_priv.h - shared by general.c and prefetch_fill.c: how lines enter and leave slots of general
 * levels.
 */
#ifndef NM_GENERAL_PRIV_H
#define NM_GENERAL_PRIV_H

#include "general.h"

/* Such levels are slow enough to ask each time whether they are watched. */
static inline void emit(const struct nm_cache *c, enum nm_event_kind kind, uint64_t line, uint32_t times,
			uint32_t victim)
{
	if (c->sink)
		nm_event_sink_emit(c, kind, line, times, victim);
}

static inline int exclusive(const struct nm_cache *c) { return c && c->spec.inclusion == NM_EXCLUSIVE; }

/* A slot for a line in its set, whose line leaves if no way is free; the line has it now. */
uint32_t nm_general_vacate(struct nm_cache *c, uint64_t line, uint32_t evictor);

/* A line comes to a slot without having been asked for: its last touch is what it was. */
void nm_general_place_line(struct nm_cache *c, uint64_t line, uint32_t slot);

/* The residency at a slot begins; it goes on at another. */
void nm_general_begin_residency(struct nm_cache *c, uint32_t slot, uint32_t attr);
void nm_general_move_residency(struct nm_cache *c, uint32_t from, uint32_t to);

/* A slot has no line any more, and its way neither, unless other sectors are left. */
void nm_general_free_slot(struct nm_cache *c, uint32_t slot);

/* The policy sees that a line is asked for. */
void nm_general_touch_slot(struct nm_cache *c, uint32_t slot);

#endif
