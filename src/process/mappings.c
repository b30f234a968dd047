/* SPDX-License-Identifier: MIT
 *
 * mappings.c - the process's mappings, in order of address (space.h).
 *
 * A new mapping replaces whatever it overlaps: older ones are truncated or split. Programs have a few hundred
 * mappings and rarely change them, so they are in one sorted array, with binary search.
 */
#include <assert.h>
#include <string.h>

#include "space.h"

/* Index of the first mapping that ends after address. */
static size_t mapping_index(const struct nm_space *space, uint64_t address)
{
	size_t low = 0, high = space->mappings.count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (space->mappings.at[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

struct nm_mapping *nm_space_mapping(struct nm_space *space, uint64_t address)
{
	size_t i = mapping_index(space, address);
	struct nm_mapping *m = &space->mappings.at[i];

	return i < space->mappings.count && m->address <= address ? m : NULL;
}

static int insert_mapping(struct nm_space *space, size_t i, struct nm_mapping mapping)
{
	assert(i <= space->mappings.count && mapping.address < mapping.end);
	if (nm_vec_reserve(&space->mappings, 1))
		return NM_ENOMEM;
	memmove(&space->mappings.at[i + 1], &space->mappings.at[i],
		(space->mappings.count - i) * sizeof mapping);
	space->mappings.at[i] = mapping;
	space->mappings.count++;
	return 0;
}

int nm_space_unmap(struct nm_space *space, uint64_t address, uint64_t bytes)
{
	uint64_t end = address + bytes;
	size_t i = mapping_index(space, address);

	while (i < space->mappings.count && space->mappings.at[i].address < end) {
		struct nm_mapping *m = &space->mappings.at[i], tail = *m;

		tail.address = end;
		tail.offset += end - m->address;
		if (m->address < address && m->end > end) { /* a hole in the middle */
			m->end = address;
			return insert_mapping(space, i + 1, tail);
		}
		if (m->address < address) {
			m->end = address;
			i++;
		} else if (m->end > end) {
			*m = tail;
			i++;
		} else {
			memmove(m, m + 1, (space->mappings.count - i - 1) * sizeof *m);
			space->mappings.count--;
		}
	}
	return 0;
}

int nm_space_replace(struct nm_space *space, const struct nm_mapping *part)
{
	assert(part->address < part->end);
	if (nm_space_unmap(space, part->address, part->end - part->address))
		return NM_ENOMEM;
	return insert_mapping(space, mapping_index(space, part->address), *part);
}

int nm_space_map(struct nm_space *space, const struct nm_mapping *mapping)
{
	struct nm_mapping m = *mapping;

	if (m.end <= m.address)
		return 0;
	if (nm_space_unmap(space, m.address, m.end - m.address))
		return NM_ENOMEM;
	m.born = ++space->mapped;
	while (m.address < m.end) {
		struct nm_mapping part = m;

		if (!m.path[0])
			nm_space_adopt(space, &part);
		if (insert_mapping(space, mapping_index(space, part.address), part))
			return NM_ENOMEM;
		m.offset += part.end - m.address;
		m.address = part.end;
	}
	return mapping->file && !mapping->module ? nm_space_place_module(space, mapping->address, 0) : 0;
}

int nm_space_ask(struct nm_space *space, uint64_t address, uint64_t bytes, uint8_t asked)
{
	const uint64_t end = address + bytes;

	for (size_t i; (i = mapping_index(space, address)) < space->mappings.count;) {
		struct nm_mapping part = space->mappings.at[i];

		if (part.address >= end)
			break;
		if (part.address < address) {
			part.offset += address - part.address;
			part.address = address;
		}
		part.end = part.end < end ? part.end : end;
		part.asked = asked;
		if (nm_space_replace(space, &part))
			return NM_ENOMEM;
		address = part.end;
	}
	return 0;
}

int nm_space_is_valid(const struct nm_space *space)
{
	uint64_t end = 0;

	for (size_t i = 0; i < space->mappings.count; i++) {
		const struct nm_mapping *m = &space->mappings.at[i];

		if (m->address < end || m->end <= m->address || m->object >= space->objects.count)
			return 0;
		end = m->end;
	}
	return 1;
}
