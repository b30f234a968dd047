/* SPDX-License-Identifier: MIT
 *
 * user_code.h - which code is the user's, and which a library's that works on the user's behalf.
 *
 * The user can change the line that calls std::map::find, not the line inside it. So a place is shown at the
 * nearest frame of the user's code, and a heap block is named by the nearest call that the user wrote.
 *
 * By rule, code is a library's if its function belongs to a library's namespace (std, Eigen, core, ...), if
 * its source is a header of the system or of a package manager, or if its module is the C library, a
 * run-time library of a compiler or an MPI library. Where the user names folders, only sources below them
 * are the user's.
 */
#ifndef NM_USER_CODE_H
#define NM_USER_CODE_H

#include "symbol.h"

/* Where a demangled name begins behind the return type that a template has before it, as in
 * "long& std::vector<long>::emplace_back<long>(long&&)". */
const char *nm_name_proper(const char *function);

/* Is a function of a language's or a well-known library's namespace? */
int nm_is_library_function(const char *function);

/* Is a module (the last component of its path) the C library, the dynamic linker, a compiler's run-time library or
 * of MPI (mpi_code.h)? */
int nm_is_system_library(const char *module);

/* Is this position of a module's code the user's? folders: those of the user's sources, separated by colons,
 * or NULL. */
int nm_is_user_code(const char *folders, const char *module, const struct nm_source_position *position);

#endif
