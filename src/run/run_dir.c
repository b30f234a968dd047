/* SPDX-License-Identifier: MIT
 *
 * run_dir.c - see run_dir.h.
 */
#include "run_dir.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { ROOM_FOR_RINGS = 32 << 20 };

static int has_room(const char *path)
{
	struct statvfs fs;

	return !statvfs(path, &fs) && (uint64_t)fs.f_bavail * fs.f_frsize >= ROOM_FOR_RINGS;
}

int nm_run_dir_make(char path[NM_RUN_DIR_ROOM], struct nm_error *err)
{
	const char *tmp = getenv("TMPDIR");
	const char *const parents[] = {"/dev/shm", tmp && *tmp == '/' ? tmp : "/tmp"};

	for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
		if (!has_room(parents[i]) ||
		    snprintf(path, NM_RUN_DIR_ROOM, "%s/nearmiss-XXXXXX", parents[i]) >= NM_RUN_DIR_ROOM)
			continue;
		if (mkdtemp(path))
			return 0;
	}
	path[0] = '\0';
	return nm_fail(err, NM_EIO, "%s and %s have no room for shared memory (%d MB)", parents[0],
		       parents[1], ROOM_FOR_RINGS >> 20);
}

void nm_run_dir_remove(const char *path)
{
	DIR *dir = path[0] ? opendir(path) : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (path[0])
		rmdir(path);
}

const char *nm_run_dir_last_line(const char *path, pid_t pid, char *line, size_t room)
{
	char log_path[NM_RUN_DIR_ROOM + 32], text[1024];
	const char *last = NULL;
	FILE *log;

	snprintf(log_path, sizeof log_path, "%s/log.%d", path, (int)pid);
	log = fopen(log_path, "re");
	while (log && fgets(text, sizeof text, log)) {
		const char *at = text + strspn(text, "=-0123456789 ");

		text[strcspn(text, "\n")] = '\0';
		if (strncmp(at, "valgrind: ", 10) == 0)
			at += 10;
		if (*at) {
			snprintf(line, room, "%s", at);
			last = line;
		}
	}
	if (log)
		fclose(log);
	return last;
}
