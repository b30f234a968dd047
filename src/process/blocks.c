/* SPDX-License-Identifier: MIT
 *
 * blocks.c - see blocks.h.
 */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

#include "lazy_array.h"

#define ADDRESS_END (1ull << (NM_PAGE_BITS + NM_TABLE_BITS + NM_TOP_BITS))
#define PAGE_SIZE (1ull << NM_PAGE_BITS)
#define GRANULE_SIZE (1ull << NM_GRANULE_BITS)
#define TABLES (1ull << NM_TOP_BITS)

/* One more slot. */
static int push_block(struct nm_blocks *blocks)
{
	uint32_t *bigger;

	if (nm_vec_push(&blocks->list, (struct nm_block){0}))
		return NM_ENOMEM;
	if (blocks->objects_room >= blocks->list.room)
		return 0;
	bigger = realloc(blocks->objects, blocks->list.room * sizeof *bigger);
	if (!bigger)
		return NM_ENOMEM;
	blocks->objects = bigger;
	blocks->objects_room = blocks->list.room;
	return 0;
}

int nm_blocks_init(struct nm_blocks *blocks)
{
	memset(blocks, 0, sizeof *blocks);
	blocks->top = nm_lazy_array(TABLES, sizeof *blocks->top);
	return blocks->top ? push_block(blocks) : NM_ENOMEM;
}

void nm_blocks_done(struct nm_blocks *blocks)
{
	for (size_t i = 0; i < blocks->tables.count; i++)
		nm_lazy_array_free(blocks->tables.at[i], 1, sizeof *blocks->tables.at[i]);
	nm_vec_free(&blocks->tables);
	nm_lazy_array_free(blocks->top, TABLES, sizeof *blocks->top);
	nm_arena_done(&blocks->arena);
	nm_vec_free(&blocks->list);
	free(blocks->objects);
	blocks->objects = NULL;
	blocks->objects_room = 0;
	nm_vec_free(&blocks->released_holders);
	nm_map_done(&blocks->crowded);
	nm_map_done(&blocks->crowds);
	blocks->top = NULL;
}

static struct nm_block_page *page_of(const struct nm_blocks *blocks, uint64_t address)
{
	struct nm_block_table *table;

	if (address >= ADDRESS_END)
		return NULL;
	table = blocks->top[address >> (NM_PAGE_BITS + NM_TABLE_BITS)];
	return table ? &table->pages[address >> NM_PAGE_BITS & ((1u << NM_TABLE_BITS) - 1)] : NULL;
}

static struct nm_block_page *make_page(struct nm_blocks *blocks, uint64_t address)
{
	struct nm_block_table **table = &blocks->top[address >> (NM_PAGE_BITS + NM_TABLE_BITS)];

	if (!*table) {
		if (nm_vec_reserve(&blocks->tables, 1) || !(*table = nm_lazy_array(1, sizeof **table)))
			return NULL;
		blocks->tables.at[blocks->tables.count++] = *table;
	}
	return page_of(blocks, address);
}

static int holds(const struct nm_blocks *blocks, uint32_t id, uint64_t address)
{
	const struct nm_block *b = &blocks->list.at[id];

	return id && address - b->address < b->size;
}

static uint32_t find_id(const struct nm_blocks *blocks, uint64_t address)
{
	const struct nm_block_page *page = page_of(blocks, address);
	uint32_t id;

	if (!page)
		return 0;
	if (holds(blocks, page->whole, address))
		return page->whole;
	if (!page->granules)
		return 0;
	id = page->granules[address >> NM_GRANULE_BITS & (NM_GRANULES - 1)] & ~NM_GRANULE_WHOLE;
	if (holds(blocks, id, address))
		return id;
	if (blocks->crowded.count) {
		id = (uint32_t)nm_map_get(&blocks->crowded, address, 0);
		if (holds(blocks, id, address))
			return id;
	}
	return 0;
}

const struct nm_block *nm_blocks_find(const struct nm_blocks *blocks, uint64_t address)
{
	uint32_t id = find_id(blocks, address);

	return id ? &blocks->list.at[id] : NULL;
}

const struct nm_block *nm_blocks_at(const struct nm_blocks *blocks, uint64_t address)
{
	const struct nm_block *b = nm_blocks_find(blocks, address);

	return b && b->address == address ? b : NULL;
}

/* The end of the part of a block that lies in the granule of `at`. */
static uint64_t end_in_granule(const struct nm_block *b, uint64_t at)
{
	uint64_t granule_end = (at | (GRANULE_SIZE - 1)) + 1, end = b->address + b->size;

	return end < granule_end ? end : granule_end;
}

/* Writes id into the granule of an address of the block; if another block lives there, beside it, byte by
 * byte. */
static int paint_granule(struct nm_blocks *blocks, struct nm_block_page *page, uint64_t at, uint32_t id)
{
	uint32_t *slot = &page->granules[at >> NM_GRANULE_BITS & (NM_GRANULES - 1)];
	uint64_t end = end_in_granule(&blocks->list.at[id], at), granule = at >> NM_GRANULE_BITS;

	if (!*slot) {
		*slot = end - at == GRANULE_SIZE ? id | NM_GRANULE_WHOLE : id;
		return 0;
	}
	for (uint64_t byte = at; byte < end; byte++)
		if (nm_map_put(&blocks->crowded, byte, id))
			return NM_ENOMEM;
	return nm_map_put(&blocks->crowds, granule, nm_map_get(&blocks->crowds, granule, 0) + end - at);
}

