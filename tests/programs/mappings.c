/* SPDX-License-Identifier: MIT
 *
 * mappings.c - memory that no allocator hands out: from sbrk, from mmap and mremap, of a mapped file. Each is
 * walked once by lines of 64 bytes, 4096 of them, and must bear the name of the variable that keeps it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, LINES = 4096, BYTES = LINE * LINES };

static volatile char sink;

static __attribute__((noinline)) void extend(void)
{
	volatile char *p = sbrk(BYTES + LINE);

	p += -(uintptr_t)p % LINE;
	for (int i = 0; i < LINES; i++)
		p[i * LINE] = 1; /* @extended */
}

static __attribute__((noinline)) void map(void)
{
	volatile char *p = mmap(NULL, BYTES / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	p = mremap((void *)p, BYTES / 2, BYTES, MREMAP_MAYMOVE);
	for (int i = 0; i < LINES; i++)
		p[i * LINE] = 1; /* @mapped */
}

static __attribute__((noinline)) void map_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	volatile char *p;

	if (fd < 0 || ftruncate(fd, BYTES))
		return;
	p = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
	for (int i = 0; i < LINES; i++)
		sink = p[i * LINE]; /* @file */
	close(fd);
}

typedef struct {
	long before[3], count, behind[4];
} slot;

static __attribute__((noinline)) void map_slots(void)
{
	volatile slot *slots =
	    mmap(NULL, LINES * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < LINES; i++)
		slots[i].count = i; /* @slots */
}

int main(int argc, char **argv)
{
	extend();
	map();
	map_slots();
	if (argc > 1)
		map_file(argv[1]);
	return 0;
}
