/* SPDX-License-Identifier: MIT
 *
 * resolver.h - finds the attribution keys of references that miss their inline cache entries (resolve.c), and
 * of coalesced accesses (coalesce.c).
 */
#ifndef NM_RESOLVER_H
#define NM_RESOLVER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "attribution.h"
#include "coalesced.h"
#include "contexts.h"
#include "decoded_block.h"
#include "decoder.h"
#include "frames.h"
#include "map.h"
#include "running.h"
#include "space.h"
#include "vector.h"

/* The bucket of a block that is being filled before the stream reports it, and the stack that led there: a
 * string instruction clears byte by byte, and each would walk the stack again. */
enum { NM_FILLING_DEPTH = 64 };

struct nm_filling {
	struct nm_frame frames[NM_FILLING_DEPTH];
	size_t count;
	uint32_t object; /* 0: none is known */
};

/* An access site whose entry keeps a part of a caller's frame, until a call or return at `slot` or above. */
struct nm_framed {
	uint64_t slot;
	uint32_t access_site;
};

struct nm_resolver {
	/* Where it looks; all borrowed. */
	struct nm_decoder *decoder;
	struct nm_attributions *attrs;
	struct nm_space *space;
	struct nm_contexts *contexts;
	struct nm_running *running;
	const struct nm_threads *threads;
	int heap_chains; /* heap blocks of different call chains are different objects */

	struct nm_filling filling;

	/* Ranges that entries keep. */
	struct nm_vec(uint32_t) listed; /* access sites whose entries keep that of a mapping or variable */
	struct nm_vec(struct nm_framed) framed;              /* of frames, the innermost last */
	struct nm_vec(struct nm_range_holder) range_holders; /* of heap blocks; [0] is none */
	uint32_t free_holder;

	struct nm_coalesced_table *coalesced;
	/* access site << 26 | object, or a hash of attribution keys -> coalesced access */
	struct nm_map coalesced_of;
	struct nm_recent_attr *coalesced_recent; /* a cache in front of it, by hash */
};

/* Makes its tables. 0 or NM_ENOMEM. */
int nm_resolver_init(struct nm_resolver *resolver);
void nm_resolver_done(struct nm_resolver *resolver);

/* The attribution key of one reference that its entry does not serve. No reference may be pending: objects
 * and keys are numbered in the order of references. 0: out of memory. */
uint32_t nm_resolver_find(struct nm_resolver *resolver, const struct nm_decoded_block *decoded,
			  uint32_t access_site, uint64_t address);

/* Sets the attribution keys of pending references: the index in refs, and the access site << 32. 0 or NM_ENOMEM. */
int nm_resolver_find_all(struct nm_resolver *resolver, struct nm_ref *refs, const uint64_t *pending,
			 size_t count);

/* The object at an address outside of the running function's frame, as of now. 0 or NM_ENOMEM. */
int nm_resolver_object_at(struct nm_resolver *resolver, uint64_t address, uint32_t *ret_object);

/* Empties entries whose range may no longer be valid: those of mappings; of released heap blocks; of callers'
 * frames that a call or return at `slot` changes; all. */
void nm_resolver_forget_mappings(struct nm_resolver *resolver);
void nm_resolver_forget_released_blocks(struct nm_resolver *resolver);
void nm_resolver_forget_frames(struct nm_resolver *resolver, uint64_t slot);
void nm_resolver_forget_ranges(struct nm_resolver *resolver);

/* The attribution key of an access site in an object. 0: out of memory. */
uint32_t nm_resolver_attribute(struct nm_resolver *resolver, uint32_t access_site, uint32_t object);

/* The number of a coalesced access with all members in one object, or each in its own. 0: out of memory. */
uint32_t nm_resolver_coalesced(struct nm_resolver *resolver, uint32_t access_site, uint32_t object);
uint32_t nm_resolver_mixed_coalesced(struct nm_resolver *resolver, uint32_t access_site,
				     const uint32_t *objects);

/* References are counted by attribution key, coalesced ones by their number. The references of whole blocks follow
 * from how often each ran (`runs`) and from the key that its entries had meanwhile: they are counted when the key of an
 * entry changes, and at the end. What an entry does not serve is counted under its key nevertheless, and counted anew
 * when its own key is found. */

/* Counts `times` references with a word (decoded_block.h); one may be uncounted by UINT64_MAX times. */
static inline void nm_resolver_count(struct nm_resolver *r, uint64_t word, uint64_t times)
{
	const uint32_t attr = (uint32_t)word;

	if (!nm_word_is_coalesced(word))
		r->attrs->references[attr].count[nm_word_kind(word) == NM_REF_WRITE] += times;
	else if (attr)
		nm_coalesced_at(r->coalesced, attr)->count += times;
}

/* A reference gets its key, after it was counted under the one that it has. */
static inline void nm_resolver_recount(struct nm_resolver *r, struct nm_ref *ref, uint32_t attr)
{
	uint64_t word;

	memcpy(&word, &ref->attr, sizeof word);
	if ((uint32_t)word == attr)
		return;
	nm_resolver_count(r, word, UINT64_MAX);
	nm_resolver_count(r, word >> 32 << 32 | attr, 1);
	ref->attr = attr;
}

/* Counts all runs, which are 0 then. Call before 2^32 references have been made since. */
void nm_resolver_count_runs(struct nm_resolver *resolver);

/* At the end: credits the members of coalesced accesses with their counts. */
void nm_resolver_credit_members(struct nm_resolver *resolver);

#endif
