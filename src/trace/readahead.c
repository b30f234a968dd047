/* SPDX-License-Identifier: MIT
 *
 * A ring of a few pieces. Only the thread that has set `reading` reads the next piece into the next slot. The
 * consumer reads only if no piece is ready and no other thread is reading. A step waits for `reading`, too:
 * once a reading consumer has its piece, another thread can read the next one.
 *
 * Other threads copy pieces with non-temporal stores (nontemporal.h), since their cache may not be the
 * consumer's.
 *
 * The reader's own thread waits until half of a full ring is free; otherwise the two would alternate piece by
 * piece.
 *
 * Dropped: pieces of a quarter of the size, which made one thread slower.
 */
#include "readahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "nontemporal.h"

enum { SLOTS = 32, LINE_WORDS = NM_COPY_LINE / sizeof(uint64_t) };

struct slot {
	struct nm_readahead_piece piece;
	uint64_t *words; /* read by another thread for the consumer */
	size_t room;
	struct nm_chunk_bytes names;
	int status; /* of the reading: as of nm_readahead_next */
	struct nm_error fault;
};

struct nm_readahead {
	struct nm_trace *trace;
	size_t chunk;    /* the next */
	int inside;      /* a chunk has been begun ... */
	uint32_t stream; /* ... of this stream */
	pthread_t thread;
	int threaded;
	struct nm_words own, other; /* read by the consumer; by another thread */
	pthread_mutex_t lock;
	pthread_cond_t read, emptied;
	int reading; /* a thread reads into slot head, and owns the trace and the fields above */
	int ended;   /* nothing more is to be read */
	struct slot slots[SLOTS];
	unsigned head, tail; /* filled, taken */
	int holding;         /* the consumer uses slot tail */
};

/* ---- reading ---- */

/* Names are copied to the slot: the trace keeps them only until its next chunk. */
static int read_names(struct nm_readahead *r, const struct nm_trace_chunk *chunk, struct slot *s,
		      struct nm_error *err)
{
	const uint8_t *bytes;
	size_t count;
	int status = nm_trace_payload(r->trace, chunk, &bytes, &count, err);

	if (status)
		return status;
	s->names.count = 0;
	if (nm_vec_reserve(&s->names, count + 1))
		return nm_fail_memory(err);
	memcpy(s->names.at, bytes, count);
	s->piece = (struct nm_readahead_piece){.names = s->names.at, .names_count = count};
	return 1;
}

static int read_piece(struct nm_readahead *r, struct slot *s, struct nm_words *words, struct nm_error *err)
{
	struct nm_trace_chunk chunk;
	int status;

	for (;;) {
		if (r->inside) {
			status = nm_trace_words(r->trace, words, err);
			s->piece = (struct nm_readahead_piece){r->stream, words->at, words->count, NULL, 0};
			if (status)
				return status;
			r->inside = 0;
		}
		status = nm_trace_chunk(r->trace, r->chunk, &chunk, err);
		if (status <= 0)
			return status;
		r->chunk++;
		if (chunk.kind == NM_TRACE_END) {
			s->piece = (struct nm_readahead_piece){.stream = chunk.stream};
			return 1;
		}
		if (chunk.kind == NM_TRACE_NAMES && nm_trace_is_piped(r->trace))
			return read_names(r, &chunk, s, err);
		if (chunk.kind == NM_TRACE_WORDS) {
			status = nm_trace_begin(r->trace, &chunk, err);
			if (status)
				return status;
			r->inside = 1;
			r->stream = chunk.stream;
		}
	}
}

