/* SPDX-License-Identifier: MIT
 *
 * process_test.c - heap blocks, call stacks and allocation contexts against naive twins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blocks.h"
#include "contexts.h"
#include "frames.h"
#include "numbers.h"
#include "space.h"

#define STACK_LOW 0x7000000000ull
#define STACK_END 0x7000100000ull
#define DATA 0x10000000ull

struct naive_block {
	uint64_t address, size;
	uint32_t object;
};

struct naive_blocks {
	struct naive_block list[400];
	size_t count;
};

static const struct naive_block *naive_find(const struct naive_blocks *n, uint64_t at)
{
	for (size_t i = 0; i < n->count; i++)
		if (at - n->list[i].address < n->list[i].size)
			return &n->list[i];
	return NULL;
}

static void naive_add(struct naive_blocks *n, struct naive_block b)
{
	for (size_t i = 0; i < n->count;)
		if (n->list[i].address < b.address + b.size &&
		    b.address < n->list[i].address + n->list[i].size)
			n->list[i] = n->list[--n->count];
		else
			i++;
	n->list[n->count++] = b;
}

static void check_address(const struct nm_blocks *blocks, const struct naive_blocks *n, uint64_t at)
{
	const struct naive_block *want = naive_find(n, at);
	const uint64_t bytes = 1 + below(40);
	struct nm_block found;

	assert_int_equal(nm_blocks_object(blocks, nm_blocks_owner(blocks, at)), want ? want->object : 0);
	assert_int_equal(nm_blocks_find(blocks, at, &found), want != NULL);
	assert_int_equal(nm_blocks_hold(blocks, at, bytes), want && at + bytes <= want->address + want->size);
	if (!want)
		return;
	assert_int_equal(found.address, want->address);
	assert_int_equal(found.size, want->size);
	assert_int_equal(found.object, want->object);
	assert_int_equal(found.large != 0, want->size >= NM_LARGE_BLOCK);
}

/* Blocks as an allocator returns them, scalars that share a granule, and large ones, at few addresses, so
 * that they meet. */
static struct naive_block random_block(uint32_t object)
{
	const uint64_t span = 64 << 10;

	switch (below(4)) {
	case 0: return (struct naive_block){DATA + below(512), 1 + below(6), object};
	case 1: return (struct naive_block){DATA + below(span) / 16 * 16, 1 + below(200), object};
	case 2: return (struct naive_block){DATA + below(span) / 8 * 8, 1 + below(40), object};
	default:
		return (struct naive_block){
		    DATA + (below(2) ? below(span) / 16 * 16 : below(span) / 4096 * 4096),
		    below(2) ? 1 + below(5 * 4096) : 4096, object};
	}
}

static void blocks_equal_a_list(void **state)
{
	static struct naive_blocks n;
	struct nm_blocks blocks, copy;

	(void)state;
	assert_int_equal(nm_blocks_init(&blocks), 0);
	for (uint32_t step = 0; step < 60000; step++) {
		struct naive_block b = random_block(1 + (below(2) ? step : step % 5));
		size_t k = n.count ? below(n.count) : 0;
		uint64_t at =
		    n.count && below(2) ? n.list[k].address + n.list[k].size - 2 + below(4) : b.address;

		if (n.count < 400 && below(3) == 0) { /* a fresh block: what it overlaps is gone */
			naive_add(&n, b);
			assert_int_equal(nm_blocks_add(&blocks, b.address, b.size, b.object), 0);
		} else if (n.count && below(2)) {
			assert_int_equal(nm_blocks_remove(&blocks, n.list[k].address, NULL), 1);
			n.list[k] = n.list[--n.count];
			assert_int_equal(nm_blocks_remove(&blocks, at + 1, NULL),
					 naive_find(&n, at + 1) && naive_find(&n, at + 1)->address == at + 1);
			for (size_t i = 0; i < n.count; i++)
				if (n.list[i].address == at + 1)
					n.list[i] = n.list[--n.count];
		}
		check_address(&blocks, &n, at);
		assert_int_equal(blocks.live, n.count);
		if (step % 2000)
			continue;
		assert_true(nm_blocks_are_valid(&blocks));
		assert_int_equal(nm_blocks_copy(&copy, &blocks), 0); /* a fork */
		assert_int_equal(copy.live, n.count);
		for (unsigned i = 0; i < 3000; i++)
			check_address(&copy, &n, DATA + below(80 << 10));
		nm_blocks_done(&copy);
	}
	nm_blocks_done(&blocks);
}

