/* SPDX-License-Identifier: MIT
 *
 * It starts Valgrind's own launcher, not Debian's shell wrapper around it: that changes LD_LIBRARY_PATH and
 * so what the program loads. Options from ~/.valgrindrc and VALGRIND_OPTS are ignored: they could change
 * the counts.
 */
#include "launch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program_check.h"
#include "signals_forward.h"

#define TOOL "nearmiss-amd64-linux"

enum { MAX_OPTIONS = 32 };

static int is_executable_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Finds an executable file in PATH. */
static int search_path(const char *name, char *path, size_t room)
{
	const char *dirs = getenv("PATH");
	int blocked = 0;

	for (const char *at = dirs && *dirs ? dirs : "/usr/local/bin:/usr/bin:/bin"; *at;) {
		size_t n = strcspn(at, ":");

		snprintf(path, room, "%.*s/%s", (int)(n ? n : 1), n ? at : ".", name);
		if (is_executable_file(path))
			return 0;
		blocked |= !access(path, F_OK);
		at += n + (at[n] == ':');
	}
	return blocked ? NM_LAUNCH_NOT_EXECUTABLE : NM_LAUNCH_NO_PROGRAM;
}

static int check_program(const char *path, struct nm_error *err)
{
	switch (nm_program_check(path, err)) {
	case 0: return 0;
	case NM_ENOENT: return NM_LAUNCH_NO_PROGRAM;
	default: return NM_LAUNCH_NOT_EXECUTABLE;
	}
}

int nm_launch_resolve(const char *name, char *ret_path, size_t room, struct nm_error *err)
{
	struct stat st;
	int status = 0;

	assert(room > 0);
	if (!strchr(name, '/')) {
		status = search_path(name, ret_path, room);
	} else {
		snprintf(ret_path, room, "%s", name);
		if (stat(name, &st))
			status = errno == EACCES ? NM_LAUNCH_NOT_EXECUTABLE : NM_LAUNCH_NO_PROGRAM;
		else if (!is_executable_file(name))
			status = NM_LAUNCH_NOT_EXECUTABLE;
	}
	if (!status)
		return check_program(ret_path, err);
	if (status == NM_LAUNCH_NO_PROGRAM)
		nm_fail(err, NM_ENOENT, "program '%s' not found", name);
	else
		nm_fail(err, NM_EACCES, "'%s' cannot be executed", name);
	return status;
}

static int has_tool(const char *folder)
{
	char path[8400];

	snprintf(path, sizeof path, "%s/" TOOL, folder);
	return is_executable_file(path);
}

static int find_library(struct nm_launcher *launcher)
{
	static const char *const beside[] = {"%s/../collect/valgrind", "%s/../libexec/nearmiss/valgrind"};
	const char *given = getenv("NEARMISS_LIBEXEC");
	char self[4096], candidate[4200];
	ssize_t n;

	if (given) {
		snprintf(launcher->library, sizeof launcher->library, "%s", given);
		return has_tool(launcher->library);
	}
	n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0)
		return 0;
	self[n] = '\0';
	dirname(self);
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		snprintf(candidate, sizeof candidate, beside[i], self);
		if (has_tool(candidate) && realpath(candidate, launcher->library))
			return 1;
	}
	return 0;
}

/* The launcher that a relocatable installation holds beside the collector, or the one of the system. */
static int find_valgrind(struct nm_launcher *launcher)
{
	snprintf(launcher->valgrind, sizeof launcher->valgrind, "%s/valgrind.bin", launcher->library);
	return is_executable_file(launcher->valgrind) ||
	       !search_path("valgrind.bin", launcher->valgrind, sizeof launcher->valgrind) ||
	       !search_path("valgrind", launcher->valgrind, sizeof launcher->valgrind);
}

int nm_launcher_find(struct nm_launcher *launcher, struct nm_error *err)
{
	if (!find_library(launcher)) {
		nm_fail(err, NM_ENOENT,
			"cannot find the collector " TOOL " (NEARMISS_LIBEXEC can name its folder)");
		return NM_LAUNCH_NO_COLLECTOR;
	}
	if (!find_valgrind(launcher)) {
		nm_fail(err, NM_ENOENT,
			"Valgrind is not installed (no valgrind on PATH); on Debian: apt install valgrind");
		return NM_LAUNCH_NO_COLLECTOR;
	}
	return 0;
}

/* Valgrind puts VALGRIND_LIB into LD_PRELOAD, where blanks and colons separate names. A folder with such a
 * path is reached through a link. */
static void link_library(struct nm_launcher *launcher)
{
	if (!strpbrk(launcher->library, " :"))
		return;
	snprintf(launcher->link, sizeof launcher->link, "/tmp/nearmiss-lib-%d", (int)getpid());
	if (symlink(launcher->library, launcher->link))
		launcher->link[0] = '\0';
}

void nm_launcher_done(struct nm_launcher *launcher)
{
	if (launcher->link[0])
		unlink(launcher->link);
	launcher->link[0] = '\0';
}