/* Copies words that another thread has read, past the caches. */
static int copy_words(struct nm_readahead *r, struct slot *s, struct nm_error *err)
{
	const size_t count = (s->piece.count + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;

	if (nm_vec_reserve(&r->other, LINE_WORDS)) /* a copy is of whole lines */
		return nm_fail_memory(err);
	if (s->room < count) {
		free(s->words);
		s->words = aligned_alloc(NM_COPY_LINE, count * sizeof *s->words);
		s->room = s->words ? count : 0;
	}
	if (!s->words)
		return nm_fail_memory(err);
	nm_copy_nontemporal(s->words, r->other.at, count * sizeof *s->words);
	s->piece.words = s->words;
	return 1;
}

static int read_for_consumer(struct nm_readahead *r, struct slot *s, struct nm_error *err)
{
	int status = read_piece(r, s, &r->other, err);

	return status > 0 && s->piece.words ? copy_words(r, s, err) : status;
}

/* Called with the lock, which is released while it reads. 1 if it has read. */
static int try_read(struct nm_readahead *r, int consumer)
{
	struct slot *s = &r->slots[r->head % SLOTS];

	if (r->reading || r->ended || r->head - r->tail == SLOTS)
		return 0;
	r->reading = 1;
	pthread_mutex_unlock(&r->lock);
	s->status = consumer ? read_piece(r, s, &r->own, &s->fault) : read_for_consumer(r, s, &s->fault);
	pthread_mutex_lock(&r->lock);
	r->reading = 0;
	r->head++;
	r->ended |= s->status <= 0;
	pthread_cond_broadcast(&r->read);
	return 1;
}

int nm_readahead_step(struct nm_readahead *r)
{
	int done;

	if (nm_trace_is_piped(r->trace))
		return 0;
	pthread_mutex_lock(&r->lock);
	while (r->reading)
		pthread_cond_wait(&r->read, &r->lock);
	done = try_read(r, 0);
	pthread_mutex_unlock(&r->lock);
	return done;
}

static void *read_ahead(void *arg)
{
	struct nm_readahead *r = arg;

	pthread_mutex_lock(&r->lock);
	while (!r->ended) {
		if (try_read(r, 0))
			continue;
		if (r->reading)
			pthread_cond_wait(&r->read, &r->lock);
		while (r->head - r->tail > SLOTS / 2 && !r->ended)
			pthread_cond_wait(&r->emptied, &r->lock);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* ---- the consumer ---- */

int nm_readahead_new(struct nm_readahead **ret_ahead, struct nm_trace *trace, int threaded,
		     struct nm_error *err)
{
	struct nm_readahead *a = calloc(1, sizeof *a);

	if (!a)
		return nm_fail_memory(err);
	a->trace = trace;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->read, NULL);
	pthread_cond_init(&a->emptied, NULL);
	a->threaded = threaded && !pthread_create(&a->thread, NULL, read_ahead, a);
	*ret_ahead = a;
	return 0;
}

void nm_readahead_stop(struct nm_readahead *r)
{
	pthread_mutex_lock(&r->lock);
	r->ended = 1;
	pthread_cond_signal(&r->emptied);
	while (r->reading)
		pthread_cond_wait(&r->read, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

void nm_readahead_free(struct nm_readahead *r)
{
	if (!r)
		return;
	nm_readahead_stop(r);
	if (r->threaded)
		pthread_join(r->thread, NULL);
	for (unsigned i = 0; i < SLOTS; i++) {
		free(r->slots[i].words);
		nm_vec_free(&r->slots[i].names);
	}
	nm_vec_free(&r->own);
	nm_vec_free(&r->other);
	pthread_cond_destroy(&r->read);
	pthread_cond_destroy(&r->emptied);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* Frees the slot of the piece that was taken last, unless it is the end. */
static void free_last_slot(struct nm_readahead *r)
{
	if (!r->holding || r->slots[r->tail % SLOTS].status <= 0)
		return;
	r->tail++;
	r->holding = 0;
	if (r->head - r->tail == SLOTS / 2)
		pthread_cond_signal(&r->emptied);
	if (r->head == r->tail && !r->reading)
		r->head = r->tail = 0;
}

int nm_readahead_next(struct nm_readahead *r, struct nm_readahead_piece *ret_piece, struct nm_error *err)
{
	struct slot *s;

	pthread_mutex_lock(&r->lock);
	free_last_slot(r);
	while (r->head == r->tail && (r->reading || !r->ended))
		if (!try_read(r, 1))
			pthread_cond_wait(&r->read, &r->lock);
	s = &r->slots[r->tail % SLOTS];
	if (r->head == r->tail) /* it was stopped */
		s->status = 0;
	r->holding = r->head != r->tail;
	pthread_mutex_unlock(&r->lock);
	if (s->status > 0)
		*ret_piece = s->piece;
	else if (s->status < 0 && err)
		*err = s->fault;
	return s->status;
}
