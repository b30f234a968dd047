/* SPDX-License-Identifier: MIT
 *
 * fast.c - the hot loops: look up references, count hits, pass misses outwards. Compiled once per instruction
 * set (NM_LOOKUP names the table that this copy fills); cache.c chooses one when it builds the level.
 *
 * A hit costs a predicted slot, a compare with its tag, a timestamp, an entry in the log of touches
 * (shadow.c), a count and a mask; if the prediction is wrong, all tags of the set are compared. Misses are in
 * fast_miss.h.
 *
 * The loop has two halves. The first computes for a block of references, four at a time, everything that does
 * not depend on the cache: index of the prediction, byte mask, whether the reference spans two lines. The
 * second looks up and counts. So the addresses of stores do not depend on a search, and later loads need not
 * wait for them.
 *
 * A coalesced access (coalesced.h) is one reference if it lies in one line; otherwise it is split into
 * segments of consecutive members that share a line.
 *
 * Counting rules: a reference that spans lines touches each of them and misses once, however many are loaded;
 * a fetch of `weight` instructions counts as `weight` accesses to each line that it touches, and misses once.
 *
 * Dropped: one loop with a search of the tags; eight references at a time with AVX-512; sets of partial tags and
 * an order in one line of the host (1 to 5 % fewer instructions a miss, 9 more a hit).
 */
#include "coalesced.h"
#include "fast_coherent.h"

_Static_assert(sizeof(struct nm_ref) == 16 && offsetof(struct nm_ref, attr) == 8 &&
		   offsetof(struct nm_ref, size) == 12 && offsetof(struct nm_ref, kind) == 14 &&
		   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "look_at_four() takes references apart");

/* The reference that loads the line, if it misses. */
ALWAYS struct nm_ref first_of(const struct nm_cache *c, const struct nm_ref *r)
{
	return nm_ref_is_coalesced(r)
		   ? nm_coalesced_member_ref(r, nm_coalesced_at(c->coalesced, r->attr)->member)
		   : *r;
}

/* Counts a reference within a line. */
ALWAYS void serve(struct nm_residency *residency, const struct nm_ref *r)
{
	residency->writes += r->kind;
	residency->served += r->weight;
}

/* What the first half computes of each reference for the second. */
enum { BLOCK = 128 };
struct block {
	_Alignas(
	    32) uint64_t hint[BLOCK]; /* lower half: index into `predicted`; NM_GUESSES: it spans two lines */
	_Alignas(32) uint64_t mask[BLOCK]; /* bytes touched */
};

/* The mask of bytes that a reference touches in its line. */
ALWAYS uint64_t bytes_of(uint64_t address, unsigned size, unsigned line_shift)
{
	return low_bits(size) << (address & ((1u << line_shift) - 1));
}

#if defined(__AVX2__)
/* Counts of references and of writes; vectors add up both at once in `both`, 256 for each write and one for
 * each reference. */
struct sums {
	__m256i both, references;
};

ALWAYS uint64_t sum_of(__m256i v)
{
	return (uint64_t)(_mm256_extract_epi64(v, 0) + _mm256_extract_epi64(v, 1) +
			  _mm256_extract_epi64(v, 2) + _mm256_extract_epi64(v, 3));
}

