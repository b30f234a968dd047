/* SPDX-License-Identifier: MIT
 *
 * malloc_test.c - the model of malloc's heap against the C library's own one: a random stream of requests is made, and
 * then put to the model, which must give each block the address that it got. Where the library is another one, or is
 * replaced by a sanitizer's, blocks only must not overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <malloc.h>

#include <cmocka.h>

#include "candidate_memory.h"
#include "malloc_heap.h"
#include "numbers.h"

#if defined(__GLIBC__) && __GLIBC__ == 2 && __GLIBC_MINOR__ >= 33 && __GLIBC_MINOR__ <= 40 && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define IS_MODELLED 1
#else
#define IS_MODELLED 0
#endif

enum { BLOCKS = 400, REQUESTS = 60000 };

static struct request {
	enum { ALLOCATE, ZEROED, ALIGNED, RESIZE, RELEASE } kind;
	unsigned block;
	uint64_t bytes;
	uint64_t at, chunk; /* as malloc chose them; own pages: `at` is 0 */
} requests[REQUESTS];

static uint64_t some_bytes(unsigned round)
{
	switch (below(round / 10000 % 2 ? 20 : 60)) {
	case 0: return below(200000);
	case 1:
	case 2: return below(9000);
	case 3:
	case 4: return below(1100);
	default: return below(200);
	}
}

static void draw_requests(void)
{
	static uint8_t live[BLOCKS];

	for (unsigned i = 0; i < REQUESTS; i++) {
		struct request *r = &requests[i];

		r->block = (unsigned)below(BLOCKS);
		r->bytes = 1 + some_bytes(i);
		if (live[r->block]) {
			r->kind = below(3) ? RELEASE : RESIZE;
		} else {
			const unsigned kind = (unsigned)below(20);

			r->kind = kind == 0 ? ALIGNED : kind < 4 ? ZEROED : ALLOCATE;
			r->bytes = kind ? r->bytes : 1 + r->bytes / 2; /* of own pages malloc keeps a part */
		}
		live[r->block] = r->kind != RELEASE;
	}
}

/* ---- malloc ---- */

#if IS_MODELLED
static uint64_t top_bytes(void) { return mallinfo2().keepcost; }

/* Takes what is free, until all sizes come from the top; what is behind the last one is *ret. */
static uint64_t empty_heap(void)
{
	enum { CACHED_MOST = 1032 };
	uint64_t end = 0;

	for (uint64_t bytes = 24; bytes <= CACHED_MOST; bytes += 16) {
		uint64_t before;

		do {
			before = top_bytes();
			end = (uintptr_t)malloc(bytes) + bytes - 8;
		} while (top_bytes() >= before);
	}
	return end;
}

static void *perform(struct request *r, void *was)
{
	switch (r->kind) {
	case ALLOCATE: return malloc(r->bytes);
	case ZEROED: return calloc(1, r->bytes);
	case ALIGNED: return aligned_alloc(64, r->bytes);
	case RESIZE: return realloc(was, r->bytes);
	default: free(was);
	}
	return NULL;
}

/* A chunk of the heap takes 8 bytes more than its block, one with own pages 16. */
static int has_own_pages(void *block) { return malloc_usable_size(block) % 16 == 0; }

/* Blocks with own pages are freed before they could be resized: mremap is not modelled. */
static void perform_all(void)
{
	static void *live[BLOCKS];

	for (unsigned i = 0; i < REQUESTS; i++) {
		struct request *r = &requests[i];
		void *is = live[r->block];

		if (r->kind == RELEASE && has_own_pages(is))
			r->chunk = malloc_usable_size(is) + 16;
		if (r->kind == RESIZE && has_own_pages(is))
			r->bytes = malloc_usable_size(is);
		is = live[r->block] = perform(r, is);
		r->at = has_own_pages(is) ? 0 : (uintptr_t)is;
	}
	for (unsigned i = 0; i < BLOCKS; i++)
		free(live[i]);
}

/* Of the heap before the first request: where its top begins, and its bytes. */
static uint64_t top_at, top_has;

static int ask_malloc(void **state)
{
	(void)state;
	draw_requests();
	top_at = empty_heap();
	top_has = top_bytes();
	perform_all();
	return 0;
}

