/* SPDX-License-Identifier: MIT
 *
 * privileges.c - gives its privileges up, or its root directory, and then has children.
 *
 *     privileges user|root     becomes user 65534, or enters an empty root; three children exit with 0, 1, 2
 *     privileges exec COMMAND  becomes user 65534 and executes the command
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int data[4096];

static int drop_user(void) { return setgid(65534) || setuid(65534); }

static int change_root(void)
{
	char folder[] = "/tmp/privileges-XXXXXX";

	return !mkdtemp(folder) || chroot(folder) || chdir("/") || rmdir("/") == 0;
}

static int have_child(int number)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		for (int i = 0; i < 4096; i++)
			data[i] += number;
		_exit(number);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("child exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2 || (strcmp(argv[1], "root") ? drop_user() : change_root()))
		return 9;
	if (!strcmp(argv[1], "exec")) {
		execvp(argv[2], argv + 2);
		return 8;
	}
	for (int i = 0; i < 3; i++)
		if (have_child(i))
			return 7;
	return 0;
}
