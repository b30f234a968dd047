/* SPDX-License-Identifier: MIT
 *
 * workers.c - see workers.h. All consumers read the same queue; a batch leaves it when the slowest has run it.
 *
 * Threads wait on condition variables and never spin: the profiled program needs the processors too. A
 * waiting thread waits for plenty of work: a consumer for a quarter of the queue, the decoder for half of it.
 * Otherwise the two would alternate batch by batch, with a switch each time. Before the first consumer waits
 * it repeats the idle job, which takes work off the decoder, until the queue is a quarter full. If there is
 * nothing to do, a consumer runs the batches that there are.
 *
 * The decoder fills a private batch and copies it with non-temporal stores (nontemporal.h); the model
 * prefetches the next batch while it runs one. Only both together pay. Dropped: prefetching for writing,
 * copies by memcpy or rep movsb, queues of 16 to 64 or of 1,024 batches.
 */
#include "workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "decoded_block.h"
#include "nontemporal.h"

enum {
	TURN = 8, /* batches that are announced or run at a time, so that the lock is taken less often */
};

/* Runs every batch, on a thread of its own if there are threads. */
struct consumer {
	struct nm_workers *workers;
	nm_batch_function *function;
	void *arg;
	unsigned tail;         /* the batch that it runs next; under the lock, as `status` */
	int status;            /* of the first batch that failed: it runs no more */
	pthread_cond_t filled; /* there are plenty of batches for it */
	pthread_t thread;
	int has_thread;
};

_Static_assert(NM_BATCH * sizeof(struct nm_ref) % NM_COPY_LINE == 0, "batches are copied by lines");

struct nm_workers {
	unsigned threads;
	struct nm_idle idle;
	struct consumer consumers[NM_MAX_CONSUMERS];
	unsigned consumer_count;
	struct nm_ref *own;   /* the decoder's batch, with NM_ENTRIES more */
	struct nm_ref *queue; /* [NM_BATCHES_IN_FLIGHT][NM_BATCH], or NULL: with one thread */
	size_t counts[NM_BATCHES_IN_FLIGHT];
	struct nm_time_slice *time_slices; /* [NM_BATCHES_IN_FLIGHT][NM_BATCH], or NULL: no batch had any */
	size_t time_slice_counts[NM_BATCHES_IN_FLIGHT];
	struct nm_cache_hint *hints; /* [NM_BATCHES_IN_FLIGHT][NM_BATCH], or NULL: no batch had any */
	size_t hint_counts[NM_BATCHES_IN_FLIGHT];
	uint8_t uncounted[NM_BATCHES_IN_FLIGHT];
	uint64_t instructions[NM_BATCHES_IN_FLIGHT];

	/* The queue of batches: for each consumer [tail, head) are waiting or running. */
	pthread_mutex_t lock;
	pthread_cond_t emptied;
	unsigned head;
	int stop, draining;

	/* The decoder's: batches put into the queue, the last of which may not be announced yet; tail and
	 * status as seen last. */
	unsigned made, seen_tail;
	int seen_status;
	int failed; /* there was no memory for the queue or a thread: nothing was put there */
};

static struct nm_ref *batch_at(const struct nm_workers *w, unsigned i)
{
	return w->queue + (size_t)(i % NM_BATCHES_IN_FLIGHT) * NM_BATCH;
}

static struct nm_time_slice *turns_at(const struct nm_workers *w, unsigned i)
{
	assert(w->time_slices);
	return w->time_slices + (size_t)(i % NM_BATCHES_IN_FLIGHT) * NM_BATCH;
}

static struct nm_cache_hint *hints_at(const struct nm_workers *w, unsigned i)
{
	return w->hints + (size_t)(i % NM_BATCHES_IN_FLIGHT) * NM_BATCH;
}

/* Batches that the slowest consumer has not run. */
static unsigned waiting_batches(const struct nm_workers *w)
{
	unsigned most = 0;

	for (unsigned i = 0; i < w->consumer_count; i++)
		if (w->head - w->consumers[i].tail > most)
			most = w->head - w->consumers[i].tail;
	return most;
}

/* Whether a consumer has work for a while, or another thread waits for it. */
static int is_due(const struct consumer *c)
{
	const struct nm_workers *w = c->workers;

	return w->head - c->tail >= NM_BATCHES_IN_FLIGHT / 4 || w->stop ||
	       (w->draining && w->head != c->tail);
}

static int has_idle_job(const struct consumer *c)
{
	return c == c->workers->consumers && c->workers->idle.job;
}

