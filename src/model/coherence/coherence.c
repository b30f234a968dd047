/* SPDX-License-Identifier: MIT
 *
 * coherence.c - the functions that the levels call; see coherence.h.
 */
#include "coherence.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "general.h"
#include "private_pages.h"
#include "protocol.h"

int nm_coherence_new(struct nm_coherence **ret_coherence, const struct nm_protocol *protocol, unsigned cores,
		     unsigned block, struct nm_homes *homes)
{
	struct nm_coherence *x = calloc(1, sizeof *x);

	assert(cores > 1 && block && !(block & (block - 1)));
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
	if (!x->core || !x->contention || nm_directory_init(&x->directory, cores) ||
	    nm_latent_new(&x->latent, x->block_shift)) {
		nm_coherence_free(x);
		return NM_ENOMEM;
	}
	*ret_coherence = x;
	return 0;
}

void nm_coherence_add_level(struct nm_coherence *c, unsigned core, unsigned level, struct nm_cache *cache)
{
	struct nm_private_levels *own = &c->core[core];

	assert(level < 2 * NM_MAX_DEPTH);
	own->level[level] = cache;
	own->as[level] = (struct nm_coherent_level){.coherence = c, .number = level};
	cache->coherent = &own->as[level];
	if (level + 1 > c->level_count)
		c->level_count = level + 1;
	c->directory.copy_bytes =
	    sizeof(struct nm_copy) + (NM_MASK_LOST + c->level_count) * c->words * sizeof(uint64_t);
}

int nm_coherence_set_entry(struct nm_cache *c, unsigned side)
{
	struct nm_coherent_level *as = c->coherent;
	struct nm_coherence *x = as->coherence;

	assert(side < 2);
	as->entry[side] = 1;
	if (c->general || as->written)
		return 0;
	if (!side) {
		x->core[c->core - 1u].data = c;
		x->has_private = x->protocol->has_exclusive && c->line_shift == x->block_shift &&
				 !(c->next && c->next->coherent);
	}
	as->written = calloc(c->slots, sizeof *as->written);
	as->cleared = malloc((c->slots + 1) * sizeof *as->cleared);
	as->is_private = calloc(c->slots, sizeof *as->is_private);
	if (!as->written || !as->cleared || !as->is_private)
		return NM_ENOMEM;
	for (uint32_t slot = 0; slot <= c->slots; slot++)
		nm_coherence_clear(c, slot, 0, 0);
	return 0;
}

static void free_cleared(struct nm_coherent_level *as)
{
	free(as->cleared);
	free(as->written);
	free(as->is_private);
	as->cleared = NULL;
	as->written = NULL;
	as->is_private = NULL;
}

static void free_levels(struct nm_private_levels *own)
{
	for (unsigned i = 0; i < 2 * NM_MAX_DEPTH; i++)
		free_cleared(&own->as[i]);
}

void nm_coherence_free(struct nm_coherence *x)
{
	if (!x)
		return;
	for (unsigned c = 0; x->core && c < x->cores; c++)
		free_levels(&x->core[c]);
	if (x->contention)
		nm_contention_done(x->contention);
	free(x->contention);
	nm_latent_free(x->latent);
	free(x->core);
	nm_directory_done(&x->directory);
	nm_arena_done(&x->arena);
	free(x);
}

/* ---- cleared lines --------------------------------------------------------------------------------- */

void nm_coherence_clear(struct nm_cache *c, uint32_t slot, int read, int write)
{
	c->coherent->cleared[slot][0] = read ? c->tags[slot] : NM_NO_LINE;
	c->coherent->cleared[slot][1] = write ? c->tags[slot] : NM_NO_LINE;
}

static int may_access(const struct nm_copy *copy, int write)
{
	return write ? copy->state == NM_COPY_MODIFIED : copy->state != NM_COPY_NONE && !copy->stale;
}

/* Clears the line at a slot for what its core may do, unless each touch of it has to be seen. */
static void clear_line(struct nm_cache *c, uint32_t slot, struct nm_copy *copy)
{
	if (!c->coherent->written || slot == NM_NO_SLOT || copy->fresh || copy->latent ||
	    nm_copy_is_contended(copy))
		return;
	nm_coherence_clear(c, slot, may_access(copy, 0), may_access(copy, 1));
	copy->cleared = 1;
}

