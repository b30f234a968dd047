/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * limits.c - logs system calls that fail because of a limit of Valgrind, where Valgrind itself says nothing.
 *
 * The recorder looks for these lines in the log when the program has ended (src/run/launch/collector_log.c).
 */
#include "tool.h"

#define LARGE_BYTES (16ull << 30)

static void after_mmap(const UWord *args, SysRes result)
{
	if (sr_isError(result) && args[1] >= LARGE_BYTES)
		VG_(umsg)("nearmiss: no room for a mapping of %llu GB\n", (ULong)args[1] >> 30);
}

static Bool is_in_memory(const HChar *path)
{
	return !VG_(strncmp)(path, "/proc/self/fd/", 14) || !VG_(strncmp)(path, "/dev/fd/", 8);
}

static void after_exec(const HChar *path, Bool by_descriptor, SysRes result)
{
	if (sr_isError(result) && (by_descriptor || is_in_memory(path)))
		VG_(umsg)("nearmiss: cannot execute a program in memory\n");
}

void nm_limits_after_syscall(UInt number, const UWord *args, SysRes result)
{
	switch (number) {
	case __NR_mmap: after_mmap(args, result); break;
	case __NR_execve: after_exec((const HChar *)args[0], False, result); break;
	case __NR_execveat: after_exec((const HChar *)args[1], !*(const HChar *)args[1], result); break;
	default: break;
	}
}
