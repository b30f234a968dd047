/* SPDX-License-Identifier: MIT */
#include "cache_folder.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors.h"

int nm_cache_folder_find(char folder[NM_CACHE_PATH])
{
	static const struct {
		const char *variable, *below;
	} candidates[] = {
	    {"NEARMISS_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/nearmiss"}, {"HOME", "/.cache/nearmiss"}};

	for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
		const char *value = getenv(candidates[i].variable);

		if (value && (*value || !i))
			return *value == '/' && snprintf(folder, NM_CACHE_PATH, "%s%s", value,
							 candidates[i].below) < NM_CACHE_PATH;
	}
	return 0;
}

static int is_ours(const char *folder)
{
	struct stat s;

	return !stat(folder, &s) && s.st_uid == geteuid();
}

/* The folder, and the one that it is in; not in a folder of somebody else's. */
static void make_folder(const char *folder)
{
	char parent[NM_CACHE_PATH];
	char *slash = strrchr(folder, '/');

	if (!slash || slash == folder || slash - folder >= NM_CACHE_PATH)
		return;
	snprintf(parent, sizeof parent, "%.*s", (int)(slash - folder), folder);
	slash = strrchr(parent, '/');
	if (access(parent, F_OK) && slash && slash != parent) {
		*slash = '\0';
		if (!is_ours(parent))
			return;
		*slash = '/';
		(void)mkdir(parent, 0700);
	}
	if (is_ours(parent))
		(void)mkdir(folder, 0700);
}

int nm_cache_folder_write(const char *folder, const char *path, const void *bytes, size_t count)
{
	char temporary[NM_CACHE_PATH];

	assert(bytes || !count);
	make_folder(folder);
	int fd = snprintf(temporary, sizeof temporary, "%s/new.XXXXXX", folder) < NM_CACHE_PATH
		     ? mkostemp(temporary, O_CLOEXEC)
		     : -1;
	if (fd < 0)
		return NM_EIO;
	const ssize_t n = write(fd, bytes, count);
	if (!close(fd) && n >= 0 && (size_t)n == count && !rename(temporary, path))
		return 0;
	unlink(temporary);
	return NM_EIO;
}
