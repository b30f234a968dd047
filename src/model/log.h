/* SPDX-License-Identifier: MIT
 *
 * log.h - the hot half of recency.c: what hits and misses ask of the log.
 */
#ifndef NM_LOG_H
#define NM_LOG_H

#include "recency.h"
#include "search.h"

/* The first time from `time` on whose entry is a last touch; there is one. */
ALWAYS uint64_t last_touch(const struct nm_recency *r, uint64_t time)
{
	while (!nm_recency_is_last(r, r->log[time], time))
		time++;
	return time;
}

/* Makes room in the log for some touches, of which there are far fewer than it has entries. */
ALWAYS void reserve(struct nm_recency *r, uint32_t touches)
{
	if (__builtin_expect(r->now + touches > r->end, 0))
		nm_recency_renumber(r);
}

/* A line that the fully associative cache does not hold enters it; if that is full the one with the earliest last
 * touch leaves. */
ALWAYS void enter(struct nm_recency *r)
{
	if (r->live < r->capacity)
		r->live++;
	else
		nm_recency_forget(r, last_touch(r, r->head));
}

/* Whether the fully associative cache holds a line that is to be loaded, before its victim leaves.  It does now. */
ALWAYS int held(struct nm_recency *r, uint64_t line)
{
	struct nm_ghost *ghost = nm_recency_ghost(r, line);

	if (ghost->stamp) {
		nm_recency_return(r, ghost);
		return 1;
	}
	enter(r);
	return 0;
}

/* The class of the load of a line, before its victim leaves; or NM_ENOMEM. */
ALWAYS int class_of(struct nm_recency *r, uint64_t line)
{
	return held(r, line) ? NM_MISS_CONFLICT : nm_recency_seen(r, line);
}

#endif