/* The first half for four references, from the i-th of a block on. */
ALWAYS void look_at_four(const struct nm_ref *r, struct shape shape, struct block *b, uint32_t i,
			 struct sums *s)
{
	const __m256i ones = _mm256_set1_epi8(-1), line = _mm256_set1_epi64x(1 << shape.line_shift);
	const __m256i sizes = /* bytes of the second halves; ~0: a zero */
	    _mm256_set_epi64x(~0xffffll | 0x0d0c, ~0xffffll | 0x0504, ~0xffffll | 0x0d0c, ~0xffffll | 0x0504);
	const __m256i two = _mm256_loadu_si256((const __m256i *)r);
	const __m256i more = _mm256_loadu_si256((const __m256i *)(r + 2));
	const __m256i address = _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(two, more), 0xd8);
	const __m256i rest = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(two, more), 0xd8);

	s->both = _mm256_add_epi64(s->both, _mm256_srli_epi64(rest, 48));
	s->references = _mm256_add_epi64(s->references, _mm256_srli_epi64(rest, 56));

	__m256i hint = _mm256_mul_epu32(_mm256_srli_epi64(address, (int)shape.line_shift),
					_mm256_set1_epi64x(NM_GUESS_FACTOR));
	__m256i first = _mm256_and_si256(address, _mm256_sub_epi64(line, _mm256_set1_epi64x(1)));
	__m256i end = _mm256_add_epi64(first, _mm256_shuffle_epi8(rest, sizes));
	__m256i out = _mm256_cmpgt_epi32(end, line);

	hint = _mm256_blendv_epi8(_mm256_srli_epi32(hint, 32 - NM_GUESS_BITS), _mm256_set1_epi64x(NM_GUESSES),
				  out);
	_mm256_store_si256((__m256i *)(b->hint + i), hint);
	_mm256_store_si256((__m256i *)(b->mask + i),
			   _mm256_andnot_si256(_mm256_sllv_epi64(ones, end), _mm256_sllv_epi64(ones, first)));
}
#endif

/* The first half. `expected`: references for the host to prefetch meanwhile, one at a time, since it can have
 * only some twenty misses in flight. */
ALWAYS void look_ahead(struct nm_cache *c, const struct nm_ref *refs, const struct nm_ref *expected,
		       uint32_t count, struct shape shape, struct block *b)
{
	uint32_t i = 0;

#if defined(__AVX2__)
	struct sums s = {_mm256_setzero_si256(), _mm256_setzero_si256()};

	for (; i + 4 <= count; i += 4) {
		__builtin_prefetch(expected + i, 0, 2);
		look_at_four(refs + i, shape, b, i, &s);
	}
	nm_cache_count(c, sum_of(s.references), sum_of(s.both) - 256 * sum_of(s.references));
#endif
	for (; i < count; i++) {
		const uint64_t line = refs[i].address >> shape.line_shift;

		const int within = (refs[i].address + refs[i].size - 1) >> shape.line_shift == line;

		__builtin_prefetch(expected + i, 0, 2);
		nm_cache_count(c, refs[i].weight, refs[i].kind);
		b->hint[i] = within ? nm_cache_guess(line) : NM_GUESSES;
		b->mask[i] = bytes_of(refs[i].address, refs[i].size, shape.line_shift);
	}
}

ALWAYS uint32_t search_in(struct nm_cache *c, const struct nm_ref *r, struct shape shape)
{
	const uint64_t line = r->address >> shift_of(c, shape), place = laid_place(c, line, shape);
	uint32_t slot = find_at(c, place, line, shape);

	if (slot == NM_NO_SLOT) {
		const struct nm_ref loader = first_of(c, r);

		slot = load_shape(c, loader.address, loader.attr, loader.kind, place, shape);
	} else {
		touch(c, slot);
	}
	c->predicted[nm_cache_guess(line)] = slot;
	return slot;
}

static __attribute__((noinline)) uint32_t search_of_64(struct nm_cache *c, const struct nm_ref *r)
{
	return search_in(c, r, (struct shape){8, 6, 0});
}

static __attribute__((noinline)) uint32_t search_any(struct nm_cache *c, const struct nm_ref *r)
{
	return search_in(c, r, any_shape);
}

/* Touches a line that is not at its predicted slot; a line that is not resident is loaded. Returns its slot. */
ALWAYS uint32_t search_line(struct nm_cache *c, const struct nm_ref *r, struct shape shape)
{
	return shape.ways == 8 && shape.line_shift == 6 ? search_of_64(c, r) : search_any(c, r);
}

/* The second half, from the i-th of a block on: takes references as long as they are within a line. Returns their
 * number. */
