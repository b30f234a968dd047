/* SPDX-License-Identifier: MIT
 *
 * interleave.h - merges the references of a program's threads, which a collector runs one at a time and
 * for long, into an order in which they might have run at the same time on several cores.
 *
 * The input is the *recorded order*: references in batches, and between them *sync events*, which say what
 * orders threads. Each thread's references wait in a *stream*. Cores take *turns*: in a turn a core runs
 * one of its threads for a *quantum* of references, or until the thread has to wait. A thread waits
 *   - for a lock that another thread holds in the merged order: critical sections never overlap, but may
 *     change places if nothing in them waits (locks.c);
 *   - for what came before in the recorded order, where synchronisation says so (words.c): creation,
 *     join, words that atomic instructions and futexes use, system calls that waited.
 *
 * The oldest reference of all waits for nothing but a lock whose holder can go on, so threads never all
 * wait. They may if the recorded order lacks the release of a lock: then the thread that has waited
 * longest for its lock goes on without it (a *stall*, which is counted).
 *
 * References are held back until every thread that can run has had its next turn of the collector, at
 * least NM_HOLD_LEAST and at most NM_HOLD_MOST of them. A thread that runs alone holds nothing back. The
 * merged order depends on the input, the quantum and the seed, and on nothing else.
 */
#ifndef NM_INTERLEAVE_H
#define NM_INTERLEAVE_H

#include <stddef.h>
#include <stdint.h>

#include "hierarchy.h"
#include "machine.h"

enum {
	NM_HOLD_LEAST = 1 << 16,
	NM_HOLD_MOST = 1 << 22,
	NM_QUANTUM = 64, /* references */
	NM_QUANTUM_MOST = 1 << 20
};

enum nm_sync_kind {
	NM_SYNC_NONE,
	NM_SYNC_THREAD, /* object: number of the thread that runs from here on */
	NM_SYNC_CREATE, /* the running thread makes the thread that the collector numbers `object` */
	NM_SYNC_START, /* that thread starts; its number is `thread`.  Without a CREATE it comes after what `parent`
			 * did until now, if that is not 0 */
	NM_SYNC_EXIT, /* thread number `object` has ended: what it holds is free */
	NM_SYNC_JOIN, /* the running thread comes after all that threads did that have ended by now */
	NM_SYNC_CALL, /* it makes a system call that may wake others */
	/* it has waited in one: it comes after JOIN's, and after the last calls of all others; not within
	 * ENTER */
	NM_SYNC_RESUME,
	NM_SYNC_ENTER, /* it is in a function that takes or leaves locks: its atomic accesses order nothing */
	NM_SYNC_LEAVE,
	/* it has the lock `object` to itself from here on, or, within ENTER, from LEAVE on; */
	NM_SYNC_LOCK,
	NM_SYNC_SHARE,  /* has it, as others may; */
	NM_SYNC_UNLOCK, /* or has it no longer */
	NM_SYNC_ATOMIC, /* the reference at `index` is atomic */
	/* the same, and what it does to the word commutes: the order of two does not matter */
	NM_SYNC_UPDATE,
	NM_SYNC_FUTEX_WAIT, /* it reads the word `object`, */
	NM_SYNC_FUTEX_WAKE  /* or tells others that it was written */
};

/* A sync event, before reference `index` of its batch. */
struct nm_sync {
	uint64_t object;
	uint32_t index, thread, parent;
	uint8_t kind;
};

struct nm_merged {
	const struct nm_ref *refs;
	size_t count; /* at most NM_BATCH */
	const struct nm_turn *turns;
	size_t turn_count;     /* at least 1 */
	const uint64_t *clock; /* of each reference, or NULL */
};

/* What the merged order depends on. */
struct nm_thread_order {
	uint32_t quantum; /* 1 to NM_QUANTUM_MOST; 0: NM_QUANTUM */
	int random;       /* the next core is drawn, else they take turns in order */
	uint64_t seed;
};

/* The i-th after the first of several orders, i from 1: the seeds that follow its own, or from 1 on. */
static inline struct nm_thread_order nm_thread_order_next(const struct nm_thread_order *first, unsigned i)
{
	return (struct nm_thread_order){
	    .quantum = first->quantum, .random = 1, .seed = i + (first->random ? first->seed : 0)};
}

struct nm_interleave_setup {
	const struct nm_machine *machine; /* which core runs which thread; borrowed */
	struct nm_thread_order order;
	uint64_t hold_least, hold_most;                          /* 0: NM_HOLD_* */
	int clocked;                                             /* references have clocks */
	int (*output)(void *arg, const struct nm_merged *batch); /* 0 or a code */
	void *arg;
};

struct nm_interleave;

/* 0 or NM_ENOMEM. */
int nm_interleave_new(struct nm_interleave **ret, const struct nm_interleave_setup *setup);
void nm_interleave_free(struct nm_interleave *interleave);

/* A batch in the recorded order. clock: of each reference, or NULL. 0, or output's code, or NM_ENOMEM;
 * nothing may be added after a code. */
int nm_interleave_add(struct nm_interleave *interleave, const struct nm_ref *refs, size_t count,
		      const uint64_t *clock, const struct nm_sync *syncs, size_t sync_count);

/* References may be to groups of these (coalesced.h). */
struct nm_coalesced_table;
void nm_interleave_set_coalesced(struct nm_interleave *interleave,
				 const struct nm_coalesced_table *coalesced);

/* All that is held back goes out. */
int nm_interleave_drain(struct nm_interleave *interleave);

/* Locks that a thread went on without. */
uint64_t nm_interleave_stalls(const struct nm_interleave *interleave);

#endif
