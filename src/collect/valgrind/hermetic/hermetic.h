/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * hermetic.h - keeps what differs between runs from the program (`record --hermetic`): clocks, random numbers,
 * the number of processors, the load, and where its arguments and environment lie.
 *
 * System calls are made as they are, and what they have stored is overwritten. What cannot be pinned stands in
 * the log (unpinned.c). Without the option nothing here is called.
 */
#ifndef NEARMISS_VALGRIND_HERMETIC_H
#define NEARMISS_VALGRIND_HERMETIC_H

#include "pinned.h"
#include "tool.h"

extern Bool nm_hermetic;

/* False: the option is none of --hermetic and --hermetic-time, where an executed program's clock starts. */
Bool nm_hermetic_option(const HChar *option);
/* When the options are known. */
void nm_hermetic_begin(void);
/* In a forked child, the parent's n-th. */
void nm_hermetic_forked(UInt n);
/* Has translated code count time, and yield it where it reads the time stamp counter. */
IRSB *nm_clock_instrument(IRSB *in);
/* Without the instructions that yield random numbers. */
UInt nm_hermetic_instructions(UInt capabilities);
/* Before the first instruction: places the arguments, the environment and the auxiliary vector. */
void nm_hermetic_start(ThreadId thread);
void nm_hermetic_before_syscall(ThreadId thread, UInt number, const UWord *args);
void nm_hermetic_after_syscall(ThreadId thread, UInt number, const UWord *args, SysRes result);

#endif
