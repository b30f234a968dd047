/* SPDX-License-Identifier: MIT
 *
 * cmd_debug.c - nearmiss debug: watches, steps and rewinds a cache in the terminal.
 */
#include <unistd.h>

#include "debug/debug.h"
#include "debug/debug_options.h"
#include "options.h"

struct debug_options {
	struct nm_debug_options source;
};

static const struct nm_option options[] = {
    NM_ROWS_DEBUG(struct debug_options, source),
    NM_ROW_PROCESS(struct debug_options, source),
};

static int run_debug(const struct nm_command *self, int argc, char **argv)
{
	struct debug_options o = {.source = {.simulation = {.threads = 1}}};
	struct nm_debug_session session;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count != 1)
		return nm_usage(self, "name one loop nest or trace to debug");
	status = nm_debug_prepare(self, &o.source, &session);
	if (status)
		return status;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return nm_usage(self, "debug needs a terminal");
	status = nm_debug_open(&o.source, operands.at[0], &session);
	if (status)
		return status;
	status = nm_debug_screen(session.debugger);
	nm_debugger_close(session.debugger);
	return status;
}

const struct nm_command nm_cmd_debug = {
    .name = "debug",
    .summary = "Watch, step and rewind a cache in the terminal",
    .operands = "NEST|TRACE",
    .details =
	"Shows the first cache as a grid while the references of a loop nest or a trace go by, forward and\n"
	"back.  Traces are all that replay reads.  Without --machine and --cache, nearmiss simulates the\n"
	"caches of this machine.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_debug,
};
