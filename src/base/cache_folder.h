/* SPDX-License-Identifier: MIT
 *
 * cache_folder.h - the folder of what later runs need not find out again: NEARMISS_CACHE_DIR, else nearmiss in
 * XDG_CACHE_HOME, else .cache/nearmiss in HOME. An empty NEARMISS_CACHE_DIR means none.
 */
#ifndef NM_CACHE_FOLDER_H
#define NM_CACHE_FOLDER_H

#include <stddef.h>

enum { NM_CACHE_PATH = 4096 };

/* 1, or 0: there is none. It need not exist. */
int nm_cache_folder_find(char folder[NM_CACHE_PATH]);

/* Replaces a file as a whole, in the folder, which is made if it is ours to make. 0, or NM_EIO. */
int nm_cache_folder_write(const char *folder, const char *path, const void *bytes, size_t count);

#endif
