/* SPDX-License-Identifier: MIT */
#include "candidate_memory.h"

#include <assert.h>

enum { GRANULE = NM_MEMORY_GRANULE, HEADER = 8, PAGE = 4096, POOL = 1 << 20, PHASE = 1 << 30 };

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
	return (value + multiple - 1) & ~(multiple - 1);
}

/* ---- freed blocks ---- */

/* The one freed last, or 0. */
static uint64_t take_freed(struct nm_free_blocks *f, uint64_t bytes)
{
	const uint64_t head = nm_map_get(&f->heads, bytes, 0);
	struct nm_free_block *block = head ? &f->blocks.at[head - 1] : NULL;

	if (!block)
		return 0;
	(void)nm_map_put(&f->heads, bytes, block->next); /* it is there: no memory is needed */
	block->next = f->spare;
	f->spare = head;
	return block->address;
}

static int put_freed(struct nm_free_blocks *f, uint64_t address, uint64_t bytes)
{
	uint64_t head = f->spare;

	if (!head && nm_vec_push(&f->blocks, (struct nm_free_block){0, 0}))
		return NM_ENOMEM;
	if (!head)
		head = f->blocks.count;
	else
		f->spare = f->blocks.at[head - 1].next;
	f->blocks.at[head - 1] = (struct nm_free_block){address, nm_map_get(&f->heads, bytes, 0)};
	return nm_map_put(&f->heads, bytes, head);
}

static void free_list(struct nm_free_blocks *f)
{
	nm_map_done(&f->heads);
	nm_vec_free(&f->blocks);
}

/* ---- blocks ---- */

void nm_memory_init(struct nm_candidate_memory *m)
{
	*m = (struct nm_candidate_memory){
	    .begin = NM_MEMORY_BLOCKS, .pages = NM_MEMORY_PAGES, .huge = NM_MEMORY_HUGE};
}

void nm_memory_continue(struct nm_candidate_memory *m, uint64_t address)
{
	m->begin = NM_MEMORY_BLOCKS + (address - GRANULE) % PHASE;
	m->heap.keeps_touches = 1;
}

/* Bytes that a large block takes */
static uint64_t pages_of(uint64_t bytes, uint64_t align)
{
	return round_up(nm_malloc_heap_room(bytes) + HEADER, PAGE) + (align > GRANULE ? align : 0);
}

static void lose(struct nm_candidate_memory *m)
{
	nm_malloc_heap_done(&m->heap);
	m->heap = (struct nm_malloc_heap){.top = 0};
	nm_map_done(&m->followed);
	m->is_lost = 1;
}

/* What the alignment of a block was, the trace does not tell; 64 is the most frequent one. */
static uint64_t guess_alignment(uint64_t address)
{
	enum { MOST = 64 };
	const uint64_t low = address & -address;

	return low < MOST ? low : MOST;
}

int nm_memory_follow(struct nm_candidate_memory *m, enum nm_heap_call call, uint64_t address, uint64_t bytes,
		     uint64_t resized)
{
	uint64_t at = 0;
	int status = 0;

	if (m->is_lost || call == NM_HEAP_PIECE)
		return 0;
	if (!m->heap.top) {
		if (bytes >= NM_MEMORY_LARGE)
			return 0;
		m->begin = NM_MEMORY_BLOCKS + (address - GRANULE) % PHASE;
		m->followed_by = m->begin + GRANULE - address;
		if (nm_malloc_heap_init(&m->heap, m->begin, 0))
			return NM_ENOMEM;
	}
	if (resized > NM_MEMORY_REMAPPED)
		status = nm_malloc_heap_resize(&m->heap, resized, bytes, &at);
	else if (!resized)
		status = nm_malloc_heap_allocate(&m->heap, call, bytes,
						 call == NM_HEAP_ALIGNED ? guess_alignment(address) : 1, &at);
	if (status)
		return status;
	if (at && at != address + m->followed_by) {
		lose(m);
		return 0;
	}
	return nm_map_put(&m->followed, address, at ? at : bytes);
}