/* A page with as many owners as granules, again and again. */
static void a_page_has_an_owner_for_each_granule(void **state)
{
	struct nm_blocks blocks;

	(void)state;
	assert_int_equal(nm_blocks_init(&blocks), 0);
	for (uint32_t round = 0; round < 20; round++)
		for (uint32_t i = 0; i < NM_GRANULES; i++) {
			const uint64_t at = DATA + (i * 37ull % NM_GRANULES << NM_GRANULE_BITS);

			assert_int_equal(nm_blocks_add(&blocks, at, 12, 1 + round * 1000 + i), 0);
			assert_int_equal(nm_blocks_owner(&blocks, at + 11), 1 + round * 1000 + i);
			assert_int_equal(nm_blocks_owner(&blocks, at + 12), 0);
		}
	for (uint32_t i = 0; i < NM_GRANULES; i++) {
		const uint64_t at = DATA + (i * 37ull % NM_GRANULES << NM_GRANULE_BITS);

		assert_int_equal(nm_blocks_owner(&blocks, at), 1 + 19 * 1000 + i);
		assert_int_equal(nm_blocks_remove(&blocks, at, NULL), 1);
	}
	assert_int_equal(blocks.live, 0);
	assert_int_equal(blocks.free_pages.count, 1);
	nm_blocks_done(&blocks);
}

static void frames_follow_calls_and_jumps(void **state)
{
	struct nm_frames frames;

	(void)state;
	assert_int_equal(nm_frames_init(&frames, STACK_LOW, STACK_END), 0);
	nm_stack_push(nm_frames_stack(&frames), STACK_END - 0x100, 1, 10); /* start calls main */
	nm_stack_push(nm_frames_stack(&frames), STACK_END - 0x200, 2, 20); /* main calls f */
	nm_stack_push(nm_frames_stack(&frames), STACK_END - 0x300, 3, 30); /* f calls g */
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x180).object, 20);
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x200).object, 20);
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x200).end, STACK_END - 0xf8);
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x201).object, 30);
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x50).object, 0);
	nm_frames_pop(&frames, nm_frames_stack(&frames),
		      STACK_END - 0x200); /* longjmp past g, then f returns */
	assert_int_equal(frames.returned_from, 2);
	assert_int_equal(nm_frames_top(&frames), STACK_END - 0x100);
	assert_int_equal(nm_frames_switch(&frames, 0x1000, 0x1000, 0x9000), 0); /* a coroutine and back */
	nm_stack_push(nm_frames_stack(&frames), 0x8000, 7, 70);
	assert_int_equal(nm_frames_switch(&frames, STACK_LOW, STACK_LOW, STACK_END), 0);
	assert_int_equal(nm_frames_top(&frames), STACK_END - 0x100);
	nm_frames_done(&frames);
}

/* Of several stacks that hold an address the oldest is the one: as a search one by one finds it. */
static void stacks_may_overlap(void **state)
{
	enum { STACKS = 300, ROOM = 4096 };
	uint32_t random = 1;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		struct nm_frames frames;

		assert_int_equal(nm_frames_init(&frames, ROOM / 2, ROOM / 2 + 64), 0);
		for (unsigned i = 1; i < STACKS; i++) {
			random = random * 1664525u + 1013904223u;
			const uint64_t slot = random >> 20 & (ROOM - 1),
				       low = slot - (random >> 8 & 31) % (slot + 1);
			size_t wanted = 0;

			while (wanted < frames.stacks.count &&
			       !nm_stack_holds(&frames.stacks.at[wanted], slot))
				wanted++;
			assert_int_equal(nm_frames_switch(&frames, slot, low, slot + 1 + (random >> 13 & 31)),
					 0);
			assert_int_equal(frames.current, wanted);
		}
		nm_frames_done(&frames);
	}
}

