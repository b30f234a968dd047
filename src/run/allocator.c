/* SPDX-License-Identifier: MIT
 *
 * A run allocates 50 to 100 MB in thousands of blocks, most of which live to its end. By default each 4 KB of
 * them costs a page fault at the first touch. So all blocks go into one heap of huge pages, which is grown at
 * once to the size that most runs need; untouched pages cost nothing.
 *
 * malloc takes blocks of any size from this heap, and calloc has to clear them. Sparse tables are separate
 * mappings (src/base/lazy_array.h).
 *
 * Dropped: populating the first 44 MB with small pages, which took longer than the faults.
 */
#include "allocator.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	HUGE_PAGE = 2 << 20,
	RESERVE = 256 << 20,
	STEP = 16 << 20,       /* the heap grows by this much beyond the reserve */
	LARGE_BLOCK = 32 << 20 /* larger blocks are mappings of their own when the reserve is full */
};

static int is_limited(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur != RLIM_INFINITY;
}

void nm_allocator_set_up(void)
{
	uintptr_t start, end;
	void *block;

	mallopt(M_ARENA_MAX, 1); /* each further arena takes 64 MB of address space */
	if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) /* the limit counts reserved memory too */
		return;
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	mallopt(M_TRIM_THRESHOLD, 2 * RESERVE);
	mallopt(M_TOP_PAD, RESERVE);
	block = malloc(LARGE_BLOCK / 2);
	mallopt(M_TOP_PAD, STEP);
	start = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	end = (uintptr_t)sbrk(0);
	if (start < end) /* fails on kernels without huge pages */
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
	free(block);
}
