/* SPDX-License-Identifier: MIT
 *
 * workers.h - the engine's threads: the decoding thread hands batches to consumers.
 *
 * Every consumer runs every batch, one at a time in order. With one thread all of it happens in the caller.
 * With more, each consumer has a thread of its own, from the first batch on; when the first one has no batch, it
 * does an idle job, if there is one. The results are the same.
 */
#ifndef NM_WORKERS_H
#define NM_WORKERS_H

#include <stddef.h>

#include "errors.h"
#include "hierarchy.h"
#include "instruction_clock.h"

struct nm_workers;

enum { NM_MAX_CONSUMERS = 2 };

struct nm_batch {
	const struct nm_ref *refs;
	size_t count;
	const struct nm_time_slice *time_slices; /* of cores, or NULL: there is one core */
	size_t time_slice_count;
	const struct nm_cache_hint *hints;
	size_t hint_count;
	int uncounted;         /* some references may have weight 0 */
	uint64_t instructions; /* executed when the batch was submitted */
};

/* next: the references of the batch after this one, or NULL. */
typedef int nm_batch_function(void *arg, const struct nm_batch *batch, const struct nm_ref *next);

/* A small piece of work for the first consumer's thread. Returns 1, or 0 if there is none now. */
struct nm_idle {
	int (*job)(void *arg); /* or NULL */
	void *arg;
};

int nm_workers_new(struct nm_workers **ret_workers, unsigned threads, struct nm_idle idle,
		   struct nm_error *err);
void nm_workers_free(struct nm_workers *workers);

/* Adds a consumer, before the first batch: function(arg, ...) is called for each batch, in order. */
void nm_workers_add(struct nm_workers *workers, nm_batch_function *function, void *arg);

/* Memory for NM_BATCH references, aligned for nm_workers_submit, and NM_ENTRIES more, which are ignored. */
struct nm_ref *nm_workers_buffer(struct nm_workers *workers);

/* Hands over a batch, whose memory can then be used again; waits until there is room for it. 0 or the code of
 * an earlier batch's failure. */
int nm_workers_submit(struct nm_workers *workers, const struct nm_batch *batch);

/* Waits until every consumer has run every batch. 0 or a code. */
int nm_workers_drain(struct nm_workers *workers);

/* Around fork(), when they are drained. The child has no other threads: all goes on in its caller. */
void nm_workers_before_fork(struct nm_workers *workers);
void nm_workers_after_fork(struct nm_workers *workers, int is_child);

#endif
