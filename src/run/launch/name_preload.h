/* SPDX-License-Identifier: MIT
 *
 * name_preload.h - has names ready before the first event asks for them.
 *
 * A program's first events ask for names in the program, the dynamic linker and the C library; the program
 * stands still while their debug information is read. So it is read while the collector starts. The C
 * library is taken to be the one that nearmiss itself uses.
 *
 * Names found by earlier recordings of the program come from a cache folder instead (name_cache.h):
 * NEARMISS_CACHE_DIR, else nearmiss in XDG_CACHE_HOME, else .cache/nearmiss in HOME.
 *
 * With DEBUGINFOD_URLS set nothing is preloaded or cached: it would send requests for names that nobody
 * asks for, and the servers' answers may change.
 */
#ifndef NM_NAME_PRELOAD_H
#define NM_NAME_PRELOAD_H

#include "symbol.h"

/* Call it before the first look-up. program: its path. */
void nm_names_preload(struct nm_symbols *symbols, const char *program);

/* Saves the names for later recordings of the program. */
void nm_names_save(struct nm_symbols *symbols, const char *program);

#endif
