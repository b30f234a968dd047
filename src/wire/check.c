/* SPDX-License-Identifier: MIT
 *
 * The decoders have validated each single record. These rules hold between records:
 * - the first record is PROCESS, there is no other, and nothing follows EXIT;
 * - a block is defined once, before its first BLOCK, and a BLOCK has as many addresses as one of its block's
 *   exits; 0 stands only where an access is guarded;
 * - only a thread that has started and not ended runs, and blocks come only when one runs;
 * - allocated blocks do not overlap, modules are known when they go;
 * - the rules of check_sampling.h for sampled streams, which have no blocks.
 * Errors of real programs (freeing memory that was never allocated, longjmp over frames) are counted.
 *
 * Live heap blocks are in the C library's balanced tree under an order in which overlapping ranges are
 * equal, so one search finds any block that a range touches.
 */
#include "check.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "check_sampling.h"
#include "decode.h"
#include "map.h"
#include "vector.h"

enum { PAGE = 4096 };

enum thread_state { RUNNABLE = 1, ENDED = 2 };

struct heap_block {
	uint64_t address, end; /* end > address, also for blocks of no bytes */
	uint64_t bytes;
};

struct child {
	uint32_t ordinal;
	struct nm_wire_check *check;
};

struct nm_wire_check {
	struct nm_wire_stats stats;
	int inherited;          /* made by wire_check_of_child */
	int exited;             /* EXIT was seen */
	enum nm_wire_kind last; /* kind of the last record */
	struct nm_arena tables; /* of block definitions */
	struct nm_vec(struct nm_wire_block_info) blocks;
	struct nm_map block_of_id;                  /* index into blocks */
	struct nm_map thread_states, thread_depths; /* by thread */
	uint32_t thread;                            /* the one that runs; 0: none yet */
	uint64_t depth;                             /* of its calls */
	struct nm_map modules;                      /* base to 1 */
	struct wire_sampling_check sampling;
	void *heap;                           /* tree of struct heap_block */
	struct nm_vec(struct child) children; /* made by FORK records, not yet asked for */
};

/* ---- Blocks ------------------------------------------------------------------------------ */

/* Keeps a copy of the block. 0 or NM_ENOMEM. */
static int keep_block(struct nm_wire_check *c, struct nm_wire_block_info b)
{
	size_t words = (size_t)b.def.accesses + b.def.exits;
	uint64_t *copy = nm_arena_alloc(&c->tables, words * sizeof *copy);

	if (!copy)
		return NM_ENOMEM;
	memcpy(copy, b.accesses, words * sizeof *copy);
	b.instructions = NULL;
	b.accesses = copy;
	b.exits = copy + b.def.accesses;
	if (nm_map_put(&c->block_of_id, b.id, c->blocks.count) || nm_vec_push(&c->blocks, b))
		return NM_ENOMEM;
	return 0;
}

static int define_block(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_block_info b;
	int status = nm_wire_block_decode(r, &b, err);

	if (status)
		return status;
	if (nm_map_get(&c->block_of_id, b.id, UINT64_MAX) != UINT64_MAX)
		return nm_wire_fault(r, err, "second definition of a block");
	return keep_block(c, b) ? nm_fail_memory(err) : 0;
}

static void count_frame(struct nm_wire_check *c, unsigned end)
{
	if (end == NM_WIRE_CALL) {
		c->stats.calls++;
		if (++c->depth > c->stats.max_depth)
			c->stats.max_depth = c->depth;
	} else if (end == NM_WIRE_RETURN) {
		c->stats.returns++;
		if (c->depth)
			c->depth--;
		else
			c->stats.unmatched_returns++;
	}
}

/* 0: an address is missing. */
static int count_accesses(struct nm_wire_check *c, const struct nm_wire_block_info *b, unsigned accesses,
			  const uint64_t *words)
{
	for (unsigned i = 0; i < accesses; i++) {
		unsigned flags = nm_wire_access_flags(b->accesses[i]);
		uint64_t word = flags & NM_WIRE_FOLLOWS ? words[-1] : *words++;

		assert(i > 0 || !(flags & NM_WIRE_FOLLOWS));
		if (!word && !(flags & NM_WIRE_GUARDED))
			return 0;
		if (!word)
			c->stats.skipped++;
		else if (flags & NM_WIRE_READ)
			c->stats.reads++;
		else if (flags & NM_WIRE_WRITE)
			c->stats.writes++;
		else
			c->stats.prefetches++;
		if (word && flags & NM_WIRE_WRITE && flags & NM_WIRE_NON_TEMPORAL)
			c->stats.non_temporal++;
	}
	return 1;
}

