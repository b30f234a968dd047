/* SPDX-License-Identifier: MIT
 *
 * machine_pages.h - the memory of a machine on which several processes run: gives an address of a process its
 * *machine address*, which is one for all processes that have the byte in common.
 *
 * A machine address is a number, of who owns the page, above the 47 bits of an address in a process. Pages of the
 * first process keep their addresses. A part of a memory object (a shared mapping) lies where the first process that
 * mapped the object has it, or would have it.
 *
 * A child has its parent's private pages, until one of those that have a page writes to it: the writer then has a page
 * of its own, as with copy on write, and the others keep the old one. Memory that is unmapped and mapped again keeps
 * its pages, as in recordings of one process. An access belongs to the page of its first byte.
 *
 * Pure: knows nothing of engines.
 */
#ifndef NM_MACHINE_PAGES_H
#define NM_MACHINE_PAGES_H

#include <stdint.h>

#include "map.h"
#include "vector.h"

enum {
	NM_MACHINE_PAGE_SHIFT = 12,
	NM_MACHINE_ADDRESS_BITS = 47,
	NM_MACHINE_OWNERS = 1 << 16, /* then numbers are given again */
	NM_RECENT_MACHINE_PAGES = 512
};

/* A file, a segment: what several processes may have mapped. */
struct nm_memory_object {
	uint64_t device, inode; /* both 0: children of the one that made it inherit it, no others have it */
	uint64_t start;         /* machine address of its first byte */
};

struct nm_machine_memory {
	uint32_t owners; /* numbers given so far */
	struct nm_vec(struct nm_memory_object) objects;
	struct nm_map sharers; /* private page that several processes have -> how many */
};

/* A part of an object in a process. Parts do not overlap and are kept in order of address. */
struct nm_shared_part {
	uint64_t address, end;
	uint64_t distance; /* from the address to the machine address, modulo 2^64 */
};

struct nm_machine_pages {
	struct nm_machine_memory *memory; /* borrowed */
	struct nm_vec(struct nm_shared_part) parts;
	struct nm_map private; /* page -> number of who owns it */
	uint32_t owner;        /* of new pages; */
	int has_owner;         /* 0: a number will be given to the next one */
	struct {
		uint64_t key,
		    distance; /* twice the number of the page after this one, and 1 if it may be written */
	} recent[NM_RECENT_MACHINE_PAGES];
};

void nm_machine_memory_done(struct nm_machine_memory *memory);

/* The pages of a new process, and of one that `parent` forks; *ret_pages is overwritten. 0 or NM_ENOMEM. */
void nm_machine_pages_init(struct nm_machine_pages *ret_pages, struct nm_machine_memory *memory);
int nm_machine_pages_fork(struct nm_machine_pages *ret_pages, struct nm_machine_pages *parent);
/* The process has ended: its private pages are no longer shared. */
void nm_machine_pages_done(struct nm_machine_pages *pages);

/* The process maps part of an object; a range has become private, or nothing; a part has moved. 0 or NM_ENOMEM. */
struct nm_object_part {
	uint64_t address, bytes, device, inode, offset;
};
int nm_machine_pages_share(struct nm_machine_pages *pages, const struct nm_object_part *part);
int nm_machine_pages_unshare(struct nm_machine_pages *pages, uint64_t address, uint64_t bytes);
int nm_machine_pages_move(struct nm_machine_pages *pages, uint64_t from, uint64_t from_bytes, uint64_t to,
			  uint64_t to_bytes);

/* Whether a part of an object lies there. */
int nm_machine_pages_are_shared(const struct nm_machine_pages *pages, uint64_t address);

/* The address in the process of a machine address that it has used. */
uint64_t nm_machine_pages_back(const struct nm_machine_pages *pages, uint64_t machine_address);

/* Finds *ret_distance, from an address to its machine address. 0 or NM_ENOMEM. */
int nm_machine_pages_find(struct nm_machine_pages *pages, uint64_t address, int writes,
			  uint64_t *ret_distance);

/* The same, of recent pages at once. */
static inline int nm_machine_distance(struct nm_machine_pages *pages, uint64_t address, int writes,
				      uint64_t *ret_distance)
{
	const uint64_t page = address >> NM_MACHINE_PAGE_SHIFT, i = page % NM_RECENT_MACHINE_PAGES;
	const uint64_t key = pages->recent[i].key;

	*ret_distance = pages->recent[i].distance;
	return __builtin_expect((key | !writes) == ((page + 1) << 1 | 1), 1)
		   ? 0
		   : nm_machine_pages_find(pages, address, writes, ret_distance);
}

#endif
