/* SPDX-License-Identifier: MIT
 *
 * heap_writer.h - where a thread of the sampled program writes: its chunk of the log.
 *
 * All of it runs inside the program, in its calls of malloc: it allocates nothing, takes no lock that it would wait
 * for, and leaves errno alone.
 */
#ifndef NM_HEAP_WRITER_H
#define NM_HEAP_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "heap_log.h"

struct heap_writer {
	uint64_t *at, *end; /* room in the chunk */
	uint32_t pid;       /* of the process that took it; 0: there is none */
};

/* Opens the log that the environment names. 0 if there is none. */
int heap_writer_open(void);
uint64_t heap_writer_least(void); /* bytes of blocks that are to be noted */

/* The running thread's writer, with room for so many words; NULL: none, and nothing is noted. */
struct heap_writer *heap_writer_of_thread(unsigned words);

/* Writes a record: its words but the first, then that. */
static inline void heap_writer_put(struct heap_writer *w, uint64_t first, const uint64_t *rest,
				   unsigned count)
{
	uint64_t *at = w->at;

	for (unsigned i = 0; i < count; i++)
		at[1 + i] = rest[i];
	__atomic_store_n(at, first, __ATOMIC_RELEASE);
	w->at = at + 1 + count;
}

/* Memory of the process that the program's page faults do not count. NULL: there is none. */
void *heap_writer_memory(size_t bytes);

/* A number for a new chain. */
uint32_t heap_writer_new_chain(void);

/* chain.c: 0 if there is no memory; then the number of the chain of calls whose innermost one returns to pc. `frame`
 * is the stack pointer behind that return. Of a new chain a record is written, of at most 2 + NM_HEAP_FRAMES
 * words. */
int heap_writer_open_chains(void);
uint32_t heap_writer_chain(struct heap_writer *w, uintptr_t frame, uintptr_t pc, uint64_t time);

/* memo.c: 0 if there is no memory. */
int heap_writer_open_memo(void);
/* The number of the chain here, if it was kept; else 0. */
uint32_t heap_writer_known(uintptr_t frame, uint64_t pc);
/* steps: its return addresses, each with its distance to the one before in the upper 16 bits. */
void heap_writer_keep(uintptr_t frame, const uint64_t *steps, uint32_t count, uint32_t number);
void heap_writer_forget(void); /* all */

#endif