static int run_block(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	uint64_t index = nm_map_get(&c->block_of_id, r->arg, UINT64_MAX);
	const struct nm_wire_block_info *b;
	unsigned accesses;
	int executed;

	if (index == UINT64_MAX)
		return nm_wire_fault(r, err, "block that was not defined");
	if (!c->thread)
		return nm_wire_fault(r, err, "execution before any thread runs");
	if (c->sampling.options.rate)
		return nm_wire_fault(r, err, "code of a sampled stream");
	assert(index < c->blocks.count);
	b = &c->blocks.at[index];
	executed = nm_wire_block_executed(b, r->words, &accesses);
	if (executed < 0)
		return nm_wire_fault(r, err, "number of addresses that is that of no exit");
	if (!count_accesses(c, b, accesses, r->payload))
		return nm_wire_fault(r, err, "address 0 for an access that has no guard");
	c->stats.addresses += r->words;
	c->stats.instructions += (uint64_t)executed;
	if (accesses == b->def.accesses)
		count_frame(c, b->def.end);
	else
		c->stats.side_exits++;
	return 0;
}

/* ---- Threads ----------------------------------------------------------------------------- */

static int start_thread(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_thread_start t;
	int status = nm_wire_thread_start_decode(r, &t, err);

	if (status)
		return status;
	if (nm_map_get(&c->thread_states, t.thread, 0) == RUNNABLE)
		return nm_wire_fault(r, err, "thread that had started before");
	if (t.parent && !nm_map_get(&c->thread_states, t.parent, 0))
		return nm_wire_fault(r, err, "parent thread that never started");
	if (nm_map_put(&c->thread_states, t.thread, RUNNABLE) || nm_map_put(&c->thread_depths, t.thread, 0))
		return nm_fail_memory(err);
	return 0;
}

static int known_thread(struct nm_wire_check *c, const struct nm_wire_record *r, uint32_t thread,
			struct nm_error *err)
{
	return nm_map_get(&c->thread_states, thread, 0) == RUNNABLE
		   ? 0
		   : nm_wire_fault(r, err, "thread that has not started or has ended");
}

static int end_thread(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_thread t;
	int status = nm_wire_thread_decode(r, &t, err);

	if (status || (status = known_thread(c, r, t.thread, err)))
		return status;
	if (nm_map_put(&c->thread_states, t.thread, ENDED))
		return nm_fail_memory(err);
	if (t.thread == c->thread)
		c->thread = 0;
	return 0;
}

static int switch_thread(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_thread t;
	int status = nm_wire_thread_decode(r, &t, err);

	if (status || (status = known_thread(c, r, t.thread, err)))
		return status;
	if (c->thread && nm_map_put(&c->thread_depths, c->thread, c->depth))
		return nm_fail_memory(err);
	c->thread = t.thread;
	c->depth = nm_map_get(&c->thread_depths, t.thread, 0);
	return 0;
}

static int set_thread_pointer(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_thread_pointer t;
	int status = nm_wire_thread_pointer_decode(r, &t, err);

	return status ? status : known_thread(c, r, t.thread, err);
}

/* ---- Heap -------------------------------------------------------------------------------- */

static int by_range(const void *a, const void *b)
{
	const struct heap_block *h = a, *y = b;

	return h->end <= y->address ? -1 : h->address >= y->end;
}

static int add_heap_block(struct nm_wire_check *c, const struct nm_wire_record *r, uint64_t address,
			  uint64_t bytes, struct nm_error *err)
{
	struct heap_block *b = malloc(sizeof *b), **found;

	if (!b)
		return nm_fail_memory(err);
	*b = (struct heap_block){address, address + (bytes ? bytes : 1), bytes};
	found = tsearch(b, &c->heap, by_range);
	if (!found || *found != b) {
		free(b);
		return found ? nm_wire_fault(r, err, "block that overlaps a live one") : nm_fail_memory(err);
	}
	c->stats.live_blocks++;
	c->stats.live_bytes += bytes;
	if (c->stats.live_bytes > c->stats.max_live_bytes)
		c->stats.max_live_bytes = c->stats.live_bytes;
	return 0;
}