/* In the child: executes Valgrind, or sends errno through the pipe. */
static void exec_valgrind(const struct nm_launcher *launcher, const int inherited[2], char *const *args,
			  const sigset_t *ignored, int report)
{
	int saved;

	nm_signals_restore(ignored);
	if (launcher->group)
		setpgid(0, launcher->group); /* fails if all of it has ended: the program ends by SIGTERM */
	if (launcher->output_is_ours)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	for (size_t i = 0; i < 2; i++)
		fcntl(inherited[i], F_SETFD, 0);
	if (launcher->environment)
		nm_environment_enter(launcher->environment);
	setenv("VALGRIND_LIB", launcher->link[0] ? launcher->link : launcher->library, 1);
	execv(launcher->valgrind, args);
	saved = errno;
	while (write(report, &saved, sizeof saved) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int fork_child(const struct nm_launcher *launcher, const int inherited[2], char *const *args,
		      const sigset_t *ignored, pid_t *ret_pid, struct nm_error *err)
{
	int fds[2], failure = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return nm_fail_errno(err, "cannot start the collector");
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return nm_fail_errno(err, "cannot start the collector");
	}
	if (pid == 0)
		exec_valgrind(launcher, inherited, args, ignored, fds[1]);
	close(fds[1]);
	do
		n = read(fds[0], &failure, sizeof failure);
	while (n < 0 && errno == EINTR);
	close(fds[0]);
	if (n > 0) {
		errno = failure;
		return nm_fail_errno(err, "cannot start %s", launcher->valgrind);
	}
	*ret_pid = pid;
	return 0;
}

/* "--pool-fn=...", "--alloc-fn=..." of each, one after the other, then an empty text. The caller's; NULL: out of
 * memory. */
static char *pool_options(const struct nm_launcher *launcher)
{
	static const char pool[] = "--pool-fn=", shared[] = "--alloc-fn=";
	size_t room = 1;
	char *texts, *at;

	for (size_t i = 0; i < launcher->pool_count; i++)
		room += sizeof pool + strlen(launcher->pools[i]);
	for (size_t i = 0; i < launcher->allocator_count; i++)
		room += sizeof shared + strlen(launcher->allocators[i]);
	texts = at = calloc(room, 1);
	for (size_t i = 0; texts && i < launcher->pool_count; i++)
		at = stpcpy(stpcpy(at, pool), launcher->pools[i]) + 1;
	for (size_t i = 0; texts && i < launcher->allocator_count; i++)
		at = stpcpy(stpcpy(at, shared), launcher->allocators[i]) + 1;
	return texts;
}

int nm_launch(struct nm_launcher *launcher, int arena, int log, const char *path, char *const *argv,
	      const sigset_t *ignored, pid_t *ret_pid, struct nm_error *err)
{
	const int inherited[2] = {arena, log};
	char arena_option[64], log_option[64], rate_option[64], line_option[64], seed_option[64];
	size_t argc = 0, n = 0;
	char **args, *pools;
	int status;

	while (argv[argc])
		argc++;
	args = calloc(argc + MAX_OPTIONS + launcher->pool_count + launcher->allocator_count, sizeof *args);
	pools = args ? pool_options(launcher) : NULL;
	if (!pools) {
		free(args);
		return nm_fail_memory(err);
	}
	snprintf(arena_option, sizeof arena_option, "--arena=%d", arena);
	snprintf(log_option, sizeof log_option, "--log-fd=%d", log);
	args[n++] = (char *)"valgrind";
	args[n++] = (char *)"--tool=nearmiss";
	args[n++] = (char *)"--command-line-only=yes";
	args[n++] = (char *)"-q";
	args[n++] = (char *)"--demangle=no";
	args[n++] = (char *)"--trace-children=yes";
	args[n++] = (char *)"--vgdb=no";
	args[n++] = (char *)"--sigill-diagnostics=no";
	args[n++] = (char *)"--default-suppressions=no";
	args[n++] = log_option;
	args[n++] = arena_option;
	args[n++] = (char *)(launcher->all_blocks ? "--all-blocks=yes" : "--all-blocks=no");
	if (launcher->one_machine)
		args[n++] = (char *)"--one-machine=yes";
	if (launcher->environment)
		args[n++] = (char *)"--hermetic=yes";
	if (launcher->sample.rate) {
		snprintf(rate_option, sizeof rate_option, "--sample=%" PRIu32, launcher->sample.rate);
		snprintf(line_option, sizeof line_option, "--sample-line=%" PRIu32, launcher->sample.line);
		snprintf(seed_option, sizeof seed_option, "--sample-seed=%" PRIu32, launcher->sample.seed);
		args[n++] = rate_option;
		args[n++] = line_option;
		args[n++] = seed_option;
	}
	for (const char *at = pools; *at; at += strlen(at) + 1)
		args[n++] = (char *)at;
	args[n++] = (char *)"--"; /* the program's name may begin with a dash */
	/* Valgrind would search the program's own PATH. */
	args[n++] = launcher->environment ? (char *)path : argv[0];
	for (size_t i = 1; i < argc; i++)
		args[n++] = argv[i];
	link_library(launcher);
	status = fork_child(launcher, inherited, args, ignored, ret_pid, err);
	free(pools);
	free(args);
	return status;
}
