/* SPDX-License-Identifier: MIT
 *
 * process_sampler.c - samples a process that runs already.
 *
 * Its threads are watched one by one; those that they start from then on are watched by themselves, so the list of
 * threads is read until it holds no new one. What the process has mapped before is read from /proc, after sampling has
 * begun: those records have the time before that, and newer ones of the kernel replace them.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "clock.h"
#include "map.h"
#include "sampling.h"
#include "stream.h"

enum { MOST_WORDS = 64, WORDS_ROOM = 4096 };

static volatile sig_atomic_t is_stopped;

static void stop_sampling(int number)
{
	(void)number;
	is_stopped = 1;
}

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* ---- its threads -------------------------------------------------------------------------------- */

/* Watches threads that are not in `known`; *ret_new: how many. One that ends meanwhile is none. */
static int watch_new(struct nm_sampling *s, struct nm_map *known, unsigned *ret_new, struct nm_error *err)
{
	char path[64];
	struct dirent *entry;
	DIR *threads;
	int status = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)s->request->pid);
	threads = opendir(path);
	if (!threads)
		return nm_fail(err, NM_ENOENT, "there is no process %d", (int)s->request->pid);
	*ret_new = 0;
	while (!status && (entry = readdir(threads))) {
		const uint64_t thread = strtoull(entry->d_name, NULL, 10);

		if (!thread || nm_map_get(known, thread, 0))
			continue;
		status = nm_map_put(known, thread, 1) ? nm_fail_memory(err)
						      : nm_rings_watch(s->rings, (pid_t)thread, 1, err);
		*ret_new += !status;
		status = status == NM_ENOENT ? 0 : status;
	}
	closedir(threads);
	return status;
}

/* Each thread takes a file for each processor. */
static void permit_files(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static int watch_all(struct nm_sampling *s, struct nm_error *err)
{
	struct nm_map known = {0};
	unsigned added = 0, all = 0;
	int status;

	permit_files();
	do {
		status = watch_new(s, &known, &added, err);
		all += added;
	} while (!status && added);
	nm_map_done(&known);
	return status || all ? status : nm_fail(err, NM_ENOENT, "process %d has ended", (int)s->request->pid);
}

/* ---- what it has mapped ------------------------------------------------------------------------- */

/* "55d0-55e0 r-xp 00001000 fe:01 123   /bin/app". */
static int tell_map(struct nm_sampling *s, char *line, uint64_t time)
{
	struct nm_stream_map map = {.path = "//anon"};
	char access[8];
	uint64_t end;
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &map.address, &end, access,
		   &map.offset, &path) < 4)
		return 0;
	map.bytes = end - map.address;
	map.is_executable = access[2] == 'x';
	if (path && line[path])
		map.path = line + path;
	return nm_stream_map(s->samples, s->request->pid, &map, time);
}

static int tell_process(struct nm_sampling *s, uint64_t time)
{
	const pid_t pid = s->request->pid;
	FILE *in = open_proc(pid, "comm");
	char name[64] = "?", *line = NULL;
	size_t room = 0;
	int failed;

	if (in && fgets(name, sizeof name, in))
		name[strcspn(name, "\n")] = '\0';
	if (in)
		fclose(in);
	failed = nm_stream_name(s->samples, pid, name, time);
	in = open_proc(pid, "maps");
	while (in && !failed && getline(&line, &room, in) > 0)
		failed = tell_map(s, line, time);
	free(line);
	if (in)
		fclose(in);
	return failed;
}

/* Its command, as it was called. */
static void read_command(pid_t pid, char *words[MOST_WORDS + 1], char text[WORDS_ROOM])
{
	FILE *in = open_proc(pid, "cmdline");
	const size_t n = in ? fread(text, 1, WORDS_ROOM - 1, in) : 0;
	unsigned count = 0;

	if (in)
		fclose(in);
	text[n] = '\0';
	for (char *at = text; at < text + n && count < MOST_WORDS; at += strlen(at) + 1)
		words[count++] = at;
	words[count] = NULL;
}

/* ---- one run ------------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Until the process ends, the time is over, or somebody stops it. */
static int follow_process(struct nm_sampling *s)
{
	const double began = nm_now_ms();
	int ended = 0;

	while (!ended && !is_stopped &&
	       (!s->request->seconds || nm_now_ms() - began < 1e3 * (double)s->request->seconds))
		if (nm_sampling_turn(s, &ended))
			return -1;
	return nm_sampling_turn(s, &ended) || nm_sampling_end(s) ? -1 : 0;
}

static int run_sampler(struct nm_sampling *s, struct nm_error *err)
{
	const struct sigaction action = {.sa_handler = stop_sampling};
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const uint64_t time = now_ns();
	int status = watch_all(s, err);

	if (status == NM_ENOENT)
		return NM_STATUS_NO_PROGRAM;
	if (status)
		return nm_status_of((enum nm_code)status, NM_STATUS_NO_COLLECTOR);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &action, NULL);
	if (tell_process(s, time) || follow_process(s))
		s->request->feedback.warn("samples are no longer kept: %s", strerror(errno));
	return 0;
}

int nm_sample_process(const struct nm_sample_request *request, int *ret_has_result, struct nm_error *err)
{
	struct nm_sampling s = {.heap = -1};
	char *words[MOST_WORDS + 1], text[WORDS_ROOM];
	int status;

	assert(request->pid && request->feedback.warn);
	*ret_has_result = 0;
	read_command(request->pid, words, text);
	status = nm_sampling_open(&s, request, words, err);
	if (!status)
		status = run_sampler(&s, err);
	if (!status)
		status = nm_sampling_import(&s, ret_has_result, err);
	nm_sampling_done(&s);
	return status;
}
