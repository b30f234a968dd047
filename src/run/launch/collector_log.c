/* SPDX-License-Identifier: MIT
 *
 * A write beyond the limit on file sizes would kill the program, so under a small limit nothing is kept.
 */
#include "collector_log.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "files.h"

enum { ENOUGH_BYTES = 1 << 20 };

int nm_collector_log_open(int *ret_fd, struct nm_error *err)
{
	struct rlimit limit;
	int fd;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= ENOUGH_BYTES)
		return nm_memory_file(ret_fd, "nearmiss-log", err);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return nm_fail_errno(err, "cannot open /dev/null");
	*ret_fd = fd;
	return 0;
}

/* The log from its start, or NULL. */
static FILE *read_log(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *log = copy < 0 ? NULL : fdopen(copy, "r");

	if (log)
		rewind(log);
	else if (copy >= 0)
		close(copy);
	return log;
}

const char *nm_collector_log_last_line(int fd, char *line, size_t room)
{
	char text[1024];
	const char *last = NULL;
	FILE *log = read_log(fd);

	assert(room > 0);
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
    {"nearmiss: no room for a mapping of ", "Valgrind has no room for a mapping of %.100s: mmap failed"},
    {"nearmiss: cannot execute a program in memory",
     "Valgrind cannot execute a program that lies in memory (memfd): exec failed%.100s"},
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

void nm_collector_log_report_limits(int fd, void (*warn)(const char *format, ...))
{
	struct met_limits met = {0};
	FILE *log = read_log(fd);

	if (!log)
		return;
	find_limits(log, &met);
	fclose(log);
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

enum { MOST_LISTED = 64 };

static int is_listed(char *const *texts, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(texts[i], text))
			return 1;
	return 0;
}

void nm_collector_log_list(int fd, const char *prefix, FILE *out)
{
	FILE *log = read_log(fd);
	char text[1024], *listed[MOST_LISTED];
	size_t count = 0;

	while (log && count < MOST_LISTED && fgets(text, sizeof text, log)) {
		char *at = strstr(text, prefix);

		text[strcspn(text, "\n")] = '\0';
		if (!at || is_listed(listed, count, at + strlen(prefix)))
			continue;
		listed[count] = strdup(at + strlen(prefix));
		if (listed[count])
			fprintf(out, "%s%s", count ? "; " : "", listed[count]);
		count += listed[count] != NULL;
	}
	while (count > 0)
		free(listed[--count]);
	if (log)
		fclose(log);
}
