/* SPDX-License-Identifier: MIT
 *
 * declaration.h - a structure's layout as its source would declare it, in C, C++, Rust or Fortran.
 *
 * A member that is a structure or an array of them, a union, or bit-fields, stands as a comment: its declaration stays
 * what it is.
 */
#ifndef NM_DECLARATION_H
#define NM_DECLARATION_H

#include <stdio.h>

#include "element_map.h"
#include "text.h"

/* Part 0 is the structure, part 1 what a split takes out: "order_rest". */
void nm_element_map_declare(const struct nm_element_map *map, const struct nm_type *type,
			    enum nm_declaration_style style, FILE *out);

#endif
