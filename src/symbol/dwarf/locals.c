/* SPDX-License-Identifier: MIT
 *
 * locals.c - the local variables of a function that are arrays, structures or unions of a cache line or
 * more, with their location in the frame. Smaller ones share their lines with the rest of the frame.
 *
 * A location is a distance from the end of the frame, the CFA of DWARF: the address above the return
 * address, which readers of the wire know. The frame base is the CFA itself or, from LLVM compilers,
 * %rbp, which is 16 bytes below, or %rsp, whose distance the unwind tables give: the largest one in the
 * function, since a variable exists as long as the frame. A variable needs one location for the whole
 * function, at a constant distance from the base, so arrays of variable length are left out. Variables of
 * inlined functions are in the frame of the function around them, and are named after the function that
 * declares them.
 *
 * Compilers give one location to variables that are not needed at the same time. Those that overlap are one,
 * "a|b", which has a type if all have the same type and location.
 */
#include <assert.h>
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/die.h"
#include "symbol_priv.h"

enum {
	MOST_LOCALS = 128,
	NAME_ROOM = 4096,
	MOST_ROWS = 4096,
	RBP = 6,
	RSP = 7,
	RBP_BELOW_CFA = 16,
	LINE = 64,
	MOST_JOINED = 3 /* names */
};

struct local {
	struct nm_local seen; /* file, type and structure are worked out for those that are kept */
	Dwarf_Die die, type;
	unsigned joined; /* names in its own, */
	int mixed;       /* of different types or places */
};

struct locals {
	struct local at[MOST_LOCALS];
	size_t count;
};

/* The one operation of a location; 0 if it has more, or changes. */
static int only_operation(Dwarf_Die *die, unsigned attribute, Dwarf_Op *ret_op)
{
	Dwarf_Attribute found;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(die, attribute, &found) || dwarf_getlocation(&found, &ops, &count) || count != 1)
		return 0;
	*ret_op = *ops;
	return 1;
}

/* How far %rsp is below the CFA at an address, 0 if that is unknown; and where this may change next. */
static uint64_t rsp_below(Dwarf_CFI *cfi, uint64_t at, uint64_t *ret_next)
{
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;
	uint64_t below = 0;
	Dwarf_Op *ops;
	size_t count;

	*ret_next = UINT64_MAX;
	if (dwarf_cfi_addrframe(cfi, at, &frame))
		return 0;
	if (dwarf_frame_info(frame, &start, &end, NULL) >= 0 && end > at)
		*ret_next = end;
	if (!dwarf_frame_cfa(frame, &ops, &count) && count == 1) {
		if (ops->atom == DW_OP_breg0 + RSP)
			below = ops->number;
		else if (ops->atom == DW_OP_bregx && ops->number == RSP)
			below = ops->number2;
	}
	free(frame);
	return below;
}

static int find_stack_pointer(struct nm_module *module, Dwarf_Die *function, uint64_t *ret_below)
{
	unsigned budget = MOST_ROWS;
	Dwarf_Addr base, low, end;
	uint64_t most = 0;

	if (!module->cfi && module->file.elf)
		module->cfi = dwarf_getcfi_elf(module->file.elf);
	for (ptrdiff_t next = 0; module->cfi && (next = dwarf_ranges(function, next, &base, &low, &end)) > 0;)
		for (uint64_t at = low, after; at < end && budget; at = after, budget--) {
			uint64_t below = rsp_below(module->cfi, at, &after);

			most = below > most ? below : most;
		}
	*ret_below = most;
	return most > 0;
}

/* How far the frame base is below the CFA. */
static int find_base(struct nm_module *module, Dwarf_Die *function, uint64_t *ret_below)
{
	Dwarf_Op op;

	if (!only_operation(function, DW_AT_frame_base, &op))
		return 0;
	if (op.atom == DW_OP_reg0 + RSP)
		return find_stack_pointer(module, function, ret_below);
	*ret_below = op.atom == DW_OP_reg0 + RBP ? RBP_BELOW_CFA : 0;
	return op.atom == DW_OP_call_frame_cfa || op.atom == DW_OP_reg0 + RBP;
}

