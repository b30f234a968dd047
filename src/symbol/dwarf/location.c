/* SPDX-License-Identifier: MIT
 *
 * location.c - the location of a variable that has the same one for the whole run.
 *
 * Its expression begins with an address or, for thread-locals, a constant. Most variables are locals, whose
 * expression begins with a register, so the first byte tells them apart. Values that are never in memory
 * (DW_OP_stack_value) and computed or changing locations do not count. Of a variable in pieces the first
 * piece counts.
 */
#include <dwarf.h>

#include "symbol_priv.h"

static int may_be_static(Dwarf_Attribute *location)
{
	Dwarf_Block block;
	if (dwarf_formblock(location, &block) != 0 || block.length < 2)
		return 0;
	switch (block.data[0]) {
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu:
	case DW_OP_constx:
	case DW_OP_GNU_const_index: return 1;
	default: return 0;
	}
}

/* The value that an operation pushes.  1 if it is an address, 2 if it is a constant, else 0. */
static int pushed_value(Dwarf_Attribute *location, const Dwarf_Op *op, uint64_t *ret_value)
{
	Dwarf_Attribute indexed;
	Dwarf_Addr address;
	Dwarf_Word word;
	switch (op->atom) {
	case DW_OP_addr: *ret_value = op->number; return 1;
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu: *ret_value = op->number; return 2;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		if (dwarf_getlocation_attr(location, op, &indexed) != 0 ||
		    dwarf_formaddr(&indexed, &address) != 0)
			return 0;
		*ret_value = address;
		return 1;
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		if (dwarf_getlocation_attr(location, op, &indexed) != 0 ||
		    dwarf_formudata(&indexed, &word) != 0)
			return 0;
		*ret_value = word;
		return 2;
	default: return 0;
	}
}

int location_read(Dwarf_Die *die, struct place *ret_place)
{
	Dwarf_Attribute location;
	Dwarf_Op *ops;
	size_t count;
	if (!dwarf_attr(die, DW_AT_location, &location) || !may_be_static(&location) ||
	    dwarf_getlocation(&location, &ops, &count) != 0 || !count)
		return 0;
	uint64_t value = 0;
	int what = pushed_value(&location, &ops[0], &value), is_tls = 0;
	for (size_t i = 1; what && i < count; i++) {
		unsigned atom = ops[i].atom;
		if (atom == DW_OP_plus_uconst)
			value += ops[i].number;
		else if (atom == DW_OP_form_tls_address || atom == DW_OP_GNU_push_tls_address)
			is_tls = 1;
		else if (atom == DW_OP_piece || atom == DW_OP_bit_piece)
			break;
		else
			return 0;
	}
	if (!what || (what == 2 && !is_tls))
		return 0;
	*ret_place = (struct place){value, is_tls};
	return 1;
}