static void wait_for_batches(struct consumer *c)
{
	struct nm_workers *w = c->workers;

	while (!is_due(c)) {
		int done = 0;

		if (has_idle_job(c)) {
			pthread_mutex_unlock(&w->lock);
			done = w->idle.job(w->idle.arg);
			pthread_mutex_lock(&w->lock);
		}
		if (!done && w->head != c->tail)
			break;
		if (!done && !is_due(c))
			pthread_cond_wait(&c->filled, &w->lock);
	}
}

/* Runs the batches that are there, a few at most. Returns their number; *ret_status is theirs. */
static unsigned run_some(struct consumer *c, int *ret_status)
{
	struct nm_workers *w = c->workers;
	const unsigned there = w->head - c->tail, n = there < TURN ? there : TURN, tail = c->tail;
	int status = 0;

	assert(w->head - c->tail <= NM_BATCHES_IN_FLIGHT);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < n && !status; i++) {
		const unsigned at = (tail + i) % NM_BATCHES_IN_FLIGHT;
		const struct nm_batch batch = {.refs = batch_at(w, at),
					       .count = w->counts[at],
					       .time_slices =
						   w->time_slice_counts[at] ? turns_at(w, at) : NULL,
					       .time_slice_count = w->time_slice_counts[at],
					       .hints = w->hint_counts[at] ? hints_at(w, at) : NULL,
					       .hint_count = w->hint_counts[at],
					       .uncounted = w->uncounted[at],
					       .instructions = w->instructions[at]};

		status = c->function(c->arg, &batch, i + 1 < there ? batch_at(w, tail + i + 1) : NULL);
	}
	pthread_mutex_lock(&w->lock);
	*ret_status = status;
	return n;
}

static void *consume_batches(void *arg)
{
	struct consumer *c = arg;
	struct nm_workers *w = c->workers;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		if (c->tail == w->head)
			wait_for_batches(c);
		if (c->tail == w->head)
			break;
		c->tail += c->status ? w->head - c->tail : run_some(c, &c->status);
		if (waiting_batches(w) <= NM_BATCHES_IN_FLIGHT / 2)
			pthread_cond_signal(&w->emptied);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int nm_workers_new(struct nm_workers **ret_workers, unsigned threads, struct nm_idle idle,
		   struct nm_error *err)
{
	struct nm_workers *w = calloc(1, sizeof *w);
	int status = 0;

	if (!w)
		return nm_fail_memory(err);
	w->threads = threads;
	w->idle = idle;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->emptied, NULL);
	w->own = aligned_alloc(NM_COPY_LINE, (NM_BATCH + NM_ENTRIES) * sizeof *w->own);
	if (!w->own)
		status = nm_fail_memory(err);
	if (status) {
		nm_workers_free(w);
		return status;
	}
	*ret_workers = w;
	return 0;
}

void nm_workers_free(struct nm_workers *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = 1;
	for (unsigned i = 0; i < w->consumer_count; i++)
		pthread_cond_signal(&w->consumers[i].filled);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->consumer_count; i++) {
		if (w->consumers[i].has_thread)
			pthread_join(w->consumers[i].thread, NULL);
		pthread_cond_destroy(&w->consumers[i].filled);
	}
	free(w->own);
	free(w->queue);
	free(w->time_slices);
	free(w->hints);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->emptied);
	free(w);
}

void nm_workers_add(struct nm_workers *w, nm_batch_function *function, void *arg)
{
	struct consumer *c = &w->consumers[w->consumer_count];

	assert(w->consumer_count < NM_MAX_CONSUMERS && w->made == 0);
	pthread_cond_init(&c->filled, NULL);
	pthread_mutex_lock(&w->lock);
	c->workers = w;
	c->function = function;
	c->arg = arg;
	w->consumer_count++;
	pthread_mutex_unlock(&w->lock);
}

/* At the first batch: a process that waits to run costs neither the queue nor threads. */
static int start_threads(struct nm_workers *w)
{
	w->queue = aligned_alloc(NM_COPY_LINE, sizeof *w->queue * NM_BATCHES_IN_FLIGHT * NM_BATCH);
	for (unsigned i = 0; w->queue && i < w->consumer_count; i++) {
		struct consumer *c = &w->consumers[i];

		c->has_thread = !pthread_create(&c->thread, NULL, consume_batches, c);
		w->failed |= !c->has_thread;
	}
	w->failed |= !w->queue;
	return w->failed ? NM_ENOMEM : 0;
}

struct nm_ref *nm_workers_buffer(struct nm_workers *w) { return w->own; }

/* The code of the first consumer that failed. */
static int first_failure(const struct nm_workers *w)
{
	int status = 0;

	for (unsigned i = 0; i < w->consumer_count && !status; i++)
		status = w->consumers[i].status;
	return status;
}

