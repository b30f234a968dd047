/* SPDX-License-Identifier: MIT
 *
 * shared_memory.c - shared mappings, which processes inherit.
 */
#include "shared_memory.h"

#include <sys/mman.h>

void *nm_shared_memory(size_t bytes)
{
	void *memory =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void nm_shared_memory_free(void *memory, size_t bytes) { munmap(memory, bytes); }
