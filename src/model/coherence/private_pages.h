/* SPDX-License-Identifier: MIT
 *
 * private_pages.h - blocks of pages that one core uses alone (directory.h): it needs no permission there,
 * and no copies are listed.
 *
 * The core's cache gives the state of each block of such a page: MODIFIED if the line was written to, else
 * EXCLUSIVE; the key that loaded it is that of its residency. So private pages need a protocol with an
 * EXCLUSIVE state and a single private data level, with lines as long as a block.
 *
 * Invariant: a line is marked `is_private` if and only if its page is private to the core.
 */
#ifndef NM_PRIVATE_PAGES_H
#define NM_PRIVATE_PAGES_H

#include "coherence.h"

/* Whether the current reference, of data, is to a page that is private to the core and needs no action of
 * the protocol. If not, the block's page is shared. */
int private_acquire(struct nm_coherence *coherence, struct nm_cache *cache, uint64_t block, int write);

/* The reference, acquired so, has been served by the line at a slot. */
void private_touch(struct nm_coherence *coherence, struct nm_cache *cache, uint32_t slot, int write);

/* Makes the page of a block shared if it is private; all pages; that of a block only if its owner is not `core` and
 * has the block. */
void private_end(struct nm_coherence *coherence, uint64_t block);
void private_end_all(struct nm_coherence *coherence);
void private_end_of_other(struct nm_coherence *coherence, unsigned core, uint64_t block);

/* The state of a block of the core's private page. */
enum nm_copy_state private_state(const struct nm_coherence *coherence, unsigned core, uint64_t block);

#endif
