/* SPDX-License-Identifier: MIT
 *
 * interleave_events.h - what threads do in the recorded order, which the interleaver and its twin are given.
 */
#ifndef NM_TEST_INTERLEAVE_EVENTS_H
#define NM_TEST_INTERLEAVE_EVENTS_H

#include "interleave.h"
#include "vector.h"

enum { THREADS = 8, WORDS = 6, LOCKS = 3, EVENTS = 4000 };

#define WORD_BASE 0x10000ull
#define DATA_BASE 0x900000ull

/* An event of the recorded order: a reference (kind NM_SYNC_NONE, ATOMIC, UPDATE) or another. */
struct event {
	uint8_t kind;
	uint32_t thread, parent; /* of NM_SYNC_START */
	uint64_t object;
	struct nm_ref ref;
};

struct events nm_vec(struct event);

static inline int is_ref(const struct event *e)
{
	return e->kind == NM_SYNC_NONE || e->kind == NM_SYNC_ATOMIC || e->kind == NM_SYNC_UPDATE;
}

#endif
