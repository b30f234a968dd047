/* SPDX-License-Identifier: MIT */
#include "directory.h"
#include "checks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "coherence.h"

int nm_directory_init(struct nm_directory *d, unsigned cores)
{
	const size_t count = (size_t)cores * NM_RECENT_PAGES;

	d->recent = calloc(count, sizeof *d->recent);
	d->recent_private = calloc(count, sizeof *d->recent_private);
	return d->recent && d->recent_private ? 0 : NM_ENOMEM;
}

void nm_directory_done(struct nm_directory *d)
{
	free(d->recent);
	free(d->recent_private);
	nm_map_done(&d->page_of);
	nm_arena_done(&d->arena);
}

static struct nm_directory_page **recent_of(const struct nm_directory *d, unsigned core, uint64_t number)
{
	return &d->recent[core * NM_RECENT_PAGES + number % NM_RECENT_PAGES];
}

/* ---- private pages ------------------------------------------------------------------------------------- */

static uint64_t *recent_private_of(const struct nm_directory *d, unsigned core, uint64_t number)
{
	return &d->recent_private[core * NM_RECENT_PAGES + number % NM_RECENT_PAGES];
}

unsigned nm_directory_owner(const struct nm_directory *d, uint64_t block)
{
	const uint64_t value = nm_map_get(&d->page_of, block / NM_PAGE_BLOCKS, 0);

	return value & 1 ? (unsigned)(value >> 1) : NM_NO_OWNER;
}

int nm_directory_claim(struct nm_directory *d, unsigned core, uint64_t block, int *failed)
{
	const uint64_t number = block / NM_PAGE_BLOCKS, mine = core * 2 + 1;
	const struct nm_directory_page *shared = *recent_of(d, core, number);
	uint64_t *recent = recent_private_of(d, core, number), value;

	if (*recent == number + 1)
		return 1;
	if (shared && shared->number == number)
		return 0;
	value = nm_map_get(&d->page_of, number, 0);
	if (value && value != mine)
		return 0;
	if (!value && nm_map_put(&d->page_of, number, mine))
		*failed = 1;
	*recent = number + 1;
	return 1;
}

void nm_directory_release_page(struct nm_directory *d, unsigned owner, uint64_t block)
{
	const uint64_t number = block / NM_PAGE_BLOCKS;
	uint64_t *recent = recent_private_of(d, owner, number);

	assert(nm_directory_owner(d, block) == owner);
	nm_map_remove(&d->page_of, number);
	if (*recent == number + 1)
		*recent = 0;
}

/* ---- shared pages -------------------------------------------------------------------------------------- */

/* A recent page that has been freed has another number. */
static struct nm_directory_page *find_page(const struct nm_directory *d, unsigned core, uint64_t number)
{
	struct nm_directory_page **recent = recent_of(d, core, number);
	uint64_t value;

	if (*recent && (*recent)->number == number)
		return *recent;
	value = nm_map_get(&d->page_of, number, 0);
	if (!value || value & 1)
		return NULL;
	return *recent = (struct nm_directory_page *)(uintptr_t)value;
}

static struct nm_directory_page *make_page(struct nm_directory *d, uint64_t number)
{
	struct nm_directory_page *page = d->free_pages;

	if (page)
		d->free_pages = page->next_free;
	else if (!(page = nm_arena_alloc(&d->arena, sizeof *page)))
		return NULL;
	*page = (struct nm_directory_page){.number = number};
	return nm_map_put(&d->page_of, number, (uintptr_t)page) ? NULL : page;
}

struct nm_copy *nm_directory_copies(const struct nm_directory *d, unsigned core, uint64_t block)
{
	const struct nm_directory_page *page = find_page(d, core, block / NM_PAGE_BLOCKS);

	return page ? page->copies[block % NM_PAGE_BLOCKS] : NULL;
}

struct nm_copy *nm_directory_find(const struct nm_directory *d, unsigned core, uint64_t block)
{
	struct nm_copy *copy = nm_directory_copies(d, core, block);

	while (copy && copy->core != core)
		copy = copy->next;
	return copy;
}

static struct nm_copy *make_copy(struct nm_directory *d)
{
	struct nm_copy *copy = d->free_copies;

	if (copy)
		d->free_copies = copy->next;
	else
		copy = nm_arena_alloc(&d->arena, d->copy_bytes);
	if (copy)
		memset(copy, 0, d->copy_bytes);
	return copy;
}

struct nm_copy *nm_directory_add(struct nm_directory *d, unsigned core, uint64_t block)
{
	struct nm_directory_page *page = find_page(d, core, block / NM_PAGE_BLOCKS);
	struct nm_copy *copy, **first;

	NM_CHECK(nm_directory_find(d, core, block) == NULL);
	assert(nm_directory_owner(d, block) == NM_NO_OWNER);
	if (!page && !(page = make_page(d, block / NM_PAGE_BLOCKS)))
		return NULL;
	copy = make_copy(d);
	if (!copy)
		return NULL;
	first = &page->copies[block % NM_PAGE_BLOCKS];
	page->live += !*first;
	copy->block = block;
	copy->page = page;
	copy->core = (uint16_t)core;
	copy->next = *first;
	*first = copy;
	return copy;
}

void nm_directory_remove(struct nm_directory *d, struct nm_copy *copy)
{
	struct nm_directory_page *page = copy->page;
	struct nm_copy **at = &page->copies[copy->block % NM_PAGE_BLOCKS];

	assert(copy->state == NM_COPY_NONE && !copy->doubts);
	while (*at != copy)
		at = &(*at)->next;
	*at = copy->next;
	page->live -= !page->copies[copy->block % NM_PAGE_BLOCKS];
	copy->next = d->free_copies;
	d->free_copies = copy;
	if (page->live || page->contended || page->watched)
		return;
	nm_map_remove(&d->page_of, page->number);
	page->number = UINT64_MAX;
	page->next_free = d->free_pages;
	d->free_pages = page;
}
