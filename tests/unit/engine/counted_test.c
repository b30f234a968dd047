/* SPDX-License-Identifier: MIT
 *
 * counted_test.c - a random program whose collector leaves code without accesses out and counts it (RAN),
 * and the same with all blocks, have the same result: objects, attribution keys, sites and every figure, in
 * the same order.
 *
 * Between any two blocks with accesses such code may run: of other functions, as if jumped to, for one
 * instruction or far more than an allocation wrapper may take; at the end of the allocator, on the way into
 * and out of wrappers; before and behind what is not measured; around handlers of signals on both stacks,
 * which return by a system call (that is in both streams) or leap out. The code is this program's own,
 * which has names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "encode.h"
#include "engine_priv.h"
#include "numbers.h"
#include "own_program.h"

#define STACK_LOW 0x7000000000ull
#define STACK_END 0x7000100000ull
#define OTHER_LOW 0x6000000000ull
#define OTHER_END 0x6000100000ull
#define HEAP 0x10000000ull
#define HEAP_BYTES 0x4000ull

#define FUNCTION_OF(type, name, result)                            \
	static type name(void);                                    \
	__attribute__((noinline, used)) static type name(void)     \
	{                                                          \
		__asm__ volatile(".skip 1024, 0x90" ::: "memory"); \
		return result;                                     \
	}
#define FUNCTION(name) FUNCTION_OF(void, name, )
FUNCTION(outer)
FUNCTION(inner)
FUNCTION_OF(void *, wrapper, NULL) /* one that forwards hands the block on */
FUNCTION(malloc_of_test)
FUNCTION(handler)
FUNCTION(restorer)
FUNCTION(____longjmp) /* underscores make no difference */
FUNCTION(never_seen)

enum {
	OUTER,
	INNER,
	WRAPPER,
	ALLOCATOR,
	HANDLER,
	RESTORER,
	LEAP,
	UNSEEN, /* has quiet blocks only */
	FUNCTIONS,
	PLAIN = 0, /* blocks of each function */
	CALL,
	RETURN,
	QUIET,
	QUIET_KINDS = 3,
	BLOCKS = QUIET + QUIET_KINDS,
	STEPS = 4000,
	DEPTH = 12,
	HEAP_BLOCKS = 64
};

static void (*const functions[FUNCTIONS])(void) = {
    outer, inner, (void (*)(void))wrapper, malloc_of_test, handler, restorer, ____longjmp, never_seen};
static const unsigned quiet_instructions[QUIET_KINDS] = {1, 7, 60};

enum { ALL, COUNTED, STREAMS };

struct maker {
	struct nm_wire_words words[STREAMS];
	uint64_t slots[DEPTH];
	unsigned running[DEPTH + 1]; /* the function of each frame; [0] has none of its own */
	unsigned depth;
	uint64_t ran; /* instructions that are still to be told */
	uint64_t quiet, quiet_unmeasured;
	uint64_t heap[HEAP_BLOCKS];
	int measuring;
};

