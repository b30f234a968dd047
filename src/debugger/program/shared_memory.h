/* SPDX-License-Identifier: MIT
 *
 * shared_memory.h - zeroed memory that all checkpoints of a run share: what one process writes, all see. In a page,
 * where there is one process, it is memory as any other.
 */
#ifndef NM_SHARED_MEMORY_H
#define NM_SHARED_MEMORY_H

#include <stddef.h>

void *nm_shared_memory(size_t bytes); /* or NULL, and errno */
void nm_shared_memory_free(void *memory, size_t bytes);

#endif
