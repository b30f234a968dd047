/* SPDX-License-Identifier: MIT
 *
 * execute_test.c - random blocks through every copy of the hot loop: all give the same result to the last
 * count, and the sums that a naive twin keeps while the stream is made.
 *
 * The blocks have from no accesses to far more than NM_ENTRIES, are left early, call and return, have guards
 * and prefetches; addresses lie in the own frame, callers' frames, heap blocks that are allocated and freed,
 * a mapping, above the first frame, on a second stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "encode.h"
#include "engine_priv.h"
#include "numbers.h"

#define STACK_LOW 0x7000000000ull
#define STACK_END 0x7000100000ull
#define OTHER_LOW 0x6000000000ull
#define HEAP 0x10000000ull
#define HEAP_BYTES 0x8000ull
#define MAPPED 0x20000000ull

enum {
	BLOCKS = 60,
	MAX_ACCESSES = 100,
	STEPS = 60000,
	HEAP_BLOCKS = 64,
	DEPTH = 12,
	NONE = 0,
	FRAME,
	ARGUMENTS,
	BUCKET,
	BOOKKEEPING,
	ANONYMOUS,
	KINDS
};

static const char *const names[KINDS] = {NULL,
					 "stack of <code without a file>",
					 "<arguments and environment>",
					 "heap <unknown caller>",
					 "<heap bookkeeping>",
					 "<anonymous memory>"};

struct block {
	unsigned accesses, exits, end;
	unsigned flags[MAX_ACCESSES], exit_at[2], habit[MAX_ACCESSES];
};

struct maker {
	struct nm_wire_words words;
	struct block blocks[BLOCKS];
	struct {
		uint64_t at, size;
	} heap[HEAP_BLOCKS];
	uint64_t slots[2][DEPTH]; /* of the open frames of each stack, oldest first */
	unsigned depth[2], stack;
	uint64_t sums[KINDS][2]; /* reads, writes */
};

/* ---- the twin ---- */

/* Memory below the newest frame of a stack that is not the running one has no owner. */
static unsigned kind_of_stack(const struct maker *m, unsigned stack, uint64_t address)
{
	unsigned depth = m->depth[stack];
	uint64_t newest = depth ? m->slots[stack][depth - 1] : UINT64_MAX - 8;

	if (stack == m->stack && address < newest + 8)
		return FRAME;
	if (address >= newest && address < m->slots[stack][0])
		return FRAME;
	return stack ? ANONYMOUS : ARGUMENTS;
}

static unsigned kind_of(const struct maker *m, uint64_t address)
{
	if (address - STACK_LOW < STACK_END - STACK_LOW)
		return kind_of_stack(m, 0, address);
	if (address - OTHER_LOW < STACK_END - STACK_LOW)
		return kind_of_stack(m, 1, address);
	for (unsigned i = 0; i < HEAP_BLOCKS; i++)
		if (address - m->heap[i].at < m->heap[i].size)
			return BUCKET;
	return address - HEAP < HEAP_BYTES ? BOOKKEEPING : ANONYMOUS;
}

static void count(struct maker *m, unsigned flags, uint64_t address)
{
	if (flags & NM_WIRE_PREFETCH || !address)
		return;
	m->sums[kind_of(m, address)][(flags & NM_WIRE_WRITE) != 0]++;
}

static void change_frames(struct maker *m, const struct block *b, uint64_t slot)
{
	unsigned stack = slot - STACK_LOW < STACK_END - STACK_LOW ? 0 : 1;

	m->stack = stack;
	while (m->depth[stack] && m->slots[stack][m->depth[stack] - 1] <= slot)
		m->depth[stack]--;
	if (b->end == NM_WIRE_CALL)
		m->slots[stack][m->depth[stack]++] = slot;
}

/* ---- the stream ---- */

