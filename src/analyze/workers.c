/* SPDX-License-Identifier: MIT
 *
 * workers.c - see workers.h.  Waiting is by condition variables, never by spinning: the profiled program
 * needs the processors too.  Each side, once it has to wait, waits until there is work for a while: the modeller for a quarter of
 * the queue, the decoder for half of it; else the two would take turns batch by batch, a switch each time.
 */
#include "workers.h"

#include <pthread.h>
#include <stdlib.h>

enum { QUEUE = 32, MAX_HELPERS = 62 };

struct helper {
	struct nm_workers *workers;
	pthread_t thread;
};

struct nm_workers {
	unsigned threads;
	nm_batch_function *function;
	void *arg;
	struct nm_ref *buffers[QUEUE];
	size_t counts[QUEUE];
	int status; /* of the first batch that failed */

	/* The queue of batches: [tail, head) are waiting or running. */
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	unsigned head, tail;
	int stop, modelling, draining;
	pthread_t modeller;

	/* The shards of the running batch. */
	pthread_cond_t work, done;
	void (*shard)(void *arg, unsigned i);
	void *shard_arg;
	unsigned shard_count, shard_next, shard_left;
	struct nm_executor executor;
	struct helper helpers[MAX_HELPERS];
	unsigned helper_count;
};

/* Takes shards until none is left to take.  Called and returns with the lock held. */
static void run_shards(struct nm_workers *w)
{
	while (w->shard_next < w->shard_count) {
		unsigned i = w->shard_next++;
		void (*shard)(void *, unsigned) = w->shard;
		void *arg = w->shard_arg;

		pthread_mutex_unlock(&w->lock);
		shard(arg, i);
		pthread_mutex_lock(&w->lock);
		if (--w->shard_left == 0)
			pthread_cond_signal(&w->done);
	}
}

static void *help(void *arg)
{
	struct nm_workers *w = ((struct helper *)arg)->workers;

	pthread_mutex_lock(&w->lock);
	while (!w->stop) {
		run_shards(w);
		if (!w->stop)
			pthread_cond_wait(&w->work, &w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void each(void *self, unsigned n, void (*fn)(void *arg, unsigned i), void *arg)
{
	struct nm_workers *w = self;

	pthread_mutex_lock(&w->lock);
	w->shard = fn;
	w->shard_arg = arg;
	w->shard_count = w->shard_left = n;
	w->shard_next = 0;
	pthread_cond_broadcast(&w->work);
	run_shards(w);
	while (w->shard_left)
		pthread_cond_wait(&w->done, &w->lock);
	w->shard_count = w->shard_next = 0;
	pthread_mutex_unlock(&w->lock);
}

static void *model(void *arg)
{
	struct nm_workers *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		int status = 0;

		if (w->tail == w->head)
			while (w->head - w->tail < QUEUE / 4 && !w->stop &&
			       !(w->draining && w->head != w->tail))
				pthread_cond_wait(&w->filled, &w->lock);
		if (w->tail == w->head)
			break;
		if (!w->status) {
			unsigned i = w->tail % QUEUE;

			pthread_mutex_unlock(&w->lock);
			status = w->function(w->arg, w->buffers[i], w->counts[i]);
			pthread_mutex_lock(&w->lock);
		}
		if (status && !w->status)
			w->status = status;
		w->tail++;
		if (w->head - w->tail == QUEUE / 2 || w->head == w->tail)
			pthread_cond_signal(&w->emptied);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static int start_threads(struct nm_workers *w, struct nm_error *err)
{
	if (w->threads < 2)
		return 0;
	if (pthread_create(&w->modeller, NULL, model, w))
		return nm_fail(err, NM_ENOMEM, "cannot start a thread");
	w->modelling = 1;
	for (unsigned i = 0; i + 2 < w->threads && i < MAX_HELPERS; i++) {
		w->helpers[i].workers = w;
		if (pthread_create(&w->helpers[i].thread, NULL, help, &w->helpers[i]))
			return nm_fail(err, NM_ENOMEM, "cannot start a thread");
		w->helper_count++;
	}
	return 0;
}

int nm_workers_new(struct nm_workers **ret_workers, unsigned threads, struct nm_error *err)
{
	struct nm_workers *w = calloc(1, sizeof *w);
	int status = 0;

	if (!w)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	w->threads = threads;
	w->executor = (struct nm_executor){w, each};
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->filled, NULL);
	pthread_cond_init(&w->emptied, NULL);
	pthread_cond_init(&w->work, NULL);
	pthread_cond_init(&w->done, NULL);
	for (unsigned i = 0; i < (threads < 2 ? 1u : QUEUE); i++) {
		w->buffers[i] = malloc(NM_BATCH * sizeof(struct nm_ref));
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
	pthread_cond_broadcast(&w->filled);
	pthread_cond_broadcast(&w->work);
	pthread_mutex_unlock(&w->lock);
	if (w->modelling)
		pthread_join(w->modeller, NULL);
	for (unsigned i = 0; i < w->helper_count; i++)
		pthread_join(w->helpers[i].thread, NULL);
	for (unsigned i = 0; i < QUEUE; i++)
		free(w->buffers[i]);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->filled);
	pthread_cond_destroy(&w->emptied);
	pthread_cond_destroy(&w->work);
	pthread_cond_destroy(&w->done);
	free(w);
}

void nm_workers_start(struct nm_workers *w, nm_batch_function *function, void *arg)
{
	w->function = function;
	w->arg = arg;
}

const struct nm_executor *nm_workers_executor(struct nm_workers *w)
{
	return w->helper_count ? &w->executor : NULL;
}

unsigned nm_workers_shards(const struct nm_workers *w)
{
	unsigned shards = 1;

	while (shards < w->helper_count + 1 && shards < 64)
		shards *= 2;
	return shards;
}

struct nm_ref *nm_workers_buffer(struct nm_workers *w)
{
	struct nm_ref *buffer;

	if (w->threads < 2)
		return w->buffers[0];
	pthread_mutex_lock(&w->lock);
	if (w->head - w->tail == QUEUE)
		while (w->head - w->tail > QUEUE / 2)
			pthread_cond_wait(&w->emptied, &w->lock);
	buffer = w->buffers[w->head % QUEUE];
	pthread_mutex_unlock(&w->lock);
	return buffer;
}

int nm_workers_submit(struct nm_workers *w, size_t count)
{
	int status;

	if (w->threads < 2)
		return w->function(w->arg, w->buffers[0], count);
	pthread_mutex_lock(&w->lock);
	w->counts[w->head % QUEUE] = count;
	w->head++;
	status = w->status;
	if (w->head - w->tail == QUEUE / 4)
		pthread_cond_signal(&w->filled);
	pthread_mutex_unlock(&w->lock);
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