/* Notes how far below the frame base a variable begins. scope: the function that declares it. */
static void add_local(struct nm_module *module, struct locals *l, Dwarf_Die *die, Dwarf_Die *scope)
{
	struct local *to = &l->at[l->count];
	const char *name = die_name(die), *prefix;
	Dwarf_Die array;
	char text[NAME_ROOM];
	Dwarf_Op op;
	int tag;

	*to = (struct local){.die = *die, .joined = 1};
	if (!name || !only_operation(die, DW_AT_location, &op) || op.atom != DW_OP_fbreg ||
	    !die_reference(die, DW_AT_type, &to->type))
		return;
	array = to->type;
	if (!type_peel(&array, 0))
		return;
	tag = dwarf_tag(&array);
	if (!type_is_structure(&array) && tag != DW_TAG_array_type && tag != DW_TAG_union_type)
		return;
	prefix = function_prefix(module, scope);
	snprintf(text, sizeof text, "%s%s", prefix ? prefix : "", name);
	to->seen.name = nm_intern(module_pool(module), text);
	to->seen.below = -op.number;
	to->seen.bytes = type_bytes(&array);
	if (to->seen.name && to->seen.bytes)
		l->count++;
}

static void find_locals(struct nm_module *module, struct locals *l, const Dwarf_Die *function,
			uint64_t budget)
{
	struct die_walk walk;
	unsigned scope[DIE_DEPTH] = {0}; /* at each depth: that of the function around the entry */
	int descend = 1;

	die_walk_start(&walk, function, budget);
	while (l->count < MOST_LOCALS && die_walk_next(&walk, descend)) {
		Dwarf_Die *die = &walk.at[walk.depth];
		int tag = dwarf_tag(die);
		unsigned around = scope[walk.depth - 1];

		descend = tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
			  tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
		scope[walk.depth] = tag == DW_TAG_inlined_subroutine ? walk.depth : around;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			add_local(module, l, die, &walk.at[around]);
	}
}

/* From below the base to below the CFA; leaves out what is not below that: in the caller's frame. */
static void place_locals(struct locals *l, uint64_t base_below)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		struct local one = l->at[i];

		one.seen.below += base_below;
		if ((int64_t)one.seen.below > 0 && one.seen.bytes <= one.seen.below)
			l->at[kept++] = one;
	}
	l->count = kept;
}

/* ---- overlaps ---- */

static int by_place(const void *left, const void *right)
{
	const struct nm_local *l = &((const struct local *)left)->seen,
			      *b = &((const struct local *)right)->seen;

	if (l->below != b->below)
		return l->below > b->below ? -1 : 1;
	return l->bytes > b->bytes ? -1 : l->bytes < b->bytes;
}

static int is_same(const struct local *l, const struct local *b)
{
	return l->seen.below == b->seen.below && l->seen.bytes == b->seen.bytes &&
	       l->type.addr == b->type.addr;
}

/* Where the variable's own name begins, behind its function's. */
static size_t scope_length(const char *name)
{
	const char *end = name, *at = name;

	while ((at = strstr(at, "::")))
		end = at += 2;
	return (size_t)(end - name);
}

/* One name for both, which has the function once if that is the same; NULL when memory is exhausted. */
static const char *join_names(struct nm_module *module, const char *a, const char *b)
{
	size_t scope = scope_length(b), n;
	char text[NAME_ROOM];

	if (!strncmp(a, b, scope))
		b += scope;
	n = strlen(b);
	for (const char *at = strstr(a, b); at; at = strstr(at + 1, b))
		if ((at == a || at[-1] == '|' || at[-1] == ':') && (!at[n] || at[n] == '|'))
			return a;
	snprintf(text, sizeof text, "%s|%s", a, b);
	return nm_intern(module_pool(module), text);
}

/* Makes one of both, which overlap; the other does not begin before. */
static void unite_locals(struct nm_module *module, struct local *one, const struct local *other)
{
	uint64_t end = one->seen.below - one->seen.bytes, other_end = other->seen.below - other->seen.bytes;
	const char *name = one->joined++ < MOST_JOINED ? other->seen.name : "...";

	one->mixed |= !is_same(one, other);
	if (one->seen.name)
		one->seen.name = join_names(module, one->seen.name, name);
	one->seen.bytes = one->seen.below - (other_end < end ? other_end : end);
}

/* Joins those that overlap, and leaves those that are large enough. */
static void sort_out(struct nm_module *module, struct locals *l)
{
	size_t kept = 0, group;

	qsort(l->at, l->count, sizeof *l->at, by_place);
	for (size_t i = 0; i < l->count; i = group) {
		struct local one = l->at[i];

		for (group = i + 1;
		     group < l->count && l->at[group].seen.below > one.seen.below - one.seen.bytes; group++)
			unite_locals(module, &one, &l->at[group]);
		if (one.seen.name && one.seen.bytes >= LINE)
			l->at[kept++] = one;
	}
	l->count = kept;
}

