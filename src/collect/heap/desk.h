/* SPDX-License-Identifier: MIT
 *
 * desk.h - where a thread of the sampled program writes: its chunk of the log.
 *
 * All of it runs inside the program, in its calls of malloc: it allocates nothing, takes no lock that it would wait
 * for, and leaves errno alone.
 */
#ifndef NM_DESK_H
#define NM_DESK_H

#include <stddef.h>
#include <stdint.h>

#include "heap_log.h"

struct desk {
	uint64_t *at, *end; /* room in the chunk */
	uint32_t pid;       /* of the process that took it; 0: there is none */
};

/* Opens the log that the environment names. 0 if there is none. */
int desk_open(void);

/* The running thread's desk, with room for so many words; NULL: none, and nothing is noted. */
struct desk *desk_of_thread(unsigned words);

/* Writes a record: its words but the first, then that. */
static inline void desk_write(struct desk *d, uint64_t first, const uint64_t *rest, unsigned count)
{
	uint64_t *at = d->at;

	for (unsigned i = 0; i < count; i++)
		at[1 + i] = rest[i];
	__atomic_store_n(at, first, __ATOMIC_RELEASE);
	d->at = at + 1 + count;
}

/* Memory of the process that the program's page faults do not count. NULL: there is none. */
void *desk_memory(size_t bytes);

/* A number for a new chain. */
uint32_t desk_new_chain(void);

/* chain.c: 0 if there is no memory; then the number of the chain of calls whose innermost one returns to pc; `frame` is the stack pointer behind
 * that return. Of a new chain a record is written, of at most 2 + NM_HEAP_FRAMES words. */
int desk_open_chains(void);
uint32_t desk_chain(struct desk *d, uintptr_t frame, uintptr_t pc, uint64_t time);

#endif
