/* SPDX-License-Identifier: MIT
 *
 * attribution_twin.h - to which thread, region, line of code and object each reference of a stream is
 * charged, found by a naive replay: it decodes each record, searches lists of everything, and caches nothing.
 */
#ifndef ATTRIBUTION_TWIN_H
#define ATTRIBUTION_TWIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode.h"
#include "encode.h"
#include "numbers.h"
#include "window.h"

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
	REGIONS = 16, /* what three names and their absence make */
	MAX_OPEN = 40,
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

char squares[4096] = {1}, counters[333] = {1};

struct range {
	uint64_t low, end;
	char name[48];
};

struct twin_frame {
	uint64_t slot;
	unsigned caller; /* function */
};

/* A function that runs in a frame, or has called. */
struct twin_call {
	uint64_t slot;
	unsigned function;
};

struct twin_region {
	char name[8], path[24];
};

struct twin_thread {
	struct range stack;
	struct twin_region open[MAX_OPEN + 1]; /* [0] is outside of all */
	unsigned innermost;
	struct twin_call calls[MAX_FRAMES * FUNCTIONS];
	unsigned call_count;
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
	uint64_t place;   /* of the next accesses; 0: anywhere */
	struct range mappings[MAX_MAPPINGS], heap[HEAP_BLOCKS], named[MAX_NAMES];
	unsigned mapping_count, heap_count, named_count;
	int has_heap; /* a block was allocated */
	char objects[MAX_OBJECTS][48];
	struct nm_run_window window;        /* what counts */
	uint64_t executed, made, passed[2]; /* instructions; references; events of the window's ends */
	uint64_t measured;                  /* instructions within it */
	char regions[REGIONS][24];          /* paths; [0] is outside of all */
	uint64_t counts[THREADS][REGIONS][FUNCTIONS][MAX_OBJECTS][2], instructions[REGIONS], entries[REGIONS];
};

/* The number of a path; NULL: outside of all. */
static inline unsigned twin_region(struct twin *t, const char *path)
{
	unsigned i = 0;

	while (path && *path && strcmp(t->regions[i], path))
		if (!*t->regions[++i])
			snprintf(t->regions[i], sizeof t->regions[i], "%s", path);
	assert_true(i < REGIONS);
	return i;
}

/* ---- the window ---- */

static inline void twin_pass(struct twin *t, enum nm_position_unit unit, const char *name)
{
	const struct nm_run_position *ends[] = {&t->window.from, &t->window.until};

	for (unsigned i = 0; i < 2; i++)
		t->passed[i] += ends[i]->unit == unit && !strcmp(ends[i]->name, name);
}

static inline int twin_reached(const struct twin *t, unsigned end)
{
	const struct nm_run_position *p = end ? &t->window.until : &t->window.from;

	switch (p->unit) {
	case NM_POSITION_NONE: return !end;
	case NM_POSITION_INSTRUCTIONS: return t->executed >= p->at;
	case NM_POSITION_REFERENCES: return t->made >= p->at;
	default: return t->passed[end] >= p->at;
	}
}

/* A block of a function is about to run. Returns whether it counts. */
static inline int twin_enter(struct twin *t, unsigned function)
{
	struct twin_thread *thread = &t->threads[t->running];
	const uint64_t slot = thread->depth ? thread->frames[thread->depth - 1].slot : thread->stack.end;
	int known = 0, in = !t->window.in;

	for (unsigned i = 0; i < thread->call_count; i++)
		known |= thread->calls[i].slot == slot && thread->calls[i].function == function;
	if (!known) {
		assert_true(thread->call_count < MAX_FRAMES * FUNCTIONS);
		thread->calls[thread->call_count++] = (struct twin_call){slot, function};
		twin_pass(t, NM_POSITION_ENTER, functions[function].name);
	}
	for (unsigned i = 0; i < thread->call_count && t->window.in; i++)
		in |= !strcmp(functions[thread->calls[i].function].name, t->window.in);
	return in && twin_reached(t, 0) && !twin_reached(t, 1);
}

