/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * checks.c - leaves out what VEX checks of its own intermediate code.
 *
 * VEX looks over the types and the form of each superblock twice: as it comes from the instructions, and after the
 * collector has added to it.  It stops the program at a fault, which none but a wrong collector or a wrong VEX can make.
 * That took 4 % of the CPU time of a recording of `true`, and 1 % of one of the LAPACK solver.  So it is done where faults
 * are looked for: in builds with sanitizers, whose end-to-end tests record real programs.
 */
#include "tool.h"

extern void __real_sanityCheckIRSB(const void *block, const HChar *caller, Bool be_flat, UInt guest_word);
extern void __wrap_sanityCheckIRSB(const void *block, const HChar *caller, Bool be_flat, UInt guest_word);

void __wrap_sanityCheckIRSB(const void *block, const HChar *caller, Bool be_flat, UInt guest_word)
{
#ifdef NM_CHECK_BLOCKS
	__real_sanityCheckIRSB(block, caller, be_flat, guest_word);
#else
	(void)block, (void)caller, (void)be_flat, (void)guest_word;
#endif
}