static void unclear_line(struct nm_cache *c, uint64_t line, uint32_t slot, struct nm_copy *copy)
{
	struct nm_coherent_level *as = c->coherent;
	const struct nm_coherence *x = as->coherence;
	const uint64_t first = (line << c->line_shift) & ((1ull << x->block_shift) - 1);

	if (copy)
		nm_copy_mask(x, copy, NM_MASK_WRITTEN)[first / 64] |= as->written[slot] << first % 64;
	as->written[slot] = 0;
	as->is_private[slot] = 0;
	nm_coherence_clear(c, slot, 0, 0);
}

void nm_coherence_unclear(struct nm_coherence *x, struct nm_copy *copy)
{
	for (unsigned i = 0; i < x->level_count && copy->cleared; i++) {
		struct nm_cache *c = x->core[copy->core].level[i];
		const unsigned shift = c ? x->block_shift - c->line_shift : 0;
		const uint64_t line = copy->block << shift;

		for (uint64_t part = 0; c && c->coherent->written && part < 1ull << shift; part++) {
			const uint32_t slot = nm_cache_find(c, line + part);

			if (slot != NM_NO_SLOT)
				unclear_line(c, line + part, slot, copy);
		}
	}
	copy->cleared = 0;
}

void nm_coherence_uncover(struct nm_coherence *c)
{
	assert(!c->copy);
	if (c->has_private)
		private_end_all(c);
	c->has_private = 0;
	for (unsigned core = 0; core < c->cores; core++)
		for (struct nm_copy *copy = nm_copy_first(c, core); copy; copy = nm_copy_after(copy))
			nm_coherence_unclear(c, copy);
}

void nm_coherence_clear_none(struct nm_cache *c) { free_cleared(c->coherent); }

void nm_coherence_list(struct nm_coherence *c, struct nm_copy *copy, enum nm_copy_state state)
{
	struct nm_copy **first = &c->core[copy->core].valid;

	assert(state != NM_COPY_NONE && copy->state == NM_COPY_NONE);
	copy->state = (uint8_t)state;
	copy->link = first;
	copy->after = *first;
	if (copy->after)
		copy->after->link = &copy->after;
	*first = copy;
}

/* ---- calls of the levels ------------------------------------------------------------------------------ */

/* The block of the copies is watched from now on. */
static void watch_block(struct nm_coherence *c, struct nm_copy *copies)
{
	for (struct nm_copy *copy = copies; copy; copy = copy->next) {
		if (!copy->latent)
			copy->latent = nm_latent_watch(c->latent, copy->block);
		copy->page->watched |= nm_directory_bit(copy->block);
		nm_coherence_unclear(c, copy);
	}
}

/* A core requests a block: if another core has a neighbour of it and one of the two writes, both are
 * watched. */
static void watch_neighbours(struct nm_coherence *c, const struct nm_copy *copy, int write)
{
	for (int beside = -1; beside <= 1; beside += 2) {
		const uint64_t block = copy->block + (uint64_t)beside;
		struct nm_copy *others;
		const struct nm_copy *other;

		private_end_of_other(c, copy->core, block);
		others = nm_directory_copies(&c->directory, copy->core, block);
		other = others;

		while (other && (other->core == copy->core || !(write || other->state == NM_COPY_MODIFIED)))
			other = other->next;
		if (!other)
			continue;
		watch_block(c, others);
		watch_block(c, nm_copy_all(copy));
	}
}

static struct nm_copy *make_copy(struct nm_coherence *c, unsigned core, uint64_t block)
{
	struct nm_copy *copy = nm_directory_add(&c->directory, core, block);

	if (!copy)
		c->failed = 1;
	else if (copy->page->watched & nm_directory_bit(block))
		copy->latent = nm_latent_find(c->latent, block);
	return copy;
}

void nm_coherence_acquire(struct nm_cache *c, const struct nm_ref *r, uint64_t address, uint32_t bytes)
{
	struct nm_coherence *x = c->coherent->coherence;
	const int write = r->kind == NM_REF_WRITE;
	const unsigned core = c->core - 1u;
	const uint64_t block = address >> x->block_shift;
	struct nm_copy *copy;

	assert(!x->copy);
	x->entry = c;
	x->address = address;
	x->bytes = bytes;
	x->attr = r->attr;
	x->write = write;
	x->touch = 0;
	x->copy = NULL;
	if (x->has_private) {
		x->in_private = r->kind != NM_REF_FETCH && private_acquire(x, c, block, write);
		if (x->in_private)
			return;
		if (r->kind == NM_REF_FETCH)
			private_end(x, block);
	}
	copy = nm_directory_find(&x->directory, core, block);
	if (!copy)
		copy = make_copy(x, core, block);
	x->copy = copy;
	if (!copy)
		return;
	if (bytes && nm_copy_is_contended(copy))
		x->touch = nm_contention_touch(x->contention, address, bytes, r->attr);
	if (!may_access(copy, write)) {
		watch_neighbours(x, copy, write);
		(write ? x->protocol->write : x->protocol->read)(x, copy);
	}
	assert(may_access(copy, write) || x->failed);
}

