/* SPDX-License-Identifier: MIT
 *
 * attribution_test.c - to which thread, line of code and object each reference is charged: the engine beside
 * a naive replay of the same stream (attribution_twin.h).
 *
 * Blocks of three functions of this program run in two threads: left early, calling and returning, with
 * guards, prefetches and accesses that share an address word. Data lie in frames of both threads, one
 * function of which has arrays, in heap blocks that are allocated and freed, named ranges, variables of this
 * program, and mappings that are partly unmapped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribution_twin.h"
#include "encode.h"
#include "engine_priv.h"
#include "numbers.h"
#include "own_program.h"

/* ---- the stream ---- */

#define PUT(t, record, ...)                                                                              \
	do {                                                                                             \
		assert_int_equal(                                                                        \
		    nm_wire_##record##_encode(&(t)->words, &(struct nm_wire_##record){__VA_ARGS__}), 0); \
		twin_replay(t);                                                                          \
	} while (0)

static void put_mapping(void *arg, const struct nm_wire_map *map)
{
	struct twin *t = arg;

	assert_int_equal(nm_wire_map_encode(&t->words, map), 0);
	twin_replay(t);
}

static void map(struct twin *t, uint64_t at, uint64_t bytes, uint32_t flags)
{
	PUT(t, map, .flags = flags | NM_WIRE_PROT_READ | NM_WIRE_PROT_WRITE, .address = at, .bytes = bytes,
	    .path = "");
}

/* Up to four accesses that share a word, in any order. */
static unsigned make_group(uint64_t *accesses, unsigned at, unsigned first_instruction)
{
	const unsigned members = 2 + (unsigned)below(3), down = (unsigned)below(2);

	for (unsigned i = 0; i < members; i++) {
		const uint64_t flags = (below(2) ? NM_WIRE_READ : NM_WIRE_WRITE) | (i ? NM_WIRE_FOLLOWS : 0);
		const uint64_t distance = 8 * (down ? members - 1 - i : i);

		accesses[at + i] =
		    8 | (uint64_t)(first_instruction + at + i) << 16 | flags << 32 | distance << 48;
	}
	return members;
}

static void define(struct twin *t, uint32_t id)
{
	const uint64_t pc = (uintptr_t)functions[id % FUNCTIONS].code + 64 + id * 64;
	uint64_t instructions[MAX_ACCESSES + 6], accesses[MAX_ACCESSES + 6], exit;
	struct nm_wire_block_info info = {
	    .id = id, .instructions = instructions, .accesses = accesses, .exits = &exit};
	const unsigned kind = id / FUNCTIONS % 4, want = 1 + (unsigned)below(MAX_ACCESSES - 5);
	const uint64_t end = kind == 2 ? NM_WIRE_CALL : kind == 3 ? NM_WIRE_RETURN : NM_WIRE_JUMP;
	unsigned n = 0, exit_at = 0;

	while (n < want) {
		uint64_t flags = below(3) ? NM_WIRE_READ : NM_WIRE_WRITE;

		if (!exit_at && n > 2 && kind == 0)
			exit_at = n; /* what follows has a word of its own */
		else if (!below(3)) {
			n += make_group(accesses, n, 0);
			continue;
		}
		if (kind == 1 && !below(3))
			flags = below(2) ? NM_WIRE_PREFETCH : flags | NM_WIRE_GUARDED;
		accesses[n] = 8 | (uint64_t)n << 16 | flags << 32;
		n++;
	}
	if (end != NM_WIRE_JUMP) {
		accesses[n] = 8 | (uint64_t)n << 16 |
			      (uint64_t)(NM_WIRE_FRAME | (kind == 2 ? NM_WIRE_WRITE : NM_WIRE_READ)) << 32;
		n++;
	}
	for (unsigned i = 0; i < n; i++)
		instructions[i] = (pc + 2 * i) | 2ull << 48;
	exit = exit_at | (uint64_t)exit_at << 16;
	info.def = (struct nm_wire_block_def){.pc = pc,
					      .instructions = (uint16_t)n,
					      .accesses = (uint16_t)n,
					      .exits = exit_at != 0,
					      .end = (uint8_t)end};
	assert_int_equal(nm_wire_block_def_encode(&t->words, &info), 0);
	twin_replay(t);
}

/* Somewhere in the frames of a thread. */
static uint64_t stack_address(const struct twin *t, unsigned thread)
{
	const struct twin_thread *at = &t->threads[thread];
	const uint64_t top = at->depth ? at->frames[at->depth - 1].slot : at->stack.end - 0x800;
	const uint64_t above = at->depth ? at->frames[0].slot - top : 0x100;

	if (thread == t->running && below(2))
		return top - 8 * below(40);
	if (above < 64)
		return thread == t->running ? top - 64 : MAPPED;
	return top + below(above - 40) / 8 * 8;
}

static uint64_t address_of(const struct twin *t, unsigned habit)
{
	if (t->place)
		return t->place;
	if (!below(6))
		habit = (unsigned)below(9);
	switch (habit) {
	case 0:
	case 1: return stack_address(t, t->running);
	case 2: return t->threads[!t->running].depth ? stack_address(t, !t->running) : MAPPED;
	case 3: return HEAP + below(HEAP_BYTES - 40);
	case 4: return t->heap_count ? t->heap[below(t->heap_count)].low : HEAP;
	case 5: return (below(2) ? MAPPED : ABOVE_STACK) + below(MAPPED_BYTES - PAGE_PART - 40);
	case 6: return (uintptr_t)squares + below(sizeof squares - 40);
	case 7: return (uintptr_t)counters + below(sizeof counters - 40);
	default: return MAPPED + MAPPED_BYTES + 0x100000;
	}
}

/* A call's slot lies below the newest frame; a return is from an open frame, mostly the newest. */
static uint64_t slot_of(const struct twin *t, unsigned end, int newest)
{
	const struct twin_thread *at = &t->threads[t->running];
	const uint64_t top = at->depth ? at->frames[at->depth - 1].slot : at->stack.end - 0x800;

	if (end == NM_WIRE_RETURN)
		return at->depth ? at->frames[newest || below(8) ? at->depth - 1 : below(at->depth)].slot
				 : top;
	return at->depth < 12 ? top - 16 - 8 * below(30) : at->frames[below(at->depth)].slot;
}

/* newest: if it returns, from the newest frame. */
static void run(struct twin *t, uint32_t id, int newest)
{
	struct nm_wire_block_info b;
	uint64_t addresses[MAX_ACCESSES + 6];
	size_t n = 0;

	assert_int_equal(nm_wire_block_decode(&t->definitions[id], &b, NULL), 0);
	for (unsigned i = 0; i < b.def.accesses; i++) {
		const unsigned flags = nm_wire_access_flags(b.accesses[i]);

		if (flags & NM_WIRE_FOLLOWS)
			continue;
		if (b.def.exits && nm_wire_exit_accesses(b.exits[0]) == i && !below(4))
			break;
		addresses[n] =
		    flags & NM_WIRE_FRAME ? slot_of(t, b.def.end, newest) : address_of(t, (id + i) % 8);
		if (flags & NM_WIRE_GUARDED && below(2))
			addresses[n] = 0;
		n++;
	}
	assert_int_equal(nm_wire_block_encode(&t->words, id, addresses, n), 0);
	twin_replay(t);
}

/* Blocks of a function that call and return. */
static uint32_t caller(unsigned function) { return 2 * FUNCTIONS + function; }
static uint32_t callee(unsigned function) { return 3 * FUNCTIONS + function; }

/* Allocates a block where there is none, or frees one. Allocates with one open call only: names of buckets
 * that are allocated deeper are tested elsewhere. */
static void change_heap(struct twin *t)
{
	const uint64_t step = HEAP_BYTES / HEAP_BLOCKS, at = HEAP + below(HEAP_BLOCKS) * step;

	if (twin_find(t->heap, t->heap_count, at)) {
		if (t->heap_count > 1)
			PUT(t, free, NM_WIRE_FREE_CALL, at);
	} else if (!t->threads[t->running].depth) {
		run(t, caller((unsigned)below(FUNCTIONS)), 1);
		run(t, callee((unsigned)below(FUNCTIONS)), 1);
		PUT(t, alloc, NM_WIRE_MALLOC, at, 1 + below(step), 0x401000);
	}
}

static void change_names(struct twin *t)
{
	const uint64_t at = (below(2) ? MAPPED : HEAP) + below(8) * 0x800;
	char name[16];

	if (twin_find(t->named, t->named_count, at)) {
		PUT(t, unname, at);
	} else if (t->named_count < MAX_NAMES) {
		snprintf(name, sizeof name, "range %u", (unsigned)below(4));
		PUT(t, name, at, 1 + below(0x800), name);
	}
}

static void change_mappings(struct twin *t)
{
	const uint64_t at = MAPPED + 0x1000 * (1 + 2 * below(3));

	if (twin_find(t->mappings, t->mapping_count, at)) {
		PUT(t, unmap, at, 0x1000);
	} else if (!t->threads[t->running].depth) {
		run(t, caller((unsigned)below(FUNCTIONS)), 1);
		map(t, at, 0x1000, 0);
		run(t, callee((unsigned)below(FUNCTIONS)), 1);
	}
}

static void change_region(struct twin *t)
{
	const char *const name = (const char *[]){"a", "b", "c"}[below(3)];

	PUT(t, region, below(5) < 3 && t->threads[t->running].innermost < MAX_OPEN, name);
}

/* path: room that own_program_mappings needs. */
static void begin_stream(struct twin *t, char path[4200])
{
	struct nm_wire_process p = {
	    .version = NM_WIRE_VERSION, .pid = 5, .parent = 1, .argc = 1, .directory = "/"};

	p.executable = "/proc/self/exe";
	assert_int_equal(nm_wire_process_encode(&t->words, &p, (const char *[]){"prog"}), 0);
	map(t, STACKS, STACK_BYTES, NM_WIRE_MAP_STACK);
	map(t, MAPPED, 2 * MAPPED_BYTES + STACK_BYTES, 0);
	PUT(t, thread_start, 1, 0, STACKS, STACKS + STACK_BYTES);
	PUT(t, thread_start, 2, 1, ABOVE_STACK - STACK_BYTES, ABOVE_STACK);
	PUT(t, thread, 1);
	assert_true(own_program_mappings(put_mapping, t, path) != 0);
	map(t, HEAP, HEAP_BYTES, 0);
}

/* A block that neither calls nor returns runs several times on one place in the frames: entries keep parts of callers'
 * frames only after repeated accesses. */
static void linger(struct twin *t)
{
	const uint32_t id = (uint32_t)below(FUNCTIONS);

	t->place = stack_address(t, t->running);
	for (unsigned i = 0; i < 8; i++)
		run(t, id, 0);
	t->place = 0;
}

/* names: the program names ranges. If it does not, the engine caches pages with a single object. */
static void make_stream(struct twin *t, int names)
{
	char path[4200];

	begin_stream(t, path);
	for (uint32_t id = 0; id < BLOCKS; id++)
		define(t, id);
	while (!t->heap_count)
		change_heap(t);
	for (unsigned step = 0; step < STEPS; step++) {
		if (!below(40))
			change_heap(t);
		if (names && !below(80))
			change_names(t);
		if (!below(500))
			change_mappings(t);
		if (!below(100))
			PUT(t, thread, 2 - t->running);
		if (names && !below(60))
			change_region(t);
		if (!below(20))
			linger(t);
		run(t, (uint32_t)below(BLOCKS), 0);
	}
}

/* ---- the comparison ---- */

static void compare_regions(struct twin *t, const struct nm_result *r)
{
	uint64_t instructions = 0;

	for (size_t i = 0; i < r->region_count; i++) {
		const unsigned region = twin_region(t, r->regions[i].name);

		assert_int_equal(r->regions[i].instructions, t->instructions[region]);
		assert_int_equal(r->regions[i].entries, t->entries[region]);
		instructions += r->regions[i].instructions;
	}
	assert_int_equal(r->instructions, t->measured);
	assert_int_equal(instructions, r->region_count ? r->instructions : 0);
	assert_int_equal(r->region_count != 0, t->regions[1][0] != 0);
}

static void compare(struct twin *t, const struct nm_result *r)
{
	static uint64_t counts[THREADS][REGIONS][FUNCTIONS][MAX_OBJECTS][2];

	memset(counts, 0, sizeof counts);
	for (size_t i = 0; i < r->attr_count; i++) {
		const struct nm_result_attribution *a = &r->attrs[i];
		const struct nm_result_site *s = &r->sites[a->site];
		const struct nm_counts *c = &r->levels[0].counts[i];
		const unsigned region = a->region ? twin_region(t, r->regions[a->region].name) : 0;
		uint64_t(*of)[MAX_OBJECTS][2] = counts[a->thread - 1][region];
		unsigned f = 0;

		while (f < FUNCTIONS && strcmp(s->function, functions[f].name))
			f++;
		assert_true(f < FUNCTIONS);
		if (!c->reads && !c->writes) /* not measured: of an object of its own */
			continue;
		assert_int_equal(s->line, functions[f].line);
		of[f][twin_object(t, r->objects[a->object].name)][0] += c->reads;
		of[f][twin_object(t, r->objects[a->object].name)][1] += c->writes;
	}
	for (unsigned i = 0; i < THREADS * REGIONS * FUNCTIONS; i++) {
		const unsigned thread = i / REGIONS / FUNCTIONS, region = i / FUNCTIONS % REGIONS,
			       f = i % FUNCTIONS;

		for (unsigned o = 0; *t->objects[o]; o++)
			for (unsigned write = 0; write < 2; write++)
				if (counts[thread][region][f][o][write] !=
				    t->counts[thread][region][f][o][write])
					fail_msg("thread %u, region %s, %s, %s, %s: %lu, the twin has %lu",
						 thread + 1, t->regions[region], functions[f].name,
						 t->objects[o], write ? "writes" : "reads",
						 (unsigned long)counts[thread][region][f][o][write],
						 (unsigned long)t->counts[thread][region][f][o][write]);
	}
	compare_regions(t, r);
}

static struct nm_engine *feed(const struct twin *t, struct nm_machine *machine,
			      struct nm_symbols **ret_symbols, nm_execute_function *execute,
			      struct nm_engine_options options)
{
	struct nm_engine *engine;

	assert_int_equal(nm_machine_parse("L1d=1K,2,64:L2=8K,4,64", machine, NULL), 0);
	assert_int_equal(nm_symbols_new(ret_symbols, NULL), 0);
	options.machine = machine;
	options.symbols = *ret_symbols;
	assert_int_equal(nm_engine_new(&engine, &options, NULL), 0);
	if (execute)
		engine->replay.execute = execute;
	for (size_t at = 0, next; at < t->words.count; at = next) {
		next = at + 20000; /* up to a record's header */
		while (next < t->words.count && !nm_wire_is_header(t->words.at[next]))
			next++;
		next = next < t->words.count ? next : t->words.count;
		assert_int_equal(nm_engine_feed(engine, t->words.at + at, next - at, NULL), 0);
		assert_true(nm_replay_is_valid(&engine->replay));
	}
	return engine;
}

static void check(struct twin *t, nm_execute_function *execute, unsigned threads, int contexts)
{
	struct nm_machine machine;
	struct nm_symbols *symbols;
	struct nm_result result;
	struct nm_engine *engine =
	    feed(t, &machine, &symbols, execute,
		 (struct nm_engine_options){.threads = threads, .contexts = contexts, .window = t->window});

	assert_int_equal(nm_engine_finish(engine, &result, NULL), 0);
	compare(t, &result);
	nm_result_free(&result);
	nm_engine_free(engine);
	nm_symbols_free(symbols);
}

/* ---- a block that is filled before it is handed out ---- */

/* A block of one access, of 8 bytes. */
static void define_one(struct twin *t, uint32_t id, void (*code)(void), uint8_t end)
{
	const uint64_t pc = (uintptr_t)code + 64, instruction = pc | 2ull << 48;
	const uint64_t access = 8 | (uint64_t)(NM_WIRE_WRITE | (end ? NM_WIRE_FRAME : 0)) << 32;
	struct nm_wire_block_info info = {.id = id,
					  .def = {.pc = pc, .instructions = 1, .accesses = 1, .end = end},
					  .instructions = &instruction,
					  .accesses = &access};

	assert_int_equal(nm_wire_block_def_encode(&t->words, &info), 0);
}

/* Writes to the object of a name. */
static uint64_t writes_to(const struct nm_result *r, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->attr_count; i++)
		if (!strcmp(r->objects[r->attrs[i].object].name, name))
			sum += r->levels[0].counts[i].writes;
	return sum;
}

