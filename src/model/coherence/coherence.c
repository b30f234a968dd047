/* SPDX-License-Identifier: MIT
 *
 * coherence.c - the directory: which core has a copy of which block; see coherence.h.
 *
 * A copy is found by a small table for each core, by block, before the map of all blocks is asked.
 */
#include "coherence.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "general.h"
#include "protocol.h"

int nm_coherence_new(struct nm_coherence **ret_coherence, const struct nm_protocol *protocol, unsigned cores,
		     unsigned block, struct nm_homes *homes)
{
	struct nm_coherence *x = calloc(1, sizeof *x);

	if (!x)
		return NM_ENOMEM;
	x->protocol = protocol;
	x->cores = cores;
	x->block_shift = (unsigned)__builtin_ctz(block);
	x->words = block > 64 ? block / 64 : 1;
	x->traffic.block = block;
	x->homes = homes;
	x->core = calloc(cores, sizeof *x->core);
	x->contention = calloc(1, sizeof *x->contention);
	for (unsigned c = 0; x->core && c < cores; c++)
		if (!(x->core[c].recent = calloc(NM_RECENT_COPIES, sizeof *x->core[c].recent)))
			x->failed = 1;
	if (!x->core || !x->contention || x->failed || nm_latent_new(&x->latent, x->block_shift)) {
		nm_coherence_free(x);
		return NM_ENOMEM;
	}
	*ret_coherence = x;
	return 0;
}

void nm_coherence_add(struct nm_coherence *x, unsigned core, unsigned level, struct nm_cache *cache)
{
	assert(level < 2 * NM_MAX_DEPTH);
	x->core[core].level[level] = cache;
	cache->general->coherence = x;
	cache->general->private_level = level;
	if (level + 1 > x->level_count)
		x->level_count = level + 1;
}

void nm_coherence_free(struct nm_coherence *x)
{
	if (!x)
		return;
	for (unsigned c = 0; x->core && c < x->cores; c++)
		free(x->core[c].recent);
	if (x->contention)
		nm_contention_done(x->contention);
	free(x->contention);
	nm_latent_free(x->latent);
	free(x->core);
	nm_map_done(&x->block_of);
	nm_arena_done(&x->arena);
	free(x);
}

/* ---- blocks and copies ------------------------------------------------------------------------------ */

static struct nm_coherent_block *find_block(const struct nm_coherence *x, uint64_t number)
{
	return (struct nm_coherent_block *)(uintptr_t)nm_map_get(&x->block_of, number, 0);
}

static struct nm_coherent_block *make_block(struct nm_coherence *x, uint64_t number)
{
	struct nm_coherent_block *block = x->free_blocks;

	if (block)
		x->free_blocks = (struct nm_coherent_block *)block->copies;
	else if (!(block = nm_arena_alloc(&x->arena, sizeof *block)))
		return NULL;
	*block =
	    (struct nm_coherent_block){.number = number,
				       .contended = nm_map_get(&x->contention->contended, number, 0) != 0,
				       .latent = nm_latent_find(x->latent, number)};
	return nm_map_put(&x->block_of, number, (uintptr_t)block) ? NULL : block;
}

static struct nm_copy *make_copy(struct nm_coherence *x, struct nm_coherent_block *block, unsigned core)
{
	const size_t bytes =
	    sizeof(struct nm_copy) + (NM_MASK_LOST + x->level_count) * x->words * sizeof(uint64_t);
	struct nm_copy *copy = x->free_copies;

	if (copy) {
		x->free_copies = copy->next;
		memset(copy, 0, bytes);
	} else if (!(copy = nm_arena_alloc(&x->arena, bytes))) {
		return NULL;
	}
	copy->block = block;
	copy->core = (uint16_t)core;
	copy->next = block->copies;
	block->copies = copy;
	return copy;
}

static struct nm_recent_copy *recent_of(const struct nm_coherence *x, unsigned core, uint64_t number)
{
	return &x->core[core].recent[number % NM_RECENT_COPIES];
}

static struct nm_copy *find_copy(const struct nm_coherence *x, unsigned core, uint64_t number)
{
	struct nm_recent_copy *recent = recent_of(x, core, number);
	const struct nm_coherent_block *block;
	struct nm_copy *copy;

	if (recent->copy && recent->number == number)
		return recent->copy;
	block = find_block(x, number);
	copy = block ? block->copies : NULL;
	while (copy && copy->core != core)
		copy = copy->next;
	if (copy)
		*recent = (struct nm_recent_copy){number, copy};
	return copy;
}

static struct nm_copy *find_or_make_copy(struct nm_coherence *x, unsigned core, uint64_t number)
{
	struct nm_copy *copy = find_copy(x, core, number);
	struct nm_coherent_block *block;

	if (copy)
		return copy;
	block = find_block(x, number);
	if (!block)
		block = make_block(x, number);
	copy = block ? make_copy(x, block, core) : NULL;
	if (copy)
		*recent_of(x, core, number) = (struct nm_recent_copy){number, copy};
	else
		x->failed = 1;
	return copy;
}

static void forget(struct nm_coherence *x, struct nm_copy *copy)
{
	struct nm_coherent_block *block = copy->block;
	struct nm_recent_copy *recent = recent_of(x, copy->core, block->number);
	struct nm_copy **at = &block->copies;

	while (*at != copy)
		at = &(*at)->next;
	*at = copy->next;
	if (recent->copy == copy)
		recent->copy = NULL;
	copy->next = x->free_copies;
	x->free_copies = copy;
	if (!block->copies) {
		nm_map_remove(&x->block_of, block->number);
		block->copies = (struct nm_copy *)x->free_blocks;
		x->free_blocks = block;
	}
}

