/* SPDX-License-Identifier: MIT
 *
 * functions.c - a unit's functions and the calls inlined into them, as one flat table of ranges.
 *
 * One walk over the unit builds the table at the first query of the unit. Names and positions of calls are
 * looked up when a query needs them.
 *
 * Dropped: the scopes of each address from libdw (dwarf_getscopes), which walks the unit at every query.
 */
#include <dwarf.h>
#include <string.h>

#include "dwarf/die.h"
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

/* Makes a frame if the current entry is one, and says in *ret_descend whether there may be more inside. */
static int visit_die(struct nm_module *module, struct unit *unit, struct die_walk *walk, uint32_t *inside,
		     int *ret_descend)
{
	Dwarf_Die *die = &walk->at[walk->depth];
	uint32_t parent = inside[walk->depth - 1];
	size_t before = unit->frames.count;
	inside[walk->depth] = parent;
	*ret_descend = 0;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram: /* an abstract one may hold a lambda's class with its function */
		inside[walk->depth] = NO_ID;
		if (add_frame(module, unit, die, NO_ID))
			return NM_ENOMEM;
		*ret_descend = unit->frames.count > before || !is_c(unit->language);
		break;
	case DW_TAG_inlined_subroutine:
		if (parent != NO_ID && add_frame(module, unit, die, parent))
			return NM_ENOMEM;
		*ret_descend = unit->frames.count > before;
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block: *ret_descend = parent != NO_ID || !is_c(unit->language); break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type: /* In C no type holds functions, and most entries are types. */
		*ret_descend = !is_c(unit->language);
		break;
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
	int descend = 1, failed = 0;
	if (unit->frames_read)
		return;
	unit->frames_read = 1;
	die_walk_start(&walk, &unit->body, unit->bytes);
	while (!failed && die_walk_next(&walk, descend))
		failed = visit_die(module, unit, &walk, inside, &descend);
	if (failed || spans_flatten(&unit->code)) { /* a span may have no frame yet */
		nm_vec_free(&unit->code);
		nm_vec_free(&unit->frames);
	}
}

/* The entry that declares the function: an instance refers to it, perhaps over another one. */
static Dwarf_Die declaration_of(const Dwarf_Die *instance)
{
	Dwarf_Die die = *instance, next;
	Dwarf_Attribute reference;
	for (int steps = 4; steps; steps--, die = next) {
		if (!dwarf_attr(&die, DW_AT_abstract_origin, &reference) &&
		    !dwarf_attr(&die, DW_AT_specification, &reference))
			break;
		if (!dwarf_formref_die(&reference, &next))
			break;
	}
	return die;
}

/* "app::point::norm": the name with the scopes of its declaration. Finding those walks through the unit, so
 * it is done once for each declaration. */
static const char *scoped_name(struct nm_module *module, struct frame *frame, const char *name)
{
	Dwarf_Die declaration = declaration_of(&frame->die);
	uintptr_t key = (uintptr_t)declaration.addr;
	const char *known = (const char *)(uintptr_t)nm_map_get(&module->scoped_names, key, 0);
	if (known)
		return known;
	char scope[512] = "";
	die_scope(&declaration, scope, sizeof scope);
	known = nm_intern_format(module_pool(module), "%s%s", scope, name);
	if (known)
		(void)nm_map_put(&module->scoped_names, key, (uintptr_t)known);
	return known;
}

/* C++ and Rust functions without a linkage name (of local classes, instances for local types): a
 * physical one may still have a mangled symbol.  One whose symbol is its name is extern "C". */
static const char *name_without_linkage(struct nm_module *module, struct frame *frame, const char *name)
{
	struct elf_symbol *symbol =
	    frame->parent == NO_ID ? elf_symbol_starting_at(module, frame->low) : NULL;
	if (symbol && is_mangled(symbol->raw))
		return elf_symbol_plain(module, symbol);
	if (symbol && !strcmp(symbol->raw, name))
		return nm_intern(module_pool(module), name);
	return scoped_name(module, frame, name);
}

const char *frame_name(struct nm_module *module, const struct unit *unit, struct frame *frame)
{
	if (frame->name)
		return frame->name;
	const char *linkage = die_linkage_name(&frame->die), *name = die_name(&frame->die);
	if (linkage && (is_mangled(linkage) || !name))
		frame->name = demangle(module_pool(module), linkage);
	else if (name && !is_c(unit->language) && !is_fortran(unit->language))
		frame->name = name_without_linkage(module, frame, name);
	else if (name)
		frame->name = nm_intern(module_pool(module), name);
	return frame->name;
}

/* Where an inlined instance is called. */
void frame_call(struct nm_module *module, struct frame *frame, const char **ret_file, uint32_t *ret_line)
{
	if (!frame->call_read) {
		const char *file = die_file(&frame->die, DW_AT_call_file);
		frame->call_read = 1;
		frame->call_file = path_near(module, &frame->die, file);
		frame->call_line = (uint32_t)die_number(&frame->die, DW_AT_call_line);
	}
	*ret_file = frame->call_file;
	*ret_line = frame->call_line;
}

const char *function_prefix(struct nm_module *module, Dwarf_Die *function)
{
	const char *linkage = die_linkage_name(function), *name = die_name(function);

	if (linkage && is_mangled(linkage))
		name = demangle(module_pool(module), linkage);
	if (!name)
		name = "<function>";
	return nm_intern_format(module_pool(module), "%s%s::", name, strchr(name, '(') ? "" : "()");
}