/* A call or a return at a slot: what lies below has been left. */
static inline void twin_leave(struct twin *t, uint64_t slot)
{
	struct twin_thread *thread = &t->threads[t->running];
	unsigned kept = 0;

	for (unsigned i = 0; i < thread->call_count; i++)
		if (thread->calls[i].slot <= slot)
			twin_pass(t, NM_POSITION_LEAVE, functions[thread->calls[i].function].name);
		else
			thread->calls[kept++] = thread->calls[i];
	thread->call_count = kept;
}

/* ---- regions ---- */

/* A name that the path has leads back to there. */
static inline void twin_begin(struct twin *t, const char *name)
{
	struct twin_thread *thread = &t->threads[t->running];
	const struct twin_region outer = thread->open[thread->innermost++];
	struct twin_region *inner = &thread->open[thread->innermost];
	const char *known = strstr(outer.path, name); /* names are letters */

	assert_true(thread->innermost <= MAX_OPEN);
	snprintf(inner->name, sizeof inner->name, "%s", name);
	if (known)
		snprintf(inner->path, sizeof inner->path, "%.*s", (int)(known - outer.path) + 1, outer.path);
	else
		assert_true(snprintf(inner->path, sizeof inner->path, "%s%s%s", outer.path,
				     *outer.path ? "/" : "", name) < (int)sizeof inner->path);
	t->entries[twin_region(t, inner->path)]++;
	twin_pass(t, NM_POSITION_MARK, name);
}

static inline void twin_end(struct twin *t, const char *name)
{
	struct twin_thread *thread = &t->threads[t->running];

	for (unsigned i = thread->innermost; i > 0; i--)
		if (!strcmp(thread->open[i].name, name)) {
			thread->innermost = i - 1;
			twin_pass(t, NM_POSITION_END, name);
			return;
		}
}

static inline unsigned twin_object(struct twin *t, const char *name)
{
	unsigned i = 0;

	while (*t->objects[i] && strcmp(t->objects[i], name))
		i++;
	assert_true(i < MAX_OBJECTS - 1);
	snprintf(t->objects[i], sizeof t->objects[i], "%s", name);
	return i;
}

static inline unsigned twin_function(uint64_t pc)
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
static inline unsigned twin_frame_owner(const struct twin *t, unsigned thread, uint64_t address,
					unsigned function, uint64_t *ret_end)
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
static inline unsigned twin_in_frame(struct twin *t, unsigned function, uint64_t end, uint64_t address)
{
	char name[40];

	for (unsigned i = 0; i < 2 && functions[function].code == visit; i++)
		if (address - (end - locals[i].below) < locals[i].bytes)
			return twin_object(t, locals[i].name);
	snprintf(name, sizeof name, "stack of %s", functions[function].name);
	return twin_object(t, name);
}

static inline unsigned twin_charge(struct twin *t, uint64_t address, unsigned function)
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
	if (address - (uintptr_t)squares < sizeof squares)
		return twin_object(t, "squares");
	if (address - (uintptr_t)counters < sizeof counters)
		return twin_object(t, "counters");
	if (t->has_heap && address - HEAP < HEAP_BYTES)
		return twin_object(t, "<heap bookkeeping>");
	found = twin_find(t->mappings, t->mapping_count, address);
	return twin_object(t, found ? found->name : "<unknown>");
}

/* Those that an execution with so many address words has executed: up to its exit, or all. */
static inline unsigned twin_instructions(const struct nm_wire_block_info *b, size_t words)
{
	size_t all = 0;

	for (unsigned i = 0; i < b->def.accesses; i++)
		all += !(nm_wire_access_flags(b->accesses[i]) & NM_WIRE_FOLLOWS);
	return b->def.exits && words < all ? nm_wire_exit_instructions(b->exits[0]) : b->def.instructions;
}

