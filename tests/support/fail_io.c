/* SPDX-License-Identifier: MIT
 *
 * fail_io.c - an LD_PRELOAD library that makes the n-th access to a regular file fail (fail_at.h).
 *
 * NM_FAIL_IO=write: write, pwrite, ftruncate, fallocate, fsync and rename fail with NM_FAIL_ERRNO (ENOSPC).
 * NM_FAIL_IO=read: read and pread fail with it. Files that only live in memory count as regular ones. What
 * the C library does for its streams passes by; tests of full devices see to those.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "fail_at.h"

static int fails_for(const char *kind, int fd)
{
	const char *what = getenv("NM_FAIL_IO"), *number = getenv("NM_FAIL_ERRNO");
	struct stat st;

	if (!what || strcmp(what, kind) != 0 || (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) ||
	    !fails())
		return 0;
	errno = number ? atoi(number) : ENOSPC;
	return 1;
}

/* Defines a function that fails or calls the C library's own. */
#define STAND_IN(type, name, kind, fd, parameters, ...)                                \
	EXPORT type name parameters                                                    \
	{                                                                              \
		static type(*real) parameters;                                         \
                                                                                       \
		if (!real)                                                             \
			real = (type(*) parameters)(uintptr_t)dlsym(RTLD_NEXT, #name); \
		return fails_for(kind, fd) ? -1 : real(__VA_ARGS__);                   \
	}

STAND_IN(ssize_t, write, "write", fd, (int fd, const void *at, size_t n), fd, at, n)
STAND_IN(ssize_t, pwrite, "write", fd, (int fd, const void *at, size_t n, off_t to), fd, at, n, to)
STAND_IN(ssize_t, pwrite64, "write", fd, (int fd, const void *at, size_t n, off64_t to), fd, at, n, to)
STAND_IN(int, ftruncate, "write", fd, (int fd, off_t size), fd, size)
STAND_IN(int, ftruncate64, "write", fd, (int fd, off64_t size), fd, size)
STAND_IN(int, fallocate, "write", fd, (int fd, int mode, off_t from, off_t n), fd, mode, from, n)
STAND_IN(int, fallocate64, "write", fd, (int fd, int mode, off64_t from, off64_t n), fd, mode, from, n)
STAND_IN(int, fsync, "write", fd, (int fd), fd)
STAND_IN(int, rename, "write", -1, (const char *from, const char *to), from, to)
STAND_IN(ssize_t, read, "read", fd, (int fd, void *at, size_t n), fd, at, n)
STAND_IN(ssize_t, pread, "read", fd, (int fd, void *at, size_t n, off_t from), fd, at, n, from)
STAND_IN(ssize_t, pread64, "read", fd, (int fd, void *at, size_t n, off64_t from), fd, at, n, from)
