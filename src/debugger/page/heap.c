/* SPDX-License-Identifier: MIT
 *
 * Memory is cut from chunks, and freed blocks are kept by size class, four classes for each power of two. A
 * block has its class in front of it. An image holds the pages of all chunks and the lists of free blocks; the
 * chunks themselves remain. A page is copied only if it differs from that of the image that was saved or
 * restored last.
 */
#include "heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "vector.h"

enum {
	PAGE = 4096,
	CHUNK = 1 << 20, /* bytes, or as many as a larger block needs */
	SLAB_PAGES = 1 << 11,
	ALIGNMENT = 64,  /* of blocks, and the room in front of them */
	LEAST_SHIFT = 6, /* log2 of the smallest class */
	CLASSES = 4 * (32 - LEAST_SHIFT),
};

struct chunk {
	uint8_t *at;
	size_t size;
};

/* What an image holds besides pages. */
struct lists {
	void *free[CLASSES];        /* the first word of a free block is the next one */
	struct nm_vec(size_t) used; /* bytes of each chunk */
};

struct page {
	union {
		uint64_t images;   /* that have it */
		struct page *next; /* of the free ones */
	};
	uint64_t words[PAGE / 8];
};

struct nm_heap_image {
	uint32_t users;
	struct lists lists;
	struct nm_vec(struct page *) pages; /* of the used part of all chunks */
};

struct nm_heap {
	struct nm_vec(struct chunk) chunks;
	struct lists lists;
	struct nm_heap_image *last; /* saved or restored, or NULL */
};

static struct nm_heap *entered;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t each);
void *__real_realloc(void *block, size_t bytes);
void __real_free(void *block);
void *__real_aligned_alloc(size_t alignment, size_t bytes);

/* ---- blocks ---- */

/* Class c has blocks of (4 + c % 4) << (LEAST_SHIFT - 2 + c / 4) bytes. */
static size_t bytes_of(unsigned class) { return (size_t)(4 + class % 4) << (LEAST_SHIFT - 2 + class / 4); }

static unsigned class_of(size_t bytes)
{
	const unsigned shift =
	    bytes <= 1u << LEAST_SHIFT ? LEAST_SHIFT : 31u - (unsigned)__builtin_clz((unsigned)bytes - 1);
	unsigned class = 4 * (shift - LEAST_SHIFT);

	while (bytes_of(class) < bytes)
		class ++;
	return class;
}

static uint32_t *class_in_front(void *block) { return (uint32_t *)block - 1; }

static int new_chunk(struct nm_heap *h, size_t least)
{
	struct chunk chunk = {.size = (least + CHUNK - 1) / CHUNK * CHUNK};

	if (nm_vec_reserve(&h->chunks, 1) || nm_vec_reserve(&h->lists.used, 1))
		return -1;
	chunk.at = __real_aligned_alloc(PAGE, chunk.size);
	if (!chunk.at)
		return -1;
	h->chunks.at[h->chunks.count++] = chunk;
	h->lists.used.at[h->lists.used.count++] = 0;
	return 0;
}

