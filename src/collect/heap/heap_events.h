/* SPDX-License-Identifier: MIT
 *
 * heap_events.h - makes the log of a program's allocations, and reads it in the order of time when the program has
 * ended.
 */
#ifndef NM_HEAP_EVENTS_H
#define NM_HEAP_EVENTS_H

#include "errors.h"
#include "heap_log.h"

struct nm_heap_event {
	uint64_t time; /* ns */
	uint32_t pid;
	int is_release;
	uint64_t address, bytes;
	uint32_t chain;      /* its number */
	const uint64_t *pcs; /* [count]: return addresses, the innermost first */
	uint32_t count;
};

struct nm_heap_events;

/* Makes the empty file `fd` a log of blocks of at least so many bytes. 0 or NM_EIO. */
int nm_heap_log_begin(int fd, uint64_t least, struct nm_error *err);

/* 0; NM_EFORMAT: it is no log. */
int nm_heap_events_open(struct nm_heap_events **ret_events, int fd, struct nm_error *err);
void nm_heap_events_free(struct nm_heap_events *events);

/* The next event without taking it, or NULL; valid until it is taken. */
const struct nm_heap_event *nm_heap_events_peek(struct nm_heap_events *events);
void nm_heap_events_take(struct nm_heap_events *events);

/* Whether the log has room for no more: later blocks are not in it. */
int nm_heap_events_is_cut(const struct nm_heap_events *events);

#endif
