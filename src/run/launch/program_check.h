/* SPDX-License-Identifier: MIT
 *
 * program_check.h - checks, before a program starts, whether the collector can run it.
 */
#ifndef NM_PROGRAM_CHECK_H
#define NM_PROGRAM_CHECK_H

#include "errors.h"

/* Refuses programs that the kernel or Valgrind cannot run: for another processor, 32-bit, set-user-id, or
 * with a missing interpreter (of a script, or the dynamic linker), or with more static data than Valgrind has
 * room for. path: an executable file. Returns 0, NM_ENOENT (an interpreter is missing) or NM_EACCES; whatever
 * cannot be read is left to Valgrind. */
int nm_program_check(const char *path, struct nm_error *err);

#endif