void nm_coherence_touch(struct nm_cache *c, uint32_t slot, int write)
{
	struct nm_coherence *x = c->coherent->coherence;
	struct nm_copy *copy = x->copy;

	if (x->in_private)
		private_touch(x, c, slot, write);
	x->in_private = 0;
	if (!copy)
		return;
	if (write && x->bytes)
		nm_coherence_mark(x, nm_copy_mask(x, copy, NM_MASK_WRITTEN));
	if (copy->fresh)
		nm_doubts_touch(x, copy);
	if (copy->latent && x->bytes)
		nm_latent_touch(x->latent, copy->latent, copy->core, x->address, x->bytes, x->attr, write);
	if (x->touch) {
		struct nm_contended_touch *t = &x->contention->touches.at[x->touch - 1];

		*(write ? &t->writes : &t->reads) += 1;
	}
	clear_line(c, slot, copy);
	x->copy = NULL;
}

int nm_coherence_filled(struct nm_cache *c, uint64_t line, uint32_t attr, int prefetched)
{
	struct nm_coherence *x = c->coherent->coherence;
	const uint64_t first = (line << c->line_shift) & ((1ull << x->block_shift) - 1);
	struct nm_copy *copy = x->copy;
	uint64_t *lost, bits;
	int was_lost;

	if (x->in_private) {
		x->traffic.count[x->write ? NM_MESSAGE_WRITE : NM_MESSAGE_READ]++;
		x->traffic.count[NM_MESSAGE_DATA_FROM_MEMORY]++;
	}
	if (!copy)
		return 0;
	assert(copy->core + 1u == c->core && copy->block == line << c->line_shift >> x->block_shift);
	lost = nm_copy_mask(x, copy, NM_MASK_LOST + c->coherent->number) + first / 64;
	bits = c->line_shift >= 6 ? ~0ull : ((1ull << (1u << c->line_shift)) - 1) << first % 64;
	was_lost = (*lost & bits) != 0;
	for (unsigned w = 0; w < c->words; w++)
		lost[w] &= ~bits;
	if (was_lost && !prefetched)
		nm_doubts_add(x, c, copy, attr);
	return was_lost;
}

/* Whether a core has a part of a block, other than one line of a level. */
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

void nm_coherence_evicted(struct nm_cache *c, uint64_t line, uint32_t slot)
{
	struct nm_coherence *x = c->coherent->coherence;
	const uint64_t number = line >> (x->block_shift - c->line_shift);
	const int noted = c->coherent->written && slot != NM_NO_SLOT;
	struct nm_copy *copy;

	if (noted && c->coherent->is_private[slot]) {
		unclear_line(c, line, slot, NULL);
		return;
	}
	if (noted)
		unclear_line(c, line, slot,
			     c->coherent->written[slot]
				 ? nm_directory_find(&x->directory, c->core - 1u, number)
				 : NULL);
	if (has_other_part(x, c->core - 1u, number, c, line))
		return;
	copy = nm_directory_find(&x->directory, c->core - 1u, number);
	if (!copy || copy->state == NM_COPY_NONE)
		return;
	if (copy == x->copy) /* it is being loaded */
		return;
	x->departures++;
	nm_copy_publish(x, copy);
	nm_doubts_end(x, copy);
	nm_copy_unlist(copy);
	nm_directory_remove(&x->directory, copy);
}

void nm_coherence_synchronise(struct nm_coherence *c, unsigned core)
{
	assert(!c->copy);
	if (c->protocol->synchronise)
		c->protocol->synchronise(c, core);
}

void nm_coherence_finish(struct nm_coherence *c)
{
	for (unsigned core = 0; core < c->cores; core++)
		for (struct nm_copy *copy = nm_copy_first(c, core); copy; copy = nm_copy_after(copy))
			nm_doubts_end(c, copy);
}

enum nm_copy_state nm_coherence_state(const struct nm_coherence *c, unsigned core, uint64_t address)
{
	const uint64_t block = address >> c->block_shift;
	const struct nm_copy *copy;

	assert(core < c->cores);
	if (c->has_private && nm_directory_owner(&c->directory, block) == core)
		return private_state(c, core, block);
	copy = nm_directory_find(&c->directory, core, block);
	return copy ? (enum nm_copy_state)copy->state : NM_COPY_NONE;
}
