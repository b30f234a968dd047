/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hermetic_priv.h - what the files of this folder share.
 */
#ifndef NEARMISS_VALGRIND_HERMETIC_PRIV_H
#define NEARMISS_VALGRIND_HERMETIC_PRIV_H

#include "hermetic/hermetic.h"

/* ---- clock.c ---- */

/* Nanoseconds since the first program of the run started. */
ULong nm_clock_now(void);
void nm_clock_set(ULong now);
/* Where time starts: nanoseconds since 1970, for a clock of the kernel. */
ULong nm_clock_epoch(Int clock);
void nm_clock_before_syscall(ThreadId thread, UInt number, const UWord *args);
/* Waits that ended by the clock take the time that they were given. */
void nm_clock_after_syscall(ThreadId thread, UInt number, SysRes result);

/* ---- hermetic.c ---- */

/* Random numbers that are the same in each run. */
void nm_random_fill(void *at, SizeT bytes);

/* ---- answers.c ---- */

/* Overwrites what a system call has stored. */
void nm_answer(ThreadId thread, UInt number, const UWord *args, SysRes result);

/* ---- files.c ---- */

/* Has an opened descriptor read another text, if the file is one about processors, memory or load. */
void nm_files_opened(const HChar *path, UWord flags, Int fd);

/* ---- unpinned.c ---- */

void nm_unpinned(const HChar *what, const HChar *detail);
void nm_unpinned_after_syscall(UInt number, const UWord *args, SysRes result);
/* A kind of file whose content may differ: a pipe that gave less than was asked for, a socket. */
void nm_unpinned_read(UInt mode, UWord asked, UWord got);

#endif
