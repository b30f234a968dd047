/* SPDX-License-Identifier: MIT
 *
 * touches.c - first touches of pages: each array is as many pages as its name says, and each is written once, by
 * threads, children, a second program, or a library that is loaded late.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, THREADS = 500 };

#ifdef LIBRARY

__attribute__((aligned(PAGE))) char pages_70[70 * PAGE];

void touch_library(void);
void touch_library(void)
{
	for (size_t i = 0; i < sizeof pages_70; i += PAGE)
		pages_70[i] = 1;
}

#else

__attribute__((aligned(PAGE))) char pages_300[300 * PAGE], pages_200[200 * PAGE], pages_100[100 * PAGE];
__attribute__((aligned(PAGE))) char slots[THREADS][PAGE];

static void touch(char *pages, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		pages[i] = 1; /* @touch */
}

static void *touch_slot(void *slot)
{
	*(char *)slot = 1; /* @slot */
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, touch_slot, slots[i]))
			exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* A hundred children: each writes pages_100, which the parent has not touched. */
static void run_children(void)
{
	for (int i = 0; i < 100; i++) {
		const pid_t child = fork();

		if (!child) {
			touch(pages_100, sizeof pages_100);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	void *library;

	touch(pages_300, sizeof pages_300);
	if (!strcmp(what, "waits"))
		getchar();
	if (!strcmp(what, "threads") || !strcmp(what, "waits"))
		run_threads();
	else if (!strcmp(what, "children"))
		run_children();
	else if (!strcmp(what, "exec"))
		execl(argv[0], argv[0], (char *)NULL);
	else if (!strcmp(what, "library") && (library = dlopen(argv[2], RTLD_NOW)))
		((void (*)(void))dlsym(library, "touch_library"))();
	touch(pages_200, sizeof pages_200);
	return 7;
}

#endif
