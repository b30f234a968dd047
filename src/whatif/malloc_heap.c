/* SPDX-License-Identifier: MIT
 *
 * malloc_heap.c - see malloc_heap.h. Lists are numbered: 1 has the unsorted, 2 to 126 are the bins, then come the
 * thread's cache and the fast lists. Only chunks of lists below CACHED are free for their neighbours.
 */
#include "malloc_heap.h"

#include <assert.h>
#include <string.h>

enum {
	GRANULE = 16,
	HEADER = 8, /* that a block does not share with the chunk behind it */
	LEAST = 32,
	PAGE = 4096,
	UNSORTED = 1,
	BINS = 127,
	CACHED = 128,
	FAST = 192,
	CACHED_MOST = 1040,
	CACHED_COUNT = 7,
	FAST_MOST = 128,
	SMALL_END = 1024,
	CONSOLIDATES = 64 << 10,
	PAD = 128 << 10,          /* of the top, when it grows */
	OWN_PAGES_MOST = 32 << 20 /* that `own_pages` becomes */
};

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
	return (value + multiple - 1) & ~(multiple - 1);
}

uint64_t nm_malloc_heap_room(uint64_t bytes)
{
	const uint64_t room = round_up(bytes + HEADER, GRANULE);

	return room < LEAST ? LEAST : room;
}

static struct nm_heap_chunk *chunk(struct nm_malloc_heap *h, uint32_t c) { return &h->chunks.at[c]; }

/* ---- what malloc touches ---- */

enum {
	FOOT = 0,
	SIZE = 8,
	LINKS = 16 /* of a chunk: the size of a free one before it, its own, its links */
};

static void touch(struct nm_malloc_heap *h, uint32_t c, unsigned at, int is_write)
{
	if (h->keeps_touches && c &&
	    nm_vec_push(&h->touches, (struct nm_heap_touch){chunk(h, c)->at + at, is_write}))
		h->failed = NM_ENOMEM;
}

static void reads(struct nm_malloc_heap *h, uint32_t c, unsigned at) { touch(h, c, at, 0); }

static void writes(struct nm_malloc_heap *h, uint32_t c, unsigned at) { touch(h, c, at, 1); }

/* ---- chunks in memory ---- */

/* nm_malloc_heap_* reserve what they need at most. */
static uint32_t new_chunk(struct nm_malloc_heap *h, struct nm_heap_chunk is)
{
	uint32_t c = h->spare;

	if (c) {
		h->spare = chunk(h, c)->older;
		*chunk(h, c) = is;
	} else {
		assert(h->chunks.count < h->chunks.room);
		c = (uint32_t)h->chunks.count++;
		*chunk(h, c) = is;
	}
	if (is.before)
		chunk(h, is.before)->after = c;
	if (is.after)
		chunk(h, is.after)->before = c;
	return c;
}

/* The chunk behind it becomes part of it. */
static void absorb_next(struct nm_malloc_heap *h, uint32_t c)
{
	const uint32_t next = chunk(h, c)->after;

	chunk(h, c)->bytes += chunk(h, next)->bytes;
	chunk(h, c)->after = chunk(h, next)->after;
	if (chunk(h, c)->after)
		chunk(h, chunk(h, c)->after)->before = c;
	if (next == h->top)
		h->top = c;
	if (next == h->remainder)
		h->remainder = 0;
	writes(h, c, SIZE);
	*chunk(h, next) = (struct nm_heap_chunk){.older = h->spare};
	h->spare = next;
}

/* Cuts a chunk; the one behind the cut, or 0 if it would be too small. */
static uint32_t cut(struct nm_malloc_heap *h, uint32_t c, uint64_t bytes)
{
	const struct nm_heap_chunk was = *chunk(h, c);
	uint32_t rest;

	assert(was.bytes >= bytes);
	if (was.bytes - bytes < LEAST)
		return 0;
	chunk(h, c)->bytes = bytes;
	rest = new_chunk(
	    h, (struct nm_heap_chunk){
		   .at = was.at + bytes, .bytes = was.bytes - bytes, .before = c, .after = was.after});
	if (c == h->top)
		h->top = rest;
	writes(h, c, SIZE);
	writes(h, rest, SIZE);
	return rest;
}

