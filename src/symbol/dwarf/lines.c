/* SPDX-License-Identifier: MIT
 *
 * lines.c - a unit's line table as rows sorted by address.
 *
 * libdw decodes and sorts the table. Of the rows of one address only the last is kept, since earlier ones
 * cover no byte. Sequences of discarded code (outside the executable segments) are left out.
 */
#include "symbol_priv.h"

struct names {
	struct nm_module *module;
	Dwarf_Die *unit;
	const char *source, *interned; /* the last one: runs of rows share a file */
};

static const char *file_of(struct names *names, Dwarf_Line *line)
{
	const char *source = dwarf_linesrc(line, NULL, NULL);
	if (source != names->source || !names->interned) {
		names->source = source;
		names->interned = path_of(names->module, names->unit, source);
	}
	return names->interned;
}

static int add_row(struct line_rows *rows, struct line_row row)
{
	struct line_row *last = rows->count ? &rows->at[rows->count - 1] : NULL;
	if (last && last->low == row.low) {
		if (row.file || !last->file) /* an end never hides the sequence that starts there */
			*last = row;
		return 0;
	}
	return nm_vec_push(rows, row);
}

void unit_read_lines(struct nm_module *module, struct unit *unit)
{
	Dwarf_Lines *lines;
	size_t count;
	if (unit->lines_read)
		return;
	unit->lines_read = 1;
	unit_read_digests(module, unit);
	if (dwarf_getsrclines(&unit->die, &lines, &count) != 0)
		return;
	struct names names = {.module = module, .unit = &unit->die};
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr vaddr;
		int number = 0, column = 0;
		bool ends = false;
		if (dwarf_lineaddr(line, &vaddr) != 0 || dwarf_lineendsequence(line, &ends) != 0)
			continue;
		if (!ends && !module_holds_code(module, vaddr))
			continue;
		dwarf_lineno(line, &number);
		dwarf_linecol(line, &column);
		struct line_row row = {vaddr, NULL, 0, 0};
		if (!ends)
			row = (struct line_row){vaddr, file_of(&names, line), (uint32_t)number,
						(uint32_t)column};
		if (add_row(&unit->lines, row))
			return;
	}
}

/* The row that covers vaddr, or NULL. */
const struct line_row *unit_line_at(const struct unit *unit, uint64_t vaddr)
{
	size_t low = 0, end = unit->lines.count;
	while (low < end) {
		size_t middle = low + (end - low) / 2;
		if (unit->lines.at[middle].low <= vaddr)
			low = middle + 1;
		else
			end = middle;
	}
	return low && unit->lines.at[low - 1].file ? &unit->lines.at[low - 1] : NULL;
}
