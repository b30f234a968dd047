/* SPDX-License-Identifier: MIT
 *
 * name_preload.h - reads names before the first event needs them.
 *
 * A program's first events need names in the program, the dynamic linker and the C library, and the program
 * stalls while their debug information is read. So it is read while the collector starts. The C library is
 * assumed to be the one that nearmiss itself uses.
 *
 * Names found by earlier recordings of the program come from a cache folder instead (name_cache.h):
 * NEARMISS_CACHE_DIR, else nearmiss in XDG_CACHE_HOME, else .cache/nearmiss in HOME.
 *
 * With DEBUGINFOD_URLS set nothing is preloaded or cached: that could request files that are never needed,
 * and the servers' answers may change.
 */
#ifndef NM_NAME_PRELOAD_H
#define NM_NAME_PRELOAD_H

#include "symbol.h"

/* Call it before the first look-up. program: its path. */
void nm_names_preload(struct nm_symbols *symbols, const char *program);

/* Saves the names for later recordings of the program. */
void nm_names_save(struct nm_symbols *symbols, const char *program);

#endif
