/* SPDX-License-Identifier: MIT
 *
 * storm.c - 200 children, of which each adds to a counter of its own in shared memory; every tenth then executes
 * another program, and one more, that never ends by itself, is killed. Prints what was added and how many have exited.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 200, TIMES = 1000 };

static volatile long *counters;

static void run_child(int number)
{
	for (int i = 0; i < TIMES; i++)
		counters[number] += 1; // @add
	if (number % 10 == 0)
		execl("/bin/true", "true", NULL);
	_exit(0);
}

int main(void)
{
	int exited = 0, status;
	long sum = 0;
	pid_t endless;

	counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	endless = fork();
	while (!endless)
		counters[CHILDREN] += 1;
	for (int i = 0; i < CHILDREN; i++)
		if (!fork())
			run_child(i);
	while (counters[CHILDREN] < TIMES)
		usleep(1000);
	kill(endless, SIGKILL);
	while (wait(&status) > 0)
		exited += WIFEXITED(status);
	for (int i = 0; i < CHILDREN; i++)
		sum += counters[i];
	printf("%ld %d\n", sum, exited);
}
