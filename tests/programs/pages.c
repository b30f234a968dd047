/* SPDX-License-Identifier: MIT
 *
 * pages.c - 8M of memory three times, each a mapping of its own that begins at a multiple of 2M: with huge
 * pages asked for, with huge pages refused, and without a word. A byte of each 4096 is written.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum { SMALL = 4096, LARGE = 2 << 20, BYTES = 8 << 20 };

/* Room for the 8M and a page that cannot be accessed behind it, so that neighbours stay apart. */
static volatile char *take(void)
{
	char *all =
	    mmap(NULL, BYTES + 2 * LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (all == MAP_FAILED)
		return NULL;
	all += -(uintptr_t)all % LARGE;
	return mmap(all, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

int main(void)
{
	volatile char *asked = take(), *refused = take(), *usual = take();

	if (!asked || !refused || !usual || madvise((void *)asked, BYTES, MADV_HUGEPAGE) ||
	    madvise((void *)refused, BYTES, MADV_NOHUGEPAGE))
		return 1;
	for (int i = 0; i < BYTES; i += SMALL)
		asked[i] = 1; /* @asked */
	for (int i = 0; i < BYTES; i += SMALL)
		refused[i] = 1; /* @refused */
	for (int i = 0; i < BYTES; i += SMALL)
		usual[i] = 1; /* @usual */
	return 0;
}
