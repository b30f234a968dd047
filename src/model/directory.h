/* SPDX-License-Identifier: MIT
 *
 * directory.h - which cores have copies of which blocks, by pages of 64 blocks.
 *
 * Most pages are used by one core only. Such a page is *private*: the directory holds its owner only, and
 * the owner's caches show which of its blocks the owner has. When a second core uses the page, it becomes
 * *shared*, and each block has a list of copies. A shared page without copies is freed, unless one of its
 * blocks is contended or watched.
 *
 * Programs reuse recent pages, so each core has a table of its recent pages, and most look-ups take one
 * comparison.
 */
#ifndef NM_DIRECTORY_H
#define NM_DIRECTORY_H

#include <stdint.h>

#include "arena.h"
#include "map.h"

struct nm_copy;

enum { NM_PAGE_BLOCKS = 64, NM_RECENT_PAGES = 512 };

struct nm_directory_page {
	uint64_t number;    /* of the page; UINT64_MAX: it is free */
	uint64_t contended; /* a bit for each block: its touches are counted (contention.h) */
	uint64_t watched;   /* the same: its touches go to virtual lines (latent.h) */
	uint32_t live;      /* blocks that have copies */
	struct nm_directory_page *next_free;
	struct nm_copy *copies[NM_PAGE_BLOCKS];
};

struct nm_directory {
	struct nm_map
	    page_of; /* number -> address of a shared page, or 1 + twice the owner of a private one */
	struct nm_directory_page **recent; /* [cores][NM_RECENT_PAGES] by number; or NULL */
	uint64_t *recent_private;          /* the same, of the core's private pages: 1 + number, or 0 */
	struct nm_directory_page *free_pages;
	struct nm_copy *free_copies;
	size_t copy_bytes;
	struct nm_arena arena;
};

/* 0 or NM_ENOMEM. */
int nm_directory_init(struct nm_directory *directory, unsigned cores);
void nm_directory_done(struct nm_directory *directory);

/* Whether the page of a block is private to the core; an unused page becomes private. Sets *failed if memory
 * ran out. */
int nm_directory_claim(struct nm_directory *directory, unsigned core, uint64_t block, int *failed);

/* The owner of a block's page if that is private, else NM_NO_OWNER. */
#define NM_NO_OWNER UINT32_MAX
unsigned nm_directory_owner(const struct nm_directory *directory, uint64_t block);

/* The private page of a block becomes unused. */
void nm_directory_release_page(struct nm_directory *directory, unsigned owner, uint64_t block);

/* Of shared pages: all copies of a block, or NULL. Looks in the recent pages of `core` first. */
struct nm_copy *nm_directory_copies(const struct nm_directory *directory, unsigned core, uint64_t block);
/* The core's copy, or NULL. */
struct nm_copy *nm_directory_find(const struct nm_directory *directory, unsigned core, uint64_t block);
/* Adds a copy for a core that has none, with core, block and page set and the rest 0; NULL: memory ran
 * out. */
struct nm_copy *nm_directory_add(struct nm_directory *directory, unsigned core, uint64_t block);
void nm_directory_remove(struct nm_directory *directory, struct nm_copy *copy);

/* validate.c: whether each block's list has each core once at most. Slow. */
int nm_directory_is_valid(const struct nm_directory *directory, unsigned cores);

static inline uint64_t nm_directory_bit(uint64_t block) { return 1ull << block % NM_PAGE_BLOCKS; }

#endif
