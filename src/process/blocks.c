/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "lazy_array.h"

#define ADDRESS_END (1ull << (NM_PAGE_BITS + NM_TABLE_BITS + NM_TOP_BITS))
#define PAGE_SIZE (1ull << NM_PAGE_BITS)
#define GRANULE_SIZE (1ull << NM_GRANULE_BITS)
#define TABLES (1ull << NM_TOP_BITS)

int nm_blocks_init(struct nm_blocks *blocks)
{
	memset(blocks, 0, sizeof *blocks);
	blocks->top = nm_lazy_array(TABLES, sizeof *blocks->top);
	return blocks->top ? nm_vec_push(&blocks->large, (struct nm_large_block){0}) : NM_ENOMEM;
}

static struct nm_block_page *as_page(uintptr_t entry)
{
	return entry & 1 ? NULL : (struct nm_block_page *)entry;
}

/* Forgets all granules and their owners, whose lists are freed. */
static void empty_page(struct nm_block_page *page)
{
	*page = (struct nm_block_page){
	    .next = page->next, .owners = page->inside, .owner_count = 1, .owner_room = NM_OWNERS_INSIDE};
}

static void free_lists(struct nm_block_page *page)
{
	if (page->owners != page->inside)
		free(page->owners);
	free(page->shared);
}

void nm_blocks_done(struct nm_blocks *blocks)
{
	for (struct nm_block_page *page = blocks->pages; page; page = page->next)
		free_lists(page);
	for (size_t i = 0; i < blocks->tables.count; i++) {
		struct nm_block_table *table = blocks->top[blocks->tables.at[i]];

		nm_lazy_array_free(table, 1, sizeof *table);
	}
	nm_vec_free(&blocks->tables);
	nm_lazy_array_free(blocks->top, TABLES, sizeof *blocks->top);
	nm_arena_done(&blocks->arena);
	nm_vec_free(&blocks->free_pages);
	nm_vec_free(&blocks->large);
	nm_vec_free(&blocks->released_holders);
	blocks->top = NULL;
	blocks->pages = NULL;
}

static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t next_granule(uint64_t at) { return (at | (GRANULE_SIZE - 1)) + 1; }
static uint64_t next_page(uint64_t at) { return (at | (PAGE_SIZE - 1)) + 1; }

/* ---- pages ---- */

/* The table's entry of an address below ADDRESS_END, or NULL. */
static uintptr_t *entry_of(const struct nm_blocks *blocks, uint64_t address)
{
	struct nm_block_table *table = blocks->top[address >> (NM_PAGE_BITS + NM_TABLE_BITS)];

	return table ? &table->pages[address >> NM_PAGE_BITS & ((1u << NM_TABLE_BITS) - 1)] : NULL;
}

static uintptr_t *make_entry(struct nm_blocks *blocks, uint64_t address)
{
	uint32_t i = (uint32_t)(address >> (NM_PAGE_BITS + NM_TABLE_BITS));

	if (!blocks->top[i]) {
		if (nm_vec_push(&blocks->tables, i))
			return NULL;
		blocks->top[i] = nm_lazy_array(1, sizeof **blocks->top);
		if (!blocks->top[i]) {
			blocks->tables.count--;
			return NULL;
		}
	}
	return entry_of(blocks, address);
}

/* The page of an address that has granules, or NULL. */
static struct nm_block_page *page_of(const struct nm_blocks *blocks, uint64_t address)
{
	const uintptr_t *entry = address < ADDRESS_END ? entry_of(blocks, address) : NULL;

	return entry ? as_page(*entry) : NULL;
}

/* A page without granules; NULL: out of memory. */
static struct nm_block_page *new_page(struct nm_blocks *blocks)
{
	struct nm_block_page *page;

	if (blocks->free_pages.count)
		return blocks->free_pages.at[--blocks->free_pages.count];
	page = nm_arena_alloc(&blocks->arena, sizeof *page);
	if (!page)
		return NULL;
	*page = (struct nm_block_page){.next = blocks->pages};
	blocks->pages = page;
	empty_page(page);
	return page;
}

/* The page of an address, made if there is none; no large block covers all of it. */
static struct nm_block_page *make_page(struct nm_blocks *blocks, uintptr_t *entry, uint64_t address)
{
	struct nm_block_page *page;

