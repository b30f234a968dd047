/* SPDX-License-Identifier: MIT
 *
 * consumer.h - the consuming end of the live transport (nearmiss/wire.h, "The live transport").
 *
 *     nm_consumer_new(&consumer, 65536, 16, err);
 *     ...start the collector, which inherits nm_consumer_fd(consumer)...
 *     while ((code = nm_consumer_next(consumer, 1000, &chunk, err)) >= 0) {
 *             if (code > 0) {
 *                     ...use chunk.words, or close the stream of chunk.ring on NM_CHUNK_END...
 *                     nm_consumer_release(consumer, &chunk);
 *             } else if (child_has_exited && !nm_consumer_live(consumer))
 *                     break;
 *     }
 *     nm_consumer_free(consumer);
 *
 * Every ring yields its chunks in order, then exactly one NM_CHUNK_END that says how it ended. A consumer belongs to
 * one thread.
 */
#ifndef NM_WIRE_CONSUMER_H
#define NM_WIRE_CONSUMER_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

struct nm_consumer;

enum nm_chunk_kind { NM_CHUNK_DATA, NM_CHUNK_END };

enum nm_chunk_end {
	NM_END_CLOSED,   /* the producer closed it: the stream is whole */
	NM_END_REPLACED, /* the same process opened another ring: it has run exec */
	NM_END_BROKEN,   /* the producer died without closing: everything that it wrote has been delivered */
	NM_END_DAMAGED   /* the ring's header is invalid; see fault */
};

struct nm_chunk {
	enum nm_chunk_kind kind;
	uint32_t ring, pid;

	/* NM_CHUNK_DATA: whole records. The words are the consumer's until the chunk is released. */
	const uint64_t *words;
	size_t count;

	/* NM_CHUNK_END */
	enum nm_chunk_end end;
	const char *fault; /* what is damaged; valid until the next call; else NULL */
};

enum { NM_CONSUMER_MIN_CHUNK_WORDS = 512, NM_CONSUMER_MAX_CHUNK_WORDS = 1 << 24 };

/* chunk_words within the limits above, chunks a power of two from 2 to NM_WIRE_MAX_CHUNKS, else NM_EINVAL.
 * Where the process's limit on the size of files (RLIMIT_FSIZE) leaves room for few rings, they are made
 * smaller. */
int nm_consumer_new(struct nm_consumer **ret, uint32_t chunk_words, uint32_t chunks, struct nm_error *err);

/* From now on chunks of all rings come in the order in which they were published: what a process did after it learnt
 * of something comes behind that. Else rings take turns. */
void nm_consumer_keep_order(struct nm_consumer *consumer);

/* The file that the collector shares with us. It stays the consumer's, and is closed on exec unless that is
 * changed in the child: another descriptor of the file that this process closed would tell producers that we
 * have ended. */
int nm_consumer_fd(const struct nm_consumer *consumer);

/* 1 and the next chunk of any ring; 0 when timeout_ms (-1: never) has passed or a signal came; or a
 * negative code. Chunks may be held while others are asked for. */
int nm_consumer_next(struct nm_consumer *consumer, int timeout_ms, struct nm_chunk *ret,
		     struct nm_error *err);

/* Returns the chunk's space to its producer. Release the chunks of a ring in the order in which they came. */
void nm_consumer_release(struct nm_consumer *consumer, const struct nm_chunk *chunk);

/* Marks what is published now; and whether all of it has been taken, but for rings that wait (below). */
void nm_consumer_mark(struct nm_consumer *consumer);
int nm_consumer_passed_mark(const struct nm_consumer *consumer);

/* What the producer of the i-th of `rings` live rings has written and not published yet, if all that it published was
 * taken: whole records, which come again unless they are skipped; *ret_ran: what it has run (NM_WIRE_RAN) and not
 * written. 1 or 0: nothing. The words stay until the chunk in which they are is released. */
size_t nm_consumer_rings(const struct nm_consumer *consumer);
int nm_consumer_peek(const struct nm_consumer *consumer, size_t i, struct nm_chunk *ret, uint64_t *ret_ran);
void nm_consumer_skip(struct nm_consumer *consumer, size_t i, size_t count);

/* hold: rings of which nothing was taken yet wait, and so, when they are full, do their processes. start_one:
 * one of them is let through all the same: 1 if there is one. started: the number of live rings that do not
 * wait. */
void nm_consumer_hold_new(struct nm_consumer *consumer, int hold);
int nm_consumer_start_one(struct nm_consumer *consumer);
size_t nm_consumer_started(const struct nm_consumer *consumer);

/* Number of rings that have not ended, including those announced recently that do not exist yet. */
size_t nm_consumer_live(const struct nm_consumer *consumer);

/* Those whose producer has ended, and which have not been read to their end. */
size_t nm_consumer_draining(const struct nm_consumer *consumer);

/* Number of processes that found no room for a ring and ran unobserved. */
uint32_t nm_consumer_unobserved(const struct nm_consumer *consumer);

/* Tells all present and future producers to discard their events and never to wait again. */
void nm_consumer_detach_all(struct nm_consumer *consumer);

/* Detaches and frees. */
void nm_consumer_free(struct nm_consumer *consumer);

#endif
