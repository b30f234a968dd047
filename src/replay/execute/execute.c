/* SPDX-License-Identifier: MIT
 *
 * execute.c - the hot path: turns executions of blocks into references with attribution keys, and calls and
 * returns into frames. Compiled once per instruction set (NM_EXECUTE names this copy); engine.c chooses one.
 *
 * An access finds its attribution key in one of three ways, cheapest first:
 * 1. its address lies in the running function's own frame: the frame's key for this access site;
 * 2. it lies in the range of its inline cache entry: the entry's key;
 * 3. the resolver (resolve.c) looks up the object, then the key of (thread, site, object).
 *
 * The first two are decided for NM_ENTRIES accesses at once (inline_cache.h). The third is deferred to the
 * end of the run of blocks, so that look-ups overlap in the processor. Until then the reference is *pending*.
 * Keys and objects are numbered in the order of references, and a look-up sees the state at its reference:
 * code that changes the heap, mappings or stacks, or makes keys or objects, first calls
 * nm_replay_resolve_pending.
 *
 * Headers are searched in a window of words first, so the length of a block is known before it is executed.
 * The loop has three copies: one notes access sites while bursts are sampled (bursts.h), one runs near the
 * end of the batch or the words, and one, which does nearly all the work, checks for neither. single_step.c
 * handles rare cases: side exits of blocks with coalesced accesses, prefetches, guarded accesses,
 * fetches, allocations under observation, pauses.
 *
 * Dropped, no faster: fetching decoded blocks ahead; batches larger than the first-level cache.
 */
#include "user_calls.h"

enum {
	WINDOW = NM_WORDS_AT_ONCE, /* words searched for headers at once */
	RING_AHEAD = 64            /* words; they lie in another processor's cache */
};

static inline int is_block(uint64_t word) { return word >> 56 == NM_WIRE_HEADER_BIT >> 56; }

/* The block number in a header, an index into decoded blocks; out of range for other records. */
ALWAYS uint64_t block_of(uint64_t header) { return header << 1 >> 25; }

/* How copies of the loop differ. sampled: notes which access made each reference (bursts.h). tight: the batch
 * may fill up within the window, words behind it must not be read, or no header ends it. */
struct manner {
	int sampled, tight;
};

ALWAYS struct nm_ref *next_ref(const struct nm_replay *x) { return x->builder.refs + x->builder.count; }

ALWAYS void put_back(struct nm_replay *r, const struct nm_ref *out)
{
	r->builder.count = (size_t)(out - r->builder.refs);
}

/* Puts the references of open entries, from entry `at`, on the pending list; resolves those that cannot
 * wait. */
static __attribute__((noinline)) int defer(struct nm_replay *r, const struct nm_ref *out,
					   struct nm_decoded_block *decoded, size_t at,
					   const uint64_t *addresses, unsigned open)
{
	const uint64_t step = 1ull << 32 | 1, access_site = decoded->first_access_site + at;
	const uint64_t first = access_site << 32 | (size_t)(out - r->builder.refs);
	uint64_t *list = &r->pending[r->pending_count];
	unsigned left = decoded->fills ? 0 : open;

	for (; left; left &= left - 1) {
		const unsigned entry = (unsigned)__builtin_ctz(left);

		if (nm_is_near_stack(addresses[entry], &r->running.window))
			break;
		*list++ = first + step * entry;
	}
	if (left || decoded->fills) {
		put_back(r, out);
		return nm_replay_defer(r, decoded, at, open);
	}
	r->pending_count = (size_t)(list - r->pending);
	return 0;
}

/* Notes which access makes each of the batch's next n references. */
static void note_accesses(struct nm_replay *r, const struct nm_ref *out,
			  const struct nm_decoded_block *decoded, size_t n)
{
	const size_t index = (size_t)(out - r->builder.refs);

	for (size_t i = 0; i < n; i++) {
		r->builder.bursts.access[index + i] = decoded->first_access_site + (uint32_t)i;
		r->builder.bursts.frame_end[index + i] = r->running.window.low + r->running.window.own;
	}
}

/* Makes the references of a block with at most NM_ENTRIES accesses. */
ALWAYS int serve(struct nm_replay *r, struct nm_ref *out, struct nm_decoded_block *decoded,
		 const uint64_t *addresses, size_t n, int tight)
{
	const unsigned open =
	    nm_look_up(decoded->entries, addresses, (unsigned)n, tight, &r->running.window, out);

	return __builtin_expect(open, 0) ? defer(r, out, decoded, 0, addresses, open) : 0;
}

/* The same for a block with more. All are looked up before any is resolved, which may turn other entries of the
 * block: its run is counted under the keys that they have now (nm_resolver_count). */