/* scan calls the allocator, which calls `between` functions one within the other, the last of which has
 * memcpy write to memory of which no block is known. */
static uint64_t writes_of_bucket(unsigned between)
{
	enum { SCAN, MALLOC, VISIT, MEMCPY };
	struct twin *t = calloc(1, sizeof *t);
	char path[4200], bucket[48];
	uint64_t slot = STACKS + STACK_BYTES - 0x100, writes;
	struct nm_symbols *symbols;
	struct nm_machine machine;
	struct nm_engine *engine;
	struct nm_result result;

	begin_stream(t, path);
	define_one(t, SCAN, scan, NM_WIRE_CALL);
	define_one(t, MALLOC, _int_malloc, NM_WIRE_CALL);
	define_one(t, VISIT, visit, NM_WIRE_CALL);
	define_one(t, MEMCPY, memcpy_of_test, NM_WIRE_JUMP);
	for (unsigned i = 0; i < 2 + between; i++, slot -= 0x40)
		assert_int_equal(nm_wire_block_encode(&t->words, i < 2 ? i : VISIT, (uint64_t[]){slot}, 1),
				 0);
	assert_int_equal(nm_wire_block_encode(&t->words, MEMCPY, (uint64_t[]){HEAP + 64}, 1), 0);
	engine = feed(t, &machine, &symbols, NULL, (struct nm_engine_options){.threads = 1});
	assert_int_equal(nm_engine_finish(engine, &result, NULL), 0);
	snprintf(bucket, sizeof bucket, "heap scan (attribution_twin.h:%u)", SCAN_LINE);
	writes = writes_to(&result, bucket);
	assert_int_equal(writes + writes_to(&result, "<anonymous memory>"), 1);
	nm_result_free(&result);
	nm_engine_free(engine);
	nm_symbols_free(symbols);
	nm_vec_free(&t->words);
	free(t);
	return writes;
}

