/* SPDX-License-Identifier: MIT
 *
 * grouped_stream.h - two streams of one random program: one whose collector coalesces accesses, and one with
 * an address word for each access.
 *
 * Coalesced accesses reach over the ends of frames, stacks, heap blocks that lie side by side and come and
 * go, mappings, named ranges and variables; they end with calls and returns, stand before side exits, and are
 * copied and cleared by functions that do so for an allocator. The code is this program's own, which has
 * names.
 */
#ifndef GROUPED_STREAM_H
#define GROUPED_STREAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "encode.h"
#include "numbers.h"
#include "own_program.h"

#define STACKS 0x7000000000ull
#define HEAP 0x10000000ull
#define HEAP_BYTES 0x2000ull
#define MAPPED 0x20000000ull
#define MAPPED_BYTES 0x4000ull /* of each of two mappings, side by side */

enum {
	BLOCKS = 120,
	MAX_GROUPS = 9,
	MAX_ACCESSES = MAX_GROUPS * (NM_COALESCED_MAX + 2),
	FUNCTION_BYTES = 4096,
	FUNCTIONS = 6,
	STEPS = 12000,
	HEAP_BLOCKS = 160,
	NAMES = 8,
	THREADS = 3,
	STACK_BYTES = 0x10000,    /* a thread has two */
	STACK_STEP = STACK_BYTES, /* side by side */
	DEPTH = 10
};

/* ---- the program: functions that never run, and variables; names that the engine knows ---- */

#define FUNCTION(name)   \
	void name(void); \
	__attribute__((noinline, used)) void name(void) { __asm__ volatile(".skip 4096, 0x90" ::: "memory"); }
FUNCTION(first_function)
FUNCTION(second_function)
FUNCTION(third_function)
FUNCTION(copy_by_memcpy)
FUNCTION(clear_by_memset)
FUNCTION(sysmalloc) /* one of malloc's own */
_Static_assert(FUNCTION_BYTES == 4096, "as FUNCTION says");

static void (*const functions[FUNCTIONS])(void) = {first_function, second_function, third_function,
						   copy_by_memcpy, clear_by_memset, sysmalloc};

uint64_t one_variable[3], other_variable[2], third_variable[5];

struct group {
	unsigned first, count; /* accesses */
	unsigned habit, heap;  /* where its addresses are, as a rule */
};

struct block {
	unsigned accesses, groups, exits, end;
	unsigned exit_at[2]; /* groups before */
	struct group group[MAX_GROUPS];
	unsigned distance[MAX_ACCESSES], flags[MAX_ACCESSES];
};

struct maker {
	struct nm_wire_words words[2], child[2]; /* [0]: each access has a word; [1]: groups have one */
	struct block blocks[BLOCKS];
	struct {
		uint64_t at, size;
	} heap[HEAP_BLOCKS];
	uint64_t names[NAMES];
	uint64_t slots[THREADS][2][DEPTH]; /* of the open frames of each stack, oldest first */
	unsigned depth[THREADS][2], stack[THREADS], thread;
	int forked;
};