static void define(struct maker *m, unsigned id)
{
	struct block *b = &m->blocks[id];
	uint64_t pc = 0x400000 + id * 0x100, instructions[MAX_ACCESSES + 1], accesses[MAX_ACCESSES + 1],
		 exits[2];
	struct nm_wire_block_info info = {
	    .id = id, .instructions = instructions, .accesses = accesses, .exits = exits};

	b->accesses = (unsigned)(below(3) ? below(6) : below(MAX_ACCESSES));
	b->end = id % 3 && b->accesses ? NM_WIRE_JUMP : id % 2 ? NM_WIRE_CALL : NM_WIRE_RETURN;
	b->accesses += !b->accesses && b->end != NM_WIRE_JUMP;
	for (unsigned i = 0; i < b->accesses; i++) {
		b->flags[i] = below(3) ? NM_WIRE_READ : NM_WIRE_WRITE;
		b->habit[i] = (unsigned)below(8);
		if (id % 10 == 9 && b->end == NM_WIRE_JUMP)
			b->flags[i] = below(2) ? NM_WIRE_PREFETCH : b->flags[i] | NM_WIRE_GUARDED;
		if (i + 1 == b->accesses && b->end != NM_WIRE_JUMP)
			b->flags[i] = NM_WIRE_FRAME | (b->end == NM_WIRE_CALL ? NM_WIRE_WRITE : NM_WIRE_READ);
		accesses[i] = 8 | (uint64_t)i << 16 | (uint64_t)b->flags[i] << 32;
	}
	for (unsigned i = 0; i <= b->accesses; i++)
		instructions[i] = (pc + 4 * i) | 4ull << 48;
	while (b->accesses > 4 && b->exits < 2) {
		b->exit_at[b->exits] = (unsigned)(b->exits ? b->exit_at[0] + 2 : below(2));
		exits[b->exits] = b->exit_at[b->exits] | (uint64_t)(b->exit_at[b->exits] + 1) << 16;
		b->exits++;
	}
	info.def = (struct nm_wire_block_def){.pc = pc,
					      .instructions = (uint16_t)(b->accesses + 1),
					      .accesses = (uint16_t)b->accesses,
					      .exits = (uint16_t)b->exits,
					      .end = (uint8_t)b->end};
	assert_int_equal(nm_wire_block_def_encode(&m->words, &info), 0);
}

static uint64_t low_of(unsigned stack) { return stack ? OTHER_LOW : STACK_LOW; }

static uint64_t address_of(struct maker *m, unsigned habit)
{
	uint64_t top =
	    m->depth[m->stack] ? m->slots[m->stack][m->depth[m->stack] - 1] : low_of(m->stack) + 0x80000;

	if (!below(8))
		habit = (unsigned)below(9);
	switch (habit) {
	case 0:
	case 1: return top - below(64) * 8;
	case 2: return top + below(128) * 8; /* callers', or above the first */
	case 3: return MAPPED + below(0x1000);
	case 4: return HEAP + below(HEAP_BYTES);
	case 5: return m->heap[3].at + below(8);
	case 6: return low_of(!m->stack) + 0x7f000 + below(0x1000);
	case 7: return m->heap[below(HEAP_BLOCKS)].at + below(40);
	default: return MAPPED + 0x800000;
	}
}

/* The slot of a call lies below the top frame, that of a return is an open one; now and then on the other
 * stack. */
static uint64_t slot_of(struct maker *m, const struct block *b)
{
	unsigned stack = below(20) ? m->stack : !m->stack, depth = m->depth[stack];
	uint64_t top = depth ? m->slots[stack][depth - 1] : low_of(stack) + 0x80000;

	if (b->end == NM_WIRE_RETURN)
		return depth ? m->slots[stack][below(8) ? depth - 1 : below(depth)] : top;
	if (depth == DEPTH)
		return m->slots[stack][1];
	return top - 8 - below(32) * 8;
}

static void run_block(struct maker *m)
{
	unsigned id = (unsigned)below(BLOCKS);
	const struct block *b = &m->blocks[id];
	uint64_t addresses[MAX_ACCESSES + 1];
	unsigned n = b->exits && !below(5) ? b->exit_at[below(b->exits)] : b->accesses;

	for (unsigned i = 0; i < n; i++) {
		addresses[i] = address_of(m, b->habit[i]);
		if (b->flags[i] & NM_WIRE_GUARDED && below(2))
			addresses[i] = 0;
		if (b->flags[i] & NM_WIRE_FRAME)
			addresses[i] = slot_of(m, b);
		count(m, b->flags[i], addresses[i]);
	}
	if (n == b->accesses && b->end != NM_WIRE_JUMP)
		change_frames(m, b, addresses[n - 1]);
	assert_int_equal(nm_wire_block_encode(&m->words, id, addresses, n), 0);
}

/* Replaces a heap block. */
static void change_heap(struct maker *m, unsigned i)
{
	uint64_t room = HEAP_BYTES / HEAP_BLOCKS;

	if (m->heap[i].size)
		nm_wire_free_encode(&m->words, &(struct nm_wire_free){NM_WIRE_FREE_CALL, m->heap[i].at});
	m->heap[i].at = HEAP + i * room;
	m->heap[i].size = 1 + below(room);
	nm_wire_alloc_encode(
	    &m->words, &(struct nm_wire_alloc){NM_WIRE_MALLOC, m->heap[i].at, m->heap[i].size, 0x401000});
}

