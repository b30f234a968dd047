/* SPDX-License-Identifier: MIT
 *
 * books.h - what encoder and decoder both know at each point of a chunk: the predictions.
 *
 * A path is a block with the number of addresses that one execution of it sent.  Each access of a block has a
 * slot: its last address and its stride.  Paths of one block share its slots.
 */
#ifndef NM_TRACE_BOOKS_H
#define NM_TRACE_BOOKS_H

#include <stdint.h>

#include "map.h"
#include "vector.h"

enum { NM_NEXT_BITS = 16, NM_MARKOV_BITS = 16, NM_SHIFTS = 4 };

/* How an address that its stride does not predict is told (NM_PART_CODES). */
enum {
	NM_CODE_SHIFT = 0,              /* 0..3: moved as far as another access lately did */
	NM_CODE_MARKOV = NM_SHIFTS,     /* what followed the same address here before */
	NM_CODE_SKIPPED,                /* address 0: a guarded access that was not executed */
	NM_CODE_OWN,                    /* .. + 7: 1..8 bytes, distance from the access's last address */
	NM_CODE_NEAR = NM_CODE_OWN + 8, /* .. + 7: from the last address told in full */
	NM_CODES = NM_CODE_NEAR + 8
};

/* Symbols of NM_PART_FLOW; path p is NM_FLOW_PATH + p, and the number after the last path makes a new one. */
enum { NM_FLOW_RECORD = 0, NM_FLOW_USUAL = 1, NM_FLOW_PATH = 2 };

struct nm_path {
	uint64_t header;         /* of the BLOCK */
	uint32_t slots;          /* index of its block's first slot */
	uint32_t count;          /* addresses */
	uint32_t usual;          /* path that followed last */
	uint32_t block, sibling; /* index of its block; the path of it that came before, or 0 */
};

/* A block that the chunk has seen. */
struct nm_traced_block {
	uint32_t slots, count, paths; /* paths: the youngest of them */
};

struct nm_slot {
	uint64_t last, stride, step; /* step: the last move that was not predicted */
};

struct nm_books {
	struct nm_vec(struct nm_path) paths;
	struct nm_vec(struct nm_traced_block) blocks;
	struct nm_vec(struct nm_slot) slots;
	struct nm_map block_of_id;
	uint32_t path, before; /* the last path and the one before it */
	uint32_t *next;        /* [1 << NM_NEXT_BITS] by the two last paths */
	uint64_t *markov;      /* [1 << NM_MARKOV_BITS] by access and address */
	uint64_t shifts[NM_SHIFTS];
	uint64_t told; /* last address told in full */
};

int nm_books_init(struct nm_books *books);
void nm_books_done(struct nm_books *books);
void nm_books_reset(struct nm_books *books);

/* A new path; 0 or NM_ENOMEM. */
int nm_books_add(struct nm_books *books, uint32_t id, uint32_t count);

static inline uint32_t *nm_books_next(const struct nm_books *b)
{
	uint32_t at = b->path * 0x9e3779b1u ^ b->before * 0x85ebca6bu;

	return &b->next[at >> (32 - NM_NEXT_BITS)];
}

static inline void nm_books_enter(struct nm_books *b, uint32_t path)
{
	b->paths.at[b->path].usual = path;
	b->before = b->path;
	b->path = path;
}

static inline uint64_t *nm_books_markov(const struct nm_books *b, uint64_t slot, uint64_t last)
{
	return &b->markov[(slot * 0x9e3779b97f4a7c15ull ^ last * 0xd6e8feb86659fd93ull) >>
			  (64 - NM_MARKOV_BITS)];
}

/* Moves `shift`, found at `from`, to the front; what falls off the end is forgotten. */
static inline void nm_books_shift(struct nm_books *b, unsigned from, uint64_t shift)
{
	for (unsigned i = from; i > 0; i--)
		b->shifts[i] = b->shifts[i - 1];
	b->shifts[0] = shift;
}

/* The access has moved in a way that was not predicted. */
static inline void nm_slot_moved(struct nm_slot *s, uint64_t address)
{
	uint64_t step = address - s->last;

	if (step == s->step)
		s->stride = step;
	s->step = step;
	s->last = address;
}

#endif
