/* SPDX-License-Identifier: MIT
 *
 * heap_test.c - the heap of a simulation in a page: whatever happened since, an image brings back the contents
 * and the addresses of all blocks, at random; the linker wraps malloc() and its kin as for the page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heap.h"
#include "numbers.h"

enum { BLOCKS = 200, IMAGES = 12, STEPS = 20000, MOST = 30000, LARGE = 3 << 20 };

/* The blocks that there are, each filled with one byte. */
struct blocks {
	struct {
		uint8_t *at;
		size_t bytes;
		uint8_t filled;
	} of[BLOCKS];
};

static void check(const struct blocks *b)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		for (size_t k = 0; b->of[i].at && k < b->of[i].bytes; k += 1 + b->of[i].bytes / 64)
			assert_int_equal(b->of[i].at[k], b->of[i].filled);
}

/* Frees a block, or makes one, or makes it another size. */
static void change(struct nm_heap *heap, struct blocks *b)
{
	const unsigned i = (unsigned)below(BLOCKS);
	const size_t bytes = below(400) ? 1 + below(below(2) ? 100 : MOST) : LARGE;
	uint8_t *at = b->of[i].at;

	nm_heap_enter(heap);
	if (at && below(2)) {
		free(at);
		at = NULL;
	} else if (at || below(2)) {
		const size_t kept = at && b->of[i].bytes < bytes ? b->of[i].bytes : at ? bytes : 0;

		at = realloc(at, bytes);
		assert_non_null(at);
		assert_true(!kept || at[kept - 1] == b->of[i].filled);
	} else {
		at = below(2) ? calloc(1, bytes) : aligned_alloc(64, (bytes + 63) / 64 * 64);
		assert_non_null(at);
	}
	nm_heap_enter(NULL);
	b->of[i].at = at;
	b->of[i].bytes = bytes;
	b->of[i].filled = (uint8_t)below(256);
	if (at)
		memset(at, b->of[i].filled, bytes);
}

static void images_bring_everything_back(void **state)
{
	struct nm_heap *heap = nm_heap_new();
	struct nm_heap_image *images[IMAGES] = {NULL};
	struct blocks *now = calloc(1, sizeof *now), *then = calloc(IMAGES, sizeof *then);

	(void)state;
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned i = (unsigned)below(IMAGES);

		change(heap, now);
		if (!below(40)) {
			nm_heap_image_free(images[i]);
			images[i] = nm_heap_save(heap);
			assert_non_null(images[i]);
			then[i] = *now;
		} else if (images[i] && !below(40)) {
			nm_heap_restore(heap, images[i]);
			*now = then[i];
			check(now);
		}
	}
	for (unsigned i = 0; i < IMAGES; i++)
		nm_heap_image_free(images[i]);
	nm_heap_free(heap);
	free(then);
	free(now);
}

static void equal_pages_are_shared(void **state)
{
	struct nm_heap *heap = nm_heap_new();
	struct nm_heap_image *first, *second;
	volatile uint8_t *block; /* the heap reads it, which compilers do not know */

	(void)state;
	nm_heap_enter(heap);
	block = calloc(1, LARGE);
	nm_heap_enter(NULL);
	first = nm_heap_save(heap);
	assert_true(nm_heap_image_bytes(first) >= LARGE);
	block[LARGE / 2] = 1;
	second = nm_heap_save(heap);
	assert_int_equal(nm_heap_image_bytes(second), 4096);
	nm_heap_image_free(first);
	nm_heap_image_free(second);
	nm_heap_free(heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(images_bring_everything_back),
	    cmocka_unit_test(equal_pages_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