static uint8_t *cut_hole(struct nm_heap *h, size_t least)
{
	const size_t bytes = (least + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	size_t i = 0;

	while (i < h->chunks.count && h->chunks.at[i].size - h->lists.used.at[i] < bytes)
		i++;
	if (i == h->chunks.count && new_chunk(h, bytes))
		return NULL;
	h->lists.used.at[i] += bytes;
	return h->chunks.at[i].at + h->lists.used.at[i] - bytes;
}

static void *take_hole(struct nm_heap *h, size_t bytes)
{
	const unsigned class = bytes < SIZE_MAX / 4 ? class_of(bytes) : CLASSES;
	uint8_t *block = class < CLASSES ? h->lists.free[class] : NULL;

	if (class >= CLASSES)
		return NULL;
	if (block) {
		memcpy(&h->lists.free[class], block, sizeof(void *));
		return block;
	}
	entered = NULL; /* chunks and their list are not of the heap */
	block = cut_hole(h, bytes_of(class) + ALIGNMENT);
	entered = h;
	if (!block)
		return NULL;
	block += ALIGNMENT;
	*class_in_front(block) = class;
	return block;
}

static int is_of(const struct nm_heap *h, const void *block)
{
	for (size_t i = 0; h && i < h->chunks.count; i++)
		if ((uintptr_t)block - (uintptr_t)h->chunks.at[i].at < h->chunks.at[i].size)
			return 1;
	return 0;
}

/* ---- malloc() and its kin ---- */

void *__wrap_malloc(size_t bytes) { return entered ? take_hole(entered, bytes) : __real_malloc(bytes); }

void *__wrap_calloc(size_t count, size_t each)
{
	void *block;

	if (!entered)
		return __real_calloc(count, each);
	block = each && count > SIZE_MAX / 4 / each ? NULL : take_hole(entered, count * each);
	return block ? memset(block, 0, count * each) : NULL;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	assert(!entered || alignment <= ALIGNMENT);
	return entered ? take_hole(entered, bytes) : __real_aligned_alloc(alignment, bytes);
}

void __wrap_free(void *block)
{
	void **list;

	if (!is_of(entered, block)) {
		__real_free(block);
		return;
	}
	list = &entered->lists.free[*class_in_front(block)];
	memcpy(block, list, sizeof *list);
	*list = block;
}

void *__wrap_realloc(void *block, size_t bytes)
{
	size_t before;
	void *larger;

	if (!entered || (block && !is_of(entered, block)))
		return __real_realloc(block, bytes);
	before = block ? bytes_of(*class_in_front(block)) : 0;
	if (block && bytes <= before)
		return block;
	larger = take_hole(entered, bytes);
	if (larger && block) {
		memcpy(larger, block, before);
		__wrap_free(block);
	}
	return larger;
}

/* ---- pages of images ---- */

/* They come in slabs, which are kept: memory of a page grows slowly, and never shrinks. */
static struct page *free_pages;

static void release_page(struct page *page)
{
	page->next = free_pages;
	free_pages = page;
}

static struct page *new_page(void)
{
	struct page *slab = free_pages ? NULL : malloc(SLAB_PAGES * sizeof *slab), *page;

	for (size_t i = 0; slab && i < SLAB_PAGES; i++)
		release_page(&slab[i]);
	page = free_pages;
	if (page) {
		free_pages = page->next;
		page->images = 0;
	}
	return page;
}

/* ---- images ---- */

static void free_image(struct nm_heap_image *image)
{
	for (size_t i = 0; i < image->pages.count; i++)
		if (!--image->pages.at[i]->images)
			release_page(image->pages.at[i]);
	nm_vec_free(&image->pages);
	nm_vec_free(&image->lists.used);
	free(image);
}

struct nm_heap_image *nm_heap_image_share(struct nm_heap_image *image)
{
	image->users++;
	return image;
}

void nm_heap_image_free(struct nm_heap_image *image)
{
	if (image && !--image->users)
		free_image(image);
}

static int copy_lists(struct lists *to, const struct lists *from)
{
	memcpy(to->free, from->free, sizeof to->free);
	to->used.count = 0;
	if (nm_vec_reserve(&to->used, from->used.count))
		return -1;
	memcpy(to->used.at, from->used.at, from->used.count * sizeof *to->used.at);
	to->used.count = from->used.count;
	return 0;
}

static void set_last(struct nm_heap *h, struct nm_heap_image *image)
{
	nm_heap_image_share(image);
	nm_heap_image_free(h->last);
	h->last = image;
}

/* memcmp() of the C library compares byte by byte. */
static int is_equal(const uint64_t *a, const uint64_t *b)
{
	size_t i = 0;

	while (i < PAGE / sizeof *a && a[i] == b[i])
		i++;
	return i == PAGE / sizeof *a;
}

/* A page of the heap: that of another image, if it is equal. */
static struct page *page_at(const uint64_t *words, struct page *other)
{
	struct page *page = other;

	if (!other || !is_equal(other->words, words)) {
		page = new_page();
		if (!page)
			return NULL;
		memcpy(page->words, words, PAGE);
	}
	page->images++;
	return page;
}

/* Number of pages of chunk i that are used. */
static size_t pages_of(const struct lists *lists, size_t i) { return (lists->used.at[i] + PAGE - 1) / PAGE; }

static int save_pages(const struct nm_heap *h, struct nm_heap_image *image)
{
	const struct nm_heap_image *last = h->last;
	size_t other = 0; /* the page of `last` where the chunk begins */

	for (size_t i = 0; i < h->lists.used.count; i++) {
		const size_t known = last && i < last->lists.used.count ? pages_of(&last->lists, i) : 0;

		for (size_t k = 0; k < pages_of(&h->lists, i); k++) {
			struct page *page = page_at((const uint64_t *)(h->chunks.at[i].at + k * PAGE),
						    k < known ? last->pages.at[other + k] : NULL);

			if (!page || nm_vec_push(&image->pages, page))
				return -1;
		}
		other += known;
	}
	return 0;
}

struct nm_heap_image *nm_heap_save(struct nm_heap *h)
{
	struct nm_heap_image *image = calloc(1, sizeof *image);

	assert(!entered);
	if (!image)
		return NULL;
	if (copy_lists(&image->lists, &h->lists) || save_pages(h, image)) {
		free_image(image);
		return NULL;
	}
	image->users = 1;
	set_last(h, image);
	return image;
}

/* Chunks that came after the image are unused then. */
void nm_heap_restore(struct nm_heap *h, struct nm_heap_image *image)
{
	const size_t chunks = h->lists.used.count;
	size_t next = 0;

	assert(!entered && image->lists.used.count <= chunks);
	copy_lists(&h->lists, &image->lists); /* it has room */
	for (size_t i = 0; i < h->lists.used.count; i++)
		for (size_t k = 0; k < pages_of(&h->lists, i); k++)
			memcpy(h->chunks.at[i].at + k * PAGE, image->pages.at[next++]->words, PAGE);
	while (h->lists.used.count < chunks)
		h->lists.used.at[h->lists.used.count++] = 0;
	set_last(h, image);
}

uint64_t nm_heap_image_bytes(const struct nm_heap_image *image)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < image->pages.count; i++)
		bytes += image->pages.at[i]->images == 1 ? PAGE : 0;
	return bytes;
}

/* ---- life ---- */

struct nm_heap *nm_heap_new(void) { return calloc(1, sizeof(struct nm_heap)); }

void nm_heap_enter(struct nm_heap *heap) { entered = heap; }

void nm_heap_free(struct nm_heap *h)
{
	assert(!entered);
	if (!h)
		return;
	nm_heap_image_free(h->last);
	for (size_t i = 0; i < h->chunks.count; i++)
		free(h->chunks.at[i].at);
	nm_vec_free(&h->chunks);
	nm_vec_free(&h->lists.used);
	free(h);
}