static void contexts_tell_chains_apart(void **state)
{
	struct nm_contexts contexts;
	uint64_t a[] = {1, 2, 3}, b[] = {1, 2}, c[] = {2, 1, 3};
	uint32_t ids[4];

	(void)state;
	assert_int_equal(nm_contexts_init(&contexts), 0);
	nm_contexts_enter(&contexts, a, 3, &ids[0]);
	nm_contexts_enter(&contexts, b, 2, &ids[1]);
	nm_contexts_enter(&contexts, c, 3, &ids[2]);
	nm_contexts_enter(&contexts, a, 3, &ids[3]);
	assert_int_equal(ids[0], ids[3]);
	assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
	assert_int_equal(contexts.list.at[ids[0]].entered, 2);
	contexts.list.at[ids[0]].forwarded[0] = 2;
	assert_int_equal(nm_context_wrappers(&contexts.list.at[ids[0]]), 1);
	contexts.list.at[ids[0]].forwarded[0] = 1;
	assert_int_equal(nm_context_wrappers(&contexts.list.at[ids[0]]), 0);
	nm_contexts_done(&contexts);
}

static struct nm_chain chain_of(const struct nm_stack *s, const struct nm_object *objects)
{
	struct nm_chain chain = {0};

	nm_chain_add_stack(&chain, s, s->frames.count, objects);
	return chain;
}

/* Calls from the outermost inwards: each number stands for the caller and for the call instruction. */
static struct nm_chain chain_of_calls(const uint32_t *callers, const uint64_t *pcs, size_t count)
{
	struct nm_object objects[8] = {[6] = {.nameless = 1}};
	struct nm_stack s = {.low = STACK_LOW, .end = STACK_END};
	struct nm_chain chain;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(nm_stack_push(&s, STACK_END - 16 * (i + 1), pcs[i], callers[i]), 0);
	chain = chain_of(&s, objects);
	nm_vec_free(&s.frames);
	return chain;
}

#define CHAIN(callers, pcs) chain_of_calls(callers, pcs, sizeof(callers) / sizeof *(callers))

static void chains_fold_recursion(void **state)
{
	enum { MAIN = 1, BUILD, EVEN, ODD, STRIPPED = 6 };
	const uint32_t loop[] = {MAIN, BUILD}, tree[] = {MAIN, BUILD, BUILD, BUILD, BUILD};
	const uint32_t mutual[] = {MAIN, EVEN, ODD, EVEN, ODD, EVEN, BUILD};
	const uint32_t stripped[] = {MAIN, STRIPPED, STRIPPED, STRIPPED};
	struct nm_chain a = CHAIN(loop, ((uint64_t[]){100, 200})), b;

	(void)state;
	assert_int_equal(a.count, 2);
	assert_int_equal(a.unfolded, 2);
	b = CHAIN(tree, ((uint64_t[]){100, 201, 202, 201, 200})); /* left, right, left, malloc */
	assert_int_equal(b.count, 2);
	assert_int_equal(b.unfolded, 1);
	assert_memory_equal(a.pcs, b.pcs, 2 * sizeof *a.pcs);
	b = CHAIN(mutual, ((uint64_t[]){100, 300, 400, 301, 401, 302, 200}));
	assert_int_equal(b.count, 4);
	assert_memory_equal(b.pcs, ((uint64_t[]){200, 302, 401, 100}), 4 * sizeof *b.pcs);
	assert_int_equal(b.unfolded, 3);
	b = CHAIN(stripped, ((uint64_t[]){100, 500, 501, 500})); /* the functions are unknown */
	assert_int_equal(b.count, 4);
}

