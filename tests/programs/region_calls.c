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

#define REAL(function)                     \
	static __typeof__(function) *real; \
	if (!real)                         \
	real = (__typeof__(function) *)dlsym(RTLD_NEXT, #function)

ssize_t read(int fd, void *to, size_t bytes)
{
	ssize_t got;

	REAL(read);
	request(1, "read");
	got = real(fd, to, bytes);
	request(0, "read");
	return got;
}

ssize_t write(int fd, const void *from, size_t bytes)
{
	ssize_t put;

	REAL(write);
	request(1, "write");
	put = real(fd, from, bytes);
	request(0, "write");
	return put;
}

void *memchr(const void *in, int byte, size_t bytes)
{
	void *found;

	REAL(memchr);
	request(1, "search");
	found = real(in, byte, bytes);
	request(0, "search");
	return found;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	int order;

	REAL(memcmp);
	request(1, "compare");
	order = real(a, b, bytes);
	request(0, "compare");
	return order;
}