	if (*entry)
		return as_page(*entry);
	page = new_page(blocks);
	if (!page)
		return NULL;
	page->address = address & ~(PAGE_SIZE - 1);
	*entry = (uintptr_t)page;
	return page;
}

static void release_page(struct nm_blocks *blocks, uintptr_t *entry)
{
	struct nm_block_page *page = as_page(*entry);

	free_lists(page);
	empty_page(page);
	if (nm_vec_push(&blocks->free_pages, page))
		blocks->failed = 1;
	*entry = 0;
}

/* Drops owners that no granule refers to. */
static void compact_owners(struct nm_block_page *page)
{
	uint16_t index[NM_GRANULE_INDEX + 1] = {0};
	uint16_t count = 1;

	for (unsigned i = 0; i < NM_GRANULES; i++) {
		uint16_t *granule = &page->granules[i];
		const unsigned old = *granule & NM_GRANULE_INDEX;

		if (*granule & NM_GRANULE_SHARED)
			continue;
		index[old] = old != 0;
	}
	for (unsigned i = 1; i < page->owner_count; i++)
		if (index[i]) {
			page->owners[count] = page->owners[i];
			index[i] = count++;
		}
	page->owner_count = count;
	for (unsigned i = 0; i < NM_GRANULES; i++) {
		uint16_t *granule = &page->granules[i];

		if (!(*granule & NM_GRANULE_SHARED))
			*granule =
			    (uint16_t)((*granule & ~NM_GRANULE_INDEX) | index[*granule & NM_GRANULE_INDEX]);
	}
}

/* Makes room for one more owner. There are never more than granules, so half of the index space suffices. */
static int make_owner_room(struct nm_block_page *page)
{
	uint16_t room = (uint16_t)least_of(2u * page->owner_room, NM_GRANULE_INDEX + 1);
	uint32_t *bigger;

	compact_owners(page);
	if (page->owner_count <= page->owner_room / 2)
		return 0;
	bigger = malloc(room * sizeof *bigger);
	if (!bigger)
		return NM_ENOMEM;
	memcpy(bigger, page->owners, page->owner_count * sizeof *bigger);
	if (page->owners != page->inside)
		free(page->owners);
	page->owners = bigger;
	page->owner_room = room;
	return 0;
}

/* The owner's index in the page's list; 0: out of memory. */
static unsigned index_of_owner(struct nm_block_page *page, uint32_t owner)
{
	for (unsigned i = page->owner_count; i-- > 1;)
		if (page->owners[i] == owner)
			return i;
	if (page->owner_count == page->owner_room && make_owner_room(page))
		return 0;
	page->owners[page->owner_count] = owner;
	return page->owner_count++;
}

/* ---- granules ---- */

static unsigned granule_of(uint64_t address) { return address >> NM_GRANULE_BITS & (NM_GRANULES - 1); }
static unsigned byte_of(uint64_t address) { return address & (GRANULE_SIZE - 1); }
static unsigned last_of(unsigned granule) { return granule >> NM_GRANULE_LAST & 15; }

static int begins_at(const struct nm_block_page *page, uint64_t address)
{
	const unsigned granule = page->granules[granule_of(address)];

	if (granule & NM_GRANULE_SHARED)
		return page->shared[granule & NM_GRANULE_INDEX].begins >> byte_of(address) & 1;
	return granule & NM_GRANULE_BEGINS && !byte_of(address);
}

/* Gives a granule an owner for each byte; NULL: out of memory. */
static struct nm_shared_granule *share_granule(struct nm_block_page *page, uint16_t *granule)
{
	struct nm_shared_granule *s, *bigger;
	unsigned i = 0;

	if (*granule & NM_GRANULE_SHARED)
		return &page->shared[*granule & NM_GRANULE_INDEX];
	while (i < page->shared_count && page->shared[i].bytes)
		i++;
	if (i == page->shared_count) {
		bigger = realloc(page->shared, (i + 1) * sizeof *bigger);
		if (!bigger)
			return NULL;
		page->shared = bigger;
		page->shared_count++;
	}
	s = &page->shared[i];
	memset(s, 0, sizeof *s);
	if (*granule)
		for (; s->bytes <= last_of(*granule); s->bytes++)
			s->owner[s->bytes] = page->owners[*granule & NM_GRANULE_INDEX];
	else
		page->used++;
	s->begins = (*granule & NM_GRANULE_BEGINS) != 0;
	*granule = (uint16_t)(NM_GRANULE_SHARED | i);
	return s;
}