static void remove_heap_block(struct nm_wire_check *c, uint64_t address)
{
	struct heap_block key = {address, address + 1, 0};
	struct heap_block **found = tfind(&key, &c->heap, by_range), *b;

	if (!found || (*found)->address != address) {
		c->stats.unknown_frees++;
		return;
	}
	b = *found;
	assert(c->stats.live_blocks > 0 && c->stats.live_bytes >= b->bytes);
	tdelete(b, &c->heap, by_range);
	c->stats.live_blocks--;
	c->stats.live_bytes -= b->bytes;
	free(b);
}

static int check_allocation(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_alloc a;
	int status = nm_wire_alloc_decode(r, &a, err);

	if (status)
		return status;
	if (!a.address)
		return nm_wire_fault(r, err, "failed allocation");
	if (a.allocator >= NM_WIRE_POOL) /* lies in what another allocator or the kernel gave the pool */
		return 0;
	return add_heap_block(c, r, a.address, a.size, err);
}

static int check_release(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_free f;
	int status = nm_wire_free_decode(r, &f, err);

	if (!status && f.address)
		remove_heap_block(c, f.address);
	return status;
}

static int check_reallocation(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_realloc a;
	int status = nm_wire_realloc_decode(r, &a, err);

	if (status)
		return status;
	if (!a.address && a.size)
		return nm_wire_fault(r, err, "failed allocation");
	if (a.old_address)
		remove_heap_block(c, a.old_address);
	return a.address ? add_heap_block(c, r, a.address, a.size, err) : 0;
}

static int check_loss(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_lost l;
	int status = nm_wire_lost_decode(r, &l, err);

	if (status)
		return status;
	c->stats.lost += l.words;
	tdestroy(c->heap, free); /* frees may be among what was lost */
	c->heap = NULL;
	c->stats.live_blocks = c->stats.live_bytes = 0;
	return 0;
}

/* ---- Address space ----------------------------------------------------------------------- */

static int check_mapping(const struct nm_wire_record *r, struct nm_error *err)
{
	const uint32_t known = NM_WIRE_PROT_READ | NM_WIRE_PROT_WRITE | NM_WIRE_PROT_EXEC | NM_WIRE_MAP_FILE |
			       NM_WIRE_MAP_SHARED | NM_WIRE_MAP_STACK;
	struct nm_wire_map m;
	int status = nm_wire_map_decode(r, &m, err);

	if (status)
		return status;
	if (m.flags & ~known)
		return nm_wire_fault(r, err, "unknown flag");
	return m.address % PAGE ? nm_wire_fault(r, err, "address inside a page") : 0;
}

static int load_module(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_module m;
	int status = nm_wire_module_decode(r, &m, err);

	if (status)
		return status;
	if (!c->stats.records[NM_WIRE_MAP] && !c->inherited)
		return nm_wire_fault(r, err, "module before any mapping");
	if (nm_map_get(&c->modules, m.base, 0))
		return nm_wire_fault(r, err, "module that is loaded already");
	return nm_map_put(&c->modules, m.base, 1) ? nm_fail_memory(err) : 0;
}

static int unload_module(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_module_gone m;
	int status = nm_wire_module_gone_decode(r, &m, err);

	if (status)
		return status;
	return nm_map_remove(&c->modules, m.base) ? 0 : nm_wire_fault(r, err, "module that is not loaded");
}

/* ---- Processes --------------------------------------------------------------------------- */

static int start_process(const struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_process p;
	int status = nm_wire_process_decode(r, &p, err);

	if (status)
		return status;
	return c->inherited && p.start != NM_WIRE_FORKED ? nm_wire_fault(r, err, "start that is not by fork")
							 : 0;
}

static int copy_map(struct nm_map *to, const struct nm_map *from)
{
	uint64_t key, value;

	for (size_t i = 0; nm_map_next(from, &i, &key, &value);)
		if (nm_map_put(to, key, value))
			return NM_ENOMEM;
	return 0;
}

struct heap_copy {
	struct nm_wire_check *to;
	int code;
};