/* However deep the recursion is, its outermost caller is seen. */
static void chains_of_deep_recursion_are_equal(void **state)
{
	struct nm_object objects[4] = {0};
	struct nm_stack s = {.low = STACK_LOW, .end = STACK_END};
	uint64_t slot = STACK_END;

	(void)state;
	assert_int_equal(nm_stack_push(&s, slot -= 16, 100, 1), 0);
	for (unsigned depth = 0; depth < 1000; depth++) {
		struct nm_chain chain;

		assert_int_equal(nm_stack_push(&s, slot -= 16, 200 + below(3), 2), 0);
		chain = chain_of(&s, objects);
		assert_int_equal(chain.count, 2);
		assert_int_equal(chain.pcs[1], 100);
		assert_int_equal(chain.unfolded, depth ? 1 : 2);
	}
	nm_vec_free(&s.frames);
}

enum { SLOTS = 4, SLOT = 4096 };

/* What is at an address of the slots: a piece, else its slot's block. */
static uint64_t naive_owner(const struct naive_blocks *pieces, const uint32_t *slots, uint64_t at)
{
	const struct naive_block *piece = naive_find(pieces, at);

	return piece ? piece->object : slots[(at - DATA) / SLOT];
}

/* Ends the pieces that overlap a range. */
static void naive_end(struct naive_blocks *n, uint64_t low, uint64_t end)
{
	for (size_t i = 0; i < n->count;)
		if (n->list[i].address < end && low < n->list[i].address + n->list[i].size)
			n->list[i] = n->list[--n->count];
		else
			i++;
}

/* Blocks of a slot each are allocated and freed; pieces of them are handed out. */
static void pieces_are_found_before_their_chunks(void **state)
{
	static struct naive_blocks pieces;
	uint32_t slots[SLOTS] = {0};
	struct nm_space space;
	struct nm_symbols *symbols;
	struct nm_location found;
	struct nm_block chunk;

	(void)state;
	assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
	assert_int_equal(nm_space_init(&space, symbols), 0);
	for (uint32_t step = 1; step < 3000; step++) {
		const uint32_t slot = below(SLOTS);
		const uint64_t low = DATA + slot * SLOT;

		if (!slots[slot]) {
			assert_int_equal(nm_space_alloc(&space, low, SLOT, step, 0), 0);
			assert_int_equal(nm_space_bucket(&space, step, 0, &slots[slot]), 0);
		} else if (below(30) == 0) {
			if (!nm_space_close_chunk(&space, low, &chunk))
				assert_true(nm_blocks_remove(&space.heap, low, NULL));
			naive_end(&pieces, low, low + SLOT);
			slots[slot] = 0;
		} else {
			const uint64_t at = low + below(SLOT), size = 1 + below(300);
			uint32_t object;
			int fits;

			assert_int_equal(nm_space_open_chunk(&space, at, size, 1, &fits), 0);
			assert_int_equal(fits, at + size <= low + SLOT);
			if (fits) {
				assert_int_equal(nm_space_alloc(&space, at, size, step, 0), 0);
				assert_int_equal(nm_space_bucket(&space, step, 0, &object), 0);
				naive_add(&pieces, (struct naive_block){at, size, object});
			}
		}
		for (int i = 0; i < 50; i++) {
			const uint64_t at = DATA + below(SLOTS * SLOT);

			assert_int_equal(nm_space_find(&space, at, &found), 0);
			assert_int_equal(found.object, naive_owner(&pieces, slots, at));
		}
	}
	assert_true(nm_blocks_are_valid(&space.heap) && nm_blocks_are_valid(&space.chunks));
	nm_space_done(&space);
	nm_symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_equal_a_list),
	    cmocka_unit_test(a_page_has_an_owner_for_each_granule),
	    cmocka_unit_test(frames_follow_calls_and_jumps),
	    cmocka_unit_test(stacks_may_overlap),
	    cmocka_unit_test(contexts_tell_chains_apart),
	    cmocka_unit_test(chains_fold_recursion),
	    cmocka_unit_test(chains_of_deep_recursion_are_equal),
	    cmocka_unit_test(pieces_are_found_before_their_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
