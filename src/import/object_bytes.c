/* SPDX-License-Identifier: MIT */
#include "object_bytes.h"

#include <assert.h>

enum { LINE = 64 };

struct line {
	uint32_t name[LINE]; /* of each byte; 0: none */
	uint64_t starts;     /* bytes at which a range on the wire begins */
};

void object_bytes_done(struct nm_object_bytes *o)
{
	nm_strings_done(&o->texts);
	nm_map_done(&o->number_of);
	nm_vec_free(&o->names);
	nm_map_done(&o->line_at);
	nm_arena_done(&o->arena);
}

/* The number of a name; 0 for "". */
static int number_of(struct nm_object_bytes *o, const char *name, uint32_t *ret_number)
{
	const char *stored;

	*ret_number = 0;
	if (!*name)
		return 0;
	stored = nm_intern(&o->texts, name);
	if (!stored)
		return NM_ENOMEM;
	*ret_number = (uint32_t)nm_map_get(&o->number_of, (uintptr_t)stored, 0);
	if (*ret_number)
		return 0;
	if (nm_vec_push(&o->names, stored) || nm_map_put(&o->number_of, (uintptr_t)stored, o->names.count))
		return NM_ENOMEM;
	*ret_number = (uint32_t)o->names.count;
	return 0;
}

static int is_start(const struct line *line, unsigned i) { return line->starts >> i & 1; }

/* Makes bytes [from, to) one range. */
static int add_range(struct nm_object_bytes *o, struct nm_wire_words *words, struct line *line, uint64_t base,
		     unsigned from, unsigned to, uint32_t number)
{
	assert(from <= to && to <= LINE);
	for (unsigned i = from; i < to; i++) {
		line->name[i] = number;
		line->starts &= ~(1ull << i);
	}
	if (from == to || !number)
		return 0;
	line->starts |= 1ull << from;
	return nm_wire_name_encode(words,
				   &(struct nm_wire_name){base + from, to - from, o->names.at[number - 1]});
}

/* Gives bytes [from, to) a number that none of them has. */
static int set_part(struct nm_object_bytes *o, struct nm_wire_words *words, struct line *line, uint64_t base,
		    unsigned from, unsigned to, uint32_t number)
{
	uint32_t before = line->name[from], behind = line->name[to - 1];
	unsigned low = from, high = to;

	while (before && !is_start(line, low))
		low--;
	while (behind && high < LINE && line->name[high] == behind && !is_start(line, high))
		high++;
	for (unsigned i = low; i < high && !number; i++) /* a NAME removes them itself */
		if (is_start(line, i) && nm_wire_unname_encode(words, &(struct nm_wire_unname){base + i}))
			return NM_ENOMEM;
	return add_range(o, words, line, base, from, to, number) ||
		       add_range(o, words, line, base, low, from, before) ||
		       add_range(o, words, line, base, to, high, behind)
		   ? NM_ENOMEM
		   : 0;
}

static int set_in_line(struct nm_object_bytes *o, struct nm_wire_words *words, uint64_t base, unsigned from,
		       unsigned to, uint32_t number)
{
	struct line *line = (struct line *)(uintptr_t)nm_map_get(&o->line_at, base / LINE, 0);

	if (!line && !number)
		return 0;
	if (!line && (!(line = nm_arena_alloc(&o->arena, sizeof *line)) ||
		      nm_map_put(&o->line_at, base / LINE, (uintptr_t)line)))
		return NM_ENOMEM;
	for (unsigned end; from < to; from = end) {
		for (end = from; end < to && line->name[end] != number;)
			end++;
		if (end == from)
			end++;
		else if (set_part(o, words, line, base, from, end, number))
			return NM_ENOMEM;
	}
	return 0;
}

int object_bytes_set(struct nm_object_bytes *o, struct nm_wire_words *words, uint64_t address, unsigned size,
		     const char *name)
{
	const uint64_t end = address + size;
	uint32_t number;
	int status = number_of(o, name, &number);

	for (uint64_t at = address, next; at < end && !status; at = next) {
		uint64_t base = at - at % LINE;

		next = base + LINE < end ? base + LINE : end;
		status = set_in_line(o, words, base, (unsigned)(at - base), (unsigned)(next - base), number);
	}
	return status;
}