/* Announces the new batches. */
static void publish_batches(struct nm_workers *w)
{
	w->head = w->made;
	w->seen_status = first_failure(w);
	w->seen_tail = w->head - waiting_batches(w);
	for (unsigned i = 0; i < w->consumer_count; i++)
		if (is_due(&w->consumers[i]))
			pthread_cond_signal(&w->consumers[i].filled);
}

/* Waits for room in the queue; returns where the next batch goes. */
static struct nm_ref *wait_for_room(struct nm_workers *w)
{
	if (w->made - w->seen_tail == NM_BATCHES_IN_FLIGHT) {
		pthread_mutex_lock(&w->lock);
		publish_batches(w);
		if (waiting_batches(w) == NM_BATCHES_IN_FLIGHT)
			while (waiting_batches(w) > NM_BATCHES_IN_FLIGHT / 2)
				pthread_cond_wait(&w->emptied, &w->lock);
		w->seen_tail = w->head - waiting_batches(w);
		pthread_mutex_unlock(&w->lock);
	}
	return batch_at(w, w->made);
}

/* Copies the turns and hints of the batch. */
static int put_notes(struct nm_workers *w, const struct nm_batch *batch)
{
	if (batch->hint_count && !w->hints &&
	    !(w->hints = malloc(sizeof *w->hints * NM_BATCHES_IN_FLIGHT * NM_BATCH)))
		return NM_ENOMEM;
	if (batch->hint_count)
		memcpy(hints_at(w, w->made), batch->hints, batch->hint_count * sizeof *w->hints);
	w->hint_counts[w->made % NM_BATCHES_IN_FLIGHT] = batch->hint_count;
	if (batch->time_slice_count && !w->time_slices &&
	    !(w->time_slices = malloc(sizeof *w->time_slices * NM_BATCHES_IN_FLIGHT * NM_BATCH)))
		return NM_ENOMEM;
	if (batch->time_slice_count)
		memcpy(turns_at(w, w->made), batch->time_slices,
		       batch->time_slice_count * sizeof *w->time_slices);
	w->time_slice_counts[w->made % NM_BATCHES_IN_FLIGHT] = batch->time_slice_count;
	w->uncounted[w->made % NM_BATCHES_IN_FLIGHT] = batch->uncounted != 0;
	w->instructions[w->made % NM_BATCHES_IN_FLIGHT] = batch->instructions;
	return 0;
}

/* In the caller, by one consumer after another. */
static int run_here(struct nm_workers *w, const struct nm_batch *batch)
{
	int status = 0;

	for (unsigned i = 0; i < w->consumer_count && !status; i++)
		status = w->consumers[i].function(w->consumers[i].arg, batch, NULL);
	return status;
}

int nm_workers_submit(struct nm_workers *w, const struct nm_batch *batch)
{
	assert(batch->count + batch->hint_count > 0 && batch->count <= NM_BATCH);
	assert(batch->hint_count <= NM_BATCH);
	if (w->threads < 2)
		return run_here(w, batch);
	if (w->failed || (!w->queue && start_threads(w)))
		return NM_ENOMEM;
	nm_copy_nontemporal(wait_for_room(w), batch->refs, batch->count * sizeof *batch->refs);
	if (put_notes(w, batch))
		return NM_ENOMEM;
	w->counts[w->made++ % NM_BATCHES_IN_FLIGHT] = batch->count;
	if (w->made % TURN == 0) {
		pthread_mutex_lock(&w->lock);
		publish_batches(w);
		pthread_mutex_unlock(&w->lock);
	}
	return w->seen_status;
}

int nm_workers_drain(struct nm_workers *w)
{
	if (w->failed || !w->queue)
		return w->failed ? NM_ENOMEM : 0;
	pthread_mutex_lock(&w->lock);
	w->draining = 1;
	publish_batches(w);
	while (waiting_batches(w))
		pthread_cond_wait(&w->emptied, &w->lock);
	w->draining = 0;
	w->seen_status = first_failure(w);
	pthread_mutex_unlock(&w->lock);
	return w->seen_status;
}

void nm_workers_before_fork(struct nm_workers *w) { pthread_mutex_lock(&w->lock); }

void nm_workers_after_fork(struct nm_workers *w, int is_child)
{
	assert(!waiting_batches(w));
	pthread_mutex_unlock(&w->lock);
	if (!is_child)
		return;
	w->threads = 1;
	pthread_cond_init(&w->emptied, NULL); /* as if nobody had waited */
	for (unsigned i = 0; i < w->consumer_count; i++) {
		w->consumers[i].has_thread = 0;
		pthread_cond_init(&w->consumers[i].filled, NULL);
	}
}