#define BOTH(m, record, ...)                                                                   \
	do {                                                                                   \
		const struct nm_wire_##record both = {__VA_ARGS__};                            \
                                                                                               \
		for (unsigned s = 0; s < STREAMS; s++)                                         \
			assert_int_equal(nm_wire_##record##_encode(&(m)->words[s], &both), 0); \
	} while (0)

/* ---- blocks ---- */

static uint32_t id_of(unsigned function, unsigned block) { return function * BLOCKS + block; }

static void define(struct maker *m, unsigned function, unsigned block, uint8_t end, unsigned instructions,
		   const uint64_t *accesses, unsigned count)
{
	uint64_t pc = (uintptr_t)functions[function] + 128 + block * 128, list[64];
	struct nm_wire_block_info info = {.id = id_of(function, block),
					  .def = {.pc = pc,
						  .instructions = (uint16_t)instructions,
						  .accesses = (uint16_t)count,
						  .end = end},
					  .instructions = list,
					  .accesses = accesses};

	for (unsigned i = 0; i < instructions; i++)
		list[i] = (pc + i) | 1ull << 48;
	for (unsigned s = 0; s < STREAMS; s++)
		if (block < QUIET || function == RESTORER || s == ALL)
			assert_int_equal(nm_wire_block_def_encode(&m->words[s], &info), 0);
}

static void define_all(struct maker *m)
{
	const uint64_t plain[] = {8 | (uint64_t)NM_WIRE_READ << 32,
				  8 | 1 << 16 | (uint64_t)NM_WIRE_WRITE << 32},
		       call[] = {8 | 1 << 16 | (uint64_t)(NM_WIRE_WRITE | NM_WIRE_FRAME) << 32},
		       leave[] = {8 | 1 << 16 | (uint64_t)(NM_WIRE_READ | NM_WIRE_FRAME) << 32};

	for (unsigned f = 0; f < FUNCTIONS; f++) {
		define(m, f, PLAIN, NM_WIRE_JUMP, 3, plain, 2);
		define(m, f, CALL, NM_WIRE_CALL, 2, call, 1);
		define(m, f, RETURN, NM_WIRE_RETURN, 2, leave, 1);
		for (unsigned k = 0; k < QUIET_KINDS; k++)
			define(m, f, QUIET + k, NM_WIRE_JUMP, quiet_instructions[k], NULL, 0);
	}
}

static void run_block(struct maker *m, unsigned function, unsigned block, const uint64_t *addresses, size_t n)
{
	for (unsigned s = 0; s < STREAMS; s++)
		assert_int_equal(nm_wire_block_encode(&m->words[s], id_of(function, block), addresses, n), 0);
}

static void tell(struct maker *m)
{
	if (m->ran)
		assert_int_equal(nm_wire_ran_encode(&m->words[COUNTED], &(struct nm_wire_ran){m->ran}), 0);
	m->ran = 0;
}

/* Perhaps code without accesses, of the function or of another one. */
static void be_quiet(struct maker *m, unsigned function)
{
	for (unsigned n = (unsigned)(below(3) ? below(3) : below(20)); n > 0; n--) {
		unsigned f = below(3) ? function : (unsigned)below(FUNCTIONS),
			 k = (unsigned)below(QUIET_KINDS);

		if (f == RESTORER)
			f = UNSEEN;
		assert_int_equal(nm_wire_block_encode(&m->words[ALL], id_of(f, QUIET + k), NULL, 0), 0);
		m->ran += quiet_instructions[k];
		m->quiet += quiet_instructions[k];
		m->quiet_unmeasured += m->measuring ? 0 : quiet_instructions[k];
	}
	if (!below(30)) /* a chunk is full */
		tell(m);
}

/* ---- what the program does ---- */

static uint64_t top_of(const struct maker *m)
{
	return m->depth ? m->slots[m->depth - 1] : STACK_LOW + 0x80000;
}

static unsigned running(const struct maker *m) { return m->running[m->depth]; }

static void work(struct maker *m, unsigned function)
{
	uint64_t block = m->heap[below(HEAP_BLOCKS)],
		 data = block && !below(4) ? block : HEAP + below(HEAP_BYTES),
		 own = below(4) ? top_of(m) - 8 - below(32) * 8 : top_of(m) + 8 + below(64) * 8;

	run_block(m, function, PLAIN, (uint64_t[]){data, own}, 2);
	be_quiet(m, function);
}

static void call(struct maker *m, unsigned function)
{
	uint64_t slot = top_of(m) - 16 - below(16) * 8;

	be_quiet(m, running(m));
	run_block(m, running(m), CALL, &slot, 1);
	m->slots[m->depth++] = slot;
	m->running[m->depth] = function;
	be_quiet(m, function);
}

static void leave(struct maker *m)
{
	be_quiet(m, running(m));
	run_block(m, running(m), RETURN, &m->slots[m->depth - 1], 1);
	m->depth--;
}

/* By itself or in a wrapper, which only forwards; the caller may use the block at once. */
static void allocate(struct maker *m)
{
	int wrapped = below(3) != 0;
	unsigned i = (unsigned)below(HEAP_BLOCKS);

	if (wrapped)
		call(m, WRAPPER);
	call(m, ALLOCATOR);
	leave(m);
	if (m->heap[i])
		BOTH(m, free, NM_WIRE_FREE_CALL, m->heap[i]);
	m->heap[i] = HEAP + i * (HEAP_BYTES / HEAP_BLOCKS);
	BOTH(m, alloc, NM_WIRE_MALLOC, m->heap[i], 1 + below(HEAP_BYTES / HEAP_BLOCKS), 0x401000);
	be_quiet(m, running(m));
	if (wrapped)
		leave(m);
	if (below(2))
		run_block(m, running(m), PLAIN, (uint64_t[]){m->heap[i], m->heap[i]}, 2);
	be_quiet(m, running(m));
}

/* The handler's frame, on the interrupted stack or another, is no frame of a call. */
static void interrupt(struct maker *m, int other_stack)
{
	uint64_t slot = other_stack ? OTHER_END - 0x1000 : top_of(m) - 0x400;
	unsigned depth = m->depth;

	BOTH(m, signal, 10, slot);
	m->slots[m->depth++] = slot;
	m->running[m->depth] = HANDLER;
	be_quiet(m, HANDLER);
	work(m, HANDLER);
	call(m, INNER);
	work(m, INNER);
	leave(m);
	work(m, HANDLER);
	if (depth > 1 && !below(3)) { /* out of the handler, to a function that called before */
		call(m, LEAP);
		run_block(m, LEAP, PLAIN, (uint64_t[]){HEAP, top_of(m) - 64}, 2);
		m->depth = depth - (unsigned)below(2);
	} else {
		leave(m);
		run_block(m, RESTORER, QUIET, NULL, 0);
	}
	be_quiet(m, running(m));
	work(m, running(m));
}

static void measure(struct maker *m, int on)
{
	tell(m);
	BOTH(m, measure, on);
	m->measuring = on;
}

static void step(struct maker *m)
{
	switch (below(24)) {
	case 0:
	case 1:
	case 2:
		if (m->depth < DEPTH / 2)
			call(m, below(2) ? INNER : OUTER);
		break;
	case 3:
	case 4:
		if (m->depth > 1)
			leave(m);
		break;
	case 5:
	case 6: allocate(m); break;
	case 7: interrupt(m, (int)below(2)); break;
	case 8: measure(m, below(3) != 0); break;
	default: work(m, running(m)); break;
	}
}

/* ---- the streams ---- */

static void map(struct maker *m, uint64_t low, uint64_t end, uint32_t flags)
{
	BOTH(m, map, .flags = flags | NM_WIRE_PROT_READ | NM_WIRE_PROT_WRITE, .address = low,
	     .bytes = end - low, .path = "");
}

static void map_own(void *arg, const struct nm_wire_map *own)
{
	struct maker *m = arg;

	BOTH(m, map, .flags = own->flags, .address = own->address, .bytes = own->bytes, .offset = own->offset,
	     .path = own->path);
}

/* This program's own mappings, as they are. */
static void map_program(struct maker *m)
{
	char own[4200];
	const uint64_t base = own_program_mappings(map_own, m, own);

	assert_true(base != 0);
	BOTH(m, module, .base = base, .path = own);
}

static void make_streams(struct maker *m)
{
	const struct nm_wire_process p = {.version = NM_WIRE_VERSION,
					  .pid = 5,
					  .parent = 1,
					  .argc = 1,
					  .executable = "/no/such/prog",
					  .directory = "/"};

	for (unsigned s = 0; s < STREAMS; s++)
		assert_int_equal(nm_wire_process_encode(&m->words[s], &p, (const char *[]){"prog"}), 0);
	map_program(m);
	map(m, HEAP, HEAP + HEAP_BYTES, 0);
	map(m, OTHER_LOW, OTHER_END, 0);
	map(m, STACK_LOW, STACK_END, NM_WIRE_MAP_STACK);
	BOTH(m, thread_start, 1, 0, STACK_LOW, STACK_END);
	BOTH(m, thread, 1);
	define_all(m);
	m->measuring = 1;
	m->running[0] = OUTER;
	be_quiet(m, OUTER);
	call(m, OUTER);
	for (unsigned i = 0; i < STEPS; i++)
		step(m);
	tell(m);
	BOTH(m, exit, 0);
}

/* ---- results ---- */

struct way {
	const char *machine;
	unsigned threads, cores;
	int by_instruction;
};

static struct nm_result run(const struct maker *m, unsigned stream, const struct way *way, unsigned copy,
			    struct nm_symbols *symbols)
{
	struct nm_machine machine;
	struct nm_engine_options options = {.machine = &machine,
					    .symbols = symbols,
					    .threads = way->threads,
					    .by_instruction = way->by_instruction};
	struct nm_engine *engine;
	struct nm_result result;
	struct nm_error err;

	assert_int_equal(nm_machine_parse(way->machine, &machine, NULL), 0);
	machine.cores = way->cores;
	assert_int_equal(nm_engine_new(&engine, &options, NULL), 0);
	engine->replay.execute = nm_execute_supported(copy);
	if (nm_engine_feed(engine, m->words[stream].at, m->words[stream].count, &err))
		fail_msg("%s", err.text);
	assert_int_equal(nm_engine_finish(engine, &result, NULL), 0);
	nm_engine_free(engine);
	return result;
}

static void same_levels(const struct nm_result *a, const struct nm_result *b)
{
	for (unsigned i = 0; i < a->machine.count; i++) {
		const struct nm_result_level *x = &a->levels[i], *y = &b->levels[i];

		assert_memory_equal(&x->total, &y->total, sizeof x->total);
		assert_memory_equal(x->counts, y->counts, a->attr_count * sizeof *x->counts);
		assert_int_equal(x->eviction_count, y->eviction_count);
		for (size_t k = 0; k < x->eviction_count; k++) {
			assert_int_equal(x->evictions[k].evictor, y->evictions[k].evictor);
			assert_int_equal(x->evictions[k].victim, y->evictions[k].victim);
			assert_int_equal(x->evictions[k].count, y->evictions[k].count);
		}
	}
}

static void same_results(const struct nm_result *a, const struct nm_result *b)
{
	assert_int_equal(a->instructions, b->instructions);
	assert_int_equal(a->references, b->references);
	assert_int_equal(a->object_count, b->object_count);
	for (size_t i = 0; i < a->object_count; i++) {
		assert_string_equal(a->objects[i].name, b->objects[i].name);
		assert_int_equal(a->objects[i].blocks, b->objects[i].blocks);
		assert_int_equal(a->objects[i].bytes, b->objects[i].bytes);
	}
	assert_int_equal(a->site_count, b->site_count);
	for (size_t i = 0; i < a->site_count; i++) {
		assert_int_equal(a->sites[i].address, b->sites[i].address);
		assert_ptr_equal(a->sites[i].function, b->sites[i].function);
	}
	assert_int_equal(a->attr_count, b->attr_count);
	assert_memory_equal(a->attrs, b->attrs, a->attr_count * sizeof *a->attrs);
	assert_int_equal(a->stride_count, b->stride_count);
	assert_memory_equal(a->strides, b->strides, a->stride_count * sizeof *a->strides);
	same_levels(a, b);
}

static uint64_t blocks_of(const struct nm_result *r, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->object_count; i++)
		if (strstr(r->objects[i].name, name))
			sum += r->objects[i].blocks;
	return sum;
}

