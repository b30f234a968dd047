/* SPDX-License-Identifier: MIT
 *
 * locals.c - the local variables of a function that are structures or arrays: where they lie in its frame.
 *
 * What counts is the distance from the end of the frame, the CFA of DWARF: the address above the return
 * address, which who follows calls knows. The frame base is the CFA itself or, from compilers of LLVM, %rbp,
 * which is 16 bytes below, or %rsp, which is where the unwind tables say: as far as it ever is, since a
 * variable is there while the frame is. A variable must have one place for the whole function, a constant
 * distance from the base; those of inlined functions are in the frame of the function that they are inlined
 * into.
 *
 * Compilers give one place to variables that are not needed at a time. Two of the same type at the same place
 * are one, "a|b"; of others that overlap nothing is known.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/die.h"
#include "symbol_priv.h"

enum { MOST_LOCALS = 64, NAME_ROOM = 256, MOST_ROWS = 4096, RBP = 6, RSP = 7, RBP_BELOW_CFA = 16 };

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

static void add(struct locals *l, Dwarf_Die *die, uint64_t base_below)
{
	struct local *to = &l->at[l->count];
	Dwarf_Die structure, array;
	Dwarf_Op op;

	*to = (struct local){.name = die_name(die)};
	if (!to->name || !only_operation(die, DW_AT_location, &op) || op.atom != DW_OP_fbreg ||
	    !die_reference(die, DW_AT_type, &to->type))
		return;
	structure = array = to->type;
	if (!type_peel(&structure, 1) || !type_peel(&array, 0) ||
	    (!type_is_structure(&structure) && dwarf_tag(&array) != DW_TAG_array_type))
		return;
	to->below = base_below - op.number;
	to->bytes = type_bytes(&array);
	if ((int64_t)to->below > 0 && to->bytes && to->bytes <= to->below) /* not above: the caller's frame */
		l->count++;
}

static void find(struct locals *l, const Dwarf_Die *function, uint64_t base_below, uint64_t budget)
{
	struct die_walk walk;
	int descend = 1;

	die_walk_start(&walk, function, budget);
	while (l->count < MOST_LOCALS && die_walk_next(&walk, descend)) {
		Dwarf_Die *die = &walk.at[walk.depth];
		int tag = dwarf_tag(die);

		descend = tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
			  tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			add(l, die, base_below);
	}
}

/* ---- overlaps ---- */

static int by_place(const void *left, const void *right)
{
	const struct local *a = left, *b = right;

	if (a->below != b->below)
		return a->below > b->below ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static int is_same(const struct local *a, const struct local *b)
{
	return a->below == b->below && a->bytes == b->bytes && a->type.addr == b->type.addr;
}

/* One name for both; NULL when memory is exhausted. */
static const char *join(struct nm_module *module, const char *a, const char *b)
{
	char text[NAME_ROOM];
	size_t n = strlen(b);

	for (const char *at = strstr(a, b); at; at = strstr(at + 1, b))
		if ((at == a || at[-1] == '|') && (!at[n] || at[n] == '|'))
			return a;
	snprintf(text, sizeof text, "%s|%s", a, b);
	return nm_intern(module_pool(module), text);
}

/* Leaves those that can be told apart. */
static void sort_out(struct nm_module *module, struct locals *l)
{
	size_t kept = 0, group;

	qsort(l->at, l->count, sizeof *l->at, by_place);
	for (size_t i = 0; i < l->count; i = group) {
		struct local one = l->at[i];
		uint64_t end = one.below - one.bytes; /* falls */
		int same = 1;

		for (group = i + 1; group < l->count && l->at[group].below > end; group++) {
			const struct local *other = &l->at[group];

			same = same && is_same(&one, other);
			if (same && one.name)
				one.name = join(module, one.name, other->name);
			if (other->below - other->bytes < end)
				end = other->below - other->bytes;
		}
		if (same && one.name)
			l->at[kept++] = one;
	}
	l->count = kept;
}

static const struct nm_type *make(struct nm_module *module, const struct unit *unit, Dwarf_Die *function)
{
	struct locals *l = calloc(1, sizeof *l);
	const struct nm_type *type = NULL;
	uint64_t below;

	if (!l)
		return NULL;
	if (find_base(module, function, &below))
		find(l, function, below, unit->bytes);
	sort_out(module, l);
	if (l->count)
		type = type_of_locals(module, unit->language, l->at, l->count);
	free(l);
	return type;
}

const struct nm_type *module_frame_type(struct nm_module *module, uint64_t vaddr)
{
	struct unit *unit = unit_at(module, vaddr);
	const struct nm_type *type;
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
	known = nm_map_get(&module->frame_types, (uintptr_t)unit->frames.at[id].die.addr, UINT64_MAX);
	if (known != UINT64_MAX)
		return (const struct nm_type *)(uintptr_t)known;
	type = make(module, unit, &unit->frames.at[id].die);
	(void)nm_map_put(&module->frame_types, (uintptr_t)unit->frames.at[id].die.addr, (uintptr_t)type);
	return type;
}
