/* SPDX-License-Identifier: MIT
 *
 * fields.c - the fields of structures: their offsets, and their names in the source.
 *
 * A structure is flattened. Members of a member are "outer.inner", those of a base class or of an anonymous
 * member have no prefix, those of an array of structures are "array[].inner" and repeat. A field that
 * repeats is not flattened further, nor are members that a library hides, as those of a std::string or a Vec,
 * unless the structure is the library's itself. Fields that overlap (members of a union, bit-fields of one
 * byte) cannot be told apart by their bytes, so they are one field, "a|b"; the variants of a Rust enumeration
 * are one field with the enumeration's name. Types are interned: equal types are one, whichever unit or module
 * declares them, so they are compared by address.
 */
#include <assert.h>
#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/die.h"
#include "symbol_priv.h"

enum { MOST_FIELDS = 256, MOST_NESTED = 8, CHAIN_STEPS = 32, NAME_ROOM = 256, MOST_JOINED = 3 };

struct flattener {
	struct nm_module *module;
	int language;
	struct nm_field fields[MOST_FIELDS];
	uint32_t joined[MOST_FIELDS]; /* names in that of the field */
	uint32_t count;
	int hidden;   /* the whole is a library's, so that its members are told nevertheless */
	int is_frame; /* of a coroutine */
	int repeats;  /* inside an array: how often and how far apart */
	uint32_t times;
	uint64_t stride;
	uint64_t alignment;
	int failed;
};

int type_peel(Dwarf_Die *type, int arrays)
{
	for (int steps = CHAIN_STEPS; steps; steps--) {
		Dwarf_Die next;

		switch (dwarf_tag(type)) {
		case DW_TAG_array_type:
			if (!arrays)
				return 1;
			break;
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type: break;
		default: return 1;
		}
		if (!die_reference(type, DW_AT_type, &next))
			return 0;
		*type = next;
	}
	return 0;
}

