/* SPDX-License-Identifier: MIT
 *
 * die.h - walking debugging information entries without trusting them.
 *
 * Damaged references can make a tree point back into itself.  The walk only ever goes forward in the
 * file, at most DIE_DEPTH levels deep and over at most as many entries as the unit has bytes, so it
 * always ends.
 */
#ifndef NM_DIE_H
#define NM_DIE_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

enum { DIE_DEPTH = 128 };

struct die_walk {
	Dwarf_Die at[DIE_DEPTH]; /* from the root to the current entry, at[depth] */
	unsigned depth;
	uint64_t budget;
};

void die_walk_start(struct die_walk *walk, const Dwarf_Die *root, uint64_t budget);

/* Moves to the next entry in file order, into the current one's children if `descend`.  0 at the end. */
int die_walk_next(struct die_walk *walk, int descend);

/* Strings and numbers of an entry or of what it is an instance of; NULL or 0 if there is none. */
const char *die_name(Dwarf_Die *die);
const char *die_linkage_name(Dwarf_Die *die);
uint64_t die_number(Dwarf_Die *die, unsigned attribute);
int die_flag(Dwarf_Die *die, unsigned attribute);

/* The entry that a reference attribute names.  1 if there is one. */
int die_reference(Dwarf_Die *die, unsigned attribute, Dwarf_Die *ret_die);

/* The path that a file attribute (DW_AT_decl_file, DW_AT_call_file) names, or NULL. */
const char *die_file(Dwarf_Die *die, unsigned attribute);

/* Writes the namespaces, classes and modules around an entry, "a::b::", as far as there is room. */
void die_scope(Dwarf_Die *die, char *text, size_t room);

#endif
