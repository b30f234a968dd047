/* SPDX-License-Identifier: MIT */
#include "element_map.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

/* ---- members ---- */

/* The length of the member's name in that of a field: "place" of "place.x", "cells" of "cells[].next". */
static size_t member_length(const char *field) { return strcspn(field, ".["); }

static int same_member(const char *field, const char *other)
{
	const size_t n = member_length(field);

	return n == member_length(other) && !strncmp(field, other, n);
}

/* Bytes that a field of this kind is aligned to: those of its scalars. */
static uint64_t alignment_of(const struct nm_field *f)
{
	const struct nm_array_shape shape = nm_array_shape_parse(f->type);
	uint64_t bytes = f->bytes, align = 16;

	if (shape.dimensions && shape.elements > 0 && bytes % (uint64_t)shape.elements == 0)
		bytes /= (uint64_t)shape.elements;
	bytes |= f->offset | (f->count > 1 ? f->stride : 0);
	while (align > 1 && bytes % align)
		align /= 2;
	return align;
}

int nm_element_map_init(struct nm_element_map *map, const struct nm_type *type)
{
	*map = (struct nm_element_map){.bytes = type->bytes, .align = 1, .pointer = NM_NO_POINTER};
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct nm_field *f = &type->fields[i];
		const uint64_t end = f->offset + f->stride * (f->count - 1) + f->bytes,
			       align = alignment_of(f);
		struct nm_member *last = map->members.count ? &map->members.at[map->members.count - 1] : NULL;

		map->align = align > map->align ? align : map->align;
		if (last && (f->offset < last->from + last->bytes || same_member(last->name, f->name))) {
			last->bytes = end > last->from + last->bytes ? end - last->from : last->bytes;
			last->to_bytes = last->bytes;
			last->align = align > last->align ? align : last->align;
		} else if (nm_vec_push(&map->members, (struct nm_member){.name = f->name,
									 .from = f->offset,
									 .to = f->offset,
									 .bytes = end - f->offset,
									 .to_bytes = end - f->offset,
									 .align = align})) {
			return NM_ENOMEM;
		}
	}
	if (type->alignment > map->align)
		map->align = type->alignment;
	return nm_vec_push(&map->strides, type->bytes) ? NM_ENOMEM : 0;
}

void nm_element_map_done(struct nm_element_map *map)
{
	nm_vec_free(&map->members);
	nm_vec_free(&map->strides);
}

/* One of the alternatives of a name: "b" of "a|b". */
static int is_called(const char *name, const char *typed)
{
	for (size_t n = member_length(name); n;) {
		const char *bar = memchr(name, '|', n);
		const size_t one = bar ? (size_t)(bar - name) : n;

		if (strlen(typed) == one && !strncmp(name, typed, one))
			return 1;
		name += one + (bar != NULL);
		n -= one + (bar != NULL);
	}
	return 0;
}

/* The member of a name, which the error lists if it is none. */
static struct nm_member *member(struct nm_element_map *map, const struct nm_type *type,
				const struct nm_transform *t, const char *name, struct nm_error *err)
{
	char list[300] = "";
	size_t used = 0;

	for (size_t i = 0; i < map->members.count; i++)
		if (is_called(map->members.at[i].name, name))
			return &map->members.at[i];
	for (size_t i = 0; i < map->members.count && used + 40 < sizeof list; i++)
		used +=
		    (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", i ? ", " : "",
				     (int)member_length(map->members.at[i].name), map->members.at[i].name);
	nm_fail_at(err, t->text, (int)(strstr(t->text, name) - t->text), "%s has no field \"%s\"; it has %s",
		   type->name, name, list);
	return NULL;
}

/* ---- layout ---- */