#define BOTH(m, record, ...)                                                           \
	do {                                                                           \
		const struct nm_wire_##record both = {__VA_ARGS__};                    \
                                                                                       \
		assert_int_equal(nm_wire_##record##_encode(&(m)->words[0], &both), 0); \
		assert_int_equal(nm_wire_##record##_encode(&(m)->words[1], &both), 0); \
	} while (0)

/* The members of a group that may be taken as one reference: without a gap, in any order. */
static inline unsigned make_members(unsigned *sizes, unsigned *distances)
{
	unsigned wanted = 2 + (unsigned)below(below(4) ? 4 : NM_COALESCED_MAX - 1), end = 0;

	for (unsigned n = 0; n < wanted; n++) {
		unsigned distance = (unsigned)(below(3) ? end : below(end + 1)), size = 1u << below(6);

		if (distance >= NM_COALESCED_SPAN)
			distance = (unsigned)below(NM_COALESCED_SPAN);
		if (distance + size > NM_COALESCED_SPAN)
			size = NM_COALESCED_SPAN - distance;
		end = distance + size > end ? distance + size : end;
		distances[n] = distance;
		sizes[n] = size;
	}
	for (unsigned i = wanted - 1; i > 0; i--) {
		unsigned k = (unsigned)below(i + 1), size = sizes[i], distance = distances[i];

		sizes[i] = sizes[k];
		distances[i] = distances[k];
		sizes[k] = size;
		distances[k] = distance;
	}
	return wanted;
}

/* With gaps, more bytes or more accesses than usual: each has to go by itself. */
static inline unsigned make_odd_members(unsigned *sizes, unsigned *distances)
{
	unsigned wanted = 2 + (unsigned)below(NM_COALESCED_MAX);

	for (unsigned n = 0; n < wanted; n++) {
		distances[n] = n ? (unsigned)below(200) : 0;
		sizes[n] = 1 + (unsigned)below(100);
	}
	return wanted;
}

/* The return address, in the place of the last access: behind the bytes of the others, if it can be in their
 * group. */
static inline void add_frame(struct block *b, unsigned *sizes)
{
	struct group *g = &b->group[b->groups - 1];
	unsigned low = UINT32_MAX, end = 0, last = g->first + g->count - 1;

	for (unsigned i = g->first; i < last; i++)
		low = b->distance[i] < low ? b->distance[i] : low;
	for (unsigned i = g->first; i < last; i++) {
		b->distance[i] -= low;
		end = b->distance[i] + sizes[i] > end ? b->distance[i] + sizes[i] : end;
	}
	if (end + 8 > NM_COALESCED_SPAN && g->count > 1) {
		g->count--;
		b->group[b->groups++] = (struct group){.first = last, .count = 1};
		end = 0;
	}
	b->distance[last] = end;
	sizes[last] = 8;
	b->flags[last] = NM_WIRE_FRAME | (b->end == NM_WIRE_CALL ? NM_WIRE_WRITE : NM_WIRE_READ);
}

static inline void add_group(struct block *b, unsigned *sizes, int odd, int guarded)
{
	struct group *g = &b->group[b->groups++];
	unsigned *d = b->distance + b->accesses, *s = sizes + b->accesses;

	*g = (struct group){.first = b->accesses,
			    .count = 1,
			    .habit = (unsigned)below(10),
			    .heap = (unsigned)below(HEAP_BLOCKS)};
	d[0] = 0;
	s[0] = 1 + (unsigned)below(below(4) ? 8 : 70);
	if (below(3))
		g->count = odd && below(2) ? make_odd_members(s, d) : make_members(s, d);
	for (unsigned i = g->first; i < g->first + g->count; i++)
		b->flags[i] = below(3) ? NM_WIRE_READ : NM_WIRE_WRITE;
	if (guarded && g->count == 1)
		b->flags[g->first] = below(2) ? NM_WIRE_PREFETCH : b->flags[g->first] | NM_WIRE_GUARDED;
	b->accesses += g->count;
}

static inline void shape_block(struct block *b, unsigned id, unsigned *sizes)
{
	unsigned wanted = (unsigned)(below(3) ? below(4) : below(MAX_GROUPS));

	b->end = id % 3 ? NM_WIRE_JUMP : id % 2 ? NM_WIRE_CALL : NM_WIRE_RETURN;
	wanted += !wanted && b->end != NM_WIRE_JUMP;
	while (b->groups < wanted && b->groups + 1 < MAX_GROUPS)
		add_group(b, sizes, id % 20 == 7, id % 10 == 9 || id % 10 == 5);
	if (b->end != NM_WIRE_JUMP)
		add_frame(b, sizes);
	for (unsigned at = (unsigned)below(3); at < b->groups && b->exits < 2; at += 1 + (unsigned)below(3))
		b->exit_at[b->exits++] = at;
	if (below(3) == 0)
		b->exits = 0;
}

/* The block as a definition of one of the streams. */
static inline void define_in(struct maker *m, unsigned id, const unsigned *sizes, int grouped)
{
	const struct block *b = &m->blocks[id];
	uint64_t pc = (uintptr_t)functions[id % FUNCTIONS] + 64 + id / FUNCTIONS * 160,
		 instructions[MAX_ACCESSES + 1], accesses[MAX_ACCESSES + 1], exits[2];
	struct nm_wire_block_info info = {
	    .id = id, .instructions = instructions, .accesses = accesses, .exits = exits};

	for (unsigned g = 0; g < b->groups; g++)
		for (unsigned i = b->group[g].first; i < b->group[g].first + b->group[g].count; i++) {
			uint64_t flags = b->flags[i];

			if (grouped && i > b->group[g].first)
				flags |= NM_WIRE_FOLLOWS;
			accesses[i] = sizes[i] | (uint64_t)i << 16 | flags << 32;
			if (grouped)
				accesses[i] |= (uint64_t)b->distance[i] << 48;
		}
	for (unsigned i = 0; i <= b->accesses; i++)
		instructions[i] = (pc + i) | 1ull << 48;
	for (unsigned i = 0; i < b->exits; i++) {
		uint64_t before = b->group[b->exit_at[i]].first;

		exits[i] = before | (before + 1) << 16;
	}
	info.def = (struct nm_wire_block_def){.pc = pc,
					      .instructions = (uint16_t)(b->accesses + 1),
					      .accesses = (uint16_t)b->accesses,
					      .exits = (uint16_t)b->exits,
					      .end = (uint8_t)b->end};
	assert_int_equal(nm_wire_block_def_encode(&m->words[grouped], &info), 0);
}

static inline void define(struct maker *m, unsigned id)
{
	unsigned sizes[MAX_ACCESSES];

	shape_block(&m->blocks[id], id, sizes);
	define_in(m, id, sizes, 0);
	define_in(m, id, sizes, 1);
}

/* ---- what runs ---- */

static inline uint64_t stack_low(unsigned thread, unsigned stack)
{
	return STACKS + (2 * thread + stack) * (uint64_t)STACK_STEP;
}

static inline uint64_t top_of(const struct maker *m, unsigned thread, unsigned stack)
{
	unsigned depth = m->depth[thread][stack];

	return depth ? m->slots[thread][stack][depth - 1] : stack_low(thread, stack) + 0xc000;
}

static inline uint64_t stack_address(struct maker *m, unsigned habit)
{
	unsigned t = m->thread, s = m->stack[t], depth = m->depth[t][s];

	switch (habit) {
	case 0: return top_of(m, t, s) - 256 + below(256);
	case 1: return top_of(m, t, s) - 72 + below(80); /* up to and over the return address */
	case 2: return depth ? m->slots[t][s][below(depth)] - 64 + below(72) : top_of(m, t, s) + below(64);
	default: break;
	}
	t = (unsigned)below(THREADS);
	s = (unsigned)below(2);
	return below(2) ? top_of(m, t, s) - 64 + below(128) : stack_low(t, s) + STACK_BYTES - 64 + below(128);
}

static inline uint64_t address_of(struct maker *m, const struct group *g)
{
	unsigned habit = below(8) ? g->habit : (unsigned)below(10);
	uint64_t edge;

	switch (habit) {
	case 0:
	case 1:
	case 2:
	case 3: return stack_address(m, habit);
	case 4:
	case 5: return m->heap[g->heap].at + below(2) * 8; /* a block again and again */
	case 6: return m->heap[below(HEAP_BLOCKS)].at - 32 + below(48);
	case 7: return m->names[below(NAMES)] - 64 + below(128);
	case 8: return (uintptr_t)one_variable - 16 + below(80);
	default: break;
	}
	edge = MAPPED + below(3) * MAPPED_BYTES;
	return below(3) ? edge - 64 + below(128) : MAPPED + below(2 * MAPPED_BYTES);
}

/* The slot of a call lies below the top frame, that of a return is an open one; now and then on the other
 * stack. */
static inline uint64_t slot_of(struct maker *m, const struct block *b, unsigned *ret_stack)
{
	unsigned t = m->thread, s = below(30) ? m->stack[t] : !m->stack[t], depth = m->depth[t][s];

	*ret_stack = s;
	if (b->end == NM_WIRE_RETURN)
		return depth ? m->slots[t][s][below(8) ? depth - 1 : below(depth)] : top_of(m, t, s);
	if (depth == DEPTH)
		return m->slots[t][s][1];
	return top_of(m, t, s) - 8 - below(20) * 8;
}

static inline void change_frames(struct maker *m, const struct block *b, unsigned s, uint64_t slot)
{
	unsigned t = m->thread, *depth = &m->depth[t][s];

	m->stack[t] = s;
	while (*depth && m->slots[t][s][*depth - 1] <= slot)
		--*depth;
	if (b->end == NM_WIRE_CALL)
		m->slots[t][s][(*depth)++] = slot;
}

static inline void run_block(struct maker *m)
{
	unsigned id = (unsigned)below(BLOCKS), stack = 0;
	const struct block *b = &m->blocks[id];
	uint64_t grouped[MAX_GROUPS], single[MAX_ACCESSES], slot = 0;
	unsigned groups = b->exits && !below(4) ? b->exit_at[below(b->exits)] : b->groups, n = 0;

	for (unsigned i = 0; i < groups; i++) {
		const struct group *g = &b->group[i];
		unsigned last = g->first + g->count - 1;

		grouped[i] = address_of(m, g);
		if (b->flags[g->first] & NM_WIRE_GUARDED && below(2))
			grouped[i] = 0;
		if (b->flags[last] & NM_WIRE_FRAME) {
			slot = slot_of(m, b, &stack);
			grouped[i] = slot - b->distance[last];
		}
		for (unsigned k = g->first; k <= last; k++)
			single[n++] = grouped[i] + b->distance[k];
	}
	assert_int_equal(nm_wire_block_encode(&m->words[0], id, single, n), 0);
	assert_int_equal(nm_wire_block_encode(&m->words[1], id, grouped, groups), 0);
	if (groups == b->groups && b->end != NM_WIRE_JUMP)
		change_frames(m, b, stack, slot);
}

/* ---- what happens beside ---- */

/* Places of 8 to 64 bytes, side by side: a block may fill its own, or leave a little. */
static inline void change_heap(struct maker *m, unsigned i)
{
	uint64_t room = HEAP_BYTES / HEAP_BLOCKS / 8 * 8, at = HEAP + i * room;

	if (m->heap[i].size && !below(3)) {
		uint64_t to = HEAP + i * room + 8 * below(2);

		BOTH(m, realloc, NM_WIRE_REALLOCATE, m->heap[i].at, to, room - 8, 0x401000);
		m->heap[i].at = to;
		m->heap[i].size = room - 8;
		return;
	}
	if (m->heap[i].size)
		BOTH(m, free, NM_WIRE_FREE_CALL, m->heap[i].at);
	m->heap[i].at = at;
	m->heap[i].size = 0;
	if (!below(4))
		return;
	m->heap[i].size = below(2) ? room : 1 + below(room);
	BOTH(m, alloc, NM_WIRE_MALLOC, at, m->heap[i].size, 0x401000);
}

static inline void map(struct maker *m, uint64_t at, uint64_t bytes, uint32_t flags, const char *path)
{
	BOTH(m, map, .flags = flags | NM_WIRE_PROT_READ | NM_WIRE_PROT_WRITE, .address = at, .bytes = bytes,
	     .path = path);
}

static inline void name_range(struct maker *m, unsigned i)
{
	char name[20];

	if (m->names[i])
		BOTH(m, unname, m->names[i]);
	m->names[i] = MAPPED + 0x100 + i * 0x40;
	snprintf(name, sizeof name, "range %llu", (unsigned long long)below(4));
	BOTH(m, name, m->names[i], 1 + below(0x40), name);
}

static inline void happen(struct maker *m)
{
	switch (below(40)) {
	case 0: BOTH(m, measure, 0); break;
	case 1:
	case 2: BOTH(m, measure, 1); break;
	case 3: /* a part becomes something else */
		BOTH(m, unmap, MAPPED + MAPPED_BYTES / 2, 0x1000);
		if (below(2))
			map(m, MAPPED + MAPPED_BYTES / 2, 0x1000, 0, "");
		break;
	case 4:
		map(m, MAPPED + MAPPED_BYTES, MAPPED_BYTES, NM_WIRE_MAP_SHARED,
		    below(2) ? "/no/such/file" : "");
		break;
	case 5:
	case 6: name_range(m, (unsigned)below(NAMES)); break;
	case 7: BOTH(m, signal, 10, top_of(m, m->thread, m->stack[m->thread]) - 128); break;
	case 8:
	case 9:
	case 10:
		if (!m->forked)
			m->thread = (unsigned)below(THREADS);
		BOTH(m, thread, m->thread + 1);
		break;
	default: change_heap(m, (unsigned)below(HEAP_BLOCKS)); break;
	}
}

static inline void run_blocks(struct maker *m, unsigned steps)
{
	for (unsigned step = 0; step < steps; step++) {
		if (!below(12))
			happen(m);
		run_block(m);
	}
	BOTH(m, measure, 1);
}

/* ---- the streams' beginnings ---- */

static inline void map_own(void *arg, const struct nm_wire_map *own)
{
	struct maker *m = arg;

	BOTH(m, map, .flags = own->flags, .address = own->address, .bytes = own->bytes, .offset = own->offset,
	     .path = own->path);
}

/* This program's own mappings, as they are. */
static inline void map_program(struct maker *m)
{
	char own[4200];
	const uint64_t base = own_program_mappings(map_own, m, own);

	assert_true(base != 0);
	BOTH(m, module, .base = base, .path = own);
}

static inline void make_process(struct maker *m, enum nm_wire_start how)
{
	const struct nm_wire_process p = {.version = NM_WIRE_VERSION,
					  .start = how,
					  .ordinal = how == NM_WIRE_FORKED,
					  .pid = 5 + (how == NM_WIRE_FORKED),
					  .parent = 1,
					  .argc = 1,
					  .executable = "/no/such/prog",
					  .directory = "/"};

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(nm_wire_process_encode(&m->words[i], &p, (const char *[]){"prog"}), 0);
}

/* A program of three threads that, at its end, forks a child; the child goes on. */
static inline void make_streams(struct maker *m)
{
	make_process(m, NM_WIRE_STARTED);
	map_program(m);
	map(m, HEAP - 0x1000, HEAP_BYTES + 0x2000, 0, "");
	map(m, MAPPED, MAPPED_BYTES, 0, "");
	map(m, MAPPED + MAPPED_BYTES, MAPPED_BYTES, NM_WIRE_MAP_SHARED, "/no/such/file");
	for (unsigned t = 0; t < THREADS; t++) {
		map(m, stack_low(t, 0), STACK_BYTES, NM_WIRE_MAP_STACK, "");
		map(m, stack_low(t, 1), STACK_BYTES, 0, "");
		BOTH(m, thread_start, t + 1, t, stack_low(t, 0), stack_low(t, 0) + STACK_BYTES);
	}
	BOTH(m, thread, 1);
	for (unsigned id = 0; id < BLOCKS; id++)
		define(m, id);
	for (unsigned i = 0; i < HEAP_BLOCKS; i++)
		change_heap(m, i);
	for (unsigned i = 0; i < NAMES; i++)
		name_range(m, i);
	run_blocks(m, STEPS);
	BOTH(m, fork, 6, 1);
	for (unsigned i = 0; i < 2; i++) {
		m->child[i] = m->words[i];
		m->words[i] = (struct nm_wire_words){0};
	}
	m->forked = 1;
	make_process(m, NM_WIRE_FORKED);
	BOTH(m, thread, m->thread + 1);
	run_blocks(m, STEPS / 4);
	for (unsigned i = 0; i < 2; i++) {
		struct nm_wire_words child = m->words[i];

		m->words[i] = m->child[i];
		m->child[i] = child;
	}
}

static inline void free_streams(struct maker *m)
{
	for (unsigned i = 0; i < 2; i++) {
		nm_vec_free(&m->words[i]);
		nm_vec_free(&m->child[i]);
	}
}

#endif