ALWAYS uint32_t take_some(struct nm_cache *c, const struct nm_ref *r, uint32_t count, struct shape shape,
			  const struct block *b, uint32_t i)
{
	const uint64_t *const tags = shape.coherent ? c->coherent->cleared[0] : c->tags;
	const uint32_t *const predicted = c->predicted;
	struct nm_residency *const residencies = c->residencies;
	uint64_t *const timestamps = c->timestamps, head = c->shadow.head, now = c->shadow.now;
	const uint64_t end = now + count;
	uint32_t *const log = c->shadow.log;
	uint64_t *const written = shape.coherent ? c->coherent->written : NULL;
	/* Shifted so that one index, `now`, serves the block and the log. */
	const uint64_t *const hints = (const void *)((uintptr_t)b->hint + (i - now) * sizeof *b->hint);
	const uint64_t *const masks = hints + (b->mask - b->hint);

	for (; now != end; now++, r++) {
		const uint32_t hint = (uint32_t)hints[now];
		uint64_t slot = predicted[hint];
		const uint64_t tag = shape.coherent ? tags[2 * slot + (r->kind > 0)] : tags[slot];

		if (__builtin_expect(tag != r->address >> shape.line_shift, 0)) {
			if (shape.coherent || hint == NM_GUESSES || c->queue)
				break;
			c->shadow.now = now;
			slot = search_line(c, r, shape);
			head = c->shadow.head;
		} else {
			if (__builtin_expect(timestamps[slot] < head, 0))
				head = enter_late(&c->shadow);
			log[now] = (uint32_t)slot;
			timestamps[slot] = now;
		}
		serve(&residencies[slot], r);
		residencies[slot].mask |= masks[now];
		if (shape.coherent && r->kind)
			note_written(c, &written[slot], r, masks[now],
				     (unsigned)r->address & ((1u << shape.line_shift) - 1));
	}
	c->shadow.now = now;
	return count - (uint32_t)(end - now);
}

static __attribute__((noinline)) uint32_t take_some_of_64(struct nm_cache *c, const struct nm_ref *refs,
							  uint32_t count, const struct block *b, uint32_t i)
{
	return take_some(c, refs, count, (struct shape){8, 6, 0}, b, i);
}

static __attribute__((noinline)) uint32_t take_cleared_ones(struct nm_cache *c, const struct nm_ref *refs,
							    uint32_t count, const struct block *b, uint32_t i)
{
	return c->line_shift == 6 ? take_some(c, refs, count, (struct shape){0, 6, 1}, b, i)
				  : take_some(c, refs, count, (struct shape){0, c->line_shift, 1}, b, i);
}

ALWAYS uint32_t take_within(struct nm_cache *c, const struct nm_ref *refs, uint32_t count, struct shape shape,
			    const struct block *b, uint32_t i)
{
	if (shape.coherent)
		return take_cleared_ones(c, refs, count, b, i);
	return shape.line_shift == 6 && shape.ways == 8 ? take_some_of_64(c, refs, count, b, i)
							: take_some(c, refs, count, shape, b, i);
}

/* Takes a reference within a line that is not at its predicted slot. */
ALWAYS void take_moved(struct nm_cache *c, const struct nm_ref *r, struct shape shape)
{
	const uint32_t slot = search_line(c, r, shape);

	serve(&c->residencies[slot], r);
	c->residencies[slot].mask |= bytes_of(r->address, r->size, shape.line_shift);
}

/* Takes consecutive members of a coalesced access in one line; `loader` is the first of them. */
ALWAYS void take_segment(struct nm_cache *c, struct nm_ref loader, unsigned count, unsigned writes,
			 uint64_t mask, struct shape shape)
{
	const uint64_t line = loader.address >> shape.line_shift;
	uint32_t slot = c->predicted[nm_cache_guess(line)];

	reserve(&c->shadow, 1);
	if (__builtin_expect(c->tags[slot] == line, 1))
		touch(c, slot);
	else
		slot = search_line(c, &loader, shape);
	c->residencies[slot].writes += writes;
	c->residencies[slot].served += count;
	c->residencies[slot].mask |= mask;
}

