/* SPDX-License-Identifier: MIT
 *
 * attribution_test.c - to which thread, line of code and object each reference is charged: the engine beside
 * a naive replay of the same stream, which decodes each record, searches lists of everything, and caches
 * nothing.
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

#include "encode.h"
#include "engine_priv.h"
#include "numbers.h"
#include "own_program.h"

#define HEAP 0x10000000ull
#define MAPPED 0x20000000ull
#define STACKS 0x7000000000ull
/* The second thread's stack lies within a mapping, between two parts of it that are accessed, and ends within
 * a page. */
#define ABOVE_STACK (MAPPED + MAPPED_BYTES + STACK_BYTES + PAGE_PART)

enum {
	HEAP_BYTES = 0x4000,
	HEAP_BLOCKS = 32,
	MAPPED_BYTES = 0x10000,
	STACK_BYTES = 0x40000,
	PAGE_PART = 0x900,
	THREADS = 2,
	FUNCTIONS = 3,
	BLOCKS = 30,
	MAX_ACCESSES = 12,
	MAX_FRAMES = 64,
	MAX_NAMES = 8,
	MAX_MAPPINGS = 40,
	MAX_OBJECTS = 64,
	STEPS = 40000
};

#define FUNCTION(name, number)                                     \
	enum { number = __LINE__ };                                \
	static void name(void);                                    \
	__attribute__((noinline, used)) static void name(void)     \
	{                                                          \
		__asm__ volatile(".skip 4096, 0x90" ::: "memory"); \
	}
FUNCTION(scan, SCAN_LINE)
FUNCTION(merge, MERGE_LINE)
FUNCTION(_int_malloc, MALLOC_LINE)
FUNCTION(memcpy_of_test, MEMCPY_LINE)

/* One with local variables; when it runs, it stores where they begin, below the end of its frame.
 * AddressSanitizer would move them to places that debug information does not tell. */
static struct {
	const char *name;
	uint64_t below, bytes;
} locals[2] = {{"visit()::near", 0, 72}, {"visit()::far", 0, 80}};

enum { VISIT_LINE = __LINE__ + 5 };
static __attribute__((noinline, used, no_sanitize_address)) void visit(void)
{
	char far[80];
	long near[9];
	__asm__ volatile(".skip 4096, 0x90" ::"r"(near), "r"(far) : "memory");
	locals[0].below = (uint64_t)((char *)__builtin_dwarf_cfa() - (char *)near);
	locals[1].below = (uint64_t)((char *)__builtin_dwarf_cfa() - far);
}

static const struct {
	const char *name;
	void (*code)(void);
	uint32_t line;
} functions[FUNCTIONS] = {
    {"scan", scan, SCAN_LINE}, {"merge", merge, MERGE_LINE}, {"visit", visit, VISIT_LINE}};

char table[4096] = {1}, counters[333] = {1};

/* ---- the twin ---- */

struct range {
	uint64_t low, end;
	char name[48];
};

struct twin_frame {
	uint64_t slot;
	unsigned caller; /* function */
};

struct twin_thread {
	struct range stack;
	struct twin_frame frames[MAX_FRAMES]; /* oldest first */
	unsigned depth;
	unsigned returned_to; /* the function that the last return led to */
};

struct twin {
	struct nm_wire_words words; /* the stream so far, */
	size_t replayed;            /* and how much of it was replayed */
	struct nm_wire_record definitions[BLOCKS];
	uint64_t *payloads[BLOCKS];
	struct twin_thread threads[THREADS];
	unsigned running; /* thread */
	struct range mappings[MAX_MAPPINGS], heap[HEAP_BLOCKS], named[MAX_NAMES];
	unsigned mapping_count, heap_count, named_count;
	int has_heap; /* a block was allocated */
	char objects[MAX_OBJECTS][48];
	uint64_t counts[THREADS][FUNCTIONS][MAX_OBJECTS][2];
};

static unsigned twin_object(struct twin *t, const char *name)
{
	unsigned i = 0;

	while (*t->objects[i] && strcmp(t->objects[i], name))
		i++;
	assert_true(i < MAX_OBJECTS - 1);
	snprintf(t->objects[i], sizeof t->objects[i], "%s", name);
	return i;
}

static unsigned twin_function(uint64_t pc)
{
	unsigned f = 0;

	while (pc - (uintptr_t)functions[f].code >= 4096)
		f++;
	return f;
}

