/* SPDX-License-Identifier: MIT
 *
 * stops.c - works, stands still until its input ends, and works on: with two threads, or in three processes.
 *
 * usage: stops [threads|processes]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 1 << 16 };

static long table[WORDS];
static int ready[2]; /* a pipe: whoever stands still */

__attribute__((noinline)) static long before(void)
{
	long sum = 0;

	for (int i = 0; i < 4 * WORDS; i++)
		sum += table[i * 17 % WORDS]++;
	return sum;
}

__attribute__((noinline)) static long after(void)
{
	long sum = 0;

	for (int i = 0; i < WORDS; i++)
		sum += table[i]++;
	return sum;
}

static void *work(void *arg)
{
	before();
	return arg;
}

/* Says that it stands still, and does until its input ends. */
static void stand(void)
{
	char byte;

	write(ready[1], "", 1);
	while (read(0, &byte, 1) > 0)
		;
}

static int run(void)
{
	before();
	stand();
	return after() == 1;
}

int main(int argc, char **argv)
{
	const int processes = argc > 1 && !strcmp(argv[1], "processes") ? 3 : 1;
	pthread_t thread;
	char byte;

	if (pipe(ready))
		return 1;
	if (argc > 1 && !strcmp(argv[1], "threads")) {
		pthread_create(&thread, NULL, work, NULL);
		before();
		pthread_join(thread, NULL);
	}
	for (int i = 1; i < processes; i++)
		if (!fork())
			return run();
	for (int i = 1; i < processes; i++)
		read(ready[0], &byte, 1);
	before();
	puts("still");
	fflush(stdout);
	stand();
	after();
	while (wait(NULL) > 0)
		;
	return 0;
}