static __attribute__((noinline)) int serve_many(struct nm_replay *r, struct nm_ref *out,
						struct nm_decoded_block *decoded, const uint64_t *addresses,
						size_t n)
{
	uint8_t open[NM_BATCH / NM_ENTRIES + 1];
	int status = 0;

	for (size_t at = 0; at < n; at += NM_ENTRIES)
		open[at / NM_ENTRIES] = (uint8_t)nm_look_up(
		    &decoded->entries[at / NM_ENTRIES], addresses + at,
		    (unsigned)(n - at < NM_ENTRIES ? n - at : NM_ENTRIES), 1, &r->running.window, out + at);
	for (size_t at = 0; at < n && !status; at += NM_ENTRIES)
		if (open[at / NM_ENTRIES])
			status = defer(r, out + at, decoded, at, addresses + at, open[at / NM_ENTRIES]);
	return status;
}

/* The call or return that ends a block. */
static __attribute__((noinline)) int change_frame(struct nm_replay *r, const struct nm_ref *out,
						  const struct nm_decoded_block *decoded, uint64_t last)
{
	put_back(r, out);
	return nm_replay_change_frame(r, decoded, last + decoded->frame);
}

/* Executes a whole block; there is room for its n references. 0 or NM_ENOMEM. */
ALWAYS int execute(struct nm_replay *r, struct nm_ref *out, struct nm_decoded_block *decoded,
		   const uint64_t *header, size_t n, struct manner manner)
{
	int status = 0;

	if (manner.sampled)
		note_accesses(r, out, decoded, n);
	r->clock += decoded->instructions;
	r->running.last = decoded;
	decoded->runs++;
	if (__builtin_expect(n - 1 < NM_ENTRIES, 1))
		status = serve(r, out, decoded, header + 1, n, manner.tight);
	else if (n)
		status = serve_many(r, out, decoded, header + 1, n);
	if (decoded->end != NM_WIRE_JUMP && !status)
		status = change_frame(r, out + n, decoded, header[n]);
	return status;
}

/* Does the block have coalesced accesses? Single steps make a reference of each member. */
ALWAYS int is_coalesced(const struct nm_decoded_block *decoded)
{
	return nm_tables_of(decoded)->accesses + 1 > decoded->words;
}

/* A block with coalesced accesses, while bursts are sampled: each reference must be separate. */
ALWAYS int is_apart(const struct nm_replay *r, const struct nm_decoded_block *decoded)
{
	return r->builder.bursts.sampling && is_coalesced(decoded);
}

/* Can a block be executed up to a side exit, behind n addresses, without single steps? */
static int is_simple_part(const struct nm_replay *r, const struct nm_decoded_block *decoded, size_t n)
{
	return decoded->words && !is_coalesced(decoded) && !nm_tables_of(decoded)->string_bytes &&
	       !r->builder.bursts.sampling && r->builder.count + n <= NM_BATCH;
}

/* Executes a block up to a side exit, behind n references. These are counted at once, under the keys that the entries
 * have now. 0 or NM_ENOMEM. */
static int execute_part(struct nm_replay *r, struct nm_decoded_block *decoded,
			const struct nm_side_exit *left, const uint64_t *addresses, size_t n)
{
	struct nm_ref *const out = next_ref(r);
	int status;

	r->clock += left->instructions;
	r->running.last = &nm_no_last_block;
	for (size_t i = 0; i < n; i++)
		nm_resolver_count(&r->resolver, decoded->entries[i / NM_ENTRIES].word[i % NM_ENTRIES], 1);
	r->builder.references += n;
	status = serve_many(r, out, decoded, addresses, n);
	put_back(r, out + n);
	return status;
}

/* Executes a block of n addresses that is no whole one. 1: the record is no block. */
static __attribute__((noinline)) int execute_other(struct nm_replay *r, const struct nm_ref *out,
						   struct nm_decoded_block *decoded, const uint64_t *header,
						   size_t n, struct nm_error *err)
{
	const struct nm_side_exit *left;

	put_back(r, out);
	if (!is_block(*header))
		return 1;
	left = is_simple_part(r, decoded, n) ? nm_side_exit_after(nm_tables_of(decoded), n) : NULL;
	if (!left)
		return nm_replay_single_step(r, header, n, err);
	return execute_part(r, decoded, left, header + 1, n) ? nm_fail_memory(err) : 0;
}

static __attribute__((noinline)) int make_room(struct nm_replay *r, const struct nm_ref *out)
{
	put_back(r, out);
	return nm_replay_flush(r);
}

/* Whether this copy of the loop can execute the next n words. */
ALWAYS int does(const struct nm_replay *r, size_t n, struct manner manner)
{
	return (manner.sampled || !r->builder.bursts.sampling) &&
	       (manner.tight || r->builder.count + n <= NM_BATCH);
}

