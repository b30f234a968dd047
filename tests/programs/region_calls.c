/* SPDX-License-Identifier: MIT
 *
 * region_calls.c - a library to be preloaded that puts regions around what a program calls of the C library. With
 * REGIONS=0 in the environment it executes the same instructions, but its requests do nothing.
 */
#include <dlfcn.h>
#include <nearmiss/client.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void request(int enter, const char *name)
{
	static enum nearmiss_request kind;

	if (!kind)
		kind = *getenv("REGIONS") == '1' ? NEARMISS_REQUEST_REGION : NEARMISS_REQUEST_UNNAME;
	nearmiss_request(kind, (unsigned long)enter, (unsigned long)name, 0);
}

#define IN_REGION(region, type, function, parameters, arguments)                    \
	type function parameters                                                    \
	{                                                                           \
		static __typeof__(function) *real;                                  \
		type result;                                                        \
                                                                                    \
		if (!real)                                                          \
			real = (__typeof__(function) *)dlsym(RTLD_NEXT, #function); \
		request(1, region);                                                 \
		result = real arguments;                                            \
		request(0, region);                                                 \
		return result;                                                      \
	}

IN_REGION("read", ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes))
IN_REGION("write", ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes))
IN_REGION("search", void *, memchr, (const void *in, int byte, size_t bytes), (in, byte, bytes))
IN_REGION("compare", int, memcmp, (const void *a, const void *b, size_t bytes), (a, b, bytes))
