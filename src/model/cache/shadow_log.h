/* SPDX-License-Identifier: MIT
 *
 * shadow_log.h - the hot half of shadow.c, for hits and misses.
 */
#ifndef NM_SHADOW_LOG_H
#define NM_SHADOW_LOG_H

#include "search.h"
#include "shadow.h"

/* The first time, from `time` on, whose entry is a last touch; there is one. */
ALWAYS uint64_t last_touch(const struct nm_shadow *r, uint64_t time)
{
	while (!nm_shadow_is_last(r, r->log[time], time))
		time++;
	return time;
}

/* Makes room in the log for some touches, far fewer than it has entries. */
ALWAYS void reserve(struct nm_shadow *r, uint32_t touches)
{
	if (__builtin_expect(r->now + touches > r->end, 0))
		nm_shadow_renumber(r);
}

/* Enters a line into the shadow cache; if that is full, the line with the earliest last touch leaves. */
ALWAYS void enter(struct nm_shadow *r)
{
	if (r->live < r->capacity)
		r->live++;
	else
		r->head = last_touch(r, r->head) + 1;
}

/* Whether the shadow cache holds a line that is to be loaded, before its victim leaves. Afterwards it
 * does. */
ALWAYS int held(struct nm_shadow *r, uint64_t line)
{
	uint64_t *timestamp = nm_shadow_left(r, line);

	if (timestamp) {
		nm_shadow_return(r, timestamp);
		return 1;
	}
	enter(r);
	return 0;
}

/* The class of the load of a line, before its victim leaves; or NM_ENOMEM. */
ALWAYS int class_of(struct nm_shadow *r, uint64_t line)
{
	return held(r, line) ? NM_MISS_CONFLICT : nm_shadow_seen(r, line);
}

#endif