/* Enters bytes [at, end) of a block, within one granule; begins: the block begins at `at`. */
static int paint_granule(struct nm_block_page *page, uint64_t at, uint64_t end, uint32_t owner, int begins)
{
	uint16_t *granule = &page->granules[granule_of(at)];
	struct nm_shared_granule *s;
	unsigned index;

	if (!*granule && !byte_of(at)) {
		index = index_of_owner(page, owner);
		*granule = (uint16_t)(index | byte_of(end - 1) << NM_GRANULE_LAST |
				      (begins ? NM_GRANULE_BEGINS : 0));
		page->used++;
		return index ? 0 : NM_ENOMEM;
	}
	s = share_granule(page, granule);
	if (!s)
		return NM_ENOMEM;
	s->begins |= (uint16_t)((begins != 0) << byte_of(at));
	for (; at < end; at++, s->bytes++)
		s->owner[byte_of(at)] = owner;
	return 0;
}

/* Removes bytes [at, end) of a block, within one granule. */
static void wipe_granule(struct nm_block_page *page, uint64_t at, uint64_t end)
{
	uint16_t *granule = &page->granules[granule_of(at)];

	if (*granule & NM_GRANULE_SHARED) {
		struct nm_shared_granule *s = &page->shared[*granule & NM_GRANULE_INDEX];

		for (; at < end; at++, s->bytes--) {
			s->owner[byte_of(at)] = 0;
			s->begins &= (uint16_t) ~(1u << byte_of(at));
		}
		if (s->bytes)
			return;
	}
	*granule = 0;
	page->used--;
}

/* ---- blocks ---- */

/* Enters the block [address, end), which overlaps no other. */
static int enter_block(struct nm_blocks *blocks, uint64_t address, uint64_t end, uint32_t owner)
{
	for (uint64_t at = address; at < end;) {
		uint64_t stop = least_of(end, next_page(at));
		uintptr_t *entry = make_entry(blocks, at);
		struct nm_block_page *page;

		if (!entry)
			return NM_ENOMEM;
		if (stop - at == PAGE_SIZE) { /* a large block covers the page */
			*entry = (uintptr_t)(owner & ~NM_OWNER_LARGE) << 1 | 1;
			at = stop;
			continue;
		}
		page = make_page(blocks, entry, at);
		if (!page)
			return NM_ENOMEM;
		for (; at < stop; at = least_of(stop, next_granule(at)))
			if (paint_granule(page, at, least_of(stop, next_granule(at)), owner, at == address))
				return NM_ENOMEM;
	}
	return 0;
}

/* Removes the block [address, end). */
static void clear_block(struct nm_blocks *blocks, uint64_t address, uint64_t end)
{
	for (uint64_t at = address; at < end;) {
		uint64_t stop = least_of(end, next_page(at));
		uintptr_t *entry = entry_of(blocks, at);
		struct nm_block_page *page = as_page(*entry);

		if (!page)
			*entry = 0;
		for (; page && at < stop; at = least_of(stop, next_granule(at)))
			wipe_granule(page, at, least_of(stop, next_granule(at)));
		if (page && !page->used)
			release_page(blocks, entry);
		at = stop;
	}
}

/* Where the small block around an address begins. */
static uint64_t begin_of(const struct nm_blocks *blocks, uint64_t address)
{
	for (;;) {
		const struct nm_block_page *page = page_of(blocks, address);

		if (!(page->granules[granule_of(address)] & NM_GRANULE_SHARED))
			address &= ~(GRANULE_SIZE - 1);
		if (begins_at(page, address))
			return address;
		address--;
	}
}

/* Where the small block around an address ends; at most about `limit`. */
static uint64_t end_of(const struct nm_blocks *blocks, uint64_t address, uint64_t limit)
{
	uint64_t at = address;

	while (at < limit) {
		const struct nm_block_page *page = page_of(blocks, at);
		const unsigned granule = page ? page->granules[granule_of(at)] : 0;

		if (!granule || (at != address && begins_at(page, at)))
			return at;
		if (granule & NM_GRANULE_SHARED) {
			if (!page->shared[granule & NM_GRANULE_INDEX].owner[byte_of(at)])
				return at;
			at++;
			continue;
		}
		at = (at & ~(GRANULE_SIZE - 1)) + last_of(granule) + 1;
		if (byte_of(at))
			return at;
	}
	return at;
}

