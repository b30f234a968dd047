/* SPDX-License-Identifier: MIT
 *
 * coalesced.h - coalesced accesses: consecutive references at constant distances that cover one range of
 * bytes without gaps, passed on as one reference.
 *
 * If all of it lies in one resident line, every member hits and nothing comes between them: one tag compare,
 * one touch and one entry in the log serve all. Otherwise it is split, and each member is charged to its own
 * attribution key.
 *
 * A coalesced access has a number, which its reference carries instead of an attribution key. One thread
 * creates them and another reads them: they never move, and the reader gets the number of one in a batch,
 * after its creation.
 */
#ifndef NM_COALESCED_H
#define NM_COALESCED_H

#include <stdatomic.h>
#include <stdint.h>

#include "arena.h"
#include "hierarchy.h"

enum {
	NM_COALESCED_MAX = 15,  /* members of one, */
	NM_COALESCED_SPAN = 64, /* and its bytes */
	NM_COALESCED_CHUNK_BITS = 12,
	NM_COALESCED_CHUNKS = 1 << 12
};

struct nm_coalesced_member {
	uint32_t attr;
	uint16_t distance; /* from the access's address */
	uint8_t size, kind;
};

struct nm_coalesced {
	uint64_t count;   /* of the creating thread: how often it was submitted */
	uint64_t written; /* bytes from the group's address on that members write, a bit each */
	uint32_t members;
	struct nm_coalesced_member member[]; /* in order */
};

struct nm_coalesced_table {
	struct nm_coalesced **chunks[NM_COALESCED_CHUNKS];
	uint32_t count;         /* [0] is unused */
	_Atomic uint32_t attrs; /* attribution keys are below this: members', and those announced */
	struct nm_arena arena;
};

struct nm_coalesced_table *nm_coalesced_table_new(void); /* NULL when memory is exhausted */
void nm_coalesced_table_free(struct nm_coalesced_table *coalesced);

/* Adds a coalesced access of 2 to NM_COALESCED_MAX members. Its number, or 0: out of memory or numbers. */
uint32_t nm_coalesced_add(struct nm_coalesced_table *coalesced, const struct nm_coalesced_member *members,
			  unsigned count);

/* Before a batch is submitted whose attribution keys are below `attrs`. */
static inline void nm_coalesced_raise_limit(struct nm_coalesced_table *coalesced, uint32_t attrs)
{
	if (atomic_load_explicit(&coalesced->attrs, memory_order_relaxed) < attrs)
		atomic_store_explicit(&coalesced->attrs, attrs, memory_order_relaxed);
}

static inline struct nm_coalesced *nm_coalesced_at(const struct nm_coalesced_table *coalesced,
						   uint32_t number)
{
	return coalesced
	    ->chunks[number >> NM_COALESCED_CHUNK_BITS][number & ((1u << NM_COALESCED_CHUNK_BITS) - 1)];
}

/* Whether a reference is coalesced. */
static inline int nm_ref_is_coalesced(const struct nm_ref *r)
{
	return r->weight > 1 && r->kind != NM_REF_FETCH;
}

/* One member of the coalesced reference r, as a reference of its own. */
static inline struct nm_ref nm_coalesced_member_ref(const struct nm_ref *r,
						    const struct nm_coalesced_member *m)
{
	return (struct nm_ref){.address = r->address + m->distance,
			       .attr = m->attr,
			       .size = m->size,
			       .kind = m->kind,
			       .weight = 1};
}

#endif
