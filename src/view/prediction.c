/* SPDX-License-Identifier: MIT */
#include "prediction.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "candidate.h"
#include "files.h"

/* Bytes of a text of the process that are read: its last ones. */
enum { MOST = 64 << 10 };

/* What the command writes before its progress, and in place of it when that ends (message.h). */
static const char erase[] = "\033[K", lead[] = "nearmiss: ";

/* A candidate is read here too, so that no text of a page is anything else to the command. */
static int check_candidate(const char *text, struct nm_error *err)
{
	struct nm_candidate candidate;
	const int status = nm_candidate_parse(&candidate, text, err);

	nm_candidate_done(&candidate);
	return status;
}

static void forget(struct nm_prediction *p)
{
	assert(p->state != NM_PREDICTION_RUNS);
	if (p->output)
		fclose(p->output);
	if (p->messages)
		fclose(p->messages);
	free(p->candidate);
	*p = (struct nm_prediction){.state = NM_PREDICTION_NONE};
}

static int open_file(FILE **ret, struct nm_error *err)
{
	int fd, status = nm_memory_file(&fd, "nearmiss-prediction", err);

	if (status)
		return status;
	*ret = fdopen(fd, "r+");
	if (*ret)
		return 0;
	close(fd);
	return nm_fail_memory(err);
}

static int spawn(struct nm_prediction *p, const struct nm_prediction_request *request, struct nm_error *err)
{
	char *const arguments[] = {(char *)"nearmiss",
				   (char *)"whatif",
				   (char *)"--progress",
				   (char *)"--format=json",
				   (char *)"--cache",
				   (char *)request->cache,
				   (char *)"--apply",
				   p->candidate,
				   (char *)"--",
				   (char *)request->trace,
				   NULL};
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fileno(p->output), STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fileno(p->messages), STDERR_FILENO);
	error = posix_spawn(&p->process, request->program, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	errno = error;
	return error ? nm_fail_errno(err, "cannot start %s", request->program) : 0;
}

int nm_prediction_start(struct nm_prediction *p, const struct nm_prediction_request *request,
			struct nm_error *err)
{
	int status;

	nm_prediction_look(p);
	if (p->state == NM_PREDICTION_RUNS)
		return nm_fail(err, NM_EINVAL, "another prediction runs: wait for it, or cancel it");
	status = check_candidate(request->candidate, err);
	if (status)
		return status;
	forget(p);
	p->profile = request->profile;
	p->candidate = strdup(request->candidate);
	status = p->candidate ? open_file(&p->output, err) : nm_fail_memory(err);
	if (!status)
		status = open_file(&p->messages, err);
	if (!status)
		status = spawn(p, request, err);
	if (status)
		forget(p);
	else
		p->state = NM_PREDICTION_RUNS;
	return status;
}

/* Waits for the end of the process with these options. Whether it has ended, with *ret_status. */
static int is_over(const struct nm_prediction *p, int options, int *ret_status)
{
	pid_t process;

	do
		process = waitpid(p->process, ret_status, options);
	while (process < 0 && errno == EINTR);
	assert(process >= 0);
	return process > 0;
}

void nm_prediction_look(struct nm_prediction *p)
{
	int status;

	if (p->state != NM_PREDICTION_RUNS || !is_over(p, WNOHANG, &status))
		return;
	p->state = status ? NM_PREDICTION_FAILED : NM_PREDICTION_DONE;
	p->ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void nm_prediction_cancel(struct nm_prediction *p)
{
	int status;

	nm_prediction_look(p);
	if (p->state != NM_PREDICTION_RUNS)
		return;
	kill(p->process, SIGTERM); /* it removes what it has written */
	is_over(p, 0, &status);
	p->state = NM_PREDICTION_CANCELLED;
}

void nm_prediction_done(struct nm_prediction *p)
{
	nm_prediction_cancel(p);
	forget(p);
}

/* ---- what it says ---- */

/* The last bytes of a file. Its position is the process's. */
static int read_end(FILE *file, char **ret_text, struct nm_error *err)
{
	struct stat about;
	const off_t bytes = fstat(fileno(file), &about) ? 0 : about.st_size;
	char *text = malloc(MOST + 1);
	ssize_t n;

	if (!text)
		return nm_fail_memory(err);
	n = pread(fileno(file), text, MOST, bytes > MOST ? bytes - MOST : 0);
	text[n > 0 ? n : 0] = '\0';
	*ret_text = text;
	return 0;
}

int nm_prediction_output(const struct nm_prediction *p, char **ret_text, struct nm_error *err)
{
	return read_end(p->output, ret_text, err);
}

/* What stands behind the last progress, and its count. */
static char *behind_progress(char *text, uint64_t *ret_references)
{
	double millions;
	char *next;

	while ((next = strstr(text, erase))) {
		text = next + strlen(erase);
		if (sscanf(text, "nearmiss: %lf M references", &millions) == 1)
			*ret_references = (uint64_t)(millions * 1e6);
	}
	return text;
}

/* Takes the command's name away from the beginnings of lines, and the last line's end. */
static void strip_messages(char *text)
{
	char *to = text;
	int begins = 1;

	for (const char *at = text; *at;) {
		if (begins && !strncmp(at, lead, strlen(lead)))
			at += strlen(lead);
		begins = *at == '\n';
		if (*at)
			*to++ = *at++;
	}
	while (to > text && to[-1] == '\n')
		to--;
	*to = '\0';
}

int nm_prediction_messages(const struct nm_prediction *p, char **ret_text, uint64_t *ret_references,
			   struct nm_error *err)
{
	char *all, *said;
	int status = read_end(p->messages, &all, err);

	*ret_references = 0;
	if (status)
		return status;
	said = behind_progress(all, ret_references);
	if (p->state == NM_PREDICTION_RUNS)
		*said = '\0'; /* progress */
	strip_messages(said);
	memmove(all, said, strlen(said) + 1);
	*ret_text = all;
	return 0;
}
