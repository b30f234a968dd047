/* SPDX-License-Identifier: MIT
 *
 * units.c - the compilation unit to which an address belongs.
 *
 * The table is built from the units' own ranges, since .debug_aranges may be missing (clang) or incomplete.
 * Only the first entry of each unit is read. A unit without ranges that has functions gets the ranges of
 * these. Ranges outside executable segments belong to code that the linker discarded.
 */
#include <assert.h>
#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dwarf/die.h"
#include "symbol_priv.h"

static int add_range(struct nm_module *module, uint64_t low, uint64_t end, uint32_t id)
{
	if (low >= end || !module_holds_code(module, low))
		return 0;
	return nm_vec_push(&module->unit_spans, (struct span){low, end, id});
}

static void add_ranges(struct nm_module *module, uint32_t id)
{
	assert(id < module->units.count);
	struct unit *unit = &module->units.at[id];
	Dwarf_Addr base, low, end;
	size_t before = module->unit_spans.count;
	uint64_t budget = unit->bytes;
	for (ptrdiff_t next = 0; budget && (next = dwarf_ranges(&unit->die, next, &base, &low, &end)) > 0;
	     budget--)
		if (add_range(module, low, end, id))
			return;
	if (module->unit_spans.count > before)
		return;
	unit_read_frames(module, unit);
	for (size_t i = 0; i < unit->code.count; i++)
		if (add_range(module, unit->code.at[i].low, unit->code.at[i].end, id))
			return;
}

/* A unit ends where the next one starts; the last one is given what is left of the section. */
static void bound_units(struct nm_module *module, uint64_t section_bytes)
{
	for (size_t i = 0; i < module->units.count; i++) {
		struct unit *unit = &module->units.at[i];
		uint64_t start = dwarf_dieoffset(&unit->die), end = section_bytes;
		if (i + 1 < module->units.count)
			end = dwarf_dieoffset(&module->units.at[i + 1].die);
		unit->bytes = end > start ? end - start : section_bytes;
		if (unit->body.cu != unit->die.cu)
			unit->bytes = UINT32_MAX; /* the split file's section: its size is unknown here */
	}
}

static uint64_t info_bytes(struct nm_module *module)
{
	Elf_Scn *section;
	GElf_Shdr header;
	Elf *elf = dwarf_getelf(module->dwarf);
	if (!elf_find_section(elf, ".debug_info", &section, &header))
		return UINT32_MAX;
	return header.sh_flags & SHF_COMPRESSED ? header.sh_size * 64 : header.sh_size;
}

/* Says that units are split, and their files are not there. */
static void complain_of_split(struct nm_module *module, Dwarf_Die *unit, size_t count)
{
	char package[4096];
	Dwarf_Attribute name, *attribute = dwarf_attr(unit, DW_AT_dwo_name, &name);
	const char *file =
	    dwarf_formstring(attribute ? attribute : dwarf_attr(unit, DW_AT_GNU_dwo_name, &name));

	snprintf(package, sizeof package, "%s.dwp", module->path);
	if (!access(package, R_OK))
		module_complain(
		    module,
		    "types and variables of %s have no names: its debug information is packed in %s, which "
		    "elfutils reads from 0.191 on: keep the .dwo files in place, or compile without -gsplit-dwarf",
		    module->name, package);
	else
		module_complain(
		    module,
		    "types and variables of %s have no names: %zu of its .dwo files, such as %s, are not where "
		    "the compiler wrote them (-gsplit-dwarf)",
		    module->name, count, file ? file : "?");
}

void module_read_units(struct nm_module *module)
{
	if (module->units_read)
		return;
	module->units_read = 1;
	module_find_debug(module);
	if (!module->dwarf)
		return;
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die, split, lonely;
	size_t missing = 0;
	while (dwarf_get_units(module->dwarf, cu, &cu, &version, &type, &die, &split) == 0) {
		if ((type != DW_UT_compile && type != DW_UT_skeleton) ||
		    dwarf_tag(&die) == DW_TAG_partial_unit)
			continue;
		struct unit unit = {.die = die, .body = split.addr ? split : die};
		if (!split.addr && (type == DW_UT_skeleton || dwarf_hasattr(&die, DW_AT_GNU_dwo_name)) &&
		    !missing++)
			lonely = die;
		unit.language = (int)die_number(&unit.body, DW_AT_language);
		if (nm_vec_push(&module->units, unit))
			break;
	}
	if (missing)
		complain_of_split(module, &lonely, missing);
	bound_units(module, info_bytes(module));
	for (size_t i = 0; i < module->units.count; i++)
		add_ranges(module, (uint32_t)i);
	if (spans_flatten(&module->unit_spans))
		nm_vec_free(&module->unit_spans);
}

struct unit *unit_at(struct nm_module *module, uint64_t vaddr)
{
	module_read_units(module);
	const struct span *span = spans_find(&module->unit_spans, vaddr);
	return span ? &module->units.at[span->id] : NULL;
}

/* ---- language: which languages of DWARF are versions of C, C++ and Fortran ---- */

int is_c(int language)
{
	return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 ||
	       language == DW_LANG_C11 || language == 0x2c; /* C17, from the list that DWARF 6 extends */
}

int is_cxx(int language)
{
	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
	       language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14 || language == 0x2b ||
	       language == 0x2e; /* C++17, C++20 */
}

int is_fortran(int language)
{
	return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
	       language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
	       language == DW_LANG_Fortran08 || language == 0x2d; /* Fortran 2018 */
}

/* ---- paths ---- */

/* Paths of sources, made absolute if the compilation directory is absolute.
 *
 * libdw leaves a path relative if the compiler was given a relative one. Distributions that map their build
 * folders to "." leave no directory with which to make it absolute.
 */

const char *path_of(struct nm_module *module, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute found;
	const char *folder = NULL;
	char whole[4096];
	int n;

	if (!path)
		return NULL;
	if (*path != '/' && unit && dwarf_attr(unit, DW_AT_comp_dir, &found))
		folder = dwarf_formstring(&found);
	if (!folder || *folder != '/')
		return nm_intern(module_pool(module), path);
	while (!strncmp(path, "./", 2))
		path += 2;
	n = snprintf(whole, sizeof whole, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
		     path);
	return nm_intern(module_pool(module), n < (int)sizeof whole ? whole : path);
}

const char *path_near(struct nm_module *module, Dwarf_Die *die, const char *path)
{
	Dwarf_Die unit;

	return path_of(module, dwarf_diecu(die, &unit, NULL, NULL), path);
}
