/* SPDX-License-Identifier: MIT
 *
 * main.c - the table of commands, and the choice of one.
 */
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "hints.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "reader.h"

extern const struct nm_command nm_cmd_accuracy, nm_cmd_ctl, nm_cmd_debug, nm_cmd_diff, nm_cmd_doctor,
    nm_cmd_import, nm_cmd_record, nm_cmd_replay, nm_cmd_sample, nm_cmd_monitor, nm_cmd_trace, nm_cmd_nest,
    nm_cmd_report, nm_cmd_annotate, nm_cmd_curve, nm_cmd_timeline, nm_cmd_evictions, nm_cmd_sharing,
    nm_cmd_merge, nm_cmd_noise, nm_cmd_sweep, nm_cmd_whatif, nm_cmd_gate, nm_cmd_view, nm_cmd_export,
    nm_cmd_query, nm_cmd_machines, nm_cmd_help;

/* clang-format off */
const struct nm_command *const nm_commands[] = {
    &nm_cmd_record, &nm_cmd_ctl, &nm_cmd_replay, &nm_cmd_monitor,
    &nm_cmd_trace, &nm_cmd_nest, &nm_cmd_sweep, &nm_cmd_sample,
    &nm_cmd_import, &nm_cmd_debug, &nm_cmd_report, &nm_cmd_annotate,
    &nm_cmd_curve, &nm_cmd_timeline, &nm_cmd_evictions, &nm_cmd_sharing,
    &nm_cmd_diff, &nm_cmd_merge, &nm_cmd_noise, &nm_cmd_accuracy,
    &nm_cmd_whatif, &nm_cmd_gate, &nm_cmd_view, &nm_cmd_export,
    &nm_cmd_query, &nm_cmd_machines, &nm_cmd_doctor, &nm_cmd_help,
    NULL};
/* clang-format on */

enum { STACK_BYTES = 8 << 20 };

const struct nm_command *nm_command_named(const char *name)
{
	for (unsigned i = 0; nm_commands[i]; i++)
		if (!strcmp(nm_commands[i]->name, name))
			return nm_commands[i];
	return NULL;
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

static int run_command(int argc, char **argv)
{
	static char help[] = "help", *no_arguments[] = {help, NULL};
	struct nm_command_output output = {.file = stdout};
	const struct nm_command *command;
	int i = 1;

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
	command = nm_command_named(i < argc ? argv[i] : help);
	if (i >= argc)
		return command->run(command, 1, no_arguments);
	return command ? command->run(command, argc - i, argv + i) : nm_unknown_command(argc - i, argv + i);
}

/* ---- small stacks ---- */

struct arguments {
	int argc;
	char **argv;
	int status;
};

static void *run_in_thread(void *arg)
{
	struct arguments *a = arg;

	a->status = run_command(a->argc, a->argv);
	return NULL;
}

/* Under `ulimit -s 64` the stacks of the main thread and of new threads would be too small. So all
 * threads, and one for the command itself, get stacks of a fixed size; the program that is recorded keeps
 * its limit. */
static int run_on_larger_stack(struct arguments *a)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
	if (pthread_create(&thread, NULL, run_in_thread, a)) {
		nm_message("cannot start a thread");
		return NM_STATUS_FAILED;
	}
	pthread_join(thread, NULL);
	return a->status;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {argc, argv, 0};
	struct rlimit stack;

	setlocale(LC_CTYPE, "");
	nm_profile_setup();
	if (!getrlimit(RLIMIT_STACK, &stack) && stack.rlim_cur < STACK_BYTES)
		return run_on_larger_stack(&arguments);
	return run_command(argc, argv);
}