int nm_blocks_find(const struct nm_blocks *blocks, uint64_t address, struct nm_block *ret_block)
{
	const uint32_t owner = nm_blocks_owner(blocks, address);
	const struct nm_large_block *large;

	if (!owner)
		return 0;
	if (owner & NM_OWNER_LARGE) {
		large = &blocks->large.at[owner & ~NM_OWNER_LARGE];
		*ret_block =
		    (struct nm_block){large->address, large->size, large->object, owner & ~NM_OWNER_LARGE};
		return 1;
	}
	ret_block->address = begin_of(blocks, address);
	ret_block->size = end_of(blocks, ret_block->address, ADDRESS_END) - ret_block->address;
	ret_block->object = owner;
	ret_block->large = 0;
	return 1;
}

/* Whether a granule is full of a block that goes on in the next one, which is not shared either. */
static int goes_on(const uint16_t *granule)
{
	return granule[1] && !(granule[0] & NM_GRANULE_SHARED) &&
	       !(granule[1] & (NM_GRANULE_SHARED | NM_GRANULE_BEGINS)) &&
	       last_of(granule[0]) == GRANULE_SIZE - 1;
}

int nm_blocks_hold(const struct nm_blocks *blocks, uint64_t address, uint64_t bytes)
{
	const uint32_t owner = nm_blocks_owner(blocks, address);
	const struct nm_large_block *large = &blocks->large.at[owner & ~NM_OWNER_LARGE];
	const uint64_t last = address + bytes - 1;
	const uint16_t *granule, *of_last;

	if (!owner || owner & NM_OWNER_LARGE)
		return owner && last < large->address + large->size;
	granule = &page_of(blocks, address)->granules[granule_of(address)];
	of_last = granule + (last >> NM_GRANULE_BITS) - (address >> NM_GRANULE_BITS);
	if (last >> NM_PAGE_BITS == address >> NM_PAGE_BITS) /* as nearly always */
		while (granule != of_last && goes_on(granule))
			granule++;
	if (granule == of_last && !(*granule & NM_GRANULE_SHARED))
		return byte_of(last) <= last_of(*granule);
	return end_of(blocks, address, last + 1) > last;
}

static void remove_block(struct nm_blocks *blocks, const struct nm_block *b)
{
	struct nm_large_block *large = &blocks->large.at[b->large];

	assert(blocks->live > 0);
	clear_block(blocks, b->address, b->address + b->size);
	blocks->live--;
	if (!b->large)
		return;
	if (large->range_holders && nm_vec_push(&blocks->released_holders, large->range_holders))
		blocks->failed = 1;
	*large = (struct nm_large_block){.object = blocks->free_slot};
	blocks->free_slot = b->large;
}

int nm_blocks_remove(struct nm_blocks *blocks, uint64_t address, struct nm_block *ret_removed)
{
	const uintptr_t *entry = address < ADDRESS_END ? entry_of(blocks, address) : NULL;
	const struct nm_block_page *page = entry ? as_page(*entry) : NULL;
	struct nm_block b;

	if (page && !begins_at(page, address))
		return 0;
	if (!nm_blocks_find(blocks, address, &b) || b.address != address)
		return 0;
	remove_block(blocks, &b);
	if (ret_removed)
		*ret_removed = b;
	return 1;
}

/* Removes live blocks that overlap [address, end). Skips pages without blocks, so that large new blocks are
 * cheap. */
static void evict_overlaps(struct nm_blocks *blocks, uint64_t address, uint64_t end)
{
	struct nm_block b;

	for (uint64_t at = address; at < end;) {
		const uintptr_t *entry = entry_of(blocks, at);
		const struct nm_block_page *page;

		if (!entry || !*entry) {
			at = next_page(at);
			continue;
		}
		page = as_page(*entry);
		if (page && !page->granules[granule_of(at)]) {
			at = next_granule(at);
			continue;
		}
		if (nm_blocks_find(blocks, at, &b))
			remove_block(blocks, &b);
		at++;
	}
}

void nm_blocks_remove_range(struct nm_blocks *blocks, uint64_t address, uint64_t bytes)
{
	if (blocks->live && address < ADDRESS_END)
		evict_overlaps(blocks, address,
			       bytes < ADDRESS_END - address ? address + bytes : ADDRESS_END);
}