/* ---- lists ---- */

/* Before `older`, or at the end if it is 0. */
static void insert(struct nm_malloc_heap *h, uint32_t list, uint32_t c, uint32_t older)
{
	struct nm_heap_list *l = &h->lists[list];
	const uint32_t newer = older ? chunk(h, older)->newer : l->last;

	chunk(h, c)->list = list;
	chunk(h, c)->newer = newer;
	chunk(h, c)->older = older;
	*(newer ? &chunk(h, newer)->older : &l->first) = c;
	*(older ? &chunk(h, older)->newer : &l->last) = c;
	l->count++;
	writes(h, c, LINKS);
	if (list >= CACHED)
		return;
	writes(h, newer, LINKS);
	writes(h, older, LINKS);
	writes(h, chunk(h, c)->after, FOOT);
}

static void push(struct nm_malloc_heap *h, uint32_t list, uint32_t c)
{
	insert(h, list, c, h->lists[list].first);
}

static uint32_t take(struct nm_malloc_heap *h, uint32_t c)
{
	struct nm_heap_chunk *is = chunk(h, c);
	struct nm_heap_list *l = &h->lists[is->list];

	assert(is->list && l->count);
	reads(h, c, LINKS);
	if (is->list < CACHED) {
		reads(h, c, SIZE);
		reads(h, is->after, FOOT);
		writes(h, is->newer, LINKS);
		writes(h, is->older, LINKS);
	}
	*(is->newer ? &chunk(h, is->newer)->older : &l->first) = is->older;
	*(is->older ? &chunk(h, is->older)->newer : &l->last) = is->newer;
	is->list = is->newer = is->older = 0;
	l->count--;
	return c;
}

static int is_free(struct nm_malloc_heap *h, uint32_t c)
{
	const uint32_t list = chunk(h, c)->list;

	return list && list < CACHED;
}

static uint32_t bin_of(uint64_t bytes)
{
	static const struct {
		unsigned shift, most, base;
	} sizes[] = {{6, 48, 48}, {9, 20, 91}, {12, 10, 110}, {15, 4, 119}, {18, 2, 124}};

	if (bytes < SMALL_END)
		return (uint32_t)(bytes / GRANULE);
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (bytes >> sizes[i].shift <= sizes[i].most)
			return sizes[i].base + (uint32_t)(bytes >> sizes[i].shift);
	return BINS - 1;
}

static uint32_t cache_of(uint64_t bytes) { return CACHED + (uint32_t)((bytes - LEAST) / GRANULE); }

static uint32_t fast_of(uint64_t bytes) { return FAST + (uint32_t)((bytes - LEAST) / GRANULE); }

static int can_cache(const struct nm_malloc_heap *h, uint64_t bytes)
{
	return bytes <= CACHED_MOST && h->lists[cache_of(bytes)].count < CACHED_COUNT;
}

/* Walking a bin, malloc reads the size of one chunk of each size. */
static void reads_size(struct nm_malloc_heap *h, uint32_t c)
{
	const uint32_t newer = chunk(h, c)->newer;

	if (newer && chunk(h, newer)->bytes == chunk(h, c)->bytes)
		return;
	reads(h, c, SIZE);
	reads(h, c, 2 * LINKS);
}

