/* SPDX-License-Identifier: MIT
 *
 * unwind_starts.c - where the functions of a stripped program begin.
 *
 * Stripped programs keep the table that exceptions search (.eh_frame_hdr): pairs of a function's start and
 * its unwind information, relative to the table, sorted by start. The layout is that of the Linux Standard
 * Base, "Exception Frames". Only the encoding that linkers write is read.
 */
#include <inttypes.h>
#include <string.h>

#include "symbol_priv.h"

enum { HEADER = 12, ENTRY = 8, ENCODED_POINTER = 0x1b, ENCODED_COUNT = 0x03, ENCODED_TABLE = 0x3b };

/* The table's bytes behind its header, and their address. */
static const uint8_t *find_table(struct nm_module *module, uint64_t *ret_address, uint32_t *ret_count)
{
	static const uint8_t expected[] = {1, ENCODED_POINTER, ENCODED_COUNT, ENCODED_TABLE};
	Elf_Scn *section;
	GElf_Shdr header;
	Elf_Data *data;

	if (!module->file.elf || !elf_find_section(module->file.elf, ".eh_frame_hdr", &section, &header))
		return NULL;
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf || data->d_size < HEADER || memcmp(data->d_buf, expected, sizeof expected))
		return NULL;
	memcpy(ret_count, (const uint8_t *)data->d_buf + 8, sizeof *ret_count);
	if (*ret_count > (data->d_size - HEADER) / ENTRY)
		return NULL;
	*ret_address = header.sh_addr;
	return (const uint8_t *)data->d_buf + HEADER;
}

static uint64_t start_at(const uint8_t *table, uint64_t address, size_t i)
{
	int32_t offset;

	memcpy(&offset, table + i * ENTRY, sizeof offset);
	return address + (uint64_t)(int64_t)offset;
}

const char *module_nameless_function(struct nm_module *module, uint64_t vaddr)
{
	uint64_t address = 0, start;
	uint32_t count = 0;
	const uint8_t *table = find_table(module, &address, &count);
	size_t low = 0, end = table ? count : 0;

	while (low < end) {
		size_t middle = low + (end - low) / 2;

		if (start_at(table, address, middle) <= vaddr)
			low = middle + 1;
		else
			end = middle;
	}
	start = low ? start_at(table, address, low - 1) : 0;
	if (!low || !module_holds_code(module, start))
		return NULL;
	return nm_intern_format(module_pool(module), "%s+0x%" PRIx64, module->name, start);
}

int nm_is_nameless_function(const char *function)
{
	const char *plus = strrchr(function, '+');

	return plus && !strncmp(plus, "+0x", 3) && plus[3] && !plus[3 + strspn(plus + 3, "0123456789abcdef")];
}
