/* SPDX-License-Identifier: MIT */
#include "machine_pages.h"

#include <assert.h>
#include <string.h>

#include "errors.h"

enum { PAGE_BITS = NM_MACHINE_ADDRESS_BITS - NM_MACHINE_PAGE_SHIFT };

static uint64_t start_of(uint32_t owner)
{
	return (uint64_t)(owner % NM_MACHINE_OWNERS) << NM_MACHINE_ADDRESS_BITS;
}

static uint64_t private_page(uint64_t owner, uint64_t page) { return owner << PAGE_BITS | page; }

void nm_machine_memory_done(struct nm_machine_memory *m)
{
	nm_vec_free(&m->objects);
	nm_map_done(&m->sharers);
}

void nm_machine_pages_init(struct nm_machine_pages *p, struct nm_machine_memory *memory)
{
	*p = (struct nm_machine_pages){.memory = memory};
}

static void forget_recent(struct nm_machine_pages *p) { memset(p->recent, 0, sizeof p->recent); }

/* ---- private pages ---- */

static uint32_t owner_of_new(struct nm_machine_pages *p)
{
	if (!p->has_owner)
		p->owner = p->memory->owners++ % NM_MACHINE_OWNERS;
	p->has_owner = 1;
	return p->owner;
}

/* One process less has the page: 1 if others have it. */
static int leave_page(struct nm_machine_memory *m, uint64_t owner, uint64_t page)
{
	const uint64_t key = private_page(owner, page), sharers = nm_map_get(&m->sharers, key, 1);

	if (sharers == 2)
		nm_map_remove(&m->sharers, key);
	else if (sharers > 2)
		nm_map_put(&m->sharers, key, sharers - 1); /* replaces, so it cannot fail */
	return sharers > 1;
}

static int find_private(struct nm_machine_pages *p, uint64_t page, int writes, uint64_t *ret_distance)
{
	uint64_t owner = nm_map_get(&p->private, page, UINT64_MAX), i = page % NM_RECENT_MACHINE_PAGES;
	const int is_new = owner == UINT64_MAX;
	int may_write = 1;

	if (!is_new && writes && leave_page(p->memory, owner, page))
		owner = UINT64_MAX;
	else if (!is_new && !writes)
		may_write = nm_map_get(&p->memory->sharers, private_page(owner, page), 1) == 1;
	if (owner == UINT64_MAX) {
		owner = owner_of_new(p);
		if (nm_map_put(&p->private, page, owner))
			return NM_ENOMEM;
	}
	p->recent[i].key = (page + 1) << 1 | (uint64_t)may_write;
	p->recent[i].distance = *ret_distance = start_of((uint32_t)owner);
	return 0;
}

int nm_machine_pages_fork(struct nm_machine_pages *to, struct nm_machine_pages *parent)
{
	struct nm_machine_memory *m = parent->memory;
	uint64_t page, owner;

	nm_machine_pages_init(to, m);
	if (nm_map_copy(&to->private, &parent->private) || nm_vec_reserve(&to->parts, parent->parts.count))
		return NM_ENOMEM;
	if (parent->parts.count)
		memcpy(to->parts.at, parent->parts.at, parent->parts.count * sizeof *to->parts.at);
	to->parts.count = parent->parts.count;
	for (size_t i = 0; nm_map_next(&parent->private, &i, &page, &owner);) {
		const uint64_t key = private_page(owner, page);

		if (nm_map_put(&m->sharers, key, nm_map_get(&m->sharers, key, 1) + 1))
			return NM_ENOMEM;
	}
	parent->has_owner = 0;
	forget_recent(parent);
	return 0;
}

void nm_machine_pages_done(struct nm_machine_pages *p)
{
	uint64_t page, owner;

	for (size_t i = 0; p->memory && nm_map_next(&p->private, &i, &page, &owner);)
		leave_page(p->memory, owner, page);
	nm_map_done(&p->private);
	nm_vec_free(&p->parts);
	p->memory = NULL;
}

/* ---- memory objects ---- */