static const struct range *twin_find(const struct range *ranges, unsigned count, uint64_t address)
{
	for (unsigned i = count; i-- > 0;)
		if (ranges[i].low <= address && address < ranges[i].end)
			return &ranges[i];
	return NULL;
}

/* Whose frame is at an address of a stack: a frame lies between the slot of the call that it made and that of
 * the call that made it; the running function has all below the newest slot, and the slot. FUNCTIONS: above
 * the first call. */
static unsigned twin_frame_owner(const struct twin *t, unsigned thread, uint64_t address, unsigned function,
				 uint64_t *ret_end)
{
	const struct twin_thread *at = &t->threads[thread];
	unsigned k = at->depth;

	*ret_end = k ? at->frames[k - 1].slot + 8 : at->stack.end;
	if (thread == t->running && address < *ret_end)
		return function;
	while (k > 0 && address >= at->frames[k - 1].slot)
		k--;
	assert_true(k < at->depth);
	*ret_end = k ? at->frames[k - 1].slot + 8 : 0;
	return k ? at->frames[k].caller : FUNCTIONS;
}

/* The object at an address in the frame of a function. */
static unsigned twin_in_frame(struct twin *t, unsigned function, uint64_t end, uint64_t address)
{
	char name[40];

	for (unsigned i = 0; i < 2 && functions[function].code == visit; i++)
		if (address - (end - locals[i].below) < locals[i].bytes)
			return twin_object(t, locals[i].name);
	snprintf(name, sizeof name, "stack of %s", functions[function].name);
	return twin_object(t, name);
}

static unsigned twin_charge(struct twin *t, uint64_t address, unsigned function)
{
	const struct range *found;

	for (unsigned i = 0; i < THREADS; i++)
		if (twin_find(&t->threads[i].stack, 1, address)) {
			uint64_t end;
			const unsigned owner = twin_frame_owner(t, i, address, function, &end);

			if (owner != FUNCTIONS)
				return twin_in_frame(t, owner, end, address);
			return twin_object(t, i ? "<anonymous memory>" : "<arguments and environment>");
		}
	if ((found = twin_find(t->named, t->named_count, address)) ||
	    (found = twin_find(t->heap, t->heap_count, address)))
		return twin_object(t, found->name);
	if (address - (uintptr_t)table < sizeof table)
		return twin_object(t, "table");
	if (address - (uintptr_t)counters < sizeof counters)
		return twin_object(t, "counters");
	if (t->has_heap && address - HEAP < HEAP_BYTES)
		return twin_object(t, "<heap bookkeeping>");
	found = twin_find(t->mappings, t->mapping_count, address);
	return twin_object(t, found ? found->name : "<unknown>");
}

/* One access after another; members of a coalesced access lie at distances from its address word. */
static void twin_block(struct twin *t, const struct nm_wire_record *r)
{
	struct nm_wire_block_info b;
	struct twin_thread *thread = &t->threads[t->running];
	size_t word = 0;
	unsigned function;

	assert_int_equal(nm_wire_block_decode(&t->definitions[r->arg], &b, NULL), 0);
	function = twin_function(b.def.pc);
	for (unsigned i = 0; i < b.def.accesses; i++) {
		const uint64_t a = b.accesses[i];
		const unsigned flags = nm_wire_access_flags(a);
		uint64_t address;

		word += !(flags & NM_WIRE_FOLLOWS);
		if (word > r->words) /* it was left by a side exit */
			return;
		address = r->payload[word - 1];
		if (flags & NM_WIRE_PREFETCH || !address)
			continue;
		address += nm_wire_access_distance(a);
		t->counts[t->running][function][twin_charge(t, address, function)]
			 [(flags & NM_WIRE_WRITE) != 0]++;
	}
	if (b.def.end == NM_WIRE_JUMP)
		return;
	while (thread->depth && thread->frames[thread->depth - 1].slot <= r->payload[r->words - 1])
		thread->returned_to = thread->frames[--thread->depth].caller;
	if (b.def.end == NM_WIRE_CALL)
		thread->frames[thread->depth++] = (struct twin_frame){r->payload[r->words - 1], function};
}