/* Lays the members of each part out: those of order[0 .. count) in turn. */
static void pack(struct nm_element_map *map, struct nm_member *const *order)
{
	const size_t count = map->members.count;

	map->packed = 1;
	for (uint32_t part = 0; part < map->strides.count; part++) {
		uint64_t at = 0, align = 1;

		for (size_t i = 0; i < count; i++) {
			struct nm_member *m = order[i];

			if (m->part != part)
				continue;
			m->to = round_up(at, m->align);
			at = m->to + m->to_bytes;
			align = m->align > align ? m->align : align;
		}
		if (!part && map->pointer != NM_NO_POINTER) {
			align = align > 8 ? align : 8;
			map->pointer = (int64_t)round_up(at, 8);
			at = (uint64_t)map->pointer + 8;
		}
		map->strides.at[part] = round_up(at, align);
		if (!part)
			map->align = align;
	}
}

/* Whether a member comes before another that lies before it now. */
static int overtakes(const struct nm_transform *t, const struct nm_member *m, const struct nm_member *other)
{
	return t->by_alignment && m->align != other->align ? m->align > other->align : other->to > m->to;
}

/* The members by where they lie now: then those that are named, if any, come first. */
static int order_of(struct nm_element_map *map, const struct nm_type *type, const struct nm_transform *t,
		    struct nm_member **order, struct nm_error *err)
{
	const size_t count = map->members.count;
	size_t n = 0;

	for (size_t i = 0; t->kind == NM_REORDER && i < t->fields.count; i++) {
		struct nm_member *p = member(map, type, t, t->fields.at[i], err);

		if (!p)
			return NM_EINVAL;
		for (size_t k = 0; k < n; k++)
			if (order[k] == p)
				return nm_fail_at(err, t->text, 0, "%s is named twice", t->fields.at[i]);
		order[n++] = p;
	}
	for (size_t i = 0, named = n; i < count; i++) {
		struct nm_member *p = &map->members.at[i];
		size_t k = 0, to = n;

		while (k < named && order[k] != p)
			k++;
		if (k < named)
			continue;
		for (; to > named && overtakes(t, p, order[to - 1]); to--)
			order[to] = order[to - 1];
		order[to] = p;
		n++;
	}
	assert(n == count);
	return 0;
}

static int part_with(struct nm_element_map *map, const struct nm_type *type, const struct nm_transform *t,
		     struct nm_error *err)
{
	if (map->strides.count > 1)
		return nm_fail_at(err, t->text, 0, "%s is split already", type->name);
	if (t->kind == NM_SOA) {
		for (size_t i = 0; i < map->members.count; i++) {
			map->members.at[i].part = (uint32_t)i;
			if (i && nm_vec_push(&map->strides, 0))
				return nm_fail_memory(err);
		}
		return map->members.count <= NM_MOST_PARTS
			   ? 0
			   : nm_fail_at(err, t->text, 0, "%s has more than %d fields", type->name,
					NM_MOST_PARTS);
	}
	for (size_t i = 0; i < map->members.count; i++)
		map->members.at[i].part = 1;
	for (size_t i = 0; i < t->fields.count; i++) {
		struct nm_member *hot = member(map, type, t, t->fields.at[i], err);

		if (!hot)
			return NM_EINVAL;
		hot->part = 0;
	}
	map->pointer = t->by_pointer ? 0 : NM_NO_POINTER;
	return nm_vec_push(&map->strides, 0) ? nm_fail_memory(err) : 0;
}

static int shrink(struct nm_element_map *map, const struct nm_type *type, const struct nm_transform *t,
		  struct nm_error *err)
{
	struct nm_member *m = member(map, type, t, t->fields.at[0], err);

	if (!m)
		return NM_EINVAL;
	if (t->number >= m->to_bytes)
		return nm_fail_at(err, t->text, 0, "%s.%s has %llu bytes: shrink it to fewer", type->name,
				  t->fields.at[0], (unsigned long long)m->to_bytes);
	m->to_bytes = t->number;
	while (t->number % m->align)
		m->align /= 2;
	return 0;
}

int nm_element_map_apply(struct nm_element_map *map, const struct nm_type *type, const struct nm_transform *t,
			 struct nm_error *err)
{
	struct nm_vec(struct nm_member *) order = {0};
	int status = 0;

