/* SPDX-License-Identifier: MIT
 *
 * arena.c - two processes that take pieces of an arena in memory that they share, and add to neighbours in them:
 *     arena inherited|elsewhere
 * elsewhere: the child has a memory file at another address. One piece is taken before the fork, one by the child.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 20000, BYTES = 1 << 16 };

struct pair {
	volatile long first, second;
};

static struct arena {
	size_t used, late;
} * arena;
static int message[2];

__attribute__((noinline)) static void *take(size_t bytes)
{
	void *piece = (char *)arena + arena->used;

	arena->used += (bytes + 63) / 64 * 64;
	return piece;
}

static void add(volatile long *to)
{
	for (int i = 0; i < TIMES; i++)
		*to += 1;
}

static void run_child(struct pair *early, int file)
{
	const size_t offset = (size_t)((char *)early - (char *)arena);
	struct pair *late;

	if (file >= 0) {
		munmap(arena, BYTES);
		arena = mmap((char *)arena + (1 << 24), BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		early = (struct pair *)((char *)arena + offset);
	}
	late = take(sizeof *late); // @late
	arena->late = (size_t)((char *)late - (char *)arena);
	if (write(message[1], "", 1) != 1)
		_exit(1);
	add(&early->second);
	add(&late->second);
	_exit(0);
}

int main(int argc, char **argv)
{
	const int file = argc > 1 && !strcmp(argv[1], "elsewhere") ? memfd_create("arena", 0) : -1;
	struct pair *early, *late;
	char byte;

	if ((file >= 0 && ftruncate(file, BYTES)) || pipe(message))
		return 1;
	arena =
	    mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0);
	arena->used = 64;
	early = take(sizeof *early); // @early
	if (!fork())
		run_child(early, file);
	if (read(message[0], &byte, 1) != 1)
		return 1;
	late = (struct pair *)((char *)arena + arena->late);
	add(&early->first);
	add(&late->first);
	wait(NULL);
	printf("%ld\n", early->first + early->second + late->first + late->second);
	return 0;
}