/* Takes a coalesced access that spans lines, segment by segment. */
static __attribute__((noinline)) void take_segments(struct nm_cache *c, const struct nm_ref *r,
						    struct shape shape)
{
	const struct nm_coalesced *g = nm_coalesced_at(c->coalesced, r->attr);

	for (uint32_t i = 0, first; i < g->members;) {
		const uint64_t line = (r->address + g->member[i].distance) >> shape.line_shift;
		unsigned writes = 0;
		uint64_t mask = 0;

		for (first = i; i < g->members; i++) {
			const struct nm_coalesced_member *m = &g->member[i];
			const uint64_t address = r->address + m->distance;

			if (address >> shape.line_shift != line ||
			    (address + m->size - 1) >> shape.line_shift != line)
				break;
			writes += m->kind;
			mask |= bytes_of(address, m->size, shape.line_shift);
		}

		const struct nm_ref one = nm_coalesced_member_ref(r, &g->member[first]);

		if (i > first) {
			take_segment(c, one, i - first, writes, mask, shape);
		} else { /* the member spans two lines itself */
			take_any(c, &one);
			i++;
		}
	}
}

/* Takes a reference that is not a hit at the predicted slot. */
ALWAYS void take_other(struct nm_cache *c, const struct nm_ref *r, struct shape shape)
{
	if (shape.coherent)
		take_coherent(c, r);
	else if ((r->address & (c->spec.line - 1)) + r->size <= c->spec.line)
		take_moved(c, r, shape);
	else if (nm_ref_is_coalesced(r))
		take_segments(c, r, shape);
	else
		take_any(c, r);
	if (__builtin_expect(c->queue != NULL, 0))
		nm_prefetch_issue(c->queue);
}

/* A load may evict a line that the first half has predicted; the second half compares the tag again. */
ALWAYS void fast_loop(struct nm_cache *c, const struct nm_ref *refs, uint32_t count, struct shape shape)
{
	struct block b;

	for (uint32_t from = 0, n; from < count; from += n) {
		n = count - from < BLOCK ? count - from : BLOCK;
		look_ahead(c, refs + from, (c->expected ? c->expected : refs) + from, n, shape, &b);
		for (uint32_t i = 0; i < n; i++) {
			reserve(&c->shadow, BLOCK);
			i += take_within(c, refs + from + i, n - i, shape, &b, i);
			if (i == n)
				break;
			take_other(c, &refs[from + i], shape);
		}
	}
}

static void take_each(struct nm_cache *c, const struct nm_ref *refs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		nm_cache_count(c, refs[i].weight, refs[i].kind);
		if (c->coherent)
			take_coherent(c, &refs[i]);
		else
			take_any(c, &refs[i]);
		if (__builtin_expect(c->queue != NULL, 0))
			nm_prefetch_issue(c->queue);
	}
}

static void take_plain(struct nm_cache *c, const struct nm_ref *refs, uint32_t count)
{
	if (!c->predicted || !c->first)
		take_each(c, refs, count);
	else if (c->coherent)
		fast_loop(c, refs, count, (struct shape){0, c->line_shift, 1});
	else if (c->ways == 8 && c->line_shift == 6)
		fast_loop(c, refs, count, (struct shape){8, 6, 0});
	else if (c->ways == 8)
		fast_loop(c, refs, count, (struct shape){8, c->line_shift, 0});
	else if (c->ways == 16)
		fast_loop(c, refs, count, (struct shape){16, c->line_shift, 0});
	else
		fast_loop(c, refs, count, (struct shape){4, c->line_shift, 0});
	flush_deferred_misses(c);
}

static void take_one(struct nm_cache *c, const struct nm_ref *r)
{
	if (c->sink || !nm_cache_asks_coherence(c, r) || !take_cleared(c, r))
		take_any(c, r);
	flush_deferred_misses(c);
}

const struct nm_lookup NM_LOOKUP = {.plain = take_plain,
				    .any = take_one,
				    .fill = request_fill,
				    .flush_deferred_misses = flush_deferred_misses};
