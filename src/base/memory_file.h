/* SPDX-License-Identifier: MIT
 *
 * memory_file.h - anonymous files in memory.
 */
#ifndef NM_MEMORY_FILE_H
#define NM_MEMORY_FILE_H

#include "errors.h"

/* Opens a new empty file that has no name: in memory, or on disk in TMPDIR (or /tmp) if the kernel refuses.
 * The caller owns the descriptor, which is closed on exec. The file lives until no process has it open or
 * mapped. */
int nm_memory_file(int *ret_fd, const char *name, struct nm_error *err);

#endif
