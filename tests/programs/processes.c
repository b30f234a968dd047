/* SPDX-License-Identifier: MIT
 *
 * processes.c - a parent, two forked children, and a program that one of them becomes by exec.
 *
 * `shared` is walked with a stride of a line by every process: once by the parent before and once after
 * its children, once by each child, and by the exec'd image, whose copy is new.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES = 1024 };

static _Alignas(64) volatile int shared[LINES * 16];

static void walk(void)
{
	for (int i = 0; i < LINES; i++)
		shared[i * 16]; /* @walk */
}

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	pid_t first, second;

	walk();
	if (argc > 1 && strcmp(argv[1], "image") == 0)
		return 5;
	first = fork();
	if (first == 0) {
		walk();
		_exit(3);
	}
	second = fork();
	if (second == 0) {
		walk();
		execl(argv[0], argv[0], "image", (char *)NULL);
		_exit(127);
	}
	printf("first %d\n", wait_for(first));
	printf("second %d\n", wait_for(second));
	walk();
	return 0;
}
