/* SPDX-License-Identifier: MIT
 *
 * resolver.h - finds the attribution keys of references that miss their inline cache entries (resolve.c), and
 * of coalesced accesses (coalesce.c).
 */
#ifndef NM_RESOLVER_H
#define NM_RESOLVER_H

#include <stddef.h>
#include <stdint.h>

#include "coalesced.h"
#include "decoded_block.h"
#include "frames.h"
#include "map.h"
#include "vector.h"

struct nm_engine;

/* The bucket of a block that is being filled before the stream reports it, and the stack that led there: a
 * string instruction clears byte by byte, and each would walk the stack again. */
enum { NM_FILLING_DEPTH = 64 };

struct nm_filling {
	struct nm_frame frames[NM_FILLING_DEPTH];
	size_t count;
	uint32_t object; /* 0: none is known */
};

/* Of a pending reference: its object is known and stands in the place of its attribution key. */
enum { NM_KNOWN = 1 << 30 };

struct nm_resolver {
	/* References that wait for their attribution key: index in the batch, perhaps with NM_KNOWN, and <<
	 * 32 the access site. */
	size_t pending_count;
	uint64_t pending[NM_BATCH + NM_ENTRIES];

	struct nm_filling filling;

	/* Ranges that access sites keep. */
	struct nm_vec(uint32_t) listed; /* access sites that keep that of a mapping or variable */
	struct nm_vec(struct nm_range_holder) range_holders; /* of heap blocks; [0] is none */
	uint32_t free_holder;

	struct nm_coalesced_table *coalesced;
	/* access site << 26 | object, or a hash of attribution keys -> coalesced access */
	struct nm_map coalesced_of;
	struct nm_recent_attr *coalesced_recent; /* before it, by hash */
};

/* The attribution key of one reference that its entry does not know, counted. 0: out of memory. */
uint32_t nm_engine_resolve(struct nm_engine *engine, const struct nm_decoded_block *decoded,
			   uint32_t access_site, uint64_t address);

/* The object at an address outside of the running function's frame, as of now. 0 or NM_ENOMEM. */
int nm_engine_object_at(struct nm_engine *engine, uint64_t address, uint32_t *ret_object);

/* Resolves, or puts on the list, what `entries` (bits) of the NM_ENTRIES from access `at` on do not serve;
 * their references are the batch's next. */
int nm_engine_defer(struct nm_engine *engine, const struct nm_decoded_block *decoded, size_t at,
		    unsigned entries);

/* Resolves all pending references, and shows passes those that are sampled. */
int nm_engine_resolve_list(struct nm_engine *engine);

/* Empties entries whose range may have lost its meaning: those of mappings; of released heap blocks; all. */
void nm_engine_forget_mapped_ranges(struct nm_engine *engine);
void nm_engine_forget_released_blocks(struct nm_engine *engine);
void nm_engine_forget_ranges(struct nm_engine *engine);

/* The attribution key of an access site in an object. 0: out of memory. */
uint32_t nm_engine_attribute(struct nm_engine *engine, uint32_t access_site, uint32_t object);

/* The number of a coalesced access whose members are all in one object; are each in its own. 0: out of
 * memory. */
uint32_t nm_engine_coalesced(struct nm_engine *engine, uint32_t access_site, uint32_t object);
uint32_t nm_engine_mixed_coalesced(struct nm_engine *engine, uint32_t access_site, const uint32_t *objects);

/* At the end: credits the members of coalesced accesses with their counts. */
void nm_engine_share(struct nm_engine *engine);

#endif