int type_is_structure(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

uint64_t type_bytes(Dwarf_Die *type)
{
	Dwarf_Word bytes;

	return dwarf_aggregate_size(type, &bytes) ? 0 : bytes;
}

/* ---- flattening ---- */

/* A type or a member may ask for an alignment; the greatest is that of the whole. */
static void note_alignment(struct flattener *f, Dwarf_Die *die)
{
	const uint64_t alignment = die_number(die, DW_AT_alignment);

	if (alignment > f->alignment)
		f->alignment = alignment;
}

static void add_field(struct flattener *f, Dwarf_Die *member, const char *name, uint64_t offset,
		      uint64_t bytes)
{
	struct nm_field *to = &f->fields[f->count];

	if (!bytes || f->count == MOST_FIELDS)
		return;
	*to = (struct nm_field){
	    nm_intern(module_pool(f->module), name),  offset, bytes, f->stride, f->repeats ? f->times : 1,
	    type_name(f->module, member, f->language)};
	f->failed |= !to->name;
	f->joined[f->count++] = 1;
}

static void add_members(struct flattener *f, Dwarf_Die *type, uint64_t at, const char *prefix, int depth);

/* Where a member lies; 0 if that is computed, as for virtual bases. */
static int offset_of(Dwarf_Die *member, uint64_t *ret_offset)
{
	Dwarf_Attribute found;
	Dwarf_Word number;

	*ret_offset = 0;
	if (dwarf_attr(member, DW_AT_data_member_location, &found)) {
		if (dwarf_formudata(&found, &number))
			return 0;
		*ret_offset = number;
	} else if (dwarf_attr(member, DW_AT_data_bit_offset, &found)) {
		if (dwarf_formudata(&found, &number))
			return 0;
		*ret_offset = number / 8;
	}
	return 1;
}

/* Rust's enumerations are structures of variants. */
static int has_members(Dwarf_Die *type)
{
	uint64_t budget = 4 * MOST_FIELDS;
	Dwarf_Die child;

	if (dwarf_child(type, &child))
		return 0;
	do
		if (dwarf_tag(&child) == DW_TAG_variant_part)
			return 0;
	while (--budget && dwarf_siblingof(&child, &child) == 0);
	return 1;
}

/* The name of the first member, of the type or of its first base that has any. */
static const char *first_member(Dwarf_Die *type, int depth)
{
	uint64_t budget = 4 * MOST_FIELDS;
	const char *name = NULL;
	Dwarf_Die child, base;

	if (!depth || dwarf_child(type, &child))
		return NULL;
	do {
		const int tag = dwarf_tag(&child);

		if (tag == DW_TAG_member && !die_flag(&child, DW_AT_external))
			name = die_name(&child);
		else if (tag == DW_TAG_inheritance && die_reference(&child, DW_AT_type, &base) &&
			 type_peel(&base, 0))
			name = first_member(&base, depth - 1);
	} while (!name && --budget && dwarf_siblingof(&child, &child) == 0);
	return name;
}

/* In C and C++; "__0" is what Rust calls the first of a tuple. */
static int is_reserved(const char *name)
{
	return name[0] == '_' &&
	       (isupper((unsigned char)name[1]) || (name[1] == '_' && !isdigit((unsigned char)name[2])));
}

/* A type whose members are no matter of its users: they have reserved names, or it is a collection of Rust's
 * library. */
static int hides_members(struct nm_module *module, Dwarf_Die *type, int language)
{
	static const char *const spaces[] = {"alloc::", "std::collections::", "hashbrown::"};
	const char *member = first_member(type, MOST_NESTED), *name;

	if (member && is_reserved(member))
		return 1;
	name = type_spelled(module, type, language);
	for (unsigned i = 0; name && i < sizeof spaces / sizeof *spaces; i++)
		if (!strncmp(name, spaces[i], strlen(spaces[i])))
			return 1;
	return 0;
}

/* An array of structures whose elements' fields are to be told apart. */
static int add_elements(struct flattener *f, Dwarf_Die *array, uint64_t at, const char *name, int depth)
{
	Dwarf_Die element = *array;
	uint64_t all = type_bytes(array), each;
	char prefix[NAME_ROOM + 4];

	if (f->repeats || !type_peel(&element, 1) || !type_is_structure(&element) || !has_members(&element) ||
	    (!f->hidden && hides_members(f->module, &element, f->language)))
		return 0;
	each = type_bytes(&element);
	if (!each || all / each < 2 || all / each > UINT32_MAX)
		return 0;
	f->repeats = 1;
	f->times = (uint32_t)(all / each);
	f->stride = each;
	snprintf(prefix, sizeof prefix, "%s[].", name);
	add_members(f, &element, at, prefix, depth + 1);
	f->repeats = 0;
	f->stride = 0;
	return 1;
}

/* The name of a member. g++ calls the variables of a coroutine's frame "name_DEPTH_NUMBER", but its own "_Coro_...". */
static const char *member_name(const struct flattener *f, Dwarf_Die *member)
{
	const char *own = die_name(member), *end = own ? own + strlen(own) : NULL, *digits;
	const char *name = NULL;

	if (!own || !f->is_frame)
		return own;
	for (int i = 0; i < 2; i++, end = digits - 1) {
		for (digits = end; digits > own && isdigit((unsigned char)digits[-1]);)
			digits--;
		if (digits == end || digits < own + 2 || digits[-1] != '_')
			return own;
	}
	name = nm_intern_n(module_pool(f->module), own, (size_t)(end - own));
	for (uint32_t i = 0; i < f->count; i++)
		if (f->fields[i].name == name) /* a variable of another block */
			return own;
	return name ? name : own;
}

static void add_member(struct flattener *f, Dwarf_Die *member, uint64_t at, const char *prefix, int depth)
{
	const char *own = member_name(f, member);
	uint64_t offset, bits = die_number(member, DW_AT_bit_size);
	char name[NAME_ROOM];
	Dwarf_Die type;
	int tag;

	if (die_flag(member, DW_AT_external) || !offset_of(member, &offset) ||
	    !die_reference(member, DW_AT_type, &type) || !type_peel(&type, 0))
		return;
	note_alignment(f, member);
	if (bits) {
		uint64_t first = die_number(member, DW_AT_data_bit_offset) % 8;

		snprintf(name, sizeof name, "%s%s", prefix, own ? own : "");
		add_field(f, member, name, at + offset, (first + bits + 7) / 8);
		return;
	}
	tag = dwarf_tag(&type);
	snprintf(name, sizeof name, "%s%s", prefix, own ? own : "");
	if (tag == DW_TAG_array_type && add_elements(f, &type, at + offset, name, depth))
		return;
	if ((type_is_structure(&type) || (tag == DW_TAG_union_type && !own)) && depth < MOST_NESTED &&
	    has_members(&type) && (f->hidden || !hides_members(f->module, &type, f->language))) {
		if (own)
			strncat(name, ".", sizeof name - strlen(name) - 1);
		add_members(f, &type, at + offset, own ? name : prefix, depth + 1);
	} else {
		add_field(f, member, name, at + offset, type_bytes(&type));
	}
}

static void add_members(struct flattener *f, Dwarf_Die *type, uint64_t at, const char *prefix, int depth)
{
	Dwarf_Die child, base;
	uint64_t offset, budget = 4 * MOST_FIELDS;

	note_alignment(f, type);
	if (dwarf_child(type, &child))
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_member)
			add_member(f, &child, at, prefix, depth);
		else if (tag == DW_TAG_inheritance && depth < MOST_NESTED && offset_of(&child, &offset) &&
			 die_reference(&child, DW_AT_type, &base) && type_peel(&base, 0))
			add_members(f, &base, at + offset, prefix, depth + 1);
	} while (--budget && dwarf_siblingof(&child, &child) == 0);
}

