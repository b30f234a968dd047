/* SPDX-License-Identifier: MIT
 *
 * heap.h - where the memory of a recording or replay lies.
 */
#ifndef NM_CLI_HEAP_H
#define NM_CLI_HEAP_H

/* Sets the allocator of the whole process up for a run; to be called once, before threads are started.  Where memory is
 * limited it does less, and nothing fails. */
void nm_heap_prepare(void);

#endif
