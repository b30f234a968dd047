/* SPDX-License-Identifier: MIT
 *
 * latent.c - see latent.h. Most touches change nothing: the core has made the same touch before, and no
 * other core has touched the block or its neighbours since. The mask `repeated` finds these.
 */
#include "latent.h"

#include <assert.h>
#include <stdlib.h>

/* The state of a virtual line in a core's cache. */
struct holder {
	struct holder *next;
	uint32_t taker; /* touch that invalidated it by a write in an untouched half, or 0 */
	uint16_t core;
	uint8_t halves;     /* touched since the core got the line, a bit each; 0: it does not have it */
	uint8_t taker_half; /* that `taker` wrote to */
};

struct virtual_line {
	struct holder *holders;
};

int nm_latent_new(struct nm_latent **ret_latent, unsigned block_shift)
{
	struct nm_latent *l = calloc(1, sizeof *l);

	assert(block_shift >= 2);
	if (l)
		l->touches = calloc(1, sizeof *l->touches);
	if (!l || !l->touches) {
		nm_latent_free(l);
		return NM_ENOMEM;
	}
	l->block_shift = block_shift;
	*ret_latent = l;
	return 0;
}

void nm_latent_free(struct nm_latent *l)
{
	if (!l)
		return;
	if (l->touches)
		nm_contention_done(l->touches);
	free(l->touches);
	nm_vec_free(&l->pairs);
	nm_map_done(&l->block_of);
	nm_map_done(&l->line_of);
	nm_map_done(&l->pair_of);
	nm_arena_done(&l->arena);
	free(l);
}

struct nm_latent_block *nm_latent_find(const struct nm_latent *l, uint64_t number)
{
	return l->block_of.count ? (struct nm_latent_block *)(uintptr_t)nm_map_get(&l->block_of, number, 0)
				 : NULL;
}

struct nm_latent_block *nm_latent_watch(struct nm_latent *l, uint64_t number)
{
	struct nm_latent_block *block = nm_latent_find(l, number);

	if (block)
		return block;
	block = nm_arena_alloc(&l->arena, sizeof *block);
	if (!block || nm_map_put(&l->block_of, number, (uintptr_t)block)) {
		l->failed = 1;
		return NULL;
	}
	*block = (struct nm_latent_block){.number = number};
	return block;
}

static struct virtual_line *line_at(struct nm_latent *l, unsigned layout, uint64_t number)
{
	const uint64_t key = number * NM_LATENT_LAYOUTS + layout;
	struct virtual_line *line = (struct virtual_line *)(uintptr_t)nm_map_get(&l->line_of, key, 0);

	if (line)
		return line;
	line = nm_arena_alloc(&l->arena, sizeof *line);
	if (!line || nm_map_put(&l->line_of, key, (uintptr_t)line)) {
		l->failed = 1;
		return NULL;
	}
	*line = (struct virtual_line){NULL};
	return line;
}

static struct holder *holder_of(struct nm_latent *l, struct virtual_line *line, unsigned core)
{
	struct holder *h = line->holders;

	while (h && h->core != core)
		h = h->next;
	if (h)
		return h;
	h = nm_arena_alloc(&l->arena, sizeof *h);
	if (!h) {
		l->failed = 1;
		return NULL;
	}
	*h = (struct holder){.next = line->holders, .core = (uint16_t)core};
	line->holders = h;
	return h;
}

static void count_touch(struct nm_latent *l, unsigned layout, uint32_t touch, uint32_t other)
{
	uint64_t key = nm_mix64((uint64_t)touch << 32 | other) + layout, at;

	while ((at = nm_map_get(&l->pair_of, key, UINT64_MAX)) != UINT64_MAX) {
		struct nm_latent_pair *p = &l->pairs.at[at];

		if (p->touch == touch && p->other == other && p->layout == layout) {
			p->misses++;
			return;
		}
		key++;
	}
	at = l->pairs.count;
	if (nm_vec_push(&l->pairs, (struct nm_latent_pair){touch, other, layout, 1}) ||
	    nm_map_put(&l->pair_of, key, at))
		l->failed = 1;
}

/* touch: 1 + its index. */
static void touch_line(struct nm_latent *l, unsigned layout, uint64_t number, unsigned half, unsigned core,
		       uint32_t touch, int write)
{
	struct virtual_line *line = line_at(l, layout, number);
	struct holder *own = line ? holder_of(l, line, core) : NULL;

	if (!own)
		return;
	if (!own->halves && own->taker && own->taker_half != half)
		count_touch(l, layout, touch - 1, own->taker - 1);
	own->taker = 0;
	own->halves |= (uint8_t)(1u << half);
	for (struct holder *h = line->holders; h && write; h = h->next) {
		if (h == own || !h->halves)
			continue;
		h->taker = h->halves >> half & 1 ? 0 : touch;
		h->taker_half = (uint8_t)half;
		h->halves = 0;
	}
}

/* Touches all virtual lines of a layout that contain some of the bytes. */
static void touch_layout(struct nm_latent *l, unsigned layout, uint64_t address, uint32_t bytes,
			 unsigned core, uint32_t touch, int write)
{
	const uint64_t block = address >> l->block_shift, later = (uint64_t)layout << (l->block_shift - 2);
	uint64_t first, last;

	if (layout == NM_LATENT_DOUBLED) {
		touch_line(l, layout, block / 2, block & 1, core, touch, write);
		return;
	}
	/* Line n begins within block n - 1. */
	first = ((address - later) >> l->block_shift) + 1;
	last = ((address + bytes - 1 - later) >> l->block_shift) + 1;
	for (uint64_t number = first; number <= last; number++)
		touch_line(l, layout, number, block == number, core, touch, write);
}

static void unsettle_core(struct nm_latent *l, uint64_t number, unsigned core)
{
	struct nm_latent_block *block = nm_latent_find(l, number);

	if (block && block->core != core)
		block->repeated = 0;
}

void nm_latent_touch(struct nm_latent *l, struct nm_latent_block *block, unsigned core, uint64_t address,
		     uint32_t bytes, uint32_t attr, int write)
{
	const uint64_t in_block = address - (block->number << l->block_shift);
	const unsigned first = (unsigned)(in_block >> (l->block_shift - 2)),
		       last = (unsigned)((in_block + bytes - 1) >> (l->block_shift - 2));
	const uint8_t touched = (uint8_t)((((2u << last) - (1u << first)) & 15u) << (write ? 4 : 0));
	uint32_t touch;

	assert(bytes && last < 4);
	if (block->core == core && (block->repeated & touched) == touched)
		return;
	touch = nm_contention_touch(l->touches, address, bytes, attr);
	if (!touch) /* it was dropped */
		return;
	for (unsigned layout = 0; layout < NM_LATENT_LAYOUTS; layout++)
		touch_layout(l, layout, address, bytes, core, touch, write);
	if (block->core != core)
		block->repeated = 0;
	block->core = (uint16_t)core;
	block->repeated |= touched;
	unsettle_core(l, block->number - 1, core);
	unsettle_core(l, block->number + 1, core);
}
