/* SPDX-License-Identifier: MIT
 *
 * heap_shim.h - has a program load the library that notes its allocations (collect/heap).
 */
#ifndef NM_HEAP_SHIM_H
#define NM_HEAP_SHIM_H

#include <stddef.h>

/* The library's path: in a build tree beside the running executable, or under its prefix's libexec/nearmiss. NULL, or
 * why the program's allocations cannot be noted. */
const char *nm_heap_shim_find(const char *program, char *ret_path, size_t room);

/* In the child, before it executes the program: `log` is a file of `parent`, which outlives the program. */
void nm_heap_shim_set(const char *path, int parent, int log);

#endif
