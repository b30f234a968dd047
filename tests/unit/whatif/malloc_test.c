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

static void blocks_lie_where_malloc_puts_them(void **state)
{
	struct nm_malloc_heap h;
	uint64_t live[BLOCKS] = {0}, begin, bytes;

	(void)state;
	draw_requests();
	begin = empty_heap();
	bytes = top_bytes();
	perform_all();
	assert_int_equal(nm_malloc_heap_init(&h, begin, bytes), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#if IS_MODELLED
		cmocka_unit_test(blocks_lie_where_malloc_puts_them),
#endif
		cmocka_unit_test(blocks_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