/* ---- what general.c tells ---------------------------------------------------------------------------- */

static int may(const struct nm_copy *copy, int write)
{
	return write ? copy->state == NM_COPY_MODIFIED : copy->state != NM_COPY_NONE && !copy->stale;
}

static void watch(struct nm_coherence *x, struct nm_coherent_block *block)
{
	if (!block->latent)
		block->latent = nm_latent_watch(x->latent, block->number);
}

/* A core asks for a block: if another has one beside it and one of the two writes, both are watched. */
static void watch_neighbours(struct nm_coherence *x, const struct nm_copy *copy, int write)
{
	for (int beside = -1; beside <= 1; beside += 2) {
		struct nm_coherent_block *block = find_block(x, copy->block->number + (uint64_t)beside);
		const struct nm_copy *other = block ? block->copies : NULL;

		while (other && (other->core == copy->core || !(write || other->state == NM_COPY_MODIFIED)))
			other = other->next;
		if (!other)
			continue;
		watch(x, block);
		watch(x, copy->block);
	}
}

void nm_coherence_acquire(struct nm_coherence *x, unsigned core, const struct nm_ref *r, uint64_t address,
			  uint32_t bytes)
{
	const int write = r->kind == NM_REF_WRITE;
	struct nm_copy *copy = find_or_make_copy(x, core, address >> x->block_shift);

	x->copy = copy;
	if (!copy)
		return;
	x->address = address;
	x->bytes = bytes;
	x->attr = r->attr;
	x->touch = 0;
	if (copy->block->contended && bytes)
		x->touch = nm_contention_touch(x->contention, address, bytes, r->attr);
	if (!may(copy, write)) {
		watch_neighbours(x, copy, write);
		(write ? x->protocol->write : x->protocol->read)(x, copy);
	}
	assert(may(copy, write) || x->failed);
}

void nm_coherence_touch(struct nm_coherence *x, int write)
{
	struct nm_copy *copy = x->copy;

	if (!copy)
		return;
	if (write && x->bytes)
		nm_coherence_mark(x, nm_copy_mask(x, copy, NM_MASK_WRITTEN));
	if (copy->fresh)
		nm_doubts_touch(x, copy);
	if (copy->block->latent && x->bytes)
		nm_latent_touch(x->latent, copy->block->latent, copy->core, x->address, x->bytes, x->attr,
				write);
	if (x->touch) {
		struct nm_contended_touch *t = &x->contention->touches.at[x->touch - 1];

		*(write ? &t->writes : &t->reads) += 1;
	}
	x->copy = NULL;
}

int nm_coherence_load(struct nm_cache *c, uint64_t line, uint32_t attr, int prefetched)
{
	struct nm_coherence *x = c->general->coherence;
	const uint64_t first = (line << c->line_shift) & ((1ull << x->block_shift) - 1);
	struct nm_copy *copy = x->copy;
	uint64_t *lost, bits;
	int was_lost;

	if (!copy)
		return 0;
	assert(copy->core + 1u == c->core && copy->block->number == line << c->line_shift >> x->block_shift);
	lost = nm_copy_mask(x, copy, NM_MASK_LOST + c->general->private_level) + first / 64;
	bits = c->line_shift >= 6 ? ~0ull : ((1ull << (1u << c->line_shift)) - 1) << first % 64;
	was_lost = (*lost & bits) != 0;
	for (unsigned w = 0; w < c->words; w++)
		lost[w] &= ~bits;
	if (was_lost && !prefetched)
		nm_doubts_add(x, c, copy, attr);
	return was_lost;
}

/* Whether a core has a part of a block beside one line of a level. */
static int has_other_part(const struct nm_coherence *x, unsigned core, uint64_t number,
			  const struct nm_cache *but, uint64_t line)
{
	for (unsigned i = x->level_count; i--;) {
		const struct nm_cache *c = x->core[core].level[i];
		const unsigned shift = c ? x->block_shift - c->line_shift : 0;

		for (uint64_t part = number << shift; c && part < (number + 1) << shift; part++)
			if ((c != but || part != line) && nm_cache_find(c, part) != NM_NO_SLOT)
				return 1;
	}
	return 0;
}

void nm_coherence_left(struct nm_cache *c, uint64_t line)
{
	struct nm_coherence *x = c->general->coherence;
	const uint64_t number = line >> (x->block_shift - c->line_shift);
	struct nm_copy *copy;

	if (has_other_part(x, c->core - 1u, number, c, line))
		return;
	copy = find_copy(x, c->core - 1u, number);
	if (!copy || copy->state == NM_COPY_NONE)
		return;
	if (copy == x->copy) /* another part of it is on its way */
		return;
	x->departures++;
	nm_copy_publish(x, copy);
	nm_doubts_end(x, copy);
	nm_copy_unlist(copy);
	forget(x, copy);
}

void nm_coherence_synchronise(struct nm_coherence *x, unsigned core)
{
	assert(!x->copy);
	if (x->protocol->synchronise)
		x->protocol->synchronise(x, core);
}

void nm_coherence_finish(struct nm_coherence *x)
{
	for (unsigned core = 0; core < x->cores; core++)
		for (struct nm_copy *copy = nm_copy_first(x, core); copy; copy = nm_copy_after(copy))
			nm_doubts_end(x, copy);
}

enum nm_copy_state nm_coherence_state(const struct nm_coherence *x, unsigned core, uint64_t address)
{
	const struct nm_copy *copy = find_copy(x, core, address >> x->block_shift);

	return copy ? (enum nm_copy_state)copy->state : NM_COPY_NONE;
}