static void map(struct maker *m, uint64_t at, uint64_t bytes, uint32_t flags)
{
	nm_wire_map_encode(&m->words,
			   &(struct nm_wire_map){.flags = flags | NM_WIRE_PROT_READ | NM_WIRE_PROT_WRITE,
						 .address = at,
						 .bytes = bytes,
						 .path = ""});
}

static void begin_stream(struct maker *m)
{
	struct nm_wire_process p = {.version = NM_WIRE_VERSION,
				    .pid = 5,
				    .parent = 1,
				    .argc = 1,
				    .executable = "/no/such/prog",
				    .directory = "/"};

	assert_int_equal(nm_wire_process_encode(&m->words, &p, (const char *[]){"prog"}), 0);
	nm_wire_thread_start_encode(&m->words, &(struct nm_wire_thread_start){1, 0, STACK_LOW, STACK_END});
	nm_wire_thread_encode(&m->words, &(struct nm_wire_thread){1});
	map(m, HEAP, HEAP_BYTES, 0);
	map(m, MAPPED, 1 << 24, 0);
	map(m, OTHER_LOW, STACK_END - STACK_LOW, 0);
	map(m, STACK_LOW, STACK_END - STACK_LOW, NM_WIRE_MAP_STACK);
}

static void make_stream(struct maker *m)
{
	begin_stream(m);
	for (unsigned id = 0; id < BLOCKS; id++)
		define(m, id);
	for (unsigned i = 0; i < HEAP_BLOCKS; i++)
		change_heap(m, i);
	for (unsigned step = 0; step < STEPS; step++) {
		if (!below(60))
			change_heap(m, (unsigned)below(HEAP_BLOCKS));
		run_block(m);
	}
}

/* ---- the comparison ---- */

/* fetches, contexts: every block is executed by single steps. */
struct habits {
	int fetches, contexts, all_sampled;
};

static struct nm_engine *feed(const struct maker *m, nm_execute_function *execute, struct nm_symbols *symbols,
			      struct habits habits)
{
	struct nm_machine machine;
	struct nm_engine_options options = {.machine = &machine,
					    .symbols = symbols,
					    .threads = 1,
					    .instructions = habits.fetches,
					    .contexts = habits.contexts};
	struct nm_engine *engine;

	assert_int_equal(nm_machine_parse("L1i=1K,2,64:L1d=1K,2,64:L2=8K,4,64", &machine, NULL), 0);
	assert_int_equal(nm_engine_new(&engine, &options, NULL), 0);
	engine->replay.execute = execute;
	if (habits.all_sampled)
		engine->replay.builder.bursts.until = UINT64_MAX;
	assert_int_equal(nm_engine_feed(engine, m->words.at, m->words.count, NULL), 0);
	return engine;
}

static void run(struct nm_result *ret_result, const struct maker *m, nm_execute_function *execute,
		struct nm_symbols *symbols, struct habits habits)
{
	struct nm_engine *engine = feed(m, execute, symbols, habits);

	assert_int_equal(nm_engine_finish(engine, ret_result, NULL), 0);
	nm_engine_free(engine);
}

static void sums_are_the_twins(const struct maker *m, const struct nm_result *r)
{
	uint64_t sums[KINDS][2] = {{0}};

	for (size_t i = 0; i < r->attr_count; i++)
		for (unsigned k = NONE + 1; k < KINDS; k++)
			if (!strcmp(r->objects[r->attrs[i].object].name, names[k])) {
				sums[k][0] += r->levels[1].counts[i].reads;
				sums[k][1] += r->levels[1].counts[i].writes;
			}
	for (unsigned k = NONE + 1; k < KINDS; k++) {
		assert_int_equal(sums[k][0], m->sums[k][0]);
		assert_int_equal(sums[k][1], m->sums[k][1]);
	}
}

static void same_strides(const struct nm_result *a, const struct nm_result *b)
{
	assert_true(a->stride_count > KINDS);
	assert_int_equal(a->stride_count, b->stride_count);
	assert_memory_equal(a->strides, b->strides, a->stride_count * sizeof *a->strides);
}

static void same_results(const struct nm_result *a, const struct nm_result *b)
{
	assert_int_equal(a->instructions, b->instructions);
	assert_int_equal(a->references, b->references);
	assert_int_equal(a->attr_count, b->attr_count);
	assert_memory_equal(a->attrs, b->attrs, a->attr_count * sizeof *a->attrs);
	for (unsigned level = 0; level < a->machine.count; level++)
		assert_memory_equal(a->levels[level].counts, b->levels[level].counts,
				    a->attr_count * sizeof *a->levels[level].counts);
	same_strides(a, b);
}

