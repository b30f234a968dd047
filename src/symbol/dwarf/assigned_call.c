/* SPDX-License-Identifier: MIT
 *
 * assigned_call.c - what the result of a call is assigned to: DWARF gives the position of the call,
 * the source the rest.
 *
 * A member of the class whose method makes the call has the class in its name, "Solver::assigns".
 */
#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "dwarf/die.h"
#include "source/assigned.h"
#include "symbol_priv.h"

enum { MOST_BASES = 4, MOST_MEMBERS = 4096, MOST_ENTRIES = 65536 };

/* The member of this name of a class, or of one that it is derived from.  1 if there is one. */
static int find_member(Dwarf_Die *class, const char *name, unsigned bases, Dwarf_Die *ret_member)
{
	unsigned budget = MOST_MEMBERS;
	Dwarf_Die child, base;

	if (dwarf_child(class, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_member && die_name(&child) && !strcmp(die_name(&child), name)) {
			*ret_member = child;
			return 1;
		}
		if (tag == DW_TAG_inheritance && bases && die_reference(&child, DW_AT_type, &base) &&
		    type_peel(&base, 0) && find_member(&base, name, bases - 1, ret_member))
			return 1;
	} while (--budget && dwarf_siblingof(&child, &child) == 0);
	return 0;
}

/* Is a member of the class that a constructor makes? Another is not what the call is for: a base class is
 * made there. */
static int is_made_by(Dwarf_Die *member, const char *callee)
{
	char class_name[ASSIGNED_ROOM];
	Dwarf_Die type;

	if (!callee || !callee_name(callee, class_name))
		return 1;
	return die_reference(member, DW_AT_type, &type) && type_peel(&type, 1) && die_name(&type) &&
	       !strncmp(die_name(&type), class_name, strlen(class_name));
}

/* The name with the class in front of it if its first word is a member there; interned. */
static const char *qualify_name(struct nm_module *module, const struct frame *frame, const char *name,
				const char *callee)
{
	char first[ASSIGNED_ROOM];
	const char *class_name;
	Dwarf_Die class, member;

	snprintf(first, sizeof first, "%.*s", (int)strcspn(name, ".-[:("), name);
	if (!function_class(&frame->die, &class) || !(class_name = die_name(&class)) ||
	    !find_member(&class, first, MOST_BASES, &member))
		return nm_intern(module_pool(module), name);
	return is_made_by(&member, callee) ? nm_intern_format(module_pool(module), "%s::%s", class_name, name)
					   : NULL;
}

/* The frame of a position, and the source position of its call. */
static const struct frame *find_place(struct nm_module *module, struct unit *unit, uint64_t vaddr,
				      unsigned position, const char **ret_file, uint32_t *ret_line,
				      uint32_t *ret_column)
{
	const struct span *span;
	const struct line_row *row;
	struct frame *frame;

	unit_read_lines(module, unit);
	unit_read_frames(module, unit);
	row = unit_line_at(unit, vaddr);
	span = spans_find(&unit->code, vaddr);
	if (!row || !span)
		return NULL;
	*ret_file = row->file;
	*ret_line = row->line;
	*ret_column = row->column;
	for (frame = &unit->frames.at[span->id]; position--; frame = &unit->frames.at[frame->parent]) {
		if (frame->parent == NO_ID)
			return NULL;
		frame_call(module, frame, ret_file, ret_line);
		*ret_column = (uint32_t)die_number(&frame->die, DW_AT_call_column);
	}
	return frame;
}

/* Does a function return nothing that leads to memory: no value, as constructors do, or a number? */
static int returns_no_pointer(const struct frame *frame)
{
	Dwarf_Die root = frame->die, origin, type;
	int tag;

	if (die_reference(&root, DW_AT_abstract_origin, &origin))
		root = origin;
	if (!die_reference(&root, DW_AT_type, &type) || !type_peel(&type, 0))
		return 1;
	tag = dwarf_tag(&type);
	return tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type;
}

/* The member that the next lines copy a local variable to: "t->room" for p of "p = realloc(t->room, n); ...
 * t->room = p;". NULL: none. */
static const char *copied_to(struct nm_module *module, const struct frame *frame, const char *file,
			     uint32_t line, const char *local)
{
	char text[STATEMENT_ROOM], copy[ASSIGNED_ROOM];
	const char *name;

	if (local[strcspn(local, ".-[:(")] || !lines_behind(file, line, text) ||
	    !text_copied(text, local, copy))
		return NULL;
	name = qualify_name(module, frame, copy, NULL);
	return name && (strpbrk(copy, ".-") || strcmp(name, copy)) ? name : NULL;
}

