/* SPDX-License-Identifier: MIT
 *
 * execute.c - the hot path: executions of blocks become references, each with its cell, and calls and returns
 * become frames.  Compiled once per instruction set (NM_EXECUTE names the function of this copy); engine.c
 * chooses one.
 *
 * An access finds its cell in one of three ways, cheapest first:
 *   1. the address lies in the running function's own frame (below the top of the rebuilt call stack): the
 *      frame's cell of this place;
 *   2. it lies in the range that the access keeps: that cell;
 *   3. the object is looked up (resolve.c), then the cell of (thread, place, object).
 * The first two are decided for a group of accesses at once (lanes.h).  The third is put off until the run of
 * blocks ends: the reference waits in the batch with its access in the place of its cell, since lookups one
 * after another overlap in the host, while one in the midst of a block would make it wait and guess.  Nothing that
 * an open lookup depends on may change meanwhile, and cells and objects are numbered in the order of references:
 * whatever touches the heap, mappings, other stacks, or makes cells or objects settles first (nm_engine_settle).
 *
 * A window of words is looked over for headers first, so that the length of a block is known before it is executed
 * and nothing is guessed.
 *
 * While references are sampled for their strides, a copy of the loop runs that also notes which access made each
 * (patterns.h); the other copy pays nothing for it.
 *
 * What is rare goes one by one through singly.c: blocks left early, prefetches, guarded accesses, fetches, the watch
 * over an allocation, pauses.
 *
 * Measured on the way: prefetching the next plan or the fourth next cost as much as it saved, up to 5 %; batches of
 * 1,024 instead of 8,192 references, which stay in the first level of the host's cache, took an eighth off a whole
 * recording of jq.
 */
#include "engine_priv.h"
#include "lanes.h"

enum {
	WINDOW = 64,    /* words looked over at once */
	RING_AHEAD = 64 /* words; they lie in another processor's cache */
};

static inline int is_block(uint64_t word) { return word >> 56 == NM_WIRE_HEADER_BIT >> 56; }

/* What the loop keeps in registers; the engine has the rest. */
struct cursor {
	struct nm_ref *out, *end; /* of the batch */
	struct nm_reach reach;
};

ALWAYS struct cursor take(const struct nm_engine *e)
{
	return (struct cursor){e->batch + e->batched, e->batch + NM_BATCH, e->reach};
}

ALWAYS void put_back(struct nm_engine *e, const struct cursor *c)
{
	e->batched = (size_t)(c->out - e->batch);
}

/* A header's block as an index of plans; beyond all of them for other records. */
ALWAYS uint64_t block_of(uint64_t header) { return header << 1 >> 25; }

/* Open lanes of the group from lane `at` on go on the list, but for those that cannot wait. */
ALWAYS int put_off(struct nm_engine *e, uint32_t index, struct nm_plan *plan, size_t at, struct nm_open open)
{
	uint32_t origin = plan->first_origin + (uint32_t)at;

	if (__builtin_expect(!open.lanes, 1))
		return 0;
	if (__builtin_expect(open.stacked | (open.lanes & plan->fills), 0)) {
		e->batched = index;
		return nm_engine_open_lanes(e, plan, at, open.lanes);
	}
	e->open_count += nm_list_open(&e->open[e->open_count], open.lanes, (uint64_t)origin << 32 | index);
	return 0;
}

/* References of up to NM_LANES accesses, from access `at` on.  sampled: a constant, as below. */
ALWAYS int serve(struct nm_engine *e, struct cursor *c, struct nm_plan *plan, size_t at,
		 const uint64_t *addresses, size_t n, int sampled)
{
	for (size_t i = 0; sampled && i < n; i++) {
		e->patterns.access[(size_t)(c->out - e->batch) + i] = plan->first_origin + (uint32_t)(at + i);
		e->patterns.frame_end[(size_t)(c->out - e->batch) + i] = c->reach.low + c->reach.own;
	}
	struct nm_open open =
	    nm_serve(&plan->lanes[at / NM_LANES], addresses + at, (unsigned)n, c->reach, c->out);

	if (put_off(e, (uint32_t)(c->out - e->batch), plan, at, open))
		return NM_ENOMEM;
	c->out += n;
	return 0;
}

/* References of a whole block. */
ALWAYS int serve_all(struct nm_engine *e, struct cursor *c, struct nm_plan *plan, const uint64_t *addresses,
		     size_t n, int sampled)
{
	size_t at = 0;

	plan->runs++;
	for (; n - at > NM_LANES; at += NM_LANES)
		if (serve(e, c, plan, at, addresses, NM_LANES, sampled))
			return NM_ENOMEM;
	return serve(e, c, plan, at, addresses, n - at, sampled);
}

/* What an execution answers: go on; not executed, stop before it; executed, stop behind it. */
enum { ON, BEFORE, BEHIND };