static void twin_remove(struct range *ranges, unsigned *count, uint64_t low)
{
	for (unsigned i = 0; i < *count; i++)
		if (ranges[i].low == low) {
			memmove(&ranges[i], &ranges[i + 1], (*count - i - 1) * sizeof *ranges);
			--*count;
			return;
		}
	fail_msg("nothing starts at %#lx", (unsigned long)low);
}

/* What is allocated or mapped has the name of the function that called. */
static void twin_name(struct range *range, const char *kind, unsigned function)
{
	snprintf(range->name, sizeof range->name, "%s %s (attribution_test.c:%u)", kind,
		 functions[function].name, functions[function].line);
}

static void twin_alloc(struct twin *t, uint64_t low, uint64_t end)
{
	struct range *block = &t->heap[t->heap_count++];

	t->has_heap = 1;
	*block = (struct range){low, end, ""};
	twin_name(block, "heap", t->threads[t->running].returned_to);
}

static void twin_keep(struct twin *t, struct range mapping)
{
	assert_true(t->mapping_count < MAX_MAPPINGS);
	if (mapping.low < mapping.end)
		t->mappings[t->mapping_count++] = mapping;
}

static void twin_map(struct twin *t, uint64_t low, uint64_t end)
{
	const struct twin_thread *thread = &t->threads[t->running];
	struct range mapping = {low, end, "<anonymous memory>"};

	if (thread->depth)
		twin_name(&mapping, "anonymous", thread->frames[thread->depth - 1].caller);
	twin_keep(t, mapping);
}

/* Keeps what is left of each mapping on both sides. */
static void twin_unmap(struct twin *t, uint64_t low, uint64_t end)
{
	struct range all[MAX_MAPPINGS];
	const unsigned count = t->mapping_count;

	memcpy(all, t->mappings, sizeof all);
	t->mapping_count = 0;
	for (unsigned i = 0; i < count; i++) {
		struct range before = all[i], behind = all[i];

		before.end = all[i].end < low ? all[i].end : low;
		behind.low = all[i].low > end ? all[i].low : end;
		twin_keep(t, before);
		twin_keep(t, behind);
	}
}

static void twin_record(struct twin *t, const struct nm_wire_record *r)
{
	union {
		struct nm_wire_thread_start start;
		struct nm_wire_thread thread;
		struct nm_wire_map map;
		struct nm_wire_unmap unmap;
		struct nm_wire_alloc alloc;
		struct nm_wire_free free;
		struct nm_wire_name name;
		struct nm_wire_unname unname;
	} u;

	switch ((unsigned)r->kind) {
	case NM_WIRE_THREAD_START:
		assert_int_equal(nm_wire_thread_start_decode(r, &u.start, NULL), 0);
		t->threads[u.start.thread - 1].stack =
		    (struct range){u.start.stack_low, u.start.stack_end, ""};
		break;
	case NM_WIRE_THREAD:
		assert_int_equal(nm_wire_thread_decode(r, &u.thread, NULL), 0);
		t->running = u.thread.thread - 1;
		break;
	case NM_WIRE_MAP:
		assert_int_equal(nm_wire_map_decode(r, &u.map, NULL), 0);
		twin_map(t, u.map.address, u.map.address + u.map.bytes);
		break;
	case NM_WIRE_UNMAP:
		assert_int_equal(nm_wire_unmap_decode(r, &u.unmap, NULL), 0);
		twin_unmap(t, u.unmap.address, u.unmap.address + u.unmap.bytes);
		break;
	case NM_WIRE_ALLOC:
		assert_int_equal(nm_wire_alloc_decode(r, &u.alloc, NULL), 0);
		twin_alloc(t, u.alloc.address, u.alloc.address + u.alloc.size);
		break;
	case NM_WIRE_FREE:
		assert_int_equal(nm_wire_free_decode(r, &u.free, NULL), 0);
		twin_remove(t->heap, &t->heap_count, u.free.address);
		break;
	case NM_WIRE_NAME:
		assert_int_equal(nm_wire_name_decode(r, &u.name, NULL), 0);
		t->named[t->named_count] = (struct range){u.name.address, u.name.address + u.name.bytes, ""};
		snprintf(t->named[t->named_count++].name, sizeof t->named->name, "%s", u.name.name);
		break;
	case NM_WIRE_UNNAME:
		assert_int_equal(nm_wire_unname_decode(r, &u.unname, NULL), 0);
		twin_remove(t->named, &t->named_count, u.unname.address);
		break;
	case NM_WIRE_BLOCK_DEF: /* the stream may move */
		t->payloads[r->arg] = malloc(r->words * sizeof *r->payload);
		memcpy(t->payloads[r->arg], r->payload, r->words * sizeof *r->payload);
		t->definitions[r->arg] = *r;
		t->definitions[r->arg].payload = t->payloads[r->arg];
		break;
	case NM_WIRE_BLOCK: twin_block(t, r); break;
	default: break;
	}
}

