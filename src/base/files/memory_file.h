/* SPDX-License-Identifier: MIT
 *
 * memory_file.h - files without a name, in memory.
 */
#ifndef NM_MEMORY_FILE_H
#define NM_MEMORY_FILE_H

#include "errors.h"

/* Opens a new empty file that has no name: in memory, or on disk in TMPDIR (or /tmp) if the kernel refuses.
 * The descriptor is the caller's and is closed on exec. The file is gone when no process has it open or
 * mapped. */
int nm_memory_file(int *ret_fd, const char *name, struct nm_error *err);

#endif
