/* SPDX-License-Identifier: MIT
 *
 * workers.c - see workers.h.  Waiting is by condition variables, never by spinning: the profiled program
 * needs the processors too.  Each side, once it has to wait, waits until there is work for a while: the modeller
 * for a quarter of the queue, the decoder for half of it; else the two would take turns batch by batch, a switch
 * each time.  Before the modeller waits it does the idle job, again and again up to that quarter: what it takes off
 * the decoder makes the batches come sooner.
 *
 * On two processors the host leaves both on one as long as the program keeps the other busy, so they
 * take turns all the same: a queue of 256 batches instead of 32 took a tenth off the time of whole recordings.
 * Binding each to a processor helps, but not always (placement.h).
 * Where they run on two processors, the decoder's stores wait for lines that the modeller's processor has; nothing was
 * gained by stores past the caches, batches copied as a whole, lines fetched ahead for writing (prefetchw), queues of
 * 16 or 64 batches, and huge pages.
 */
#include "workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "placement.h"
#include "plan.h"

enum { REVIEW = 4096 /* batches */ };

struct nm_workers {
	unsigned threads;
	nm_batch_function *function;
	void *arg;
	struct nm_idle idle;
	struct nm_ref *buffers[NM_WORKERS_QUEUE];
	size_t counts[NM_WORKERS_QUEUE];
	int status; /* of the first batch that failed */

	/* The queue of batches: [tail, head) are waiting or running. */
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	unsigned head, tail;
	int stop, modelling, draining;
	pthread_t modeller;

	/* The decoder's. */
	struct nm_placement placement;
	unsigned since; /* batches since the latest review of it */
};

/* Is there work for a while, or somebody who waits? */
static int is_due(const struct nm_workers *w)
{
	return w->head - w->tail >= NM_WORKERS_QUEUE / 4 || w->stop || (w->draining && w->head != w->tail);
}

static void wait_for_batches(struct nm_workers *w)
{
	while (!is_due(w)) {
		int done = 0;

		if (w->idle.job) {
			pthread_mutex_unlock(&w->lock);
			done = w->idle.job(w->idle.arg);
			pthread_mutex_lock(&w->lock);
		}
		if (!done && !is_due(w))
			pthread_cond_wait(&w->filled, &w->lock);
	}
}

static void *model(void *arg)
{
	struct nm_workers *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		int status = 0;

		if (w->tail == w->head)
			wait_for_batches(w);
		if (w->tail == w->head)
			break;
		if (!w->status) {
			unsigned i = w->tail % NM_WORKERS_QUEUE;

			pthread_mutex_unlock(&w->lock);
			status = w->function(w->arg, w->buffers[i], w->counts[i]);
			pthread_mutex_lock(&w->lock);
		}
		if (status && !w->status)
			w->status = status;
		w->tail++;
		if (w->head - w->tail == NM_WORKERS_QUEUE / 2 || w->head == w->tail)
			pthread_cond_signal(&w->emptied);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static int start_threads(struct nm_workers *w, struct nm_error *err)
{
	if (w->threads < 2)
		return 0;
	nm_placement_enter();
	w->modelling = !pthread_create(&w->modeller, NULL, model, w);
	if (w->modelling)
		return 0;
	nm_placement_leave();
	return nm_fail(err, NM_ENOMEM, "cannot start a thread");
}

int nm_workers_new(struct nm_workers **ret_workers, unsigned threads, struct nm_idle idle,
		   struct nm_error *err)
{
	struct nm_workers *w = calloc(1, sizeof *w);
	int status = 0;

	if (!w)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	w->threads = threads;
	w->idle = idle;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->filled, NULL);
	pthread_cond_init(&w->emptied, NULL);
	for (unsigned i = 0; i < (threads < 2 ? 1u : NM_WORKERS_QUEUE); i++) {
		w->buffers[i] = malloc((NM_BATCH + NM_LANES) * sizeof(struct nm_ref));
		if (!w->buffers[i])
			status = nm_fail(err, NM_ENOMEM, "out of memory");
	}
	if (!status)
		status = start_threads(w, err);
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
	pthread_cond_signal(&w->filled);
	pthread_mutex_unlock(&w->lock);
	if (w->modelling) {
		pthread_join(w->modeller, NULL);
		nm_placement_leave();
	}
	for (unsigned i = 0; i < NM_WORKERS_QUEUE; i++)
		free(w->buffers[i]);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->filled);
	pthread_cond_destroy(&w->emptied);
	free(w);
}

void nm_workers_start(struct nm_workers *w, nm_batch_function *function, void *arg)
{
	w->function = function;
	w->arg = arg;
}

struct nm_ref *nm_workers_buffer(struct nm_workers *w)
{
	struct nm_ref *buffer;

	if (w->threads < 2)
		return w->buffers[0];
	pthread_mutex_lock(&w->lock);
	if (w->head - w->tail == NM_WORKERS_QUEUE)
		while (w->head - w->tail > NM_WORKERS_QUEUE / 2)
			pthread_cond_wait(&w->emptied, &w->lock);
	buffer = w->buffers[w->head % NM_WORKERS_QUEUE];
	pthread_mutex_unlock(&w->lock);
	return buffer;
}

int nm_workers_submit(struct nm_workers *w, size_t count)
{
	int status;

	if (w->threads < 2)
		return w->function(w->arg, w->buffers[0], count);
	pthread_mutex_lock(&w->lock);
	w->counts[w->head % NM_WORKERS_QUEUE] = count;
	w->head++;
	status = w->status;
	if (w->head - w->tail == NM_WORKERS_QUEUE / 4)
		pthread_cond_signal(&w->filled);
	pthread_mutex_unlock(&w->lock);
	if (++w->since == REVIEW) {
		w->since = 0;
		nm_placement_review(&w->placement, w->modeller);
	}
	return status;
}

int nm_workers_drain(struct nm_workers *w)
{
	int status;

	if (w->threads < 2)
		return 0;
	pthread_mutex_lock(&w->lock);
	w->draining = 1;
	pthread_cond_signal(&w->filled);
	while (w->tail != w->head)
		pthread_cond_wait(&w->emptied, &w->lock);
	w->draining = 0;
	status = w->status;
	pthread_mutex_unlock(&w->lock);
	return status;
}
