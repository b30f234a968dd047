/* SPDX-License-Identifier: MIT
 *
 * shared.c - two processes, or two threads, add to neighbours in memory that they share, TIMES times each:
 *     shared threads|fork|elsewhere|segment|padded|beside
 * elsewhere: the child has the memory at another address; segment: it is of System V; padded: in lines of their own;
 * beside: in two that longer lines would join.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 50000, PAGE = 4096 };

static volatile long *first, *second;

static void *add_to_second(void *arg)
{
	for (int i = 0; i < TIMES; i++)
		*second += 1; // @second
	return arg;
}

static void add_to_first(void)
{
	for (int i = 0; i < TIMES; i++)
		*first += 1; // @first
}

/* Of the counters, in numbers. */
static int distance_of(const char *how)
{
	if (!strcmp(how, "padded"))
		return 16;
	return strcmp(how, "beside") ? 2 : 8;
}

static void place(void *memory, int distance)
{
	first = memory;
	second = first + distance;
}

static void *map(int file, void *where)
{
	return mmap(where, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), file, 0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const int distance = distance_of(how), file = memfd_create("counters", 0);
	pthread_t thread;
	pid_t child;

	if (ftruncate(file, PAGE))
		return 1;
	place(strcmp(how, "segment") ? map(file, NULL) : shmat(shmget(IPC_PRIVATE, PAGE, 0600), NULL, 0),
	      distance);
	if (!strcmp(how, "threads")) {
		pthread_create(&thread, NULL, add_to_second, NULL);
		add_to_first();
		pthread_join(thread, NULL);
	} else if ((child = fork())) {
		add_to_first();
		waitpid(child, NULL, 0);
	} else {
		if (!strcmp(how, "elsewhere"))
			place(map(file, (void *)0x700000000000), distance);
		add_to_second(NULL);
		_exit(0);
	}
	printf("%ld\n", *first + *second);
}
