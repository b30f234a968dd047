/* SPDX-License-Identifier: MIT
 *
 * fail_allocation.c - an LD_PRELOAD library that makes the n-th allocation of a process fail (fail_at.h).
 *
 * Counted are malloc, calloc, realloc, aligned_alloc, posix_memalign and anonymous mmap. The C library's own
 * calls of malloc count; its internal mappings do not, nor what libdw allocates.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>

#include "fail_at.h"

/* glibc's own names of its allocator. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* libdw asserts that some of its allocations succeed. */
static int is_libdw(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && strstr(info.dli_fname, "/libdw");
}

static int is_exhausted(const void *caller)
{
	if (!is_counting || is_libdw(caller) || !fails())
		return 0;
	errno = ENOMEM;
	return 1;
}

EXPORT void *malloc(size_t bytes)
{
	return is_exhausted(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}
EXPORT void *calloc(size_t count, size_t bytes)
{
	return is_exhausted(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}
EXPORT void *realloc(void *old, size_t bytes)
{
	return is_exhausted(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}
EXPORT void *memalign(size_t alignment, size_t bytes)
{
	return is_exhausted(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}
EXPORT void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

EXPORT int posix_memalign(void **ret_at, size_t alignment, size_t bytes)
{
	void *at = memalign(alignment, bytes);

	if (!at)
		return ENOMEM;
	*ret_at = at;
	return 0;
}

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off_t);

	if (!real)
		real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	if ((flags & MAP_ANONYMOUS) && is_exhausted(__builtin_return_address(0)))
		return MAP_FAILED;
	return real(address, bytes, protection, flags, fd, offset);
}