static int new_large(struct nm_blocks *blocks, struct nm_large_block b, uint32_t *ret_owner)
{
	uint32_t id = blocks->free_slot;

	if (id) {
		blocks->free_slot = blocks->large.at[id].object;
		blocks->large.at[id] = b;
	} else {
		id = (uint32_t)blocks->large.count;
		if (nm_vec_push(&blocks->large, b))
			return NM_ENOMEM;
	}
	*ret_owner = NM_OWNER_LARGE | id;
	return 0;
}

int nm_blocks_add(struct nm_blocks *blocks, uint64_t address, uint64_t size, uint32_t object)
{
	uint32_t owner = object;

	assert(object && object < NM_OWNER_LARGE);
	size += !size;
	if (address >= ADDRESS_END || size > ADDRESS_END - address)
		return 0;
	evict_overlaps(blocks, address, address + size);
	if (blocks->failed || (size >= NM_LARGE_BLOCK &&
			       new_large(blocks, (struct nm_large_block){address, size, object, 0}, &owner)))
		return NM_ENOMEM;
	blocks->live++;
	return enter_block(blocks, address, address + size, owner);
}

/* Copies the small blocks that begin in a page. */
static int copy_page(struct nm_blocks *to, const struct nm_blocks *from, const struct nm_block_page *page)
{
	struct nm_block b;

	for (uint64_t at = page->address; at < page->address + PAGE_SIZE; at++) {
		if (!page->granules[granule_of(at)])
			at = next_granule(at) - 1;
		else if (begins_at(page, at) && nm_blocks_find(from, at, &b) && !b.large &&
			 nm_blocks_add(to, b.address, b.size, b.object))
			return NM_ENOMEM;
	}
	return 0;
}

int nm_blocks_copy(struct nm_blocks *to, const struct nm_blocks *from)
{
	assert(to != from);
	if (nm_blocks_init(to))
		return NM_ENOMEM;
	for (size_t i = 1; i < from->large.count; i++) {
		const struct nm_large_block *b = &from->large.at[i];

		if (b->size && nm_blocks_add(to, b->address, b->size, b->object))
			return NM_ENOMEM;
	}
	for (const struct nm_block_page *page = from->pages; page; page = page->next)
		if (page->used && copy_page(to, from, page))
			return NM_ENOMEM;
	return 0;
}

/* ---- checks ---- */

static int granule_is_valid(const struct nm_blocks *blocks, const struct nm_block_page *page,
			    unsigned granule)
{
	const unsigned index = granule & NM_GRANULE_INDEX;
	const struct nm_shared_granule *shared = &page->shared[index];
	unsigned bytes = 0;

	if (!(granule & NM_GRANULE_SHARED))
		return index > 0 && index < page->owner_count &&
		       nm_blocks_object(blocks, page->owners[index]) != 0;
	for (unsigned byte = 0; byte < 1u << NM_GRANULE_BITS; byte++)
		bytes += shared->owner[byte] != 0;
	return index < page->shared_count && bytes == shared->bytes;
}

static int page_is_valid(const struct nm_blocks *blocks, const struct nm_block_page *page)
{
	unsigned used = 0;

	for (unsigned i = 0; i < NM_GRANULES; i++) {
		used += page->granules[i] != 0;
		if (page->granules[i] && !granule_is_valid(blocks, page, page->granules[i]))
			return 0;
	}
	return used == page->used;
}

/* A page that belongs to a large block lies entirely inside it. */
static int large_page_is_valid(const struct nm_blocks *blocks, uint64_t address, uint32_t index)
{
	const struct nm_large_block *b = &blocks->large.at[index];

	return index > 0 && index < blocks->large.count && b->address <= address &&
	       address + (1u << NM_PAGE_BITS) <= b->address + b->size;
}

int nm_blocks_are_valid(const struct nm_blocks *blocks)
{
	for (size_t i = 0; i < blocks->tables.count; i++) {
		const uint64_t number = blocks->tables.at[i];
		const struct nm_block_table *table = blocks->top[number];

		for (uint64_t k = 0; k < 1u << NM_TABLE_BITS; k++) {
			const uintptr_t entry = table->pages[k];
			const uint64_t address = (number << NM_TABLE_BITS | k) << NM_PAGE_BITS;

			if (entry & 1 ? !large_page_is_valid(blocks, address, (uint32_t)(entry >> 1))
				      : entry && !page_is_valid(blocks, (const struct nm_block_page *)entry))
				return 0;
		}
	}
	return 1;
}