/* Bins have the largest chunk first; of equal ones a new one becomes the second. */
static void insert_by_size(struct nm_malloc_heap *h, uint32_t c)
{
	const uint64_t bytes = chunk(h, c)->bytes;
	const uint32_t bin = bin_of(bytes);
	uint32_t at = h->lists[bin].first;

	if (bytes >= SMALL_END && at && bytes < chunk(h, h->lists[bin].last)->bytes) {
		at = 0;
	} else if (bytes >= SMALL_END) {
		for (; at && chunk(h, at)->bytes > bytes; at = chunk(h, at)->older)
			reads_size(h, at);
		if (at && chunk(h, at)->bytes == bytes)
			at = chunk(h, at)->older;
	}
	insert(h, bin, c, at);
}

/* ---- free ---- */

/* Grows together with free chunks beside it, and becomes unsorted or the top; its bytes without those of the top. */
static uint64_t join(struct nm_malloc_heap *h, uint32_t c)
{
	uint32_t before = chunk(h, c)->before, after;

	if (before && is_free(h, before)) {
		c = take(h, before);
		absorb_next(h, c);
	}
	after = chunk(h, c)->after;
	if (after == h->top) {
		absorb_next(h, c);
		return chunk(h, c)->bytes;
	}
	reads(h, chunk(h, after)->after, SIZE); /* whether the chunk before it is in use */
	if (is_free(h, after)) {
		(void)take(h, after);
		absorb_next(h, c);
	} else {
		writes(h, after, SIZE);
	}
	push(h, UNSORTED, c);
	return chunk(h, c)->bytes;
}

static void empty_fast(struct nm_malloc_heap *h)
{
	h->has_fast = 0;
	for (uint32_t list = FAST; list < NM_HEAP_LISTS; list++)
		while (h->lists[list].first)
			(void)join(h, take(h, h->lists[list].first));
}

/* Gives pages at the end of the top back. */
static void trim(struct nm_malloc_heap *h)
{
	struct nm_heap_chunk *top = chunk(h, h->top);

	if (top->bytes >= h->trims && top->bytes > PAD + LEAST + 1)
		top->bytes -= (top->bytes - LEAST - 1 - PAD) / PAGE * PAGE;
}

static void give(struct nm_malloc_heap *h, uint32_t c)
{
	const uint64_t bytes = chunk(h, c)->bytes;

	reads(h, c, SIZE);
	if (!can_cache(h, bytes))
		reads(h, chunk(h, c)->after, SIZE);
	if (can_cache(h, bytes)) {
		push(h, cache_of(bytes), c);
	} else if (bytes <= FAST_MOST) {
		push(h, fast_of(bytes), c);
		h->has_fast = 1;
	} else if (join(h, c) >= CONSOLIDATES) {
		if (h->has_fast)
			empty_fast(h);
		trim(h);
	}
}

/* ---- malloc ---- */

/* Further chunks of the size go to the thread's cache. */
static void fill_cache(struct nm_malloc_heap *h, const uint32_t *from, uint64_t bytes)
{
	while (*from && can_cache(h, bytes))
		push(h, cache_of(bytes), take(h, *from));
}

/* The rest of a chunk that is in no list becomes unsorted. */
static uint32_t split(struct nm_malloc_heap *h, uint32_t c, uint64_t bytes, int remembers)
{
	const uint32_t rest = cut(h, c, bytes);

	if (rest)
		push(h, UNSORTED, rest);
	if (rest && remembers)
		h->remainder = rest;
	return c;
}

/* Sorts the unsorted, up to one that fits exactly; it, or 0. */
static uint32_t sort(struct nm_malloc_heap *h, uint64_t bytes)
{
	const struct nm_heap_list *unsorted = &h->lists[UNSORTED];
	int cached = 0;

	while (unsorted->last) {
		const uint32_t c = unsorted->last;
		const uint64_t has = chunk(h, c)->bytes;

		if (bytes < SMALL_END && c == unsorted->first && c == h->remainder && has > bytes + LEAST)
			return split(h, take(h, c), bytes, 1);
		(void)take(h, c);
		reads(h, chunk(h, c)->after, SIZE);
		if (has != bytes) {
			insert_by_size(h, c);
		} else if (can_cache(h, bytes)) {
			push(h, cache_of(bytes), c);
			cached = 1;
		} else {
			return c;
		}
	}
	return cached ? take(h, h->lists[cache_of(bytes)].first) : 0;
}