/* ---- overlaps ---- */

static int by_offset(const void *left, const void *right)
{
	const struct nm_field *f = left, *b = right;

	if (f->offset != b->offset)
		return f->offset < b->offset ? -1 : 1;
	return f->bytes < b->bytes ? -1 : f->bytes > b->bytes;
}

static uint64_t end_of(const struct nm_field *field)
{
	return field->offset + field->stride * (field->count - 1) + field->bytes;
}

static void join_names(struct flattener *f, uint32_t into, const struct nm_field *more)
{
	struct nm_field *to = &f->fields[into];
	uint64_t end = end_of(to) > end_of(more) ? end_of(to) : end_of(more);
	char name[2 * NAME_ROOM];

	if (++f->joined[into] <= MOST_JOINED)
		snprintf(name, sizeof name, "%s|%s", to->name, more->name);
	else
		snprintf(name, sizeof name, "%s%s", to->name,
			 f->joined[into] == MOST_JOINED + 1 ? "|..." : "");
	to->name = nm_intern(module_pool(f->module), name);
	to->bytes = end - to->offset;
	to->stride = 0;
	to->count = 1;
	if (to->type != more->type)
		to->type = NULL;
	f->failed |= !to->name;
}

/* Fields of one array lie between each other and do not overlap. */
static int fields_overlap(const struct nm_field *f, const struct nm_field *b)
{
	if (f->count > 1 && b->count == f->count && b->stride == f->stride &&
	    b->offset < f->offset + f->stride)
		return b->offset < f->offset + f->bytes;
	return b->offset < end_of(f);
}

static void join_overlapping(struct flattener *f)
{
	uint32_t kept = 0;

	qsort(f->fields, f->count, sizeof *f->fields, by_offset);
	for (uint32_t i = 0; i < f->count; i++) {
		const struct nm_field next = f->fields[i];

		if (kept && fields_overlap(&f->fields[kept - 1], &next)) {
			join_names(f, kept - 1, &next);
		} else {
			f->joined[kept] = 1;
			f->fields[kept++] = next;
		}
	}
	f->count = kept;
}

/* ---- interning ---- */