	assert(nm_transform_is_of_type(t));
	if (t->kind == NM_PAD_STRUCT) {
		map->strides.at[0] = round_up(map->strides.at[0], t->number);
		return 0;
	}
	if (t->kind == NM_SHRINK)
		status = shrink(map, type, t, err);
	else if (t->kind != NM_REORDER)
		status = part_with(map, type, t, err);
	if (!status && nm_vec_reach(&order, map->members.count + 1))
		status = nm_fail_memory(err);
	if (!status)
		status = order_of(map, type, t, order.at, err);
	if (!status)
		pack(map, order.at);
	nm_vec_free(&order);
	return status;
}

int nm_element_map_place(struct nm_element_map *map, uint64_t bytes, uint64_t at, uint64_t stride)
{
	*map = (struct nm_element_map){.bytes = bytes, .align = 16, .pointer = NM_NO_POINTER, .packed = 1};
	return nm_vec_push(
		   &map->members,
		   (struct nm_member){.name = "", .bytes = bytes, .align = 1, .to = at, .to_bytes = bytes}) ||
		       nm_vec_push(&map->strides, stride)
		   ? NM_ENOMEM
		   : 0;
}

/* ---- look-up ---- */

/* Adds bytes; those that follow the last ones join them. */
static unsigned add_bytes(struct nm_placed *places, unsigned count, struct nm_placed more)
{
	struct nm_placed *last = count ? &places[count - 1] : NULL;

	if (last && last->part == more.part && last->offset + last->bytes == more.offset) {
		last->bytes += more.bytes;
		return count;
	}
	if (count < NM_PLACED_MOST)
		places[count++] = more;
	return count;
}

uint32_t nm_element_map_member(const struct nm_element_map *map, uint64_t offset)
{
	uint32_t low = 0, high = (uint32_t)map->members.count;

	while (low < high) {
		const uint32_t mid = (low + high) / 2;

		if (map->members.at[mid].from + map->members.at[mid].bytes > offset)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Of one element: [offset, end) of it. If members move, padding is nowhere. */
static unsigned find_in(const struct nm_element_map *map, uint64_t element, uint64_t offset, uint64_t end,
			struct nm_placed *places, unsigned count)
{
	if (!map->packed)
		return add_bytes(
		    places, count,
		    (struct nm_placed){0, element * map->strides.at[0] + offset, (uint32_t)(end - offset)});
	for (size_t i = nm_element_map_member(map, offset);
	     i < map->members.count && map->members.at[i].from < end; i++) {
		const struct nm_member *m = &map->members.at[i];
		const uint64_t low = offset > m->from ? offset - m->from : 0,
			       high = end - m->from < m->bytes ? end - m->from : m->bytes;
		uint64_t to = low, bytes = high - low;

		if (m->to_bytes != m->bytes) {
			to = low * m->to_bytes / m->bytes;
			bytes = (high * m->to_bytes + m->bytes - 1) / m->bytes - to;
		}
		count = add_bytes(places, count,
				  (struct nm_placed){m->part, element * map->strides.at[m->part] + m->to + to,
						     (uint32_t)bytes});
	}
	return count;
}

unsigned nm_element_map_find(const struct nm_element_map *map, uint64_t elements, uint64_t offset,
			     uint32_t bytes, struct nm_placed places[NM_PLACED_MOST])
{
	const uint64_t end = offset + bytes, behind = elements * map->bytes, low = offset;
	unsigned count = 0;

	while (offset < end && offset < behind) {
		const uint64_t element = offset / map->bytes, start = element * map->bytes,
			       left = end - start < map->bytes ? end - start : map->bytes;

		count = find_in(map, element, offset - start, left, places, count);
		offset = start + map->bytes;
	}
	if (offset < end)
		count = add_bytes(places, count,
				  (struct nm_placed){0, elements * map->strides.at[0] + offset - behind,
						     (uint32_t)(end - offset)});
	if (!count) /* of padding alone */
		count =
		    add_bytes(places, count, (struct nm_placed){0, low / map->bytes * map->strides.at[0], 1});
	return count;
}

uint64_t nm_element_map_bytes(const struct nm_element_map *map, uint32_t part, uint64_t elements,
			      uint64_t tail)
{
	assert(part < map->strides.count);
	return elements * map->strides.at[part] + (part ? 0 : tail);
}
