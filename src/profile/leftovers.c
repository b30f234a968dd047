/* SPDX-License-Identifier: MIT
 *
 * leftovers.c - removes unfinished profiles whose writers were killed.
 *
 * A temporary file is PATH.PID-N.tmp, and its writer holds a lock on it (flock). It is removed only if no
 * process has that pid and the lock is free, so a writer in another pid namespace keeps its file.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "profile_priv.h"

/* The pid in the name of a temporary file of the profile, or 0. */
static long pid_of(const char *name, const char *profile)
{
	size_t length = strlen(profile);
	int end = 0;
	long pid;

	if (strncmp(name, profile, length) || name[length] != '.' ||
	    !isdigit((unsigned char)name[length + 1]))
		return 0;
	if (sscanf(name + length, ".%ld-%*u.tmp%n", &pid, &end) != 1 || !end || name[length + (size_t)end])
		return 0;
	return pid > 0 && pid <= INT_MAX ? pid : 0;
}

static void remove_if_dead(int folder, const char *name, long pid)
{
	int fd;

	if (!kill((pid_t)pid, 0) || errno != ESRCH)
		return;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(folder, name, 0);
	close(fd);
}

void nm_remove_leftovers(const char *path)
{
	char *copy = strdup(path), *other = strdup(path);
	DIR *folder = copy && other ? opendir(dirname(copy)) : NULL;
	const char *profile = folder ? basename(other) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		long pid = pid_of(entry->d_name, profile);

		if (pid)
			remove_if_dead(dirfd(folder), entry->d_name, pid);
	}
	if (folder)
		closedir(folder);
	free(copy);
	free(other);
}
