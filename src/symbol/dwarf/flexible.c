/* SPDX-License-Identifier: MIT
 *
 * flexible.c - structures that end in an array without a size, "int tail[]": a block is one of them, as long as it is.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/die.h"
#include "symbol_priv.h"

enum { MOST_MEMBERS = 4096, NAME_ROOM = 128 };

static int last_member(Dwarf_Die *structure, Dwarf_Die *ret_member)
{
	unsigned budget = MOST_MEMBERS;
	Dwarf_Die child;
	int found = 0;

	if (dwarf_child(structure, &child))
		return 0;
	do
		if (dwarf_tag(&child) == DW_TAG_member && !die_flag(&child, DW_AT_external)) {
			*ret_member = child;
			found = 1;
		}
	while (--budget && dwarf_siblingof(&child, &child) == 0);
	return found && budget;
}

/* The element of an array of one dimension without a size. */
static int sizeless_element(Dwarf_Die *member, Dwarf_Die *ret_element)
{
	Dwarf_Die array, range, next;
	Dwarf_Attribute bound;

	return die_reference(member, DW_AT_type, &array) && type_peel(&array, 0) &&
	       dwarf_tag(&array) == DW_TAG_array_type && dwarf_child(&array, &range) == 0 &&
	       dwarf_tag(&range) == DW_TAG_subrange_type && !dwarf_attr(&range, DW_AT_upper_bound, &bound) &&
	       !die_number(&range, DW_AT_count) && dwarf_siblingof(&range, &next) != 0 &&
	       die_reference(&array, DW_AT_type, ret_element);
}

int type_flexible(struct nm_module *module, Dwarf_Die *structure, int language, uint64_t bytes,
		  const struct nm_type **ret_type)
{
	Dwarf_Die member, element, peeled;
	const struct nm_type *head;
	struct nm_field *fields, *tail;
	struct nm_type whole;
	char name[NAME_ROOM];

	*ret_type = NULL;
	if (dwarf_tag(structure) == DW_TAG_union_type || !last_member(structure, &member) ||
	    !die_name(&member) || !sizeless_element(&member, &element))
		return 0;
	head = type_of(module, structure, language);
	fields = head ? calloc(head->field_count + 1, sizeof *fields) : NULL;
	if (!fields)
		return 1;
	whole = *head;
	memcpy(fields, head->fields, head->field_count * sizeof *fields);
	peeled = element;
	tail = &fields[whole.field_count++];
	tail->offset = die_number(&member, DW_AT_data_member_location);
	tail->stride = tail->bytes = type_peel(&peeled, 0) ? type_bytes(&peeled) : 0;
	tail->type = type_spelled(module, &element, language);
	snprintf(name, sizeof name, "%s[]", die_name(&member));
	tail->name = nm_intern(module_pool(module), name);
	whole.bytes = bytes;
	whole.fields = fields;
	if (tail->bytes && tail->name && bytes >= tail->offset + tail->bytes) {
		tail->count = (uint32_t)((bytes - tail->offset) / tail->bytes);
		*ret_type = type_intern(module->store, &whole);
	}
	free(fields);
	return 1;
}
