/* SPDX-License-Identifier: MIT
 *
 * own_program.h - the running test's own executable as a program that was recorded: its code and variables
 * have names.
 */
#ifndef OWN_PROGRAM_H
#define OWN_PROGRAM_H

#include "decode.h"

/* Calls `tell` for each mapping of the executable, lowest first; path is valid until the call returns. The
 * lowest address, or 0: it could not be read. */
uint64_t own_program_mappings(void (*tell)(void *arg, const struct nm_wire_map *map), void *arg,
			      char path[4200]);

#endif
