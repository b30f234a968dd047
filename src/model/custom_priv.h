/* SPDX-License-Identifier: MIT
 *
 * custom_priv.h - what custom.c and bring.c share: how lines come to places of such levels and leave them.
 */
#ifndef NM_CUSTOM_PRIV_H
#define NM_CUSTOM_PRIV_H

#include "custom.h"

/* Such levels are slow enough to ask each time whether they are watched. */
static inline void tell(const struct nm_cache *c, enum nm_event_kind kind, uint64_t line, uint32_t times,
			uint32_t victim)
{
	if (c->teller)
		nm_teller_tell(c, kind, line, times, victim);
}

static inline int exclusive(const struct nm_cache *c) { return c && c->spec.inclusion == NM_EXCLUSIVE; }

/* A place for a line in its set, whose line leaves if no way is free; the line has it now. */
uint32_t nm_custom_vacate(struct nm_cache *c, uint64_t line, uint32_t evictor);

/* A line comes to a place without having been asked for: its last touch is what it was. */
void nm_custom_settle_in(struct nm_cache *c, uint64_t line, uint32_t place);

/* The stay at a place begins; it goes on at another. */
void nm_custom_clear_stay(struct nm_cache *c, uint32_t place, uint32_t cell);
void nm_custom_move_stay(struct nm_cache *c, uint32_t from, uint32_t to);

/* A place has no line any more, and its way neither, unless other sectors are left. */
void nm_custom_free_place(struct nm_cache *c, uint32_t place);

/* The policy is told that a line is asked for. */
void nm_custom_touch_place(struct nm_cache *c, uint32_t place);

#endif
