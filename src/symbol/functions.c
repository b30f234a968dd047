/* SPDX-License-Identifier: MIT
 *
 * functions.c - a unit's functions and the calls inlined into them, as one flat table of ranges.
 *
 * One walk over the unit makes all of it, at the first question about the unit.  Asking libdw for the
 * scopes of an address (dwarf_getscopes) walks the unit each time.  Names are worked out when they are
 * asked for.
 */
#include <dwarf.h>

#include "die.h"
#include "symbol_priv.h"

static int add_frame(struct nm_module *module, struct unit *unit, Dwarf_Die *die, uint32_t parent)
{
	Dwarf_Addr base, low, end;
	uint64_t budget = unit->bytes, least = UINT64_MAX;
	uint32_t id = (uint32_t)unit->frames.count;
	for (ptrdiff_t next = 0; budget && (next = dwarf_ranges(die, next, &base, &low, &end)) > 0;
	     budget--) {
		if (low >= end || !module_holds_code(module, low))
			continue;
		least = low < least ? low : least;
		if (nm_vec_push(&unit->code, (struct span){low, end, id}))
			return NM_ENOMEM;
	}
	if (least == UINT64_MAX)
		return 0;
	struct frame frame = {.die = *die, .low = least, .parent = parent};
	if (parent != NO_ID)
		frame.low = unit->frames.at[parent].low;
	return nm_vec_push(&unit->frames, frame);
}

/* In C no type and nothing in one holds functions, and most entries are types. */
static int is_c(int language)
{
	return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 ||
	       language == DW_LANG_C11 || language == 0x2c; /* C17 */
}

/* Makes a frame if the current entry is one, and says in *ret_descend whether there may be more inside. */
static int visit(struct nm_module *module, struct unit *unit, struct die_walk *walk, uint32_t *inside,
		 int *ret_descend)
{
	Dwarf_Die *die = &walk->at[walk->depth];
	uint32_t parent = inside[walk->depth - 1];
	size_t before = unit->frames.count;
	inside[walk->depth] = parent;
	*ret_descend = 0;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		if (add_frame(module, unit, die, NO_ID))
			return NM_ENOMEM;
		*ret_descend = unit->frames.count > before;
		break;
	case DW_TAG_inlined_subroutine:
		if (parent != NO_ID && add_frame(module, unit, die, parent))
			return NM_ENOMEM;
		*ret_descend = unit->frames.count > before;
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block: *ret_descend = parent != NO_ID; break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: *ret_descend = !is_c(unit->language); break;
	default: break;
	}
	if (unit->frames.count > before)
		inside[walk->depth] = (uint32_t)before;
	return 0;
}

void unit_read_frames(struct nm_module *module, struct unit *unit)
{
	struct die_walk walk;
	uint32_t inside[DIE_DEPTH] = {NO_ID}; /* the frame that the entries at each depth lie in */
	int descend = 1;
	if (unit->frames_read)
		return;
	unit->frames_read = 1;
	die_walk_start(&walk, &unit->body, unit->bytes);
	while (die_walk_next(&walk, descend))
		if (visit(module, unit, &walk, inside, &descend))
			break;
	if (spans_flatten(&unit->code))
		nm_vec_free(&unit->code);
}

const char *frame_name(struct nm_module *module, struct frame *frame)
{
	if (frame->name)
		return frame->name;
	const char *name = die_linkage_name(&frame->die);
	if (!name)
		name = die_name(&frame->die);
	frame->name = name ? demangle(module_pool(module), name) : NULL;
	return frame->name;
}
