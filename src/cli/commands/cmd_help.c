/* SPDX-License-Identifier: MIT
 *
 * cmd_help.c - nearmiss help [COMMAND], and the completion scripts for shells.
 */
#include <stdio.h>
#include <string.h>

#include "completion/completion.h"
#include "hints.h"
#include "message.h"
#include "options.h"
#include "output.h"

struct help_options {
	int completion;
};

static const char shells[] = "bash|zsh|fish";
static void (*const scripts[])(FILE *) = {nm_completion_bash, nm_completion_zsh, nm_completion_fish};

static const struct nm_option options[] = {
    {"completion", 0, "SHELL", "print a completion script", NM_OPTION_CHOICE,
     offsetof(struct help_options, completion), shells},
};

static void list_commands(FILE *out)
{
	unsigned i;

	fputs("Usage: nearmiss [--no-pager] COMMAND [ARGUMENT...]\n"
	      "       nearmiss --version\n\n"
	      "Finds the data structures and the source lines of a program that wait for memory.\n\n"
	      "Commands:\n",
	      out);
	for (i = 0; nm_commands[i]; i++)
		fprintf(out, "  %-10s %s\n", nm_commands[i]->name, nm_commands[i]->summary);
	fputs("\n`nearmiss COMMAND --help` describes a command.  First steps:\n\n"
	      "  nearmiss record ./program arguments    run a program, write nearmiss.nmp, print a summary\n"
	      "  nearmiss report pairs                  show which object missed at which line\n",
	      out);
}

static int run_help(const struct nm_command *self, int argc, char **argv)
{
	struct help_options o = {.completion = -1};
	struct nm_command_output output = {.file = stdout};
	const struct nm_command *command;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (o.completion >= 0) {
		scripts[o.completion](stdout);
	} else if (operands.count) {
		command = nm_command_named(operands.at[0]);
		if (!command)
			return nm_unknown_command(operands.count, operands.at);
		nm_command_help(command, stdout);
	} else {
		list_commands(stdout);
	}
	return nm_output_close(&output);
}

const struct nm_command nm_cmd_help = {
    .name = "help",
    .summary = "Show how to use nearmiss or one of its commands",
    .operands = "[COMMAND]",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_help,
};