uint64_t nm_memory_leave(struct nm_candidate_memory *m, uint64_t address, int resizes)
{
	const uint64_t at = nm_map_get(&m->followed, address, 0);

	if (!at)
		return 0;
	(void)nm_map_remove(&m->followed, address);
	if (at >= NM_MEMORY_BLOCKS && resizes)
		return at;
	if (at >= NM_MEMORY_BLOCKS)
		nm_malloc_heap_release(&m->heap, at);
	else if (!resizes)
		nm_malloc_heap_unmapped(&m->heap, pages_of(at, 1));
	return resizes ? NM_MEMORY_REMAPPED : 0;
}

void nm_memory_done(struct nm_candidate_memory *m)
{
	nm_malloc_heap_done(&m->heap);
	nm_map_done(&m->followed);
	free_list(&m->freed);
}

/* The list that a large block is in when it is free. */
static uint64_t list_of(uint64_t bytes, uint64_t align)
{
	return pages_of(bytes, align) << 24 | (align > GRANULE ? align : 0);
}

static uint64_t allocate_pages(struct nm_candidate_memory *m, uint64_t bytes, uint64_t align)
{
	const uint64_t at = take_freed(&m->freed, list_of(bytes, align));

	return at ? at : round_up(nm_memory_variable(m, pages_of(bytes, align), PAGE) + GRANULE, align);
}

uint64_t nm_memory_allocate(struct nm_candidate_memory *m, enum nm_heap_call call, uint64_t bytes,
			    uint64_t align)
{
	uint64_t at;

	assert(align && !(align & (align - 1)));
	if (!m->heap.top && bytes >= NM_MEMORY_LARGE)
		return allocate_pages(m, bytes, align);
	if ((!m->heap.top && nm_malloc_heap_init(&m->heap, m->begin, 0)) ||
	    nm_malloc_heap_allocate(&m->heap, call, bytes, align, &at))
		return 0;
	m->heap.keeps_touches = 1;
	return at ? at : allocate_pages(m, bytes, align);
}

int nm_memory_release(struct nm_candidate_memory *m, uint64_t address, uint64_t bytes, uint64_t align)
{
	assert(address >= NM_MEMORY_BLOCKS && align && !(align & (align - 1)));
	if (nm_malloc_heap_has(&m->heap, address)) {
		nm_malloc_heap_release(&m->heap, address);
		return 0;
	}
	nm_malloc_heap_unmapped(&m->heap, pages_of(bytes, align));
	return put_freed(&m->freed, address, list_of(bytes, align));
}

uint64_t nm_memory_resize(struct nm_candidate_memory *m, uint64_t address, uint64_t was, uint64_t bytes)
{
	uint64_t at;

	if (nm_malloc_heap_has(&m->heap, address)) {
		if (nm_malloc_heap_resize(&m->heap, address, bytes, &at))
			return 0;
		return at ? at : allocate_pages(m, bytes, 1);
	}
	at = nm_memory_allocate(m, NM_HEAP_MALLOC, bytes, 1);
	return at && !nm_memory_release(m, address, was, 1) ? at : 0;
}

uint64_t nm_memory_variable(struct nm_candidate_memory *m, uint64_t bytes, uint64_t align)
{
	const uint64_t at = round_up(m->pages, align);

	assert(align && !(align & (align - 1)));
	m->pages = at + bytes;
	return at;
}

uint64_t nm_memory_huge(struct nm_candidate_memory *m, uint64_t bytes)
{
	const uint64_t at = m->huge;

	m->huge += round_up(bytes, GRANULE);
	return at;
}

/* ---- pools ---- */

uint64_t nm_pool_allocate(struct nm_pool *p, struct nm_candidate_memory *m, uint64_t bytes)
{
	const uint64_t room = round_up(bytes, HEADER), chunk = room > POOL ? room : POOL;
	uint64_t at = take_freed(&p->freed, room);

	if (at)
		return at;
	if (p->end - p->next < room) {
		p->next = nm_memory_allocate(m, NM_HEAP_MALLOC, chunk, GRANULE);
		p->end = p->next + chunk;
	}
	at = p->next;
	p->next += room;
	return at;
}

int nm_pool_release(struct nm_pool *p, uint64_t address, uint64_t bytes)
{
	assert(address >= NM_MEMORY_BLOCKS);
	return put_freed(&p->freed, address, round_up(bytes, HEADER));
}

void nm_pool_done(struct nm_pool *p) { free_list(&p->freed); }