/* In the bin of the size: the smallest that has room, but not the first of several equal ones. */
static uint32_t fit_in_bin(struct nm_malloc_heap *h, uint64_t bytes)
{
	uint32_t c = h->lists[bin_of(bytes)].last, second;

	for (; c && chunk(h, c)->bytes < bytes; c = chunk(h, c)->newer)
		reads_size(h, c);
	second = c;
	while (c && chunk(h, c)->newer && chunk(h, chunk(h, c)->newer)->bytes == chunk(h, c)->bytes) {
		second = c;
		c = chunk(h, c)->newer;
	}
	return second;
}

static uint32_t best_fit(struct nm_malloc_heap *h, uint64_t bytes)
{
	uint32_t c = bytes < SMALL_END ? 0 : fit_in_bin(h, bytes);

	if (c)
		return split(h, take(h, c), bytes, 0);
	for (uint32_t bin = bin_of(bytes) + 1; bin < BINS && !c; bin++)
		c = h->lists[bin].last;
	return c ? split(h, take(h, c), bytes, bytes < SMALL_END) : 0;
}

/* The beginning of the top, which grows if it must; 0: the block gets own pages. */
static uint32_t cut_top(struct nm_malloc_heap *h, uint64_t bytes)
{
	const uint32_t c = h->top;

	reads(h, c, SIZE);
	if (chunk(h, c)->bytes < bytes + LEAST) {
		if (bytes >= h->own_pages)
			return 0;
		chunk(h, c)->bytes += round_up(bytes + PAD + LEAST - chunk(h, c)->bytes, PAGE);
	}
	(void)cut(h, c, bytes);
	return c;
}

/* As malloc does when the thread's cache has none. */
static uint32_t search(struct nm_malloc_heap *h, uint64_t bytes)
{
	const uint32_t fast = bytes <= FAST_MOST ? fast_of(bytes) : 0, bin = bin_of(bytes);
	uint32_t c;

	if (fast && h->lists[fast].first) {
		c = take(h, h->lists[fast].first);
		fill_cache(h, &h->lists[fast].first, bytes);
		return c;
	}
	if (bytes < SMALL_END && h->lists[bin].last) {
		c = take(h, h->lists[bin].last);
		fill_cache(h, &h->lists[bin].last, bytes);
		return c;
	}
	if (bytes >= SMALL_END && h->has_fast)
		empty_fast(h);
	for (;;) {
		c = sort(h, bytes);
		c = c ? c : best_fit(h, bytes);
		if (c || !h->has_fast || chunk(h, h->top)->bytes >= bytes + LEAST)
			return c ? c : cut_top(h, bytes);
		empty_fast(h);
	}
}

/* Room before the first aligned address, and behind the block, is given back. */
static uint32_t search_aligned(struct nm_malloc_heap *h, uint64_t bytes, uint64_t align)
{
	uint32_t c = search(h, nm_malloc_heap_room(bytes + align + LEAST)), rest;
	uint64_t at;

	if (!c)
		return 0;
	at = round_up(chunk(h, c)->at + GRANULE, align) - GRANULE;
	if (at != chunk(h, c)->at) {
		at += at - chunk(h, c)->at < LEAST ? align : 0;
		rest = cut(h, c, at - chunk(h, c)->at);
		give(h, c);
		c = rest;
	}
	rest = chunk(h, c)->bytes > bytes + LEAST ? cut(h, c, bytes) : 0;
	if (rest)
		give(h, rest);
	return c;
}

/* ---- what others call ---- */

enum { CHUNKS_MOST = 4 /* that a call makes */ };