/* With fetches every block is executed by single steps: another twin of the loop, for the counts that both
 * have. */
static void copies_agree(void **state)
{
	static struct maker m;
	struct nm_symbols *symbols;
	struct nm_result first, other;

	(void)state;
	make_stream(&m);
	for (unsigned k = NONE + 1; k < KINDS; k++)
		assert_true(m.sums[k][0]);
	assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
	run(&first, &m, nm_execute_supported(0), symbols, (struct habits){0});
	sums_are_the_twins(&m, &first);
	for (unsigned i = 1; nm_execute_supported(i); i++) {
		run(&other, &m, nm_execute_supported(i), symbols, (struct habits){0});
		same_results(&first, &other);
		nm_result_free(&other);
	}
	run(&other, &m, nm_execute_supported(0), symbols, (struct habits){.fetches = 1});
	sums_are_the_twins(&m, &other);
	assert_int_equal(first.instructions, other.instructions);
	assert_int_equal(first.references, other.references);
	nm_result_free(&other);
	nm_result_free(&first);
	run(&first, &m, nm_execute_supported(0), symbols, (struct habits){.all_sampled = 1});
	run(&other, &m, nm_execute_supported(0), symbols, (struct habits){.all_sampled = 1, .contexts = 1});
	same_strides(&first, &other);
	nm_result_free(&other);
	nm_result_free(&first);
	nm_symbols_free(symbols);
	nm_vec_free(&m.words);
}

/* A block that reads once, and some of its executions. */
static void define_read(struct maker *m, uint32_t id)
{
	const uint64_t pc = 0x400000 + id * 0x100, instruction = pc | 4ull << 48,
		       access = 8 | (uint64_t)NM_WIRE_READ << 32;
	struct nm_wire_block_info info = {.id = id, .instructions = &instruction, .accesses = &access};

	info.def =
	    (struct nm_wire_block_def){.pc = pc, .instructions = 1, .accesses = 1, .end = NM_WIRE_JUMP};
	assert_int_equal(nm_wire_block_def_encode(&m->words, &info), 0);
}

static void read_often(struct maker *m, uint32_t id, uint64_t address, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		count(m, NM_WIRE_READ, address);
		assert_int_equal(nm_wire_block_encode(&m->words, id, &address, 1), 0);
	}
}

static void release(struct maker *m, unsigned i)
{
	nm_wire_free_encode(&m->words, &(struct nm_wire_free){NM_WIRE_FREE_CALL, m->heap[i].at});
	m->heap[i].size = 0;
}

/* An access that alternates between blocks does not take more and more memory; and ranges that others kept
 * before still end with their blocks. */
static void kept_ranges_are_bounded(void **state)
{
	enum { ENOUGH_TO_KEEP = 10, TURNS = 50000, BOUND = 20000 };
	static struct maker m;
	struct nm_symbols *symbols;
	struct nm_engine *engine;
	struct nm_result result;

	(void)state;
	begin_stream(&m);
	define_read(&m, 0);
	define_read(&m, 1);
	for (unsigned i = 0; i < 3; i++) { /* ranges of small blocks are not kept */
		m.heap[i].at = HEAP + 2 * i * NM_LARGE_BLOCK;
		m.heap[i].size = NM_LARGE_BLOCK;
		nm_wire_alloc_encode(&m.words, &(struct nm_wire_alloc){NM_WIRE_MALLOC, m.heap[i].at,
								       m.heap[i].size, 0x401000});
	}
	read_often(&m, 1, m.heap[2].at, ENOUGH_TO_KEEP);
	for (unsigned turn = 0; turn < TURNS; turn++)
		read_often(&m, 0, m.heap[turn % 2].at, ENOUGH_TO_KEEP);
	for (unsigned i = 0; i < 3; i++) {
		release(&m, i);
		read_often(&m, i / 2, m.heap[i].at, ENOUGH_TO_KEEP);
	}
	assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
	engine = feed(&m, nm_execute_supported(0), symbols, (struct habits){0});
	assert_in_range(engine->replay.resolver.range_holders.count, 3, BOUND);
	assert_int_equal(nm_engine_finish(engine, &result, NULL), 0);
	sums_are_the_twins(&m, &result);
	nm_engine_free(engine);
	nm_result_free(&result);
	nm_symbols_free(symbols);
	nm_vec_free(&m.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(copies_agree),
					   cmocka_unit_test(kept_ranges_are_bounded)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
