/* SPDX-License-Identifier: MIT
 *
 * main.c - the table of commands, and the choice among them.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "options.h"
#include "output.h"
#include "reader.h"

extern const struct nm_command nm_cmd_record, nm_cmd_replay, nm_cmd_monitor, nm_cmd_trace, nm_cmd_nest,
    nm_cmd_report, nm_cmd_annotate, nm_cmd_evictions, nm_cmd_export, nm_cmd_query, nm_cmd_machines,
    nm_cmd_help;

const struct nm_command *const nm_commands[] = {&nm_cmd_record,
						&nm_cmd_replay,
						&nm_cmd_monitor,
						&nm_cmd_trace,
						&nm_cmd_nest,
						&nm_cmd_report,
						&nm_cmd_annotate,
						&nm_cmd_evictions,
						&nm_cmd_export,
						&nm_cmd_query,
						&nm_cmd_machines,
						&nm_cmd_help,
						NULL};

const struct nm_command *nm_command_named(const char *name)
{
	unsigned i;

	for (i = 0; nm_commands[i]; i++)
		if (!strcmp(nm_commands[i]->name, name))
			return nm_commands[i];
	return NULL;
}

static int unknown(const char *typed)
{
	const char *words[32], *near;
	unsigned i;

	for (i = 0; nm_commands[i] && i < 31; i++)
		words[i] = nm_commands[i]->name;
	words[i] = NULL;
	near = nm_nearest(typed, words);
	if (near)
		nm_message("unknown command \"%s\": did you mean %s? (see nearmiss help)", typed, near);
	else
		nm_message("unknown command \"%s\" (see nearmiss help)", typed);
	return NM_STATUS_USAGE;
}

static int unknown_option(const char *typed)
{
	static const char *const words[] = {"--help", "--version", "--no-pager", NULL};
	const char *near = nm_nearest(typed, words);

	if (near)
		nm_message("unknown option %s: did you mean %s? (see nearmiss help)", typed, near);
	else
		nm_message("unknown option %s (see nearmiss help)", typed);
	return NM_STATUS_USAGE;
}

int main(int argc, char **argv)
{
	static char help[] = "help", *no_arguments[] = {help, NULL};
	struct nm_output output = {.file = stdout};
	const struct nm_command *command;
	int i = 1;

	setlocale(LC_CTYPE, "");
	nm_profile_setup();
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--no-pager")) {
			nm_output_no_pager = 1;
		} else if (!strcmp(argv[i], "--version")) {
			puts("nearmiss " NM_VERSION);
			return nm_output_close(&output);
		} else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			return nm_command_named("help")->run(nm_command_named("help"), 1, no_arguments);
		} else {
			return unknown_option(argv[i]);
		}
	}
	if (i == argc) {
		nm_message("there is no command (see nearmiss help)");
		return NM_STATUS_USAGE;
	}
	command = nm_command_named(argv[i]);
	return command ? command->run(command, argc - i, argv + i) : unknown(argv[i]);
}