static void complete_local(struct nm_module *module, int language, struct local *l)
{
	l->seen.type = l->mixed ? NULL : type_name(module, &l->die, language);
	l->seen.file = path_near(module, &l->die, die_file(&l->die, DW_AT_decl_file));
	l->seen.line = (uint32_t)die_number(&l->die, DW_AT_decl_line);
	l->seen.structure = l->mixed ? NULL : type_of_variable(module, &l->die, language);
}

static const struct nm_locals *make_locals(struct nm_module *module, const struct unit *unit,
					   Dwarf_Die *function)
{
	struct locals *l = calloc(1, sizeof *l);
	struct nm_local list[MOST_LOCALS];
	const struct nm_locals *made = NULL;
	uint64_t below = 0;

	if (!l)
		return NULL;
	find_locals(module, l, function, unit->bytes);
	if (l->count && !find_base(module, function, &below))
		l->count = 0;
	place_locals(l, below);
	sort_out(module, l);
	for (size_t i = 0; i < l->count; i++) {
		complete_local(module, unit->language, &l->at[i]);
		list[i] = l->at[i].seen;
	}
	if (l->count)
		made = locals_intern(module->store, list, (uint32_t)l->count);
	free(l);
	return made;
}

/* ---- interning ---- */

static uint64_t hash_of(const struct nm_locals *locals)
{
	uint64_t hash = locals->count;

	for (uint32_t i = 0; i < locals->count; i++) {
		const struct nm_local *l = &locals->at[i];

		hash = nm_mix64(hash ^ (uintptr_t)l->name ^ nm_mix64((uintptr_t)l->type));
		hash = nm_mix64(hash ^ l->below ^ nm_mix64(l->bytes ^ nm_mix64((uintptr_t)l->structure)));
	}
	return hash;
}

static int same_locals(const struct nm_locals *a, const struct nm_locals *b)
{
	if (a->count != b->count)
		return 0;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct nm_local *l = &a->at[i], *m = &b->at[i];

		if (l->name != m->name || l->type != m->type || l->file != m->file || l->line != m->line ||
		    l->below != m->below || l->bytes != m->bytes || l->structure != m->structure)
			return 0;
	}
	return 1;
}

const struct nm_locals *locals_intern(struct nm_symbols *symbols, const struct nm_local *list, uint32_t count)
{
	const struct nm_locals wanted = {count, list};
	uint64_t key = hash_of(&wanted), known;
	struct nm_locals *copy;
	struct nm_local *at;

	assert(list || !count);
	for (; (known = nm_map_get(&symbols->locals, key, 0)) != 0; key++)
		if (same_locals((const struct nm_locals *)(uintptr_t)known, &wanted))
			return (const struct nm_locals *)(uintptr_t)known;
	copy = nm_arena_alloc(&symbols->arena, sizeof *copy);
	at = nm_arena_alloc(&symbols->arena, count * sizeof *at);
	if (!copy || !at || nm_map_put(&symbols->locals, key, (uintptr_t)copy))
		return NULL;
	memcpy(at, list, count * sizeof *at);
	*copy = (struct nm_locals){count, at};
	return copy;
}

const struct nm_locals *module_locals(struct nm_module *module, uint64_t vaddr)
{
	struct unit *unit = unit_at(module, vaddr);
	const struct nm_locals *locals;
	const struct span *span;
	uint64_t known;
	uint32_t id;

	if (!unit)
		return NULL;
	unit_read_frames(module, unit);
	span = spans_find(&unit->code, vaddr);
	if (!span)
		return NULL;
	for (id = span->id; unit->frames.at[id].parent != NO_ID;)
		id = unit->frames.at[id].parent;
	known = nm_map_get(&module->locals_of, (uintptr_t)unit->frames.at[id].die.addr, UINT64_MAX);
	if (known != UINT64_MAX)
		return (const struct nm_locals *)(uintptr_t)known;
	locals = make_locals(module, unit, &unit->frames.at[id].die);
	(void)nm_map_put(&module->locals_of, (uintptr_t)unit->frames.at[id].die.addr, (uintptr_t)locals);
	return locals;
}
