/* SPDX-License-Identifier: MIT
 *
 * interleave.h - merges the references of a program's threads. A collector runs threads one at a time, in
 * long turns; the merged order is one in which they might have run at the same time on several cores.
 *
 * The input is the *recorded order*: batches of references, and between them *sync events*, which describe
 * the synchronisation of threads. Each thread's references are queued in a *stream*. Cores take *turns*: in
 * a turn a core runs one of its threads for a *quantum* of references, or until the thread has to wait. A
 * thread waits
 *   - for a lock that another thread holds in the merged order: critical sections never overlap, but may
 *     be reordered if nothing in them waits (locks.c);
 *   - for earlier references of the recorded order, where threads synchronise (words.c): thread creation,
 *     join, words that atomic instructions and futexes use, system calls that waited.
 *
 * The oldest queued reference can only wait for a lock whose holder can run, so there is no deadlock. The
 * exception: if the recorded order lacks the release of a lock, all threads may wait. Then the thread that
 * has waited longest continues without its lock (a *stall*, which is counted).
 *
 * References are queued until the collector has given every runnable thread another turn: at least
 * NM_HOLD_LEAST and at most NM_HOLD_MOST references. A thread that runs alone is not delayed. The merged
 * order depends only on the input, the quantum and the seed.
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
	NM_SYNC_THREAD, /* the thread number `object` runs from here on */
	NM_SYNC_CREATE, /* the running thread creates the thread that the collector numbers `object` */
	/* that thread starts, as thread number `thread`. Without a CREATE it waits for the references of the
	 * thread `parent` up to now, unless `parent` is 0 */
	NM_SYNC_START,
	NM_SYNC_EXIT, /* thread number `object` has ended: its locks are free */
	NM_SYNC_JOIN, /* the running thread waits for all references of threads that have ended by now */
	NM_SYNC_CALL, /* it makes a system call that may wake others */
	/* it has waited in a system call: it waits as for JOIN, and for the last CALL of each other thread;
	 * ignored within ENTER */
	NM_SYNC_RESUME,
	NM_SYNC_ENTER, /* it enters a function that locks or unlocks: its atomic accesses order nothing */
	NM_SYNC_LEAVE,
	/* it holds the lock `object` exclusively from here on, or, within ENTER, from LEAVE on */
	NM_SYNC_LOCK,
	NM_SYNC_SHARE,  /* the same, but it shares the lock */
	NM_SYNC_UNLOCK, /* it releases the lock */
	NM_SYNC_ATOMIC, /* the reference at `index` is atomic */
	/* the same, and the operation commutes: the order of two does not matter */
	NM_SYNC_UPDATE,
	NM_SYNC_FUTEX_WAIT, /* it waits for a change of the word `object` */
	NM_SYNC_FUTEX_WAKE  /* it wakes threads that wait for the word */
};

/* A sync event, which precedes reference `index` of its batch. */
struct nm_sync {
	uint64_t object;
	uint32_t index, thread, parent;
	uint8_t kind;
};

/* References in the recorded order, and what orders threads between them. */
struct nm_thread_batch {
	const struct nm_ref *refs;
	size_t count;
	const struct nm_sync *syncs;
	size_t sync_count;
	const struct nm_cache_hint *hints;
	size_t hint_count;
	const uint64_t *clock; /* time of each reference, or NULL */
};

struct nm_merged {
	const struct nm_ref *refs;
	size_t count; /* at most NM_BATCH; 0: there are only hints */
	const struct nm_cache_hint *hints;
	size_t hint_count; /* at most NM_BATCH */
	const struct nm_time_slice *time_slices;
	size_t time_slice_count; /* at least 1 */
	const uint64_t *clock;   /* time of each reference, or NULL */
};

/* What the merged order depends on. */
struct nm_thread_order {
	uint32_t quantum; /* 1 to NM_QUANTUM_MOST; 0: NM_QUANTUM */
	int random;       /* cores take turns at random, else in order */
	uint64_t seed;
};

/* Of several orders, the i-th after the first (i >= 1): random, with seed i, plus the seed of the first order
 * if that is random. */
static inline struct nm_thread_order nm_thread_order_next(const struct nm_thread_order *first, unsigned i)
{
	return (struct nm_thread_order){
	    .quantum = first->quantum, .random = 1, .seed = i + (first->random ? first->seed : 0)};
}

struct nm_interleave_setup {
	const struct nm_machine *machine; /* maps threads to cores; borrowed */
	struct nm_thread_order order;
	uint64_t hold_least, hold_most; /* 0: NM_HOLD_* */
	int clocked;                    /* references have times */
	/* Threads that have ended are merged with the one that is left, as with others: they are of processes, and may
	 * have run before it because they were read first. */
	int keeps_ended;
	int (*output)(void *arg, const struct nm_merged *batch); /* 0 or a code */
	void *arg;
};

struct nm_interleave;

/* 0 or NM_ENOMEM. */
int nm_interleave_new(struct nm_interleave **ret, const struct nm_interleave_setup *setup);
void nm_interleave_free(struct nm_interleave *interleave);

/* Adds a batch. Returns 0, output's code or NM_ENOMEM; after an error nothing may be added. */
int nm_interleave_add(struct nm_interleave *interleave, const struct nm_thread_batch *batch);

/* The table of the coalesced references in the input (coalesced.h). */
struct nm_coalesced_table;
void nm_interleave_set_coalesced(struct nm_interleave *interleave,
				 const struct nm_coalesced_table *coalesced);

/* Whether a thread has ended and all of its references are output, but those in the batch that is being filled; outputs
 * that batch; outputs what need not wait for references or locks that are yet to be added. 0 or a code. */
int nm_interleave_is_over(const struct nm_interleave *interleave, uint32_t thread);
int nm_interleave_send(struct nm_interleave *interleave);
int nm_interleave_settle(struct nm_interleave *interleave);

/* Outputs all queued references. */
int nm_interleave_drain(struct nm_interleave *interleave);

/* Whether the queues hold what was added and is not output yet. Walks through all of them. */
int nm_interleave_is_valid(const struct nm_interleave *interleave);

/* How often a thread continued without its lock. */
uint64_t nm_interleave_forced_progress(const struct nm_interleave *interleave);

#endif
