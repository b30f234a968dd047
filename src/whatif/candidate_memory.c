/* SPDX-License-Identifier: MIT */
#include "candidate_memory.h"

#include <assert.h>

enum {
	GRANULE = NM_MEMORY_GRANULE,
	HEADER = 8,
	LEAST = 32,
	PAGE = 4096,
	POOL = 1 << 20,
	PHASE = 1 << 30,
	HOLE = 1024
};

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
	    .next = NM_MEMORY_BLOCKS, .pages = NM_MEMORY_PAGES, .huge = NM_MEMORY_HUGE};
}

void nm_memory_continue(struct nm_candidate_memory *m, uint64_t address)
{
	m->next = NM_MEMORY_BLOCKS + (address - GRANULE) % PHASE;
}

void nm_memory_done(struct nm_candidate_memory *m) { free_list(&m->freed); }

/* Bytes that a block takes, */
static uint64_t room_of(uint64_t bytes, uint64_t align)
{
	uint64_t room =
	    bytes >= NM_MEMORY_LARGE ? round_up(bytes + GRANULE, PAGE) : round_up(bytes + HEADER, GRANULE);

	if (align > GRANULE)
		room += align;
	return room < LEAST ? LEAST : room;
}

uint64_t nm_memory_room(uint64_t bytes) { return room_of(bytes, 1); }

/* and the list that it is in when it is free. */
static uint64_t list_of(uint64_t bytes, uint64_t align)
{
	return room_of(bytes, align) << 24 | (align > GRANULE ? align : 0);
}

/* The smallest hole that has room, else what follows all blocks. */
static uint64_t take_room(struct nm_candidate_memory *m, uint64_t room)
{
	uint64_t *from = &m->next, least = UINT64_MAX;

	for (unsigned i = 0; i < m->hole_count; i++) {
		const uint64_t bytes = m->holes[i].end - m->holes[i].low;

		if (bytes >= room && bytes < least) {
			from = &m->holes[i].low;
			least = bytes;
		}
	}
	*from += room;
	return *from - room;
}

/* Makes a hole, which grows together with those beside it. 1, or 0: there are too many. */
static int add_hole(struct nm_candidate_memory *m, uint64_t low, uint64_t end)
{
	for (unsigned i = 0; i < m->hole_count;) {
		const struct nm_memory_hole h = m->holes[i];

		if (h.end != low && h.low != end && h.low != h.end) {
			i++;
			continue;
		}
		low = h.end == low ? h.low : low;
		end = h.low == end ? h.end : end;
		m->holes[i] = m->holes[--m->hole_count];
	}
	if (end == m->next) {
		m->next = low;
		return 1;
	}
	if (m->hole_count == NM_MEMORY_HOLES)
		return 0;
	m->holes[m->hole_count++] = (struct nm_memory_hole){low, end};
	return 1;
}

uint64_t nm_memory_allocate(struct nm_candidate_memory *m, uint64_t bytes, uint64_t align)
{
	const uint64_t room = room_of(bytes, align);
	uint64_t at = take_freed(&m->freed, list_of(bytes, align));

	assert(align && !(align & (align - 1)));
	if (at)
		return at;
	at = bytes >= NM_MEMORY_LARGE ? nm_memory_variable(m, room, PAGE) : take_room(m, room);
	return round_up(at + GRANULE, align);
}

int nm_memory_release(struct nm_candidate_memory *m, uint64_t address, uint64_t bytes, uint64_t align)
{
	const uint64_t low = address - GRANULE, room = room_of(bytes, align);

	assert(address >= NM_MEMORY_BLOCKS && align && !(align & (align - 1)));
	if (bytes < NM_MEMORY_LARGE && room >= HOLE && align <= GRANULE && add_hole(m, low, low + room))
		return 0;
	return put_freed(&m->freed, address, list_of(bytes, align));
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
		p->next = nm_memory_allocate(m, chunk, GRANULE);
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
