/* SPDX-License-Identifier: MIT
 *
 * Counting rules:
 * - Huge pages are transparent: an aligned 2M (or 1G, where the machine uses them) is one page as long as all
 *   of it is memory that can have huge pages. All else has pages of 4K.
 * - Pages that the program requests explicitly have that size on every machine, even one that otherwise uses
 *   no huge pages.
 * - A size for which no first level of the side has a slot counts as pages of the next smaller one.
 * - A reference that spans pages of one size is one reference, as usual; one that spans pages of two sizes is
 *   one of each.
 * - Unmapping or resizing pages does not invalidate entries: no shoot-downs.
 */
#include "pages.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	SIZE_SHIFT =
	    62 /* of the bits that mark huge pages; the upper two bits of canonical addresses are equal */
};

const unsigned nm_page_shifts[NM_PAGE_SIZES] = {12, 21, 30};

int pages_set(struct nm_page_rules *p, const struct nm_range *ranges, size_t count)
{
	struct nm_range *copy = malloc((count + 1) * sizeof *copy);

	if (!copy)
		return NM_ENOMEM;
	if (count)
		memcpy(copy, ranges, count * sizeof *copy);
	free(p->ranges);
	*p = (struct nm_page_rules){.ranges = copy, .count = count};
	for (size_t i = 0; i < count; i++)
		p->asked |= ranges[i].asked != NM_PAGE_4K;
	return 0;
}

void pages_done(struct nm_page_rules *p) { free(p->ranges); }

/* The largest page that can hold an address, and the size that was requested. */
static unsigned look_up(const struct nm_page_rules *p, uint64_t address, unsigned *ret_least)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (p->ranges[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	*ret_least = NM_PAGE_4K;
	for (unsigned size = NM_PAGE_1G; size > NM_PAGE_4K && low < p->count; size--) {
		uint64_t first = address >> nm_page_shifts[size] << nm_page_shifts[size];

		if (p->ranges[low].low <= first &&
		    p->ranges[low].end - first >= 1ull << nm_page_shifts[size]) {
			*ret_least = p->ranges[low].asked < size ? p->ranges[low].asked : size;
			return size;
		}
	}
	return NM_PAGE_4K;
}

static unsigned size_of(const struct nm_pager *pager, struct nm_page_rules *p, uint64_t address,
			unsigned side)
{
	uint64_t chunk = address >> nm_page_shifts[NM_PAGE_2M];
	unsigned size = 0, slot = chunk % NM_PAGES_RECENT;

	if (pager->huge != NM_PAGE_4K || p->asked) {
		if (p->recent[slot].chunk != chunk + 1) {
			p->recent[slot].chunk = chunk + 1;
			p->recent[slot].size = look_up(p, address, &p->recent[slot].least);
		}
		size = p->recent[slot].size < pager->huge ? p->recent[slot].size : pager->huge;
		size = size < p->recent[slot].least ? p->recent[slot].least : size;
	}
	while (size > NM_PAGE_4K && !pager->entry[side][size])
		size--;
	return size;
}

uint64_t model_page_address(uint64_t address, unsigned size)
{
	unsigned more = nm_page_shifts[size] - nm_page_shifts[NM_PAGE_4K];

	assert(size < NM_PAGE_SIZES);
	return size == NM_PAGE_4K ? address : address >> more | (uint64_t)size << SIZE_SHIFT;
}

uint64_t page_origin(uint64_t a)
{
	unsigned size = (unsigned)(a >> SIZE_SHIFT);

	if (size == 0 || size == 3)
		return a;
	return (a & ((1ull << SIZE_SHIFT) - 1)) << (nm_page_shifts[size] - nm_page_shifts[NM_PAGE_4K]);
}

void pager_take(const struct nm_pager *pager, struct nm_page_rules *p, const struct nm_ref *r)
{
	const unsigned side = r->kind == NM_REF_FETCH;

	for (uint64_t at = r->address, left = r->size; left;) {
		unsigned size = size_of(pager, p, at, side);
		uint64_t bytes = 0;

		do {
			uint64_t page = 1ull << nm_page_shifts[size];

			bytes += page - ((at + bytes) & (page - 1));
		} while (bytes < left && size_of(pager, p, at + bytes, side) == size);
		if (bytes > left)
			bytes = left;
		struct nm_cache *c = pager->entry[side][size];
		struct nm_ref part = *r;
		part.address = model_page_address(at, size);
		part.size = (uint16_t)(model_page_address(at + bytes - 1, size) - part.address + 1);
		if (c)
			c->lookup->any(c, &part);
		at += bytes;
		left -= bytes;
	}
}