static void blocks_lie_where_malloc_puts_them(void **state)
{
	struct nm_malloc_heap h;
	uint64_t live[BLOCKS] = {0};

	(void)state;
	assert_int_equal(nm_malloc_heap_init(&h, top_at, top_has), 0);
	for (unsigned i = 0; i < REQUESTS; i++) {
		const struct request *r = &requests[i];
		uint64_t *at = &live[r->block];

		if (r->kind == RELEASE && !*at)
			nm_malloc_heap_unmapped(&h, r->chunk);
		else if (r->kind == RELEASE)
			nm_malloc_heap_release(&h, *at);
		else if (r->kind == RESIZE && *at)
			assert_int_equal(nm_malloc_heap_resize(&h, *at, r->bytes, at), 0);
		else if (r->kind != RESIZE)
			assert_int_equal(
			    nm_malloc_heap_allocate(&h, r->kind == ZEROED ? NM_HEAP_CALLOC : NM_HEAP_MALLOC,
						    r->bytes, r->kind == ALIGNED ? 64 : 1, at),
			    0);
		if (r->kind == RELEASE)
			*at = 0;
		if (*at != r->at)
			fail_msg("request %u of %u: %#lx, not %#lx", i, r->kind, (unsigned long)*at,
				 (unsigned long)r->at);
	}
	nm_malloc_heap_done(&h);
}

/* A block of the second test: the program's address while it is followed, then where it is placed. */
struct held {
	uint64_t followed, at, bytes, align;
};

static enum nm_heap_call call_of(const struct request *r)
{
	return r->kind == ZEROED ? NM_HEAP_CALLOC : r->kind == ALIGNED ? NM_HEAP_ALIGNED : NM_HEAP_MALLOC;
}

static void follow(struct nm_candidate_memory *m, const struct request *r, struct held *b)
{
	const uint64_t left = b->followed ? nm_memory_leave(m, b->followed, r->kind == RESIZE) : 0;

	*b = (struct held){.followed = r->at ? r->at : ((uint64_t)r->block + 1) << 12};
	if (r->kind != RELEASE)
		assert_int_equal(nm_memory_follow(m, call_of(r), b->followed, r->bytes, left), 0);
	else
		*b = (struct held){0};
	assert_false(m->is_lost);
}

static void place(struct nm_candidate_memory *m, const struct request *r, struct held *b)
{
	const uint64_t align = r->kind == ALIGNED ? 64 : 1;
	uint64_t left = b->at;

	if (r->kind == RESIZE && !r->at) /* of own pages, to the same size */
		return;
	if (b->followed)
		left = nm_memory_leave(m, b->followed, r->kind == RESIZE);
	else if (r->kind == RELEASE)
		assert_int_equal(nm_memory_release(m, b->at, b->bytes, b->align), 0);
	*b = (struct held){.bytes = r->bytes, .align = align};
	if (r->kind == RELEASE)
		return;
	b->at = left ? nm_memory_resize(m, left, r->bytes, r->bytes)
		     : nm_memory_allocate(m, call_of(r), r->bytes, align);
	if (r->at)
		assert_int_equal(b->at, r->at + NM_MEMORY_BLOCKS);
	else
		assert_true(b->at >= NM_MEMORY_PAGES);
}

/* The program's blocks are followed, and from the middle on placed: as malloc would have gone on. */
static void a_heap_that_followed_goes_on(void **state)
{
	struct nm_candidate_memory m;
	struct held live[BLOCKS] = {{0}};
	(void)state;
	nm_memory_init(&m);
	m.followed_by = NM_MEMORY_BLOCKS;
	assert_int_equal(nm_malloc_heap_init(&m.heap, top_at + NM_MEMORY_BLOCKS, top_has), 0);
	for (unsigned i = 0; i < REQUESTS; i++)
		(i < REQUESTS / 2 ? follow : place)(&m, &requests[i], &live[requests[i].block]);
	nm_memory_done(&m);
}

/* A block where the heap would have put another. */
static void a_heap_of_another_malloc_is_lost(void **state)
{
	struct nm_candidate_memory m;

	(void)state;
	nm_memory_init(&m);
	assert_int_equal(nm_memory_follow(&m, NM_HEAP_MALLOC, 0x5000010, 24, 0), 0);
	assert_int_equal(nm_memory_follow(&m, NM_HEAP_MALLOC, 0x5000030, 24, 0), 0);
	assert_false(m.is_lost);
	assert_int_equal(nm_memory_follow(&m, NM_HEAP_MALLOC, 0x5000048, 24, 0), 0);
	assert_true(m.is_lost);
	assert_int_equal(nm_memory_leave(&m, 0x5000010, 0), 0);
	nm_memory_continue(&m, 0x5000050);
	assert_int_equal(nm_memory_allocate(&m, NM_HEAP_MALLOC, 24, 16), NM_MEMORY_BLOCKS + 0x5000050);
	nm_memory_done(&m);
}
#else
static int ask_malloc(void **state)
{
	(void)state;
	return 0;
}
#endif