static void copy_heap_block(const void *node, VISIT visit, void *closure)
{
	const struct heap_block *b = *(struct heap_block *const *)node;
	struct heap_copy *copy = closure;

	if ((visit == postorder || visit == leaf) && !copy->code)
		copy->code = add_heap_block(copy->to, NULL, b->address, b->bytes, NULL);
}

static int copy_knowledge(struct nm_wire_check *to, const struct nm_wire_check *from)
{
	struct heap_copy heap = {to, 0};

	for (size_t i = 0; i < from->blocks.count; i++)
		if (keep_block(to, from->blocks.at[i]))
			return NM_ENOMEM;
	twalk_r(from->heap, copy_heap_block, &heap);
	return heap.code || copy_map(&to->thread_states, &from->thread_states) ||
		       copy_map(&to->thread_depths, &from->thread_depths) ||
		       copy_map(&to->modules, &from->modules)
		   ? NM_ENOMEM
		   : 0;
}

static int fork_process(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_fork f;
	struct child child;
	int status = nm_wire_fork_decode(r, &f, err);

	if (status || (status = wire_check_new(&child.check, err)))
		return status;
	child.ordinal = f.ordinal;
	child.check->inherited = 1;
	if (copy_knowledge(child.check, c) || nm_vec_push(&c->children, child)) {
		wire_check_free(child.check);
		return nm_fail_memory(err);
	}
	return 0;
}

int wire_check_of_child(struct nm_wire_check **ret, struct nm_wire_check *parent, uint32_t ordinal)
{
	for (size_t i = 0; i < parent->children.count; i++)
		if (parent->children.at[i].ordinal == ordinal) {
			*ret = parent->children.at[i].check;
			parent->children.at[i] = parent->children.at[--parent->children.count];
			return 1;
		}
	return 0;
}

/* ---- Records ----------------------------------------------------------------------------- */

static int count_ran(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_ran ran;
	int status = nm_wire_ran_decode(r, &ran, err);

	if (!status)
		c->stats.instructions += ran.instructions;
	return status;
}

static int check_sampled(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	int status = wire_sampling_check(&c->sampling, r, c->thread, err);

	c->stats.references = c->sampling.clock;
	c->stats.open_samples = c->sampling.open.count;
	return status;
}

static int check_synchronisation(const struct nm_wire_check *c, const struct nm_wire_record *r,
				 struct nm_error *err)
{
	struct nm_wire_sync_event s;
	int status = nm_wire_sync_event_decode(r, &s, err);

	if (status)
		return status;
	if (!c->thread)
		return nm_wire_fault(r, err, "event of no thread");
	return s.what == NM_WIRE_SYNC_CREATE && nm_map_get(&c->thread_states, s.object, 0) == RUNNABLE
		   ? nm_wire_fault(r, err, "thread that had started before")
		   : 0;
}

/* Kinds that stand for themselves: decoding them is all there is to check. */
static int decode_only(const struct nm_wire_record *r, struct nm_error *err)
{
	union {
		struct nm_wire_exec exec;
		struct nm_wire_exit exit;
		struct nm_wire_signal signal;
		struct nm_wire_unmap unmap;
		struct nm_wire_remap remap;
		struct nm_wire_brk brk;
		struct nm_wire_name name;
		struct nm_wire_unname unname;
		struct nm_wire_region region;
		struct nm_wire_measure measure;
		struct nm_wire_place place;
		struct nm_wire_pages pages;
		struct nm_wire_shared shared;
	} u;

	switch (r->kind) {
	case NM_WIRE_EXEC: return nm_wire_exec_decode(r, &u.exec, err);
	case NM_WIRE_EXIT: return nm_wire_exit_decode(r, &u.exit, err);
	case NM_WIRE_SIGNAL: return nm_wire_signal_decode(r, &u.signal, err);
	case NM_WIRE_UNMAP: return nm_wire_unmap_decode(r, &u.unmap, err);
	case NM_WIRE_REMAP: return nm_wire_remap_decode(r, &u.remap, err);
	case NM_WIRE_BRK: return nm_wire_brk_decode(r, &u.brk, err);
	case NM_WIRE_NAME: return nm_wire_name_decode(r, &u.name, err);
	case NM_WIRE_UNNAME: return nm_wire_unname_decode(r, &u.unname, err);
	case NM_WIRE_REGION: return nm_wire_region_decode(r, &u.region, err);
	case NM_WIRE_MEASURE: return nm_wire_measure_decode(r, &u.measure, err);
	case NM_WIRE_PLACE: return nm_wire_place_decode(r, &u.place, err);
	case NM_WIRE_PAGES: return nm_wire_pages_decode(r, &u.pages, err);
	case NM_WIRE_SHARED: return nm_wire_shared_decode(r, &u.shared, err);
	default: return nm_wire_fault(r, err, "unknown kind");
	}
}