/* Is a local variable a number? Then it is no memory that a call returned, but perhaps a place in a pool. */
static int is_number(const struct frame *frame, const char *local)
{
	Dwarf_Die root = frame->die, origin, type;
	struct die_walk walk;
	int descend = 1;

	if (die_reference(&root, DW_AT_abstract_origin, &origin))
		root = origin;
	die_walk_start(&walk, &root, MOST_ENTRIES);
	while (die_walk_next(&walk, descend)) {
		Dwarf_Die *die = &walk.at[walk.depth];
		const char *name = dwarf_tag(die) == DW_TAG_variable ? die_name(die) : NULL;

		descend = dwarf_tag(die) == DW_TAG_lexical_block;
		if (name && !strcmp(name, local))
			return die_reference(die, DW_AT_type, &type) && type_peel(&type, 0) &&
			       dwarf_tag(&type) == DW_TAG_base_type;
	}
	return 0;
}

/* Does a parameter of this type lead to a pointer of the caller's? */
static int leads_to_callers(Dwarf_Die *parameter, const char *text, const char *name, int is_of_fortran)
{
	Dwarf_Die type, target;
	int tag;

	if (is_of_fortran)
		return 1;
	if (!die_reference(parameter, DW_AT_type, &type) || !type_peel(&type, 0))
		return 0;
	tag = dwarf_tag(&type);
	if (tag != DW_TAG_reference_type && (tag != DW_TAG_pointer_type || !text_assigns_through(text, name)))
		return 0;
	return die_reference(&type, DW_AT_type, &target) && type_peel(&target, 0) &&
	       dwarf_tag(&target) == DW_TAG_pointer_type;
}

/* The parameter, from 1, through which the function hands out what it assigns to `name`; 0: none. */
static unsigned handing_parameter(const struct frame *frame, const char *text, const char *name,
				  int is_of_fortran)
{
	Dwarf_Die root = frame->die, origin, child;
	unsigned number = 0;

	if (die_reference(&root, DW_AT_abstract_origin, &origin))
		root = origin;
	if (dwarf_child(&root, &child))
		return 0;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || die_flag(&child, DW_AT_artificial))
			continue;
		number++;
		if (die_name(&child) && !strcasecmp(die_name(&child), name))
			return leads_to_callers(&child, text, name, is_of_fortran) ? number : 0;
	} while (dwarf_siblingof(&child, &child) == 0);
	return 0;
}

/* What the call's function hands out through an argument. */
static const char *argument_name(struct nm_module *module, const struct frame *frame,
				 const struct statement_call *statement, unsigned argument, char *name)
{
	return statement_argument(statement, argument, name) ? qualify_name(module, frame, name, NULL) : NULL;
}

struct nm_assigned module_assigned(struct nm_module *module, uint64_t vaddr, const struct nm_call_place *call)
{
	struct unit *unit = unit_at(module, vaddr);
	struct nm_assigned assigned = {0};
	char text[STATEMENT_ROOM], name[ASSIGNED_ROOM];
	const struct frame *frame = NULL;
	struct statement_call statement = {.text = text, .callee = call->callee, .order = call->order};
	const char *file = NULL;
	uint32_t line = 0;

	if (unit)
		frame = find_place(module, unit, vaddr, call->position, &file, &line, &statement.column);
	assigned.column = statement.column;
	assigned.keeps = frame && returns_no_pointer(frame);
	if (!frame || !statement_read(file, line, text, &statement.line))
		return assigned;
	if (call->argument) {
		assigned.name = argument_name(module, frame, &statement, call->argument, name);
		if (assigned.name)
			assigned.parameter = handing_parameter(frame, text, name, is_fortran(unit->language));
		return assigned;
	}
	if (!statement_assigned(&statement, name)) {
		assigned.is_returned = statement_returns(&statement, unit->language == DW_LANG_Rust);
		return assigned;
	}
	statement.is_number = is_number(frame, name);
	if (statement.is_number && !statement_assigned(&statement, name))
		return assigned;
	assigned.parameter = handing_parameter(frame, text, name, is_fortran(unit->language));
	assigned.name = copied_to(module, frame, file, line, name);
	if (!assigned.name)
		assigned.name = qualify_name(module, frame, name, call->callee);
	return assigned;
}
