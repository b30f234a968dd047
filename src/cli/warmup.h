/* SPDX-License-Identifier: MIT
 *
 * warmup.h - reads names while the collector starts.
 *
 * A tenth of a second passes before the first event comes.  Soon after it the names of the program, of its dynamic linker
 * and of its C library are asked for, and while the debug information of the last (4 MB, packed, in Debian) was read then,
 * the program stood still: 0.15 to 0.2 s of each recording.  Which C library it will be is not known, but it is hardly ever
 * another than our own; if it is, some time was lost that nobody else wanted.
 *
 * What earlier recordings of the program were told is taken from a folder of the user's instead, if it is there
 * (nm_symbols_recall): NEARMISS_CACHE_DIR, else nearmiss in XDG_CACHE_HOME, else in .cache of HOME.
 *
 * Where debuginfod is to be asked for what is not here, nothing is read in advance: servers are not asked in vain.  Nothing
 * is kept either, since nobody knows what they will have next time.
 */
#ifndef NM_WARMUP_H
#define NM_WARMUP_H

#include "symbol.h"

/* Before anything is asked.  program: its file. */
void nm_warm_up(struct nm_symbols *symbols, const char *program);

/* At the end, for later recordings of it. */
void nm_keep_warm(struct nm_symbols *symbols, const char *program);

#endif
