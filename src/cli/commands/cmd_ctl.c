/* SPDX-License-Identifier: MIT
 *
 * cmd_ctl.c - nearmiss ctl: commands to a recording that runs.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "message.h"
#include "options.h"
#include "output.h"

static const char *words(unsigned i, const char **ret_summary)
{
	static const char *const table[][2] = {
	    {"start", "count from now on"},
	    {"stop", "count no more; the simulated caches go on"},
	    {"snapshot",
	     "write the profile as of now, to FILE or with a number behind the recording's name"}};

	if (i >= sizeof table / sizeof *table)
		return NULL;
	*ret_summary = table[i][1];
	return table[i][0];
}

/* 0: not a process id. */
static pid_t read_pid(const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	return end == text || *end || errno || pid < 1 || pid > INT_MAX ? 0 : (pid_t)pid;
}

/* The recorder may have another folder. 0: the name is too long. */
static int name_request(const char *word, const char *file, char request[NM_CONTROL_LINE])
{
	char folder[PATH_MAX];
	int length;

	if (!file)
		length = snprintf(request, NM_CONTROL_LINE, "%s", word);
	else if (*file == '/' || !getcwd(folder, sizeof folder))
		length = snprintf(request, NM_CONTROL_LINE, "%s %s", word, file);
	else
		length = snprintf(request, NM_CONTROL_LINE, "%s %s/%s", word, folder, file);
	return length < PATH_MAX && !strchr(request, '\n');
}

static int is_word(const char *text)
{
	const char *word, *summary;

	for (unsigned i = 0; (word = words(i, &summary)); i++)
		if (!strcmp(word, text))
			return 1;
	return 0;
}

static int run_ctl(const struct nm_command *self, int argc, char **argv)
{
	char request[NM_CONTROL_LINE], answer[NM_CONTROL_LINE];
	struct nm_operands operands;
	struct nm_error err;
	const char *word, *file;
	pid_t pid;
	int status;

	if (!nm_options_parse(self, argc, argv, NULL, &operands, &status))
		return status;
	if (operands.count < 2)
		return nm_usage(self, "name a process, and start, stop or snapshot");
	pid = read_pid(operands.at[0]);
	word = operands.at[1];
	file = operands.count > 2 ? operands.at[2] : NULL;
	if (!pid)
		return nm_usage(self, "\"%s\" is no process id", operands.at[0]);
	if (!is_word(word))
		return nm_usage(self, "\"%s\" is neither start, stop nor snapshot", word);
	if (operands.count > 3 || (file && strcmp(word, "snapshot") != 0))
		return nm_usage(self, "%s takes no \"%s\"", word, operands.at[operands.count - 1]);
	if (!name_request(word, file, request))
		return nm_usage(self, "the name of the profile is too long");
	status = nm_control_ask(pid, request, answer, &err);
	if (status)
		return nm_failed(&err, NM_STATUS_FAILED);
	if (*answer)
		nm_message("wrote %s", answer);
	return 0;
}

const struct nm_command nm_cmd_ctl = {
    .name = "ctl",
    .summary = "Start, stop or snapshot a recording that runs",
    .operands = "PID start|stop|snapshot [FILE]",
    .details = "PID is nearmiss record, or a process that it records.  Returns when that is done.\n",
    .words = words,
    .words_title = "Commands",
    .run = run_ctl,
};