/* ---- without malloc ---- */

static void blocks_do_not_overlap(void **state)
{
	struct nm_malloc_heap h;
	struct {
		uint64_t at, bytes;
	} live[BLOCKS] = {{0, 0}};

	(void)state;
	draw_requests();
	assert_int_equal(nm_malloc_heap_init(&h, 1 << 20, 0), 0);
	for (unsigned i = 0; i < REQUESTS; i++) {
		const struct request *r = &requests[i];
		__typeof__(&live[0]) b = &live[r->block];
		uint64_t to = 0;

		if (b->at && r->kind != RESIZE)
			nm_malloc_heap_release(&h, b->at);
		if (r->kind == RESIZE && b->at)
			assert_int_equal(nm_malloc_heap_resize(&h, b->at, r->bytes, &to), 0);
		else if (r->kind != RELEASE)
			assert_int_equal(nm_malloc_heap_allocate(&h, NM_HEAP_MALLOC, r->bytes,
								 r->kind == ALIGNED ? 64 : 1, &to),
					 0);
		b->at = to;
		b->bytes = r->bytes;
		for (unsigned k = 0; k < BLOCKS && to; k++)
			assert_true(&live[k] == b || !live[k].at || live[k].at + live[k].bytes <= to ||
				    to + b->bytes <= live[k].at);
	}
	nm_malloc_heap_done(&h);
}

/* Whether the last call touched so many bytes behind the beginning of a block's chunk; that is 16 before the block. */
static int touched(const struct nm_malloc_heap *h, uint64_t block, unsigned at, int is_write)
{
	for (size_t i = 0; i < h->touches.count; i++)
		if (h->touches.at[i].address == block - 16 + at && h->touches.at[i].is_write == is_write)
			return 1;
	return 0;
}

static uint64_t ask(struct nm_malloc_heap *h, uint64_t bytes)
{
	uint64_t at;

	h->touches.count = 0;
	assert_int_equal(nm_malloc_heap_allocate(h, NM_HEAP_MALLOC, bytes, 1, &at), 0);
	return at;
}

static void give_back(struct nm_malloc_heap *h, uint64_t block)
{
	h->touches.count = 0;
	nm_malloc_heap_release(h, block);
}

enum { SIZE = 8, LINKS = 16 };

static void touches_are_sizes_and_links(void **state)
{
	struct nm_malloc_heap h;
	uint64_t small, large, behind;

	(void)state;
	assert_int_equal(nm_malloc_heap_init(&h, 1 << 20, 0), 0);
	small = ask(&h, 24);
	assert_int_equal(h.touches.count, 0); /* not wanted */
	h.keeps_touches = 1;
	large = ask(&h, 2000);
	assert_true(touched(&h, large, SIZE, 1)); /* cut off the top, */
	behind = ask(&h, 24);
	assert_true(touched(&h, behind, SIZE, 0));      /* which was there, */
	assert_true(touched(&h, behind + 32, SIZE, 1)); /* and is now here */
	give_back(&h, small);
	assert_true(touched(&h, small, SIZE, 0) && touched(&h, small, LINKS, 1));
	assert_int_equal(h.touches.count, 2); /* the thread's cache has no other */
	assert_int_equal(ask(&h, 24), small);
	assert_true(touched(&h, small, LINKS, 0));
	assert_int_equal(h.touches.count, 1);
	give_back(&h, large);
	assert_true(touched(&h, large, LINKS, 1) && touched(&h, behind, SIZE, 1));
	(void)ask(&h, 3000); /* sorts it into a bin */
	assert_true(touched(&h, large, LINKS, 0) && touched(&h, behind, SIZE, 0));
	assert_int_equal(ask(&h, 2000), large);
	nm_malloc_heap_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if IS_MODELLED
		cmocka_unit_test(blocks_lie_where_malloc_puts_them),
		cmocka_unit_test(a_heap_that_followed_goes_on),
		cmocka_unit_test(a_heap_of_another_malloc_is_lost),
#endif
		cmocka_unit_test(blocks_do_not_overlap),
		cmocka_unit_test(touches_are_sizes_and_links),
	};

	return cmocka_run_group_tests(tests, ask_malloc, NULL);
}