/* The object, added if it is new: where it starts if this part is the first that is known. */
static int find_object(struct nm_machine_memory *m, const struct nm_object_part *part, uint64_t *ret_start)
{
	struct nm_memory_object object = {.device = part->device, .inode = part->inode};

	for (size_t i = 0; i < m->objects.count && (part->device || part->inode); i++)
		if (m->objects.at[i].device == part->device && m->objects.at[i].inode == part->inode) {
			*ret_start = m->objects.at[i].start;
			return 0;
		}
	object.start = *ret_start = start_of(m->owners++) + part->address - part->offset;
	return nm_vec_push(&m->objects, object) ? NM_ENOMEM : 0;
}

/* Index of the first part that ends behind the address. */
static size_t part_index(const struct nm_machine_pages *p, uint64_t address)
{
	size_t low = 0, high = p->parts.count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (p->parts.at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert_part(struct nm_machine_pages *p, struct nm_shared_part part)
{
	const size_t i = part_index(p, part.address);

	if (nm_vec_reserve(&p->parts, 1))
		return NM_ENOMEM;
	memmove(&p->parts.at[i + 1], &p->parts.at[i], (p->parts.count - i) * sizeof part);
	p->parts.at[i] = part;
	p->parts.count++;
	return 0;
}

int nm_machine_pages_are_shared(const struct nm_machine_pages *p, uint64_t address)
{
	const size_t i = part_index(p, address);

	return i < p->parts.count && p->parts.at[i].address <= address;
}

int nm_machine_pages_unshare(struct nm_machine_pages *p, uint64_t address, uint64_t bytes)
{
	const uint64_t end = address + bytes;
	size_t i = part_index(p, address);

	if (i == p->parts.count || p->parts.at[i].address >= end)
		return 0;
	forget_recent(p);
	while (i < p->parts.count && p->parts.at[i].address < end) {
		struct nm_shared_part *part = &p->parts.at[i];
		const struct nm_shared_part rest = {end, part->end, part->distance};
		const int goes_beyond = part->end > end;

		if (part->address < address) {
			part->end = address;
			i++;
		} else {
			memmove(part, part + 1, (--p->parts.count - i) * sizeof *part);
		}
		if (goes_beyond)
			return insert_part(p, rest);
	}
	return 0;
}

int nm_machine_pages_share(struct nm_machine_pages *p, const struct nm_object_part *part)
{
	uint64_t start;

	assert(part->bytes && part->address + part->bytes > part->address);
	if (nm_machine_pages_unshare(p, part->address, part->bytes) || find_object(p->memory, part, &start))
		return NM_ENOMEM;
	forget_recent(p);
	return insert_part(p, (struct nm_shared_part){part->address, part->address + part->bytes,
						      start + part->offset - part->address});
}

int nm_machine_pages_move(struct nm_machine_pages *p, uint64_t from, uint64_t from_bytes, uint64_t to,
			  uint64_t to_bytes)
{
	const size_t i = part_index(p, from);
	struct nm_shared_part moved;
	const int is_shared = i < p->parts.count && p->parts.at[i].address <= from;

	if (is_shared)
		moved = (struct nm_shared_part){to, to + to_bytes, p->parts.at[i].distance + from - to};
	if (nm_machine_pages_unshare(p, from, from_bytes) || nm_machine_pages_unshare(p, to, to_bytes))
		return NM_ENOMEM;
	return is_shared && to_bytes ? insert_part(p, moved) : 0;
}

/* ---- both ---- */

uint64_t nm_machine_pages_back(const struct nm_machine_pages *p, uint64_t machine_address)
{
	for (size_t i = 0; i < p->parts.count; i++) {
		const struct nm_shared_part *part = &p->parts.at[i];
		const uint64_t address = machine_address - part->distance;

		if (address >= part->address && address < part->end)
			return address;
	}
	return machine_address % (UINT64_C(1) << NM_MACHINE_ADDRESS_BITS);
}

int nm_machine_pages_find(struct nm_machine_pages *p, uint64_t address, int writes, uint64_t *ret_distance)
{
	const uint64_t page = address >> NM_MACHINE_PAGE_SHIFT, i = page % NM_RECENT_MACHINE_PAGES;

	if (!nm_machine_pages_are_shared(p, address))
		return find_private(p, page, writes, ret_distance);
	p->recent[i].key = (page + 1) << 1 | 1;
	p->recent[i].distance = *ret_distance = p->parts.at[part_index(p, address)].distance;
	return 0;
}
