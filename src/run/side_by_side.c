/* SPDX-License-Identifier: MIT
 *
 * The caches of each process start cold, so its counts depend on its own stream alone; of its parent it needs what
 * memory and stacks were at the fork. So a thread takes one stream after another, in the order in which they began,
 * reads the chunks of this stream alone, and feeds them. A stream is taken and introduced to the session by one
 * thread at a time: whoever waits for its parent's fork then knows the parent, and that a thread is at work on it.
 */
#include "side_by_side.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "session.h"
#include "trace.h"
#include "vector.h"

struct chunks nm_vec(struct nm_trace_chunk);

struct workers {
	const struct nm_side_by_side *replay;
	pthread_mutex_t lock;
	struct chunks chunks; /* of words: those of a stream one behind the other */
	size_t next;          /* the first that no thread has taken */
	int status;           /* the failure that is told: of damage, that of the first stream */
	struct nm_error fault;
	uint32_t failed;
};

/* A stream that a thread has taken, and the words that it has read last. */
struct turn {
	uint32_t stream;
	size_t at, end; /* chunks */
	const uint64_t *words;
	size_t count;
	int status; /* of the reading: 1, 0 at the end of the stream, or a code */
	struct nm_error err;
};

static int by_stream(const void *a, const void *b)
{
	const struct nm_trace_chunk *c = a, *y = b;

	if (c->stream != y->stream)
		return c->stream < y->stream ? -1 : 1;
	return c->offset < y->offset ? -1 : c->offset > y->offset;
}

static int list_chunks(struct nm_trace *trace, struct chunks *ret_chunks, struct nm_error *err)
{
	struct nm_trace_chunk chunk;

	for (size_t i = 0; nm_trace_chunk(trace, i, &chunk, err) > 0; i++)
		if (chunk.kind == NM_TRACE_WORDS && nm_vec_push(ret_chunks, chunk))
			return nm_fail_memory(err);
	if (ret_chunks->count)
		qsort(ret_chunks->at, ret_chunks->count, sizeof *ret_chunks->at, by_stream);
	return 0;
}

static size_t end_of_stream(const struct chunks *chunks, size_t from)
{
	size_t end = from;

	while (end < chunks->count && chunks->at[end].stream == chunks->at[from].stream)
		end++;
	return end;
}

unsigned nm_side_by_side_processes(struct nm_trace *trace)
{
	struct chunks chunks = {0};
	uint64_t all = 0, most = 0;
	unsigned streams = 0;

	if (nm_trace_is_piped(trace) || nm_trace_fault(trace) || list_chunks(trace, &chunks, NULL)) {
		nm_vec_free(&chunks);
		return 0;
	}
	for (size_t i = 0; i < chunks.count; streams++) {
		uint64_t words = 0;

		for (const size_t end = end_of_stream(&chunks, i); i < end; i++)
			words += chunks.at[i].words;
		all += words;
		most = words > most ? words : most;
	}
	nm_vec_free(&chunks);
	return most > all / 2 ? 0 : streams;
}

static void read_words(const struct workers *w, struct nm_trace *trace, struct turn *t)
{
	t->status = nm_trace_next(trace, &t->words, &t->count, &t->err);
	while (!t->status && ++t->at < t->end) {
		t->status = nm_trace_begin(trace, &w->chunks.at[t->at], &t->err);
		if (!t->status)
			t->status = nm_trace_next(trace, &t->words, &t->count, &t->err);
	}
}

/* Called with the lock. Takes the next stream, if one is left, and reads its first words. */
static int take_turn(struct workers *w, struct nm_trace *trace, struct turn *t)
{
	const struct nm_side_by_side *replay = w->replay;

	if (w->next == w->chunks.count)
		return 0;
	*t = (struct turn){.stream = w->chunks.at[w->next].stream, .at = w->next};
	w->next = t->end = end_of_stream(&w->chunks, t->at);
	t->status = nm_trace_begin(trace, &w->chunks.at[t->at], &t->err);
	if (!t->status)
		read_words(w, trace, t);
	if (t->status > 0 && nm_session_introduce(replay->session, t->stream, t->words, t->count, &t->err))
		replay->ends_early(replay->arg, t->stream, &t->err);
	return 1;
}

/* What the session said of a stream: memory is exhausted, or a fault, which is only a warning. */
static void tell(struct workers *w, struct turn *t, int fault, const struct nm_error *err)
{
	pthread_mutex_lock(&w->lock);
	if (fault == NM_ENOMEM) {
		t->status = fault;
		t->err = *err;
	} else if (fault) {
		w->replay->ends_early(w->replay->arg, t->stream, err);
	}
	w->replay->fed(w->replay->arg);
	pthread_mutex_unlock(&w->lock);
}

/* Feeds a stream from its first words on, as far as it can be read, and ends it. */
static void run_turn(struct workers *w, struct nm_trace *trace, struct turn *t)
{
	struct nm_session *const session = w->replay->session;
	struct nm_error err;

	while (t->status > 0) {
		const int fault = nm_session_feed(session, t->stream, t->words, t->count, &err);

		t->status = 0;
		tell(w, t, fault, &err);
		if (!fault)
			read_words(w, trace, t);
	}
	tell(w, t, nm_session_end(session, t->stream, &err), &err);
}

/* Called with the lock. Damage ends its stream alone. */
static void fail(struct workers *w, uint32_t stream, int status, const struct nm_error *err)
{
	if (status != NM_EFORMAT)
		w->next = w->chunks.count;
	if (w->status && (w->status != NM_EFORMAT || (status == NM_EFORMAT && stream > w->failed)))
		return;
	w->status = status;
	w->fault = *err;
	w->failed = stream;
}

static void *feed_process(void *arg)
{
	struct workers *w = arg;
	struct nm_trace *trace = NULL;
	struct turn turn = {0};

	turn.status = nm_trace_open(&trace, w->replay->path, &turn.err);
	pthread_mutex_lock(&w->lock);
	while (trace && take_turn(w, trace, &turn)) {
		pthread_mutex_unlock(&w->lock);
		run_turn(w, trace, &turn);
		pthread_mutex_lock(&w->lock);
		if (turn.status)
			fail(w, turn.stream, turn.status, &turn.err);
	}
	if (!trace)
		fail(w, 0, turn.status, &turn.err);
	pthread_mutex_unlock(&w->lock);
	nm_trace_free(trace);
	return NULL;
}

int nm_side_by_side_feed(const struct nm_side_by_side *replay, struct nm_trace *trace, struct nm_error *err)
{
	struct workers w = {.replay = replay};
	pthread_t threads[NM_SIDE_BY_SIDE];
	unsigned started = 0;

	assert(replay->threads <= NM_SIDE_BY_SIDE);
	if (list_chunks(trace, &w.chunks, err))
		return NM_ENOMEM;
	pthread_mutex_init(&w.lock, NULL);
	while (started + 1 < replay->threads && !pthread_create(&threads[started], NULL, feed_process, &w))
		started++;
	feed_process(&w);
	while (started)
		pthread_join(threads[--started], NULL);
	pthread_mutex_destroy(&w.lock);
	nm_vec_free(&w.chunks);
	if (w.status && err)
		*err = w.fault;
	return w.status;
}
