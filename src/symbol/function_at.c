/* SPDX-License-Identifier: MIT
 *
 * function_at.c - the function at an address: that of the symbol table, or else of DWARF.
 */
#include "symbol_priv.h"

/* Without symbols, the physical function that DWARF knows. */
static int function_of_dwarf(struct nm_module *module, uint64_t vaddr, struct nm_function *ret_function)
{
	struct unit *unit = unit_at(module, vaddr);
	if (!unit)
		return 0;
	unit_read_frames(module, unit);
	const struct span *span = spans_find(&unit->code, vaddr);
	if (!span)
		return 0;
	uint32_t id = span->id;
	while (unit->frames.at[id].parent != NO_ID)
		id = unit->frames.at[id].parent;
	struct frame *frame = &unit->frames.at[id];
	Dwarf_Addr base, low, end;
	for (ptrdiff_t next = 0; (next = dwarf_ranges(&frame->die, next, &base, &low, &end)) > 0;) {
		if (vaddr < low || vaddr >= end)
			continue;
		const char *name = frame_name(module, unit, frame);
		if (!name)
			return 0;
		*ret_function = (struct nm_function){name, name, low, end};
		return 1;
	}
	return 0;
}

int module_function(struct nm_module *module, uint64_t vaddr, struct nm_function *ret_function)
{
	module_read_symbols(module);
	const struct span *span = spans_find(&module->function_spans, vaddr);
	if (!span)
		return function_of_dwarf(module, vaddr, ret_function);
	struct elf_symbol *symbol = &module->functions.at[span->id];
	const char *name = elf_symbol_plain(module, symbol);
	const char *linkage = name ? nm_intern(module_pool(module), symbol->raw) : NULL;
	if (!linkage)
		return 0;
	*ret_function = (struct nm_function){name, linkage, symbol->low, symbol->end};
	return 1;
}
