/* SPDX-License-Identifier: MIT
 *
 * ended.c - makes N of something that ends again: ended KIND N. For ended.py.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 65536, AT_ONCE = 10 };

static void touch(volatile char *at)
{
	for (int i = 0; i < BYTES; i += 64)
		at[i] = 1;
}

static void child(useconds_t wait)
{
	char *memory = malloc(BYTES);

	touch(memory);
	usleep(wait);
	_exit(0);
}

static void children(long n)
{
	for (long i = 0; i < n; i++) {
		if (!fork())
			child(0);
		wait(NULL);
	}
}

static void children_at_once(long n)
{
	for (long i = 0; i < n; i++)
		if (!fork())
			child(300000);
	while (wait(NULL) > 0)
		;
}

static void commands(long n)
{
	for (long i = 0; i < n; i++) {
		if (!fork()) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		wait(NULL);
	}
}

static void *work(void *arg)
{
	volatile char frame[4096];

	for (int i = 0; i < 4096; i++)
		frame[i] = (char)i;
	return arg;
}

static void threads(long n)
{
	pthread_t thread[AT_ONCE];

	for (long i = 0; i < n; i += AT_ONCE) {
		for (int k = 0; k < AT_ONCE; k++)
			pthread_create(&thread[k], NULL, work, NULL);
		for (int k = 0; k < AT_ONCE; k++)
			pthread_join(thread[k], NULL);
	}
}

static void libraries(long n)
{
	for (long i = 0; i < n; i++) {
		void *library = dlopen("libz.so.1", RTLD_NOW);

		if (library)
			dlclose(library);
	}
}

static void mappings(long n)
{
	for (long i = 0; i < n; i++) {
		char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		at[i % BYTES] = 1;
		munmap(at, BYTES);
	}
}

static void blocks(long n)
{
	for (long i = 0; i < n; i++) {
		char *block = malloc(16 + (size_t)(i % 7) * 64);

		block[0] = 1;
		free(block);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(long n);
	} kinds[] = {{"children", children}, {"at-once", children_at_once}, {"commands", commands},
		     {"threads", threads},   {"libraries", libraries},      {"mappings", mappings},
		     {"blocks", blocks}};

	for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kinds[i].make(atol(argv[2]));
	return argc != 3;
}
