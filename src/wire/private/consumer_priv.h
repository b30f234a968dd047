/* SPDX-License-Identifier: MIT
 *
 * consumer_priv.h - a consumer and its rings: rings.c finds and monitors them, consumer.c reads them.
 */
#ifndef NM_CONSUMER_PRIV_H
#define NM_CONSUMER_PRIV_H

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "consumer.h"
#include "nearmiss/wire.h"
#include "vector.h"

enum { TICK_MS = 100 /* between two looks at who is alive, and the longest sleep */ };

struct ring {
	uint32_t number, pid;
	uint32_t slot;
	struct nm_wire_ring *shared;
	uint64_t base;            /* of the ring in its producer */
	uint32_t taken, released; /* chunks handed out and released */
	uint32_t mark;            /* nm_consumer_mark: chunks published then */
	size_t early;             /* words of the next chunk that were skipped */
	int pidfd;                /* -1: none */
	int ended;                /* its producer writes no more */
	int unknown;              /* the process was never seen alive */
	int rest_taken;           /* the unpublished rest, too, was handed out, */
	int ran_taken;            /* and what it had run (NM_WIRE_RAN) */
	enum nm_chunk_end end;    /* if ended */
	char fault[128];          /* not empty: damaged */
};

struct announced { /* a ring number that no slot has yet */
	uint32_t number;
	double since; /* ms */
};

struct nm_consumer {
	int fd; /* the shared file */
	struct nm_wire_control *control;
	uint32_t chunk_words, chunks, slots;
	size_t ring_bytes;
	struct nm_vec(struct ring) rings;
	struct nm_vec(struct announced) announced;
	uint32_t known;    /* ring numbers seen so far */
	size_t next_ring;  /* ring to be asked first */
	double checked_at; /* ms: when we looked last who is alive */
	int detached;
	int keeps_order; /* of chunks of all rings */
	int holds_new;   /* rings of which nothing was taken wait, */
	int starts_one;  /* but for one */
	char fault[128]; /* of the ring that ended last */
};

static inline uint32_t acquire_word(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

static inline uint32_t load_word(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }

static inline void store_word(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline void wake_waiters(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Maps what producers have announced. 0 or a code. */
int rings_find(struct nm_consumer *consumer, struct nm_error *err);

/* Marks the rings whose producers have died, if the last look was not just now. */
void rings_find_dead(struct nm_consumer *consumer);

/* Makes its producer discard all further events, without waiting. */
void ring_detach(struct ring *ring);

/* Detaches the ring, unmaps it, and frees its slot if no process writes to it; the entry in consumer->rings
 * stays. */
void ring_done(struct nm_consumer *consumer, struct ring *ring);

/* Rings that were announced lately and are not there yet. */
size_t rings_expected(const struct nm_consumer *consumer);

/* Ends all rings. */
void rings_done(struct nm_consumer *consumer);

#endif