/* Replays what was added to the stream. */
static void twin_replay(struct twin *t)
{
	struct nm_wire_scan scan = nm_wire_scan_over(t->words.at + t->replayed, t->words.count - t->replayed);
	struct nm_wire_record r;

	while (nm_wire_scan_next(&scan, &r, NULL) > 0)
		twin_record(t, &r);
	t->replayed = t->words.count;
}

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
	if (!below(6))
		habit = (unsigned)below(9);
	switch (habit) {
	case 0:
	case 1: return stack_address(t, t->running);
	case 2: return t->threads[!t->running].depth ? stack_address(t, !t->running) : MAPPED;
	case 3: return HEAP + below(HEAP_BYTES - 40);
	case 4: return t->heap_count ? t->heap[below(t->heap_count)].low : HEAP;
	case 5: return (below(2) ? MAPPED : ABOVE_STACK) + below(MAPPED_BYTES - PAGE_PART - 40);
	case 6: return (uintptr_t)table + below(sizeof table - 40);
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
		run(t, (uint32_t)below(BLOCKS), 0);
	}
}

/* ---- the comparison ---- */

static void compare(struct twin *t, const struct nm_result *r)
{
	static uint64_t counts[THREADS][FUNCTIONS][MAX_OBJECTS][2];

	memset(counts, 0, sizeof counts);
	for (size_t i = 0; i < r->attr_count; i++) {
		const struct nm_result_attribution *a = &r->attrs[i];
		const struct nm_result_site *s = &r->sites[a->site];
		const struct nm_counts *c = &r->levels[0].counts[i];
		unsigned f = 0;

		while (f < FUNCTIONS && strcmp(s->function, functions[f].name))
			f++;
		assert_true(f < FUNCTIONS);
		assert_int_equal(s->line, functions[f].line);
		counts[a->thread - 1][f][twin_object(t, r->objects[a->object].name)][0] += c->reads;
		counts[a->thread - 1][f][twin_object(t, r->objects[a->object].name)][1] += c->writes;
	}
	for (unsigned thread = 0; thread < THREADS; thread++)
		for (unsigned f = 0; f < FUNCTIONS; f++)
			for (unsigned o = 0; *t->objects[o]; o++)
				for (unsigned write = 0; write < 2; write++)
					if (counts[thread][f][o][write] != t->counts[thread][f][o][write])
						fail_msg("thread %u, %s, %s, %s: %lu, the twin has %lu",
							 thread + 1, functions[f].name, t->objects[o],
							 write ? "writes" : "reads",
							 (unsigned long)counts[thread][f][o][write],
							 (unsigned long)t->counts[thread][f][o][write]);
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
		engine->executor.execute = execute;
	for (size_t at = 0, next; at < t->words.count; at = next) {
		next = at + 20000; /* up to a record's header */
		while (next < t->words.count && !nm_wire_is_header(t->words.at[next]))
			next++;
		next = next < t->words.count ? next : t->words.count;
		assert_int_equal(nm_engine_feed(engine, t->words.at + at, next - at, NULL), 0);
		assert_true(nm_executor_is_valid(&engine->executor));
	}
	return engine;
}

static void check(struct twin *t, nm_execute_function *execute, unsigned threads, int contexts)
{
	struct nm_machine machine;
	struct nm_symbols *symbols;
	struct nm_result result;
	struct nm_engine *engine = feed(t, &machine, &symbols, execute,
					(struct nm_engine_options){.threads = threads, .contexts = contexts});

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
	snprintf(bucket, sizeof bucket, "heap scan (attribution_test.c:%u)", SCAN_LINE);
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

int main(void)
{
	visit();
	const struct CMUnitTest tests[] = {cmocka_unit_test(attributions_are_the_twins),
					   cmocka_unit_test(a_block_that_the_allocator_fills_is_its_callers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
