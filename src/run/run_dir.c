/* SPDX-License-Identifier: MIT
 *
 * run_dir.c - see run_dir.h.
 */
#include "run_dir.h"

#include <dirent.h>
#include <fcntl.h>
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

/* What Valgrind logs when a program meets one of its limits, followed by a detail, and what that means. */
static const struct limit {
	const char *log, *meaning;
} limits[] = {
    {"Can't execute setuid/setgid/setcap executable: ",
     "Valgrind refused to run a set-user-id program (%.100s): exec failed with EACCES"},
    {"unhandled amd64-linux syscall: ", "Valgrind does not know system call %.100s: it failed with ENOSYS"},
};
enum { LIMITS = sizeof limits / sizeof *limits };

struct met_limits {
	unsigned times[LIMITS];
	char detail[LIMITS][128]; /* of the first time */
};

static void find_limits(FILE *log, struct met_limits *met)
{
	char text[1024];

	while (fgets(text, sizeof text, log)) {
		for (size_t i = 0; i < LIMITS; i++) {
			const char *at = strstr(text, limits[i].log);

			if (!at || met->times[i]++)
				continue;
			at += strlen(limits[i].log);
			snprintf(met->detail[i], sizeof met->detail[i], "%.*s", (int)strcspn(at, "\n"), at);
		}
	}
}

void nm_run_dir_report_limits(const char *path, void (*warn)(const char *format, ...))
{
	struct met_limits met = {0};
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = strncmp(entry->d_name, "log.", 4)
			     ? -1
			     : openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
		FILE *log = fd < 0 ? NULL : fdopen(fd, "r");

		if (log) {
			find_limits(log, &met);
			fclose(log);
		}
	}
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < LIMITS; i++) {
		char text[256];

		if (!met.times[i])
			continue;
		snprintf(text, sizeof text, limits[i].meaning, met.detail[i]);
		if (met.times[i] > 1)
			warn("%s (%u times)", text, met.times[i]);
		else
			warn("%s", text);
	}
}
