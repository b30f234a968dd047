/* SPDX-License-Identifier: MIT
 *
 * private_pages.h - blocks of pages that one core uses alone (directory.h): it may do there what it likes,
 * and no copies are kept.
 *
 * What the core has of such a page follows from its cache: a line is MODIFIED if it was written to, else
 * EXCLUSIVE, and the key that loaded it is that of its residency. So there are private pages where the
 * protocol has an EXCLUSIVE state, the core has one private level for data, and this loads blocks.
 *
 * Invariant: the clear bits of a line have NM_CLEAR_PRIVATE if and only if its page is private to the core.
 */
#ifndef NM_PRIVATE_PAGES_H
#define NM_PRIVATE_PAGES_H

#include "coherence.h"

/* Whether the reference in hand, of data, stays within a page that is private to the core. If not, no page
 * concerns it that is private. */
int nm_private_acquire(struct nm_coherence *coherence, struct nm_cache *cache, uint64_t block, int write);

/* What was acquired so was served, by the line at a slot. */
void nm_private_touch(struct nm_coherence *coherence, struct nm_cache *cache, uint32_t slot, int write);

/* If the page of a block is private, it is no longer; if that of another core than `core`, and this has the
 * block. */
void nm_private_end(struct nm_coherence *coherence, uint64_t block);
void nm_private_end_of_other(struct nm_coherence *coherence, unsigned core, uint64_t block);

/* The state of a block of a private page at a core. */
enum nm_copy_state nm_private_state(const struct nm_coherence *coherence, unsigned core, uint64_t block);

#endif
