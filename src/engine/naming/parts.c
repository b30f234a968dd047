/* SPDX-License-Identifier: MIT
 *
 * parts.c - the parts of a container: its header blocks and its elements.
 *
 * One statement may allocate both: "vector<vector<double>> m(rows, vector<double>(columns))". Blocks of one name
 * whose types differ are different objects. Where one type holds the other, as its element or by a pointer, the
 * held one is a level further in: "m" of std::vector<double>, "m[]" of double. Types that do not tell keep the name,
 * and a number tells them apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_names.h"
#include "namer.h"

enum { NAME_ROOM = 4200, MOST_TYPES = 16 };

/* The types of the blocks of one name, without "[]"; `lengths` are theirs. */
struct types {
	const char *at[MOST_TYPES];
	size_t lengths[MOST_TYPES];
	unsigned count;
};

static size_t element_length(const char *type)
{
	size_t n = strlen(type);

	return n > 2 && !strcmp(type + n - 2, "[]") ? n - 2 : n;
}

/* Is a type an argument of a generic one, "Vec<f64, Global>"? */
static int is_argument(const char *type, size_t length, const char *of, size_t of_length)
{
	for (size_t i = 1; i + length < of_length; i++)
		if (!strncmp(of + i, type, length) && (of[i - 1] == '<' || !strncmp(of + i - 2, ", ", 2)) &&
		    (strchr(",>", of[i + length]) || !strncmp(of + i + length, " >", 2)))
			return 1;
	return 0;
}

/* Does a pointer lead to a type, or to the base of nodes of that type, "_Hash_node_base *"? */
static int leads_to(const char *pointer, size_t n, const char *type, size_t length)
{
	static const char base[] = "_base";

	if (!n || pointer[n - 1] != '*')
		return 0;
	for (n--; n && pointer[n - 1] == ' ';)
		n--;
	if (n == length && !strncmp(pointer, type, n))
		return 1;
	n -= n > strlen(base) && !strncmp(pointer + n - strlen(base), base, strlen(base)) ? strlen(base) : n;
	return n && n < length && !strncmp(pointer, type, n) && type[n] == '<';
}

static int outer_holds(const char *outer, size_t n, const char *inner, size_t length)
{
	static const char string[] = "alloc::string::String";

	return is_argument(inner, length, outer, n) || leads_to(outer, n, inner, length) ||
	       (n == strlen(string) && !strncmp(outer, string, n) && length == 2 && !strncmp(inner, "u8", 2));
}

/* How many of the types hold this one. */
static unsigned depth_of(const struct types *types, const char *type)
{
	const size_t length = element_length(type);
	unsigned depth = 0;

	for (unsigned i = 0; i < types->count; i++)
		depth += outer_holds(types->at[i], types->lengths[i], type, length);
	return depth;
}

static void add_type(struct types *types, const char *type)
{
	const size_t length = element_length(type);

	for (unsigned i = 0; i < types->count; i++)
		if (types->lengths[i] == length && !strncmp(types->at[i], type, length))
			return;
	if (types->count < MOST_TYPES) {
		types->at[types->count] = type;
		types->lengths[types->count++] = length;
	}
}

/* "m (a.cpp:3)" becomes "m[][] (a.cpp:3)". */
static const char *deepened_name(struct nm_namer *namer, const char *name, unsigned depth)
{
	const char *place = strrchr(name, '(');
	char text[NAME_ROOM], brackets[2 * MOST_TYPES + 1] = "";

	if (!place || place - name < 2)
		return name;
	while (depth--)
		strcat(brackets, "[]");
	snprintf(text, sizeof text, "%.*s%s %s", (int)(place - name) - 1, name, brackets, place);
	return nm_symbols_intern(namer->symbols, text);
}

static uint64_t hash_type(const char *type)
{
	uint64_t hash = 0;

	for (size_t n = element_length(type); n--;)
		hash = nm_mix64(hash ^ (unsigned char)type[n]);
	return hash;
}

/* Names one of several parts. A block whose type is not known is none of the others. */
static int name_part(struct nm_namer *namer, const struct types *types, const char *type,
		     struct nm_call_name *name)
{
	const unsigned depth = type ? depth_of(types, type) : 0;

	if (depth && strncmp(name->name, "heap ", 5)) {
		name->name = deepened_name(namer, name->name, depth);
		name->column = 0; /* one object, whatever call of the line makes its blocks */
	}
	name->site ^= hash_type(type ? type : "");
	return name->name ? 0 : NM_ENOMEM;
}

int nm_namer_parts(struct nm_namer *namer, struct nm_call_name *names)
{
	const size_t n = namer->space->objects.count;
	struct nm_vec(struct types) groups = {0};
	struct nm_map group_of = {0}; /* name -> index in groups */
	int status = 0;

	for (size_t i = 0; i < n && !status; i++) {
		const struct nm_object *o = &namer->space->objects.at[i];
		uint64_t group;

		if (o->kind != NM_OBJECT_HEAP || !o->type)
			continue;
		group = nm_map_get(&group_of, (uintptr_t)names[i].name, groups.count);
		if (group == groups.count)
			status = nm_vec_push(&groups, (struct types){0}) ||
					 nm_map_put(&group_of, (uintptr_t)names[i].name, group)
				     ? NM_ENOMEM
				     : 0;
		if (!status)
			add_type(&groups.at[group], o->type);
	}
	for (size_t i = 0; i < n && !status; i++) {
		const struct nm_object *o = &namer->space->objects.at[i];
		const uint64_t group = o->kind == NM_OBJECT_HEAP
					   ? nm_map_get(&group_of, (uintptr_t)names[i].name, groups.count)
					   : groups.count;

		if (group < groups.count && groups.at[group].count > 1)
			status = name_part(namer, &groups.at[group], o->type, &names[i]);
	}
	nm_map_done(&group_of);
	nm_vec_free(&groups);
	return status;
}