static void a_block_that_the_allocator_fills_is_its_callers(void **state)
{
	(void)state;
	for (unsigned between = 0; between < 7; between++)
		assert_int_equal(writes_of_bucket(between), between < 4);
}

static void attributions_are_the_twins(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 6; round++) {
		struct twin *t = calloc(1, sizeof *t);

		rng_state = 100 + round;
		make_stream(t, round % 3);
		for (unsigned i = 0; nm_execute_supported(i); i++)
			check(t, nm_execute_supported(i), 1 + round % 2, 0);
		check(t, nm_execute_supported(0), 1, 1);
		for (unsigned i = 0; i < BLOCKS; i++)
			free(t->payloads[i]);
		nm_vec_free(&t->words);
		free(t);
	}
}

/* One stream, of which one or another part counts. */
static void windows_are_the_twins(void **state)
{
	static const struct nm_run_window windows[] = {
	    {.from = {NM_POSITION_INSTRUCTIONS, 30000, NULL},
	     .until = {NM_POSITION_REFERENCES, 100000, NULL}},
	    {.from = {NM_POSITION_ENTER, 3, "scan"}},
	    {.from = {NM_POSITION_ENTER, 40, "merge"}, .until = {NM_POSITION_LEAVE, 900, "scan"}},
	    {.until = {NM_POSITION_LEAVE, 1, "visit"}},
	    {.from = {NM_POSITION_LEAVE, 77, "visit"}, .until = {NM_POSITION_ENTER, 500, "visit"}},
	    {.in = "visit"},
	    {.from = {NM_POSITION_MARK, 2, "a"}, .in = "scan"},
	    {.from = {NM_POSITION_MARK, 20, "b"}, .until = {NM_POSITION_END, 60, "c"}},
	    {.from = {NM_POSITION_ENTER, 1, "nothing"}},
	    {.in = "merge", .until = {NM_POSITION_INSTRUCTIONS, 90000, NULL}}};
	struct twin *whole = calloc(1, sizeof *whole);

	(void)state;
	rng_state = 7;
	make_stream(whole, 1);
	for (unsigned i = 0; i < sizeof windows / sizeof *windows; i++) {
		struct twin *part = calloc(1, sizeof *part);

		part->words = whole->words;
		part->window = windows[i];
		twin_replay(part);
		assert_true(part->measured < whole->measured);
		assert_true((part->measured > 0) !=
			    !strcmp("nothing", windows[i].from.name ? windows[i].from.name : ""));
		check(part, NULL, 1 + i % 2, i % 3 == 2);
		for (unsigned k = 0; k < BLOCKS; k++)
			free(part->payloads[k]);
		free(part);
	}
	for (unsigned k = 0; k < BLOCKS; k++)
		free(whole->payloads[k]);
	nm_vec_free(&whole->words);
	free(whole);
}

int main(void)
{
	visit();
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(attributions_are_the_twins),
	    cmocka_unit_test(windows_are_the_twins),
	    cmocka_unit_test(a_block_that_the_allocator_fills_is_its_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
