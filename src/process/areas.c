/* SPDX-License-Identifier: MIT */
#include "areas.h"

#include <assert.h>
#include <string.h>

enum { PAGE_BITS = 12, PART_BITS = 40 };
static const uint64_t PAGE = UINT64_C(1) << PAGE_BITS, PART = UINT64_C(1) << PART_BITS,
		      FIRST_PART = 64, /* behind the addresses that programs have */
    HEAP_AHEAD = UINT64_C(1) << 20,    /* a heap grows upward by so much at a time, */
    STACK_AHEAD = UINT64_C(1) << 26,   /* a stack downward */
    FILE_GAP = UINT64_C(1) << 28;      /* between the segments of a file, at most */

/* Index of the first area that ends behind the address. */
static size_t index_of(const struct nm_areas *areas, uint64_t address)
{
	size_t low = 0, high = areas->at.count;

	while (low < high) {
		const size_t mid = (low + high) / 2;

		if (areas->at.at[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

const struct nm_area *nm_areas_find(const struct nm_areas *areas, uint64_t address)
{
	const size_t i = index_of(areas, address);

	return i < areas->at.count && areas->at.at[i].low <= address ? &areas->at.at[i] : NULL;
}

int nm_areas_cover(const struct nm_areas *areas, uint64_t low, uint64_t end)
{
	const struct nm_area *a;

	while (low < end && (a = nm_areas_find(areas, low)))
		low = a->end;
	return low >= end;
}

/* Parts that an area of this size takes, wherever in the first one it begins. */
static uint64_t parts_of(uint64_t low, uint64_t end)
{
	return ((low & (PART - 1)) + (end - low) + NM_AREA_ROOM) / PART + 1;
}

/* Whether the area can become [low, end) within its parts. */
static int can_be(const struct nm_area *a, uint64_t low, uint64_t end)
{
	return low / PART == a->low / PART && parts_of(low, end) == parts_of(a->low, a->end);
}

static int insert_area(struct nm_areas *areas, size_t i, struct nm_area area)
{
	assert(area.low < area.end && (!i || areas->at.at[i - 1].end <= area.low) &&
	       (i == areas->at.count || area.end <= areas->at.at[i].low));
	if (nm_vec_reserve(&areas->at, 1))
		return NM_ENOMEM;
	memmove(&areas->at.at[i + 1], &areas->at.at[i], (areas->at.count - i) * sizeof area);
	area.number = (uint32_t)++areas->at.count;
	area.shift = (FIRST_PART + areas->parts) * PART - area.low / PART * PART;
	areas->parts += parts_of(area.low, area.end);
	areas->at.at[i] = area;
	return 0;
}

/* Whether [low, end), which lies right above an area or in the gap behind it, moves with it. */
static int belongs_to_area(const struct nm_area *a, const struct nm_area *part)
{
	const uint64_t gap = part->low - a->end;

	if (!can_be(a, a->low, part->end))
		return 0;
	if (part->kind == NM_AREA_FILE)
		return a->kind == NM_AREA_FILE && a->path == part->path && gap < FILE_GAP;
	if (part->kind == NM_AREA_HEAP)
		return a->kind == NM_AREA_HEAP && !gap;
	return part->kind == NM_AREA_MAPPING && a->kind == NM_AREA_FILE && !gap; /* .bss */
}

/* Adds a range that no area touches, between areas i - 1 and i; it may grow into what is free there. */
static int add_free(struct nm_areas *areas, size_t i, struct nm_area part)
{
	const uint64_t below = i ? areas->at.at[i - 1].end : PAGE,
		       above = i < areas->at.count ? areas->at.at[i].low : UINT64_MAX - PAGE;

	if (part.kind == NM_AREA_HEAP)
		part.end = above - part.end > HEAP_AHEAD ? part.end + HEAP_AHEAD : above;
	if (part.kind == NM_AREA_STACK)
		part.low = part.low - below > STACK_AHEAD ? part.low - STACK_AHEAD : below;
	if (i && belongs_to_area(&areas->at.at[i - 1], &part)) {
		areas->at.at[i - 1].end = part.end;
		return 0;
	}
	return insert_area(areas, i, part);
}

int nm_areas_add(struct nm_areas *areas, uint64_t low, uint64_t end, enum nm_area_kind kind, const char *path)
{
	const struct nm_area *inside = nm_areas_find(areas, low);
	int status = 0;

	low = low / PAGE * PAGE;
	end = end > UINT64_MAX - PAGE ? UINT64_MAX / PAGE * PAGE : (end + PAGE - 1) / PAGE * PAGE;
	while (low < end && !status) {
		const size_t i = index_of(areas, low);
		struct nm_area *next = i < areas->at.count ? &areas->at.at[i] : NULL;
		const uint64_t stop = next && next->low < end ? next->low : end;

		if (next && next->low <= low) {
			low = next->end;
			continue;
		}
		if (i && inside == &areas->at.at[i - 1] && inside->end == low &&
		    can_be(inside, inside->low, stop))
			areas->at.at[i - 1].end = stop; /* what began in an area goes on in it */
		else
			status = add_free(areas, i, (struct nm_area){low, stop, 0, path, kind, 0});
		inside = NULL;
		low = stop;
	}
	return status;
}

int nm_areas_copy(struct nm_areas *ret, const struct nm_areas *areas)
{
	*ret = (struct nm_areas){.parts = areas->parts};
	if (nm_vec_reserve(&ret->at, areas->at.count))
		return NM_ENOMEM;
	if (areas->at.count)
		memcpy(ret->at.at, areas->at.at, areas->at.count * sizeof *areas->at.at);
	ret->at.count = areas->at.count;
	return 0;
}

void nm_areas_done(struct nm_areas *areas) { nm_vec_free(&areas->at); }