/* Executes the blocks of a window of `end` words. heads: a bit for each word that is a header, including that
 * behind the window if it is known. Returns the number of words executed. */
ALWAYS long execute_window(struct nm_replay *r, const uint64_t *words, uint64_t heads, size_t end,
			   struct manner manner, struct nm_error *err)
{
	const uint64_t *const begin = words, *const last = words + end;
	struct nm_ref *out = next_ref(r);

	while (words != last) { /* the lowest bit of heads stands for words[0] */
		const uint64_t id = block_of(*words);
		struct nm_decoded_block *decoded =
		    id < r->decoded_room ? r->decoded_blocks[id] : &nm_undecoded_block;
		const int followed = !manner.tight || heads != 1;
		const size_t count = followed ? (size_t)__builtin_ctzll(heads - 1) : (size_t)(last - words);

		if (__builtin_expect(nm_is_of_other_call(&r->running, decoded), 0))
			decoded = nm_replay_of_this_call(r, (uint32_t)id, decoded);
		if (__builtin_expect(count != decoded->words || (manner.sampled && is_apart(r, decoded)),
				     0)) {
			int status = execute_other(r, out, decoded, words, count - 1, err);

			if (status || !does(r, (size_t)(last - words) - count, manner))
				return status < 0 ? status : words - begin + (status ? 0 : (long)count);
			out = next_ref(r);
		} else {
			if (manner.tight && out + count - 1 > r->builder.refs + NM_BATCH) {
				if (make_room(r, out))
					return nm_fail_memory(err);
				if (!does(r, (size_t)(last - words), manner))
					return words - begin;
				out = next_ref(r);
			}
			if (execute(r, out, decoded, words, count - 1, manner))
				return nm_fail_memory(err);
			out += count - 1;
		}
		heads = followed ? heads >> count : 0;
		words += count;
	}
	put_back(r, out);
	return (long)end;
}

static __attribute__((noinline)) long execute_plain(struct nm_replay *r, const uint64_t *words,
						    uint64_t heads, size_t end, struct nm_error *err)
{
	return execute_window(r, words, heads, end, (struct manner){0, 0}, err);
}

static __attribute__((noinline)) long execute_tight(struct nm_replay *r, const uint64_t *words,
						    uint64_t heads, size_t end, struct nm_error *err)
{
	return execute_window(r, words, heads, end, (struct manner){0, 1}, err);
}

static __attribute__((noinline)) long execute_sampled(struct nm_replay *r, const uint64_t *words,
						      uint64_t heads, size_t end, struct nm_error *err)
{
	return execute_window(r, words, heads, end, (struct manner){1, 1}, err);
}

/* Executes blocks by single steps as long as that is needed. */
static long single_step(struct nm_replay *r, const uint64_t *words, size_t count, struct nm_error *err)
{
	size_t at = 0;

	while (at < count && r->single_step && is_block(words[at])) {
		size_t next = at + 1;
		int status;

		while (next < count && !nm_wire_is_header(words[next]))
			next++;
		status = r->silent ? nm_replay_follow(r, words + at, next - at - 1, err)
				   : nm_replay_single_step(r, words + at, next - at - 1, err);
		if (status)
			return status;
		at = next;
	}
	return (long)at;
}

static long execute_some(struct nm_replay *r, const uint64_t *words, size_t count, struct nm_error *err)
{
	size_t room = count < WINDOW ? count : WINDOW, end = room;
	uint64_t heads = nm_heads(words, room);
	/* the last block may continue behind the window */
	const int whole = room < count && heads & (heads - 1);

	if (__builtin_expect(r->clock >= r->careful_from, 0))
		nm_replay_choose_path(r);
	if (r->single_step)
		return single_step(r, words, count, err);
	for (size_t i = 0; i < WINDOW; i += 8)
		__builtin_prefetch(words + RING_AHEAD + i);
	if (whole)
		end = 63 - (size_t)__builtin_clzll(heads);
	else
		while (end < count && !nm_wire_is_header(words[end]))
			end++;
	if (r->builder.bursts.sampling)
		return execute_sampled(r, words, heads, end, err);
	return !whole || r->builder.count + end > NM_BATCH || count - end < NM_ENTRIES
		   ? execute_tight(r, words, heads, end, err)
		   : execute_plain(r, words, heads, end, err);
}

long NM_EXECUTE(struct nm_replay *r, const uint64_t *words, size_t count, struct nm_error *err)
{
	size_t at = 0;
	long taken = 0;

	while (at < count && is_block(words[at]) && taken >= 0) {
		taken = execute_some(r, words + at, count - at, err);
		if (taken > 0)
			at += (size_t)taken;
	}
	if (nm_replay_resolve_pending(r) && taken >= 0)
		return nm_fail_memory(err);
	return taken < 0 ? taken : (long)at;
}
