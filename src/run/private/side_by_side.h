/* SPDX-License-Identifier: MIT
 *
 * side_by_side.h - replays the processes of a trace on several threads.
 */
#ifndef NM_RUN_SIDE_BY_SIDE_H
#define NM_RUN_SIDE_BY_SIDE_H

#include "errors.h"

struct nm_session;
struct nm_trace;

enum { NM_SIDE_BY_SIDE = 64 /* threads, at most */ };

struct nm_side_by_side {
	const char *path; /* of the trace, which each thread opens for itself */
	unsigned threads;
	struct nm_session *session;
	/* One of these at a time is called, by any thread: some words have been fed; a stream ends early. */
	void (*fed)(void *arg);
	void (*ends_early)(void *arg, uint32_t stream, const struct nm_error *err);
	void *arg;
};

/* How many processes of a trace can be replayed at the same time so that it pays: 0 if one of them has more than half
 * of the words, or if the trace is a pipe or not whole. */
unsigned nm_side_by_side_processes(struct nm_trace *trace);

/* Feeds all streams to the session. 0 or a code: what could be read has been fed. */
int nm_side_by_side_feed(const struct nm_side_by_side *replay, struct nm_trace *trace, struct nm_error *err);

#endif
