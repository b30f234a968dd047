/* SPDX-License-Identifier: MIT
 *
 * The recorder starts packing a piece, feeds the same piece to the engine, and waits before it returns the
 * piece to its ring. Names are taken from the engine's store between two pieces, when a chunk is about to be
 * written, so that two threads never use the store at once.
 */
#include "tracer.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "trace.h"

struct job {
	uint32_t stream;
	const uint64_t *words; /* NULL: the stream has ended */
	size_t count;
	const uint8_t *names; /* go first */
	size_t names_count;
};

struct nm_tracer {
	struct nm_trace_writer *writer;
	struct nm_symbols *symbols;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job job;
	int running, busy, leaving;
	int fed; /* since the last flush */
	int failed;
	struct nm_error fault; /* the first */
};

static void note_failure(struct nm_tracer *t, int status, const struct nm_error *fault)
{
	if (!status || t->failed)
		return;
	t->failed = status;
	t->fault = *fault;
}

static void do_job(struct nm_tracer *t)
{
	struct nm_error fault;
	int status = 0;

	if (t->failed)
		return;
	if (t->job.names_count)
		status = nm_trace_writer_names(t->writer, t->job.names, t->job.names_count, &fault);
	if (!status)
		status = t->job.words ? nm_trace_writer_feed(t->writer, t->job.stream, t->job.words,
							     t->job.count, &fault)
				      : nm_trace_writer_end(t->writer, t->job.stream, &fault);
	note_failure(t, status, &fault);
}

static void *write_chunks(void *arg)
{
	struct nm_tracer *t = arg;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		while (!t->busy && !t->leaving)
			pthread_cond_wait(&t->changed, &t->lock);
		if (!t->busy)
			break;
		pthread_mutex_unlock(&t->lock);
		do_job(t);
		pthread_mutex_lock(&t->lock);
		t->busy = 0;
		pthread_cond_broadcast(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

int nm_tracer_new(struct nm_tracer **ret_tracer, const char *path, struct nm_symbols *symbols,
		  struct nm_error *err)
{
	struct nm_tracer *t = calloc(1, sizeof *t);
	int status;

	if (!t)
		return nm_fail_memory(err);
	t->symbols = symbols;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	status = nm_symbols_start_encoding(symbols, err);
	if (!status)
		status = nm_trace_writer_new(&t->writer, path, err);
	if (!status && pthread_create(&t->thread, NULL, write_chunks, t))
		status = nm_fail(err, NM_ENOMEM, "cannot start a thread");
	t->running = !status;
	if (status) {
		nm_tracer_free(t);
		return status;
	}
	*ret_tracer = t;
	return 0;
}

void nm_tracer_free(struct nm_tracer *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->leaving = 1;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	if (t->running)
		pthread_join(t->thread, NULL);
	nm_trace_writer_free(t->writer);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static void take_names(struct nm_tracer *t, int last, const uint8_t **ret_bytes, size_t *ret_count)
{
	struct nm_error fault;

	*ret_count = 0;
	note_failure(t, nm_symbols_take_encoded(t->symbols, last, ret_bytes, ret_count, &fault), &fault);
}

void nm_tracer_start(struct nm_tracer *t, uint32_t stream, const uint64_t *words, size_t count)
{
	struct job job = {.stream = stream, .words = words, .count = count};

	assert(words || !count);
	if (!words || nm_trace_writer_full(t->writer, stream))
		take_names(t, 0, &job.names, &job.names_count);
	pthread_mutex_lock(&t->lock);
	t->job = job;
	t->busy = t->fed = 1;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

void nm_tracer_wait(struct nm_tracer *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->busy)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

void nm_tracer_flush(struct nm_tracer *t)
{
	struct nm_error fault;
	const uint8_t *names;
	size_t count;

	if (t->failed || !t->fed)
		return;
	t->fed = 0;
	take_names(t, 0, &names, &count);
	note_failure(t, nm_trace_writer_names(t->writer, names, count, &fault), &fault);
	if (!t->failed)
		note_failure(t, nm_trace_writer_flush(t->writer, &fault), &fault);
}

void nm_tracer_info(struct nm_tracer *t, const char *key, const char *value)
{
	struct nm_error fault;

	if (!t->failed)
		note_failure(t, nm_trace_writer_info(t->writer, key, value, &fault), &fault);
}

int nm_tracer_close(struct nm_tracer *t, struct nm_error *err)
{
	struct nm_error fault;
	const uint8_t *names;
	size_t count;
	int status;

	nm_tracer_flush(t);
	take_names(t, 1, &names, &count);
	if (!t->failed)
		note_failure(t, nm_trace_writer_names(t->writer, names, count, &fault), &fault);
	if (!t->failed)
		note_failure(t, nm_trace_writer_close(t->writer, &fault), &fault);
	status = t->failed;
	if (status && err)
		*err = t->fault;
	nm_tracer_free(t);
	return status;
}
