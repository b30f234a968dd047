/* SPDX-License-Identifier: MIT */
#include "lazy_array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE = 1 << 20, PAGE = 4096 /* bytes */ };

/* 0: nothing, or more than can be addressed. */
static size_t bytes_of(uint64_t count, size_t each)
{
	return each && count < SIZE_MAX / 2 / each ? count * each : 0;
}

static void *small_zeros(size_t bytes)
{
	const size_t room =
	    (bytes + NM_LAZY_ARRAY_ALIGNMENT - 1) / NM_LAZY_ARRAY_ALIGNMENT * NM_LAZY_ARRAY_ALIGNMENT;
	void *array = aligned_alloc(NM_LAZY_ARRAY_ALIGNMENT, room);

	return array ? memset(array, 0, room) : NULL;
}

void *nm_lazy_array(uint64_t count, size_t each)
{
	const size_t bytes = bytes_of(count, each);
	void *array;

	if (bytes < LARGE)
		return bytes ? small_zeros(bytes) : NULL;
	array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return array == MAP_FAILED ? NULL : array;
}

void nm_lazy_array_free(void *array, uint64_t count, size_t each)
{
	const size_t bytes = bytes_of(count, each);

	if (array && bytes >= LARGE)
		munmap(array, bytes);
	else
		free(array);
}

void nm_lazy_array_use_all(void *array, uint64_t count, size_t each)
{
	const size_t bytes = bytes_of(count, each);

	if (bytes >= LARGE)
		madvise(array, bytes, MADV_HUGEPAGE);
}

void nm_lazy_array_release_pages(void *array, uint64_t count, size_t each, uint64_t from, uint64_t end)
{
	const uint64_t first = (from * each + PAGE - 1) / PAGE * PAGE, behind = end * each / PAGE * PAGE;

	assert(from <= end && end <= count);
	if (bytes_of(count, each) >= LARGE && first < behind)
		madvise((char *)array + first, behind - first, MADV_DONTNEED);
}
