/* SPDX-License-Identifier: MIT
 *
 * source_positions.c - the chain of source positions of an instruction.
 *
 * The line of the instruction comes from the line table and belongs to the innermost function; each
 * inlined call then gives the position of the function around it.  Code without DWARF has one position
 * with the function of the symbol table and no line.
 */
#include <dwarf.h>

#include "dwarf/die.h"
#include "symbol_priv.h"

/* The row for vaddr; where its line is 0, the nearest row before it within the physical function that has
 * a line, one of the same inlined function if there is one. */
static struct line_row line_at(const struct unit *unit, uint64_t vaddr, const struct span *span)
{
	const struct line_row *row = unit_line_at(unit, vaddr), *any = NULL;
	if (!row)
		return (struct line_row){0};
	if (row->line || !span)
		return *row;
	uint64_t low = unit->frames.at[span->id].low;
	for (const struct line_row *before = row; before > unit->lines.at && before->low > low;) {
		before--;
		if (before->low < low || !before->file)
			break;
		if (!before->line)
			continue;
		const struct span *there = spans_find(&unit->code, before->low);
		if (there && there->id == span->id)
			return *before;
		any = any ? any : before;
	}
	return any ? *any : *row;
}

static const char *symbol_name(struct nm_module *module, uint64_t vaddr)
{
	module_read_symbols(module);
	const struct span *span = spans_find(&module->function_spans, vaddr);
	return span ? elf_symbol_plain(module, &module->functions.at[span->id])
		    : module_nameless_function(module, vaddr);
}

/* The chain of frames from the innermost outwards. */
static size_t inline_chain(struct nm_module *module, struct unit *unit, uint64_t vaddr, uint32_t id,
			   struct line_row line, struct nm_source_position *at, size_t max)
{
	size_t n = 0;
	while (id != NO_ID && n < max) {
		struct frame *frame = &unit->frames.at[id];
		const char *function = frame_name(module, unit, frame);
		if (!function && frame->parent == NO_ID)
			function = symbol_name(module, vaddr);
		if (function || line.file)
			at[n++] = (struct nm_source_position){function, line.file, line.line};
		if (frame->parent != NO_ID && n < max)
			frame_call(module, frame, &line.file, &line.line);
		id = frame->parent;
	}
	return n;
}

size_t module_source_positions(struct nm_module *module, uint64_t vaddr, struct nm_source_position *at,
			       size_t max)
{
	struct line_row line = {0};
	struct unit *unit = max ? unit_at(module, vaddr) : NULL;
	const struct span *span = NULL;
	if (unit) {
		unit_read_lines(module, unit);
		unit_read_frames(module, unit);
		span = spans_find(&unit->code, vaddr);
		line = line_at(unit, vaddr, span);
	}
	if (span)
		return inline_chain(module, unit, vaddr, span->id, line, at, max);
	const char *function = max ? symbol_name(module, vaddr) : NULL;
	if (!function && !line.file)
		return 0;
	at[0] = (struct nm_source_position){function, line.file, line.line};
	return 1;
}