/* What it is to be a test of: all that happens has its effect. */
static void has_what_it_should(const struct maker *m, const struct nm_result *r)
{
	assert_true(m->quiet_unmeasured > 0);
	assert_true(r->instructions > m->quiet - m->quiet_unmeasured);
	assert_true(r->instructions - (m->quiet - m->quiet_unmeasured) < 20 * STEPS);
	assert_true(blocks_of(r, "heap outer") > 0);
	assert_int_equal(blocks_of(r, "heap wrapper"), 0); /* it forwards, however long it takes */
	for (size_t i = 0; i < r->object_count; i++)
		assert_null(strstr(r->objects[i].name, "never_seen"));
}

static const struct way ways[] = {
    {"L1d=1K,8,64:L2=8K,4,64", .threads = 1},
    {"L1d=1K,8,64:L2=8K,4,64", .threads = 2, .by_instruction = 1},
    {"L1d=1K,8,64:L2=8K,4,64", .threads = 1, .cores = 2, .by_instruction = 1},
    {"L1d=1K,4,64,prefetch=stride:L2=4K,4,64", .threads = 1},
};

static void code_without_accesses_may_be_counted(void **state)
{
	static struct maker m;

	(void)state;
	for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct nm_symbols *symbols;

		m = (struct maker){0};
		rng_state = i + 1;
		make_streams(&m);
		assert_true(m.words[COUNTED].count < m.words[ALL].count);
		assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
		for (unsigned copy = 0; nm_execute_supported(copy); copy++) {
			struct nm_result all = run(&m, ALL, &ways[i], copy, symbols),
					 counted = run(&m, COUNTED, &ways[i], copy, symbols);

			has_what_it_should(&m, &all);
			same_results(&all, &counted);
			nm_result_free(&all);
			nm_result_free(&counted);
		}
		nm_symbols_free(symbols);
		for (unsigned s = 0; s < STREAMS; s++)
			nm_vec_free(&m.words[s]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(code_without_accesses_may_be_counted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