/* One access after another; members of a coalesced access lie at distances from its address word. */
static inline void twin_block(struct twin *t, const struct nm_wire_record *r)
{
	struct nm_wire_block_info b;
	struct twin_thread *thread = &t->threads[t->running];
	size_t word = 0;
	unsigned function, region;
	int counts;

	assert_int_equal(nm_wire_block_decode(&t->definitions[r->arg], &b, NULL), 0);
	function = twin_function(b.def.pc);
	region = twin_region(t, thread->open[thread->innermost].path);
	counts = twin_enter(t, function);
	t->executed += twin_instructions(&b, r->words);
	t->instructions[region] += counts ? twin_instructions(&b, r->words) : 0;
	t->measured += counts ? twin_instructions(&b, r->words) : 0;
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
		t->counts[t->running][region][function][twin_charge(t, address, function)]
			 [(flags & NM_WIRE_WRITE) != 0] += counts;
		t->made++;
	}
	if (b.def.end == NM_WIRE_JUMP)
		return;
	twin_leave(t, r->payload[r->words - 1]);
	while (thread->depth && thread->frames[thread->depth - 1].slot <= r->payload[r->words - 1])
		thread->returned_to = thread->frames[--thread->depth].caller;
	if (b.def.end == NM_WIRE_CALL)
		thread->frames[thread->depth++] = (struct twin_frame){r->payload[r->words - 1], function};
}

static inline void twin_remove(struct range *ranges, unsigned *count, uint64_t low)
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
static inline void twin_name(struct range *range, const char *kind, unsigned function)
{
	snprintf(range->name, sizeof range->name, "%s %s (attribution_twin.h:%u)", kind,
		 functions[function].name, functions[function].line);
}

static inline void twin_alloc(struct twin *t, uint64_t low, uint64_t end)
{
	struct range *block = &t->heap[t->heap_count++];

	t->has_heap = 1;
	*block = (struct range){low, end, ""};
	twin_name(block, "heap", t->threads[t->running].returned_to);
}

static inline void twin_keep(struct twin *t, struct range mapping)
{
	assert_true(t->mapping_count < MAX_MAPPINGS);
	if (mapping.low < mapping.end)
		t->mappings[t->mapping_count++] = mapping;
}

static inline void twin_map(struct twin *t, uint64_t low, uint64_t end)
{
	const struct twin_thread *thread = &t->threads[t->running];
	struct range mapping = {low, end, "<anonymous memory>"};

	if (thread->depth)
		twin_name(&mapping, "anonymous", thread->frames[thread->depth - 1].caller);
	twin_keep(t, mapping);
}

/* Keeps what is left of each mapping on both sides. */
static inline void twin_unmap(struct twin *t, uint64_t low, uint64_t end)
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

/* Mappings, blocks and names come and go. */
static inline void twin_memory(struct twin *t, const struct nm_wire_record *r)
{
	union {
		struct nm_wire_map map;
		struct nm_wire_unmap unmap;
		struct nm_wire_alloc alloc;
		struct nm_wire_free free;
		struct nm_wire_name name;
		struct nm_wire_unname unname;
	} u;

	switch ((unsigned)r->kind) {
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
	default: break;
	}
}

static inline void twin_record(struct twin *t, const struct nm_wire_record *r)
{
	union {
		struct nm_wire_thread_start start;
		struct nm_wire_thread thread;
		struct nm_wire_region region;
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
	case NM_WIRE_REGION:
		assert_int_equal(nm_wire_region_decode(r, &u.region, NULL), 0);
		(u.region.enter ? twin_begin : twin_end)(t, u.region.name);
		break;
	case NM_WIRE_BLOCK_DEF: /* the stream may move */
		t->payloads[r->arg] = malloc(r->words * sizeof *r->payload);
		memcpy(t->payloads[r->arg], r->payload, r->words * sizeof *r->payload);
		t->definitions[r->arg] = *r;
		t->definitions[r->arg].payload = t->payloads[r->arg];
		break;
	case NM_WIRE_BLOCK: twin_block(t, r); break;
	default: twin_memory(t, r);
	}
}

/* Replays what was added to the stream. */
static inline void twin_replay(struct twin *t)
{
	struct nm_wire_scan scan = nm_wire_scan_over(t->words.at + t->replayed, t->words.count - t->replayed);
	struct nm_wire_record r;

	while (nm_wire_scan_next(&scan, &r, NULL) > 0)
		twin_record(t, &r);
	t->replayed = t->words.count;
}

#endif
