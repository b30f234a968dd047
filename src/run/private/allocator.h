/* SPDX-License-Identifier: MIT
 *
 * allocator.h - configures malloc for a run.
 */
#ifndef NM_ALLOCATOR_H
#define NM_ALLOCATOR_H

/* Sets malloc up for one large heap of huge pages. Call it before starting threads. Under a memory limit
 * (ulimit -v,
 * -d) it only limits the number of arenas. Never fails. */
void nm_allocator_set_up(void);

#endif
