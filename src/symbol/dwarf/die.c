/* SPDX-License-Identifier: MIT
 *
 * die.c - see die.h.  dwarf_siblingof follows DW_AT_sibling wherever it points; a step that does not go
 * forward ends the level.
 */
#include "dwarf/die.h"

#include <dwarf.h>
#include <stdio.h>

void die_walk_start(struct die_walk *walk, const Dwarf_Die *root, uint64_t budget)
{
	walk->at[0] = *root;
	walk->depth = 0;
	walk->budget = budget;
}

int die_walk_next(struct die_walk *walk, int descend)
{
	if (walk->budget == 0)
		return 0;
	walk->budget--;
	Dwarf_Die *here = &walk->at[walk->depth];
	if (descend && walk->depth + 1 < DIE_DEPTH && dwarf_child(here, here + 1) == 0 &&
	    here[1].addr > here->addr) {
		walk->depth++;
		return 1;
	}
	while (walk->depth > 0) {
		Dwarf_Die next;
		here = &walk->at[walk->depth];
		if (dwarf_siblingof(here, &next) == 0 && next.addr > here->addr) {
			*here = next;
			return 1;
		}
		walk->depth--;
	}
	return 0;
}

static const char *string_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	return dwarf_attr_integrate(die, attribute, &found) ? dwarf_formstring(&found) : NULL;
}

const char *die_name(Dwarf_Die *die) { return string_of(die, DW_AT_name); }

const char *die_linkage_name(Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_linkage_name);
	return name ? name : string_of(die, DW_AT_MIPS_linkage_name);
}

uint64_t die_number(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word number;
	if (!dwarf_attr_integrate(die, attribute, &found) || dwarf_formudata(&found, &number) != 0)
		return 0;
	return number;
}

int die_flag(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	bool flag;
	return dwarf_attr_integrate(die, attribute, &found) && dwarf_formflag(&found, &flag) == 0 && flag;
}

int die_reference(Dwarf_Die *die, unsigned attribute, Dwarf_Die *ret_die)
{
	Dwarf_Attribute found;
	Dwarf_Die target;
	if (!dwarf_attr_integrate(die, attribute, &found) || !dwarf_formref_die(&found, &target))
		return 0;
	*ret_die = target;
	return 1;
}

/* dwarf_decl_file takes file 0 for none, but in DWARF 5 it is the unit's first file.  The number counts in
 * the table of the unit that holds the attribute, which for an instance may be another unit. */
const char *die_file(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;
	Dwarf_Word number;
	Dwarf_Half version;
	Dwarf_Die unit;
	Dwarf_Files *files;
	size_t count;
	if (!dwarf_attr_integrate(die, attribute, &found) || dwarf_formudata(&found, &number) != 0 ||
	    !dwarf_cu_die(found.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	    (number == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}

/* Does the entry enclose `target`?  It does if the next one on its level does not start at or before it. */
static int die_encloses(Dwarf_Die *die, const Dwarf_Die *target)
{
	Dwarf_Die next;
	if (die->addr >= target->addr || !dwarf_haschildren(die))
		return 0;
	return dwarf_siblingof(die, &next) != 0 || next.addr > target->addr;
}

void die_scope(Dwarf_Die *die, char *text, size_t room)
{
	Dwarf_Die root;
	struct die_walk walk;
	size_t used = 0;
	if (!dwarf_diecu(die, &root, NULL, NULL))
		return;
	die_walk_start(&walk, &root, UINT32_MAX);
	int descend = 1, more;
	while ((more = die_walk_next(&walk, descend)) && walk.at[walk.depth].addr < die->addr)
		descend = die_encloses(&walk.at[walk.depth], die);
	if (!more || walk.at[walk.depth].addr != die->addr)
		return;
	for (unsigned depth = 1; depth < walk.depth; depth++) {
		int tag = dwarf_tag(&walk.at[depth]);
		const char *name = die_name(&walk.at[depth]);
		if (tag == DW_TAG_lexical_block)
			continue;
		if (!name)
			name = "(anonymous)";
		if (tag == DW_TAG_namespace && !die_name(&walk.at[depth]))
			name = "(anonymous namespace)";
		int n =
		    snprintf(text + used, room - used, "%s%s::", name, tag == DW_TAG_subprogram ? "()" : "");
		if (n < 0 || (size_t)n >= room - used) {
			text[used] = 0;
			return;
		}
		used += (size_t)n;
	}
}
