/* SPDX-License-Identifier: MIT
 *
 * books.c - see books.h.
 */
#include "books.h"

#include <stdlib.h>
#include <string.h>

#include "nearmiss/wire.h"

int nm_books_init(struct nm_books *b)
{
	memset(b, 0, sizeof *b);
	b->next = malloc(sizeof *b->next << NM_NEXT_BITS);
	b->markov = malloc(sizeof *b->markov << NM_MARKOV_BITS);
	if (!b->next || !b->markov || nm_vec_reserve(&b->paths, 1024) || nm_vec_reserve(&b->slots, 4096))
		return NM_ENOMEM;
	nm_books_reset(b);
	return 0;
}

void nm_books_done(struct nm_books *b)
{
	nm_vec_free(&b->paths);
	nm_vec_free(&b->blocks);
	nm_vec_free(&b->slots);
	nm_map_done(&b->block_of_id);
	free(b->next);
	free(b->markov);
}

/* Path 0 is none: what comes before the first block. */
void nm_books_reset(struct nm_books *b)
{
	nm_map_done(&b->block_of_id);
	memset(&b->block_of_id, 0, sizeof b->block_of_id);
	b->blocks.count = b->slots.count = 0;
	b->paths.at[0] = (struct nm_path){0};
	b->paths.count = 1;
	b->path = b->before = 0;
	memset(b->next, 0, sizeof *b->next << NM_NEXT_BITS);
	memset(b->markov, 0, sizeof *b->markov << NM_MARKOV_BITS);
	memset(b->shifts, 0, sizeof b->shifts);
	b->told = 0;
}

/* A block that turns out to have more accesses gets longer slots, with what the old ones knew. */
static int widen(struct nm_books *b, uint32_t block, uint32_t count)
{
	struct nm_traced_block *t = &b->blocks.at[block];
	uint32_t fresh = (uint32_t)b->slots.count;

	if (nm_vec_reserve(&b->slots, count))
		return NM_ENOMEM;
	memset(&b->slots.at[fresh], 0, count * sizeof *b->slots.at);
	if (t->count)
		memcpy(&b->slots.at[fresh], &b->slots.at[t->slots], t->count * sizeof *b->slots.at);
	b->slots.count += count;
	t->slots = fresh;
	t->count = count;
	for (uint32_t p = t->paths; p; p = b->paths.at[p].sibling)
		b->paths.at[p].slots = fresh;
	return 0;
}

int nm_books_add(struct nm_books *b, uint32_t id, uint32_t count)
{
	uint64_t block = nm_map_get(&b->block_of_id, id, UINT64_MAX);
	struct nm_path p = {.header = nm_wire_header(NM_WIRE_BLOCK, id, 0), .count = count};

	if (block == UINT64_MAX) {
		block = b->blocks.count;
		if (nm_vec_push(&b->blocks, (struct nm_traced_block){0}) ||
		    nm_map_put(&b->block_of_id, id, block))
			return NM_ENOMEM;
	}
	if (count > b->blocks.at[block].count && widen(b, (uint32_t)block, count))
		return NM_ENOMEM;
	p.block = (uint32_t)block;
	p.slots = b->blocks.at[block].slots;
	p.sibling = b->blocks.at[block].paths;
	b->blocks.at[block].paths = (uint32_t)b->paths.count;
	return nm_vec_push(&b->paths, p);
}