/* A block for which something is to be done singly, or none at all: BEFORE. */
static __attribute__((noinline)) int execute_other(struct nm_engine *e, const uint64_t *header, size_t n,
						   struct nm_error *err)
{
	return is_block(*header) ? nm_engine_execute_singly(e, header, n, err) : BEFORE;
}

/* A batch that is sampled has begun, while this is the copy of the loop that does not note its accesses. */
ALWAYS int is_late(const struct nm_engine *e, int sampled) { return !sampled && e->patterns.sampling; }

/* A block that has groups, while each reference is looked at. */
ALWAYS int is_apart(const struct nm_engine *e, const struct nm_plan *plan)
{
	return plan->more && e->patterns.sampling;
}

ALWAYS int execute(struct nm_engine *e, struct cursor *c, const uint64_t *header, size_t n, int sampled,
		   struct nm_error *err)
{
	uint64_t id = block_of(*header);
	struct nm_plan *plan = id < e->plan_room ? e->plans[id] : NULL;

	if (__builtin_expect(!plan || n + 1 != plan->words || (sampled && is_apart(e, plan)), 0)) {
		int status;

		put_back(e, c);
		status = execute_other(e, header, n, err);
		*c = take(e);
		return !status && is_late(e, sampled) ? BEHIND : status;
	}
	if (__builtin_expect(c->out + n > c->end, 0)) {
		put_back(e, c);
		if (nm_engine_flush(e))
			return nm_fail(err, NM_ENOMEM, "out of memory");
		*c = take(e);
		if (is_late(e, sampled))
			return BEFORE;
	}
	if (!n)
		e->clock += plan->instructions;
	else if (serve_all(e, c, plan, header + 1, n, sampled))
		return nm_fail(err, NM_ENOMEM, "out of memory");
	if (plan->end != NM_WIRE_JUMP) {
		put_back(e, c);
		if (nm_engine_change_frame(e, plan, header[n] + plan->frame))
			return nm_fail(err, NM_ENOMEM, "out of memory");
		c->reach = e->reach;
	}
	return ON;
}

/* Executes the blocks that start in a window and end there or, the last of all, with it.  Returns the number of
 * words.  There are two copies: sampled ones note which access made a reference (patterns.h). */
ALWAYS long execute_window(struct nm_engine *e, const uint64_t *words, uint64_t heads, size_t end,
			   int sampled, struct nm_error *err)
{
	struct cursor c = take(e);
	size_t at = 0;
	int status;

	do {
		size_t next;

		heads &= heads - 1;
		next = heads ? (size_t)__builtin_ctzll(heads) : end;
		status = execute(e, &c, words + at, next - at - 1, sampled, err);
		if (status < 0)
			return status;
		if (status == BEFORE)
			break;
		at = next;
	} while (at < end && status == ON);
	put_back(e, &c);
	return (long)at;
}

static __attribute__((noinline)) long execute_plain(struct nm_engine *e, const uint64_t *words,
						    uint64_t heads, size_t end, struct nm_error *err)
{
	return execute_window(e, words, heads, end, 0, err);
}

static __attribute__((noinline)) long execute_sampled(struct nm_engine *e, const uint64_t *words,
						      uint64_t heads, size_t end, struct nm_error *err)
{
	return execute_window(e, words, heads, end, 1, err);
}

/* One block after another, as long as there is a reason for it. */
static long execute_singly(struct nm_engine *e, const uint64_t *words, size_t count, struct nm_error *err)
{
	size_t at = 0;

	while (at < count && e->singly && is_block(words[at])) {
		size_t next = at + 1;
		int status;

		while (next < count && !nm_wire_is_header(words[next]))
			next++;
		status = nm_engine_execute_singly(e, words + at, next - at - 1, err);
		if (status)
			return status;
		at = next;
	}
	return (long)at;
}

static long execute_some(struct nm_engine *e, const uint64_t *words, size_t count, struct nm_error *err)
{
	size_t room = count < WINDOW ? count : WINDOW, end = room;
	uint64_t heads = nm_heads(words, room);

	if (e->singly)
		return execute_singly(e, words, count, err);
	for (size_t i = 0; i < room; i += 8)
		__builtin_prefetch(words + RING_AHEAD + i);
	if (room < count && heads & (heads - 1)) { /* the last one may go on behind the window */
		end = 63 - (size_t)__builtin_clzll(heads);
		heads ^= 1ull << end;
	} else {
		while (end < count && !nm_wire_is_header(words[end]))
			end++;
	}
	return e->patterns.sampling ? execute_sampled(e, words, heads, end, err)
				    : execute_plain(e, words, heads, end, err);
}

long NM_EXECUTE(struct nm_engine *e, const uint64_t *words, size_t count, struct nm_error *err)
{
	size_t at = 0;
	long taken = 0;

	while (at < count && is_block(words[at]) && taken >= 0) {
		taken = execute_some(e, words + at, count - at, err);
		if (taken > 0)
			at += (size_t)taken;
	}
	if (nm_engine_settle(e) && taken >= 0)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	return taken < 0 ? taken : (long)at;
}
