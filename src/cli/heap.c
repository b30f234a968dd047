/* SPDX-License-Identifier: MIT
 *
 * heap.c - see heap.h.
 *
 * A run takes 50 to 100 MB in thousands of blocks, most of which live to its end, so all of them go into one heap of
 * huge pages.  By default each 4 KB of it is a page fault at its first touch, and there were 13,000 of them, which took 7 %
 * of the CPU time of recordings of 2 s in a virtual machine, where a fault takes 10 us.  The heap is grown at once to the
 * size that most runs have; pages that are never touched cost nothing.
 *
 * malloc takes a block of any size from what is left of the reserve, and calloc() then clears it: so tables of which most
 * is never touched are mappings of their own (src/base/lazy_array.h).
 *
 * Where the host takes free memory back from the virtual machine, huge pages come cold and take 4 ms each to clear:
 * half of the gain is left if the machine did other work for some seconds before.
 *
 * Dropped: the first 44 MB populated with small pages, which took longer than faults did; libdeflate in place of zlib, to
 * unpack debug information, where the faults had been most of the time.
 */
#include "heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	HUGE_PAGE = 2 << 20,
	RESERVE = 256 << 20,
	STEP = 16 << 20,       /* by which the heap grows beyond the reserve */
	LARGE_BLOCK = 32 << 20 /* from here on a mapping of its own, where the reserve has no room */
};

static int is_limited(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur != RLIM_INFINITY;
}

void nm_heap_prepare(void)
{
	uintptr_t start, end;
	void *block;

	mallopt(M_ARENA_MAX, 1); /* every other would take 64 MB of the address space */
	if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) /* what is reserved counts */
		return;
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	mallopt(M_TRIM_THRESHOLD, 2 * RESERVE);
	mallopt(M_TOP_PAD, RESERVE);
	block = malloc(LARGE_BLOCK / 2);
	mallopt(M_TOP_PAD, STEP);
	start = ((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	end = (uintptr_t)sbrk(0);
	if (start < end) /* fails where the kernel has none */
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
	free(block);
}