static int use(struct nm_malloc_heap *h, uint32_t c, uint64_t *ret)
{
	*ret = c ? chunk(h, c)->at + GRANULE : 0;
	if (h->failed)
		return h->failed;
	return c ? nm_map_put(&h->used, *ret, c) : 0;
}

int nm_malloc_heap_init(struct nm_malloc_heap *h, uint64_t address, uint64_t bytes)
{
	assert(address % GRANULE == 0);
	*h = (struct nm_malloc_heap){.own_pages = PAD, .trims = PAD};
	if (nm_vec_reserve(&h->chunks, 2))
		return NM_ENOMEM;
	h->chunks.at[h->chunks.count++] = (struct nm_heap_chunk){.list = 0};
	bytes = bytes ? bytes : round_up(address, PAGE) - address + PAD;
	h->top = new_chunk(h, (struct nm_heap_chunk){.at = address, .bytes = bytes});
	return 0;
}

void nm_malloc_heap_done(struct nm_malloc_heap *h)
{
	nm_vec_free(&h->chunks);
	nm_vec_free(&h->touches);
	nm_map_done(&h->used);
}

int nm_malloc_heap_allocate(struct nm_malloc_heap *h, enum nm_heap_call call, uint64_t bytes, uint64_t align,
			    uint64_t *ret)
{
	const uint64_t room = nm_malloc_heap_room(bytes);
	uint32_t c;

	assert(align && !(align & (align - 1)));
	if (nm_vec_reserve(&h->chunks, CHUNKS_MOST))
		return NM_ENOMEM;
	if (align > GRANULE)
		c = search_aligned(h, room, align);
	else if (call == NM_HEAP_MALLOC && room <= CACHED_MOST && h->lists[cache_of(room)].first)
		c = take(h, h->lists[cache_of(room)].first);
	else
		c = search(h, room);
	return use(h, c, ret);
}

void nm_malloc_heap_release(struct nm_malloc_heap *h, uint64_t address)
{
	const uint32_t c = (uint32_t)nm_map_get(&h->used, address, 0);

	assert(c);
	(void)nm_map_remove(&h->used, address);
	give(h, c);
}

int nm_malloc_heap_resize(struct nm_malloc_heap *h, uint64_t address, uint64_t bytes, uint64_t *ret)
{
	const uint64_t room = nm_malloc_heap_room(bytes);
	uint32_t c = (uint32_t)nm_map_get(&h->used, address, 0), after, to;

	assert(c);
	if (nm_vec_reserve(&h->chunks, CHUNKS_MOST))
		return NM_ENOMEM;
	*ret = address;
	after = chunk(h, c)->after;
	reads(h, c, SIZE);
	reads(h, after, SIZE);
	if (chunk(h, c)->bytes >= room) {
		to = cut(h, c, room);
	} else if (after == h->top && chunk(h, c)->bytes + chunk(h, after)->bytes >= room + LEAST) {
		absorb_next(h, c);
		(void)cut(h, c, room);
		return h->failed;
	} else if (is_free(h, after) && chunk(h, c)->bytes + chunk(h, after)->bytes >= room) {
		(void)take(h, after);
		absorb_next(h, c);
		to = cut(h, c, room);
	} else {
		to = search(h, room);
		if (!to || to != chunk(h, c)->after) {
			nm_malloc_heap_release(h, address);
			return use(h, to, ret);
		}
		absorb_next(h, c);
		to = cut(h, c, room);
	}
	if (to)
		give(h, to);
	return h->failed;
}

void nm_malloc_heap_unmapped(struct nm_malloc_heap *h, uint64_t bytes)
{
	if (bytes <= h->own_pages || bytes > OWN_PAGES_MOST)
		return;
	h->own_pages = bytes;
	h->trims = 2 * bytes;
}

int nm_malloc_heap_has(const struct nm_malloc_heap *h, uint64_t address)
{
	return nm_map_get(&h->used, address, 0) != 0;
}
