/* SPDX-License-Identifier: MIT
 *
 * same_file.c - see same_file.h.
 */
#include "same_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The folder of a path, and the name in it. */
static int folder_of(const char *path, struct stat *ret_folder, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];

	*ret_name = slash ? slash + 1 : path;
	if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") >= (int)sizeof folder)
		return 0;
	return !stat(folder, ret_folder);
}

int nm_is_same_file(const char *a, const char *b)
{
	const char *name_a, *name_b;
	struct stat s, t;

	if (!strcmp(a, "-") || !strcmp(b, "-"))
		return 0;
	if (!stat(a, &s) && !stat(b, &t))
		return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
	return folder_of(a, &s, &name_a) && folder_of(b, &t, &name_b) && !strcmp(name_a, name_b) &&
	       s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}
