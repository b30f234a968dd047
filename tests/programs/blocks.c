/* SPDX-License-Identifier: MIT
 *
 * blocks.c - a block of the heap by each function that allocates, with so many pages as its name says, each written
 * once; in threads, children, a handler of a signal, deep in recursion.
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, THREADS = 500, DEPTH = 1000 };

static void touch(void *block, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)block)[i * PAGE] = 1;
}

static void all_functions(void)
{
	char *by_malloc = malloc(100 * PAGE);
	char *by_calloc = calloc(110, PAGE);
	char *by_realloc = realloc(NULL, 120 * PAGE);
	char *by_array = reallocarray(NULL, 130, PAGE);
	char *by_aligned = aligned_alloc(PAGE, 140 * PAGE);
	char *by_memalign = memalign(PAGE, 150 * PAGE);
	void *by_posix = NULL;

	if (posix_memalign(&by_posix, PAGE, 160 * PAGE))
		exit(1);
	touch(by_malloc, 100);
	touch(by_calloc, 110);
	touch(by_realloc, 120);
	touch(by_array, 130);
	touch(by_aligned, 140);
	touch(by_memalign, 150);
	touch(by_posix, 160);
}

/* Each block has the address of the one before, and another name. */
static void again(void)
{
	char *first = malloc(200 * PAGE), *second;

	touch(first, 200);
	free(first);
	second = malloc(200 * PAGE);
	touch(second, 200);
	second = realloc(second, 400 * PAGE);
	touch(second + 200 * PAGE, 200);
	free(second);
}

static void *run_thread(void *unused)
{
	char *of_thread = malloc(40 * PAGE);

	touch(of_thread, 40);
	return unused;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run_thread, NULL))
			exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* The child writes its own block, and one that its parent has allocated and not touched. */
static void run_child(int killed)
{
	char *of_parent = malloc(50 * PAGE);
	const pid_t child = fork();

	if (!child) {
		char *of_child = malloc(60 * PAGE);

		touch(of_child, 60);
		touch(of_parent, 50);
		if (killed)
			raise(SIGKILL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void handle(int number)
{
	char *of_handler = malloc(70 * PAGE);

	(void)number;
	touch(of_handler, 70);
}

static void *descend(int depth) { return depth ? descend(depth - 1) : malloc(80 * PAGE); }

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	mallopt(M_MMAP_THRESHOLD, 32 * PAGE);
	if (!strcmp(what, "functions"))
		all_functions();
	else if (!strcmp(what, "again"))
		again();
	else if (!strcmp(what, "threads"))
		run_threads();
	else if (!strcmp(what, "child"))
		run_child(0);
	else if (!strcmp(what, "killed"))
		run_child(1);
	else if (!strcmp(what, "signal")) {
		signal(SIGUSR1, handle);
		raise(SIGUSR1);
	} else if (!strcmp(what, "deep")) {
		void *of_recursion = descend(DEPTH);

		touch(of_recursion, 80);
	} else if (!strcmp(what, "exec")) {
		execl(argv[0], argv[0], "functions", (char *)NULL);
	}
	return 0;
}
