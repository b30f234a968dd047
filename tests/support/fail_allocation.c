/* SPDX-License-Identifier: MIT
 *
 * fail_allocation.c - an LD_PRELOAD library that makes the n-th allocation of a process fail.
 *
 * NM_FAIL_AT=N fails the N-th call of malloc, calloc, realloc, aligned_alloc, posix_memalign or anonymous mmap, counted
 * from 1; with NM_FAIL_ON=1 all later ones too, as when memory stays short.  NM_FAIL_COUNT=FILE receives the number of
 * calls when the process exits.  The C library's own calls of malloc count; its internal mappings do not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* glibc's own names of its allocator. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_ulong calls;
static unsigned long fail_at; /* 0: never */
static int stays_short, is_counting;

static int fails(void)
{
	unsigned long n = is_counting ? atomic_fetch_add(&calls, 1) + 1 : 0;

	if (!n || !fail_at || n < fail_at || (n > fail_at && !stays_short))
		return 0;
	errno = ENOMEM;
	return 1;
}

__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("NM_FAIL_AT"), *on = getenv("NM_FAIL_ON");

	fail_at = at ? strtoul(at, NULL, 10) : 0;
	stays_short = on && *on == '1';
	is_counting = 1;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("NM_FAIL_COUNT");
	char text[32];
	int n, fd;

	is_counting = 0;
	if (!path)
		return;
	n = snprintf(text, sizeof text, "%lu\n", atomic_load(&calls));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, text, (size_t)n) == n)
		close(fd);
}

EXPORT void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
EXPORT void *calloc(size_t count, size_t bytes) { return fails() ? NULL : __libc_calloc(count, bytes); }
EXPORT void *realloc(void *old, size_t bytes) { return fails() ? NULL : __libc_realloc(old, bytes); }
EXPORT void *memalign(size_t alignment, size_t bytes)
{
	return fails() ? NULL : __libc_memalign(alignment, bytes);
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
	if ((flags & MAP_ANONYMOUS) && fails())
		return MAP_FAILED;
	return real(address, bytes, protection, flags, fd, offset);
}