static uint64_t hash_of(const struct nm_type *type)
{
	uint64_t hash = nm_mix64((uintptr_t)type->name ^ nm_mix64(type->bytes ^ nm_mix64(type->alignment)));

	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct nm_field *f = &type->fields[i];

		hash = nm_mix64(hash ^ (uintptr_t)f->name ^ nm_mix64((uintptr_t)f->type));
		hash = nm_mix64(hash ^ f->offset ^ nm_mix64(f->bytes ^ nm_mix64(f->stride ^ f->count)));
	}
	return hash;
}

static int same_type(const struct nm_type *t, const struct nm_type *b)
{
	if (t->name != b->name || t->bytes != b->bytes || t->alignment != b->alignment ||
	    t->field_count != b->field_count)
		return 0;
	for (uint32_t i = 0; i < t->field_count; i++)
		if (t->fields[i].name != b->fields[i].name || t->fields[i].type != b->fields[i].type ||
		    t->fields[i].offset != b->fields[i].offset || t->fields[i].bytes != b->fields[i].bytes ||
		    t->fields[i].stride != b->fields[i].stride || t->fields[i].count != b->fields[i].count)
			return 0;
	return 1;
}

const struct nm_type *type_intern(struct nm_symbols *symbols, const struct nm_type *type)
{
	uint64_t key = hash_of(type), known;
	struct nm_type *copy;
	struct nm_field *fields;

	assert(type->fields || !type->field_count);
	for (; (known = nm_map_get(&symbols->types, key, 0)) != 0; key++)
		if (same_type((const struct nm_type *)(uintptr_t)known, type))
			return (const struct nm_type *)(uintptr_t)known;
	copy = nm_arena_alloc(&symbols->arena, sizeof *copy);
	fields = nm_arena_alloc(&symbols->arena, type->field_count * sizeof *fields + 1);
	if (!copy || !fields || nm_map_put(&symbols->types, key, (uintptr_t)copy))
		return NULL;
	*copy = *type;
	memcpy(fields, type->fields, type->field_count * sizeof *fields);
	copy->fields = fields;
	return copy;
}

/* The structure that the entry describes, flattened. */
static const struct nm_type *flatten_structure(struct nm_module *module, Dwarf_Die *type, int language)
{
	struct flattener *f = calloc(1, sizeof *f);
	const struct nm_type *interned = NULL;
	struct nm_type whole = {.bytes = type_bytes(type)};

	if (!f)
		return NULL;
	f->module = module;
	f->language = language;
	f->hidden = hides_members(module, type, language);
	whole.name = type_spelled(module, type, language);
	f->is_frame = whole.name && !strncmp(whole.name, "frame of ", 9);
	add_members(f, type, 0, "", 0);
	join_overlapping(f);
	whole.alignment = f->alignment;
	whole.fields = f->fields;
	whole.field_count = f->count;
	if (whole.bytes && whole.name && f->count && !f->failed)
		interned = type_intern(module->store, &whole);
	free(f);
	return interned;
}

const struct nm_type *type_of(struct nm_module *module, Dwarf_Die *type, int language)
{
	uint64_t key = (uintptr_t)type->addr, known;
	const struct nm_type *made;

	if (!type_is_structure(type) || die_flag(type, DW_AT_declaration))
		return NULL;
	known = nm_map_get(&module->types_of, key, UINT64_MAX);
	if (known != UINT64_MAX)
		return (const struct nm_type *)(uintptr_t)known;
	made = flatten_structure(module, type, language);
	(void)nm_map_put(&module->types_of, key, (uintptr_t)made);
	return made;
}

const struct nm_type *type_of_variable(struct nm_module *module, Dwarf_Die *variable, int language)
{
	Dwarf_Die type;

	if (!variable->addr || !die_reference(variable, DW_AT_type, &type) || !type_peel(&type, 1))
		return NULL;
	return type_of(module, &type, language);
}

uint32_t nm_type_field(const struct nm_type *type, uint64_t offset)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct nm_field *f = &type->fields[i];
		uint64_t from = offset - f->offset;

		if (offset < f->offset)
			continue;
		if (f->count > 1 && from < f->stride * f->count)
			from %= f->stride;
		if (from < f->bytes)
			return i;
	}
	return NM_NO_FIELD;
}