static void wipe_granule(struct nm_blocks *blocks, struct nm_block_page *page, uint64_t at, uint32_t id)
{
	uint32_t *slot = &page->granules[at >> NM_GRANULE_BITS & (NM_GRANULES - 1)];
	uint64_t end = end_in_granule(&blocks->list.at[id], at), granule = at >> NM_GRANULE_BITS;
	uint64_t bytes = blocks->crowds.count ? nm_map_get(&blocks->crowds, granule, 0) : 0;

	if ((*slot & ~NM_GRANULE_WHOLE) == id) {
		*slot = 0;
		return;
	}
	for (uint64_t byte = at; bytes && byte < end; byte++)
		bytes -= (uint64_t)nm_map_remove(&blocks->crowded, byte);
	if (bytes)
		(void)nm_map_put(&blocks->crowds, granule, bytes); /* it is there */
	else
		nm_map_remove(&blocks->crowds, granule);
}

/* Enters (id) or takes out (wipe) a block in all pages that it touches. */
static int mark(struct nm_blocks *blocks, const struct nm_block *b, uint32_t id, int wipe)
{
	uint64_t end = b->address + b->size;

	for (uint64_t at = b->address; at < end;) {
		uint64_t page_start = at & ~(PAGE_SIZE - 1), page_end = page_start + PAGE_SIZE;
		struct nm_block_page *page = wipe ? page_of(blocks, at) : make_page(blocks, at);

		if (!page)
			return wipe ? 0 : NM_ENOMEM;
		if (at == page_start && end >= page_end) {
			page->whole = wipe ? 0 : id;
			at = page_end;
			continue;
		}
		if (!page->granules)
			page->granules = nm_arena_alloc(&blocks->arena, NM_GRANULES * sizeof *page->granules);
		if (!page->granules)
			return NM_ENOMEM;
		for (; at < end && at < page_end; at = (at | ((1u << NM_GRANULE_BITS) - 1)) + 1)
			if (wipe)
				wipe_granule(blocks, page, at, id);
			else if (paint_granule(blocks, page, at, id))
				return NM_ENOMEM;
	}
	return 0;
}

static void remove_id(struct nm_blocks *blocks, uint32_t id)
{
	struct nm_block *b = &blocks->list.at[id];

	mark(blocks, b, id, 1);
	if (b->range_holders && nm_vec_push(&blocks->released_holders, b->range_holders))
		blocks->failed = 1;
	*b = (struct nm_block){0, 0, blocks->free_slot, 0};
	blocks->free_slot = id;
	blocks->live--;
}

int nm_blocks_remove(struct nm_blocks *blocks, uint64_t address)
{
	uint32_t id = find_id(blocks, address);

	if (!id || blocks->list.at[id].address != address)
		return 0;
	remove_id(blocks, id);
	return 1;
}

static void remove_if_overlaps(struct nm_blocks *blocks, uint32_t id, uint64_t address, uint64_t size)
{
	const struct nm_block *b = &blocks->list.at[id];

	if (id && b->address < address + size && address < b->address + b->size)
		remove_id(blocks, id);
}

static void evict_crowd(struct nm_blocks *blocks, uint64_t granule, uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < GRANULE_SIZE; i++) {
		uint64_t byte = (granule << NM_GRANULE_BITS) + i;

		remove_if_overlaps(blocks, (uint32_t)nm_map_get(&blocks->crowded, byte, 0), address, size);
	}
}

/* Removes what still lives in [address, address + size): looks at each granule once and skips pages
 * without blocks, so that large fresh blocks are cheap. */
static void evict_overlaps(struct nm_blocks *blocks, uint64_t address, uint64_t size)
{
	for (uint64_t at = address; at < address + size;) {
		const struct nm_block_page *page = page_of(blocks, at);
		uint64_t granule = at >> NM_GRANULE_BITS;

		if (page && page->whole)
			remove_if_overlaps(blocks, page->whole, address, size);
		if (!page || !page->granules) {
			at = (at | (PAGE_SIZE - 1)) + 1;
			continue;
		}
		if (blocks->crowds.count && nm_map_get(&blocks->crowds, granule, 0))
			evict_crowd(blocks, granule, address, size);
		remove_if_overlaps(blocks, page->granules[granule & (NM_GRANULES - 1)] & ~NM_GRANULE_WHOLE,
				   address, size);
		at = (granule + 1) << NM_GRANULE_BITS;
	}
}

int nm_blocks_add(struct nm_blocks *blocks, uint64_t address, uint64_t size, uint32_t object)
{
	uint32_t id;

	size += !size;
	if (address >= ADDRESS_END || size > ADDRESS_END - address)
		return 0;
	evict_overlaps(blocks, address, size);
	id = blocks->free_slot;
	if (id) {
		blocks->free_slot = blocks->list.at[id].object;
	} else {
		id = (uint32_t)blocks->list.count;
		if (push_block(blocks))
			return NM_ENOMEM;
	}
	blocks->list.at[id] = (struct nm_block){address, size, object, 0};
	blocks->objects[id] = object;
	blocks->live++;
	if (blocks->failed)
		return NM_ENOMEM;
	return mark(blocks, &blocks->list.at[id], id, 0);
}
