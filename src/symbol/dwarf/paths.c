/* SPDX-License-Identifier: MIT
 *
 * paths.c - paths of sources, made absolute if the compilation directory is absolute.
 *
 * libdw leaves a path relative if the compiler was given a relative one. Distributions that map their build
 * folders to "." leave no directory with which to make it absolute.
 */
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "symbol_priv.h"

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