static int check_record(struct nm_wire_check *c, const struct nm_wire_record *r, struct nm_error *err)
{
	int is_first = !c->stats.records[NM_WIRE_PROCESS];

	if (is_first != (r->kind == NM_WIRE_PROCESS))
		return nm_wire_fault(r, err,
				     is_first ? "stream that starts not with PROCESS but" : "second start");
	if (c->exited)
		return nm_wire_fault(r, err, "event after the exit");
	switch (r->kind) {
	case NM_WIRE_BLOCK: return run_block(c, r, err);
	case NM_WIRE_BLOCK_DEF: return define_block(c, r, err);
	case NM_WIRE_PROCESS: return start_process(c, r, err);
	case NM_WIRE_FORK: return fork_process(c, r, err);
	case NM_WIRE_THREAD_START: return start_thread(c, r, err);
	case NM_WIRE_THREAD_EXIT: return end_thread(c, r, err);
	case NM_WIRE_THREAD: return switch_thread(c, r, err);
	case NM_WIRE_THREAD_POINTER: return set_thread_pointer(c, r, err);
	case NM_WIRE_ALLOC: return check_allocation(c, r, err);
	case NM_WIRE_FREE: return check_release(c, r, err);
	case NM_WIRE_REALLOC: return check_reallocation(c, r, err);
	case NM_WIRE_MAP: return check_mapping(r, err);
	case NM_WIRE_MODULE: return load_module(c, r, err);
	case NM_WIRE_MODULE_GONE: return unload_module(c, r, err);
	case NM_WIRE_LOST: return check_loss(c, r, err);
	case NM_WIRE_RAN: return count_ran(c, r, err);
	case NM_WIRE_SAMPLING:
	case NM_WIRE_SAMPLE:
	case NM_WIRE_REUSE:
	case NM_WIRE_FRAMES:
	case NM_WIRE_CLOCK: return check_sampled(c, r, err);
	case NM_WIRE_SYNC: return check_synchronisation(c, r, err);
	default: return decode_only(r, err);
	}
}

int wire_check_feed(struct nm_wire_check *c, const uint64_t *words, size_t count, struct nm_error *err)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	int status;

	scan.origin = c->stats.words;
	while ((status = nm_wire_scan_next(&scan, &r, err)) > 0) {
		status = check_record(c, &r, err);
		if (status)
			return status;
		c->stats.records[r.kind]++;
		c->last = r.kind;
		c->exited |= r.kind == NM_WIRE_EXIT;
	}
	c->stats.words += scan.at;
	return status;
}

int wire_check_new(struct nm_wire_check **ret, struct nm_error *err)
{
	struct nm_wire_check *c = calloc(1, sizeof *c);

	if (!c)
		return nm_fail_memory(err);
	*ret = c;
	return 0;
}

int wire_check_finish(const struct nm_wire_check *c, int whole, struct nm_error *err)
{
	if (!whole)
		return 0;
	if (!c->stats.records[NM_WIRE_PROCESS])
		return nm_fail(err, NM_EFORMAT, "the stream is empty");
	if (c->last != NM_WIRE_EXIT && c->last != NM_WIRE_EXEC)
		return nm_fail(err, NM_EFORMAT, "the stream ends with %s, not with EXIT or EXEC",
			       nm_wire_kind_name(c->last));
	return 0;
}

const struct nm_wire_stats *wire_check_stats(const struct nm_wire_check *c) { return &c->stats; }

void wire_check_free(struct nm_wire_check *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->children.count; i++)
		wire_check_free(c->children.at[i].check);
	nm_vec_free(&c->children);
	nm_arena_done(&c->tables);
	nm_vec_free(&c->blocks);
	nm_map_done(&c->block_of_id);
	nm_map_done(&c->thread_states);
	nm_map_done(&c->thread_depths);
	nm_map_done(&c->modules);
	wire_sampling_check_done(&c->sampling);
	tdestroy(c->heap, free);
	free(c);
}
