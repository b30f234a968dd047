/* SPDX-License-Identifier: MIT
 *
 * shadow_log.h - the hot half of shadow.c, for hits and misses.
 */
#ifndef NM_SHADOW_LOG_H
#define NM_SHADOW_LOG_H

#include "search.h"
#include "shadow.h"

/* The first time, from `time` on, whose entry is a last touch; there is one. */
ALWAYS uint64_t last_touch(const struct nm_shadow *s, uint64_t time)
{
	while (!nm_shadow_is_last(s, s->log[time], time))
		time++;
	return time;
}

/* Makes room in the log for some touches, far fewer than it has entries. */
ALWAYS void reserve(struct nm_shadow *s, uint32_t touches)
{
	if (__builtin_expect(s->now + touches > s->end, 0))
		nm_shadow_renumber(s);
}

/* Enters a line into the shadow cache; if that is full, the line with the earliest last touch leaves. */
ALWAYS void enter(struct nm_shadow *s)
{
	if (s->live < s->capacity)
		s->live++;
	else
		s->head = last_touch(s, s->head) + 1;
}

/* Whether the shadow cache holds a line that is to be loaded, before its victim leaves. Afterwards it
 * does. */
ALWAYS int held(struct nm_shadow *s, uint64_t line)
{
	uint64_t *timestamp = nm_shadow_left(s, line);

	if (timestamp) {
		nm_shadow_return(s, timestamp);
		return 1;
	}
	enter(s);
	return 0;
}

/* The class of the load of a line, before its victim leaves; or NM_ENOMEM. */
ALWAYS int class_of(struct nm_shadow *s, uint64_t line)
{
	return held(s, line) ? NM_MISS_CONFLICT : nm_shadow_seen(s, line);
}

#endif
