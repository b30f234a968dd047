/* SPDX-License-Identifier: MIT
 *
 * cmd_debug.c - nearmiss debug: watches, steps and rewinds a cache in the terminal.
 */
#include <string.h>
#include <unistd.h>

#include "debug/debug.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "simulation_options.h"

struct debug_options {
	struct nm_simulation_options simulation;
	struct nm_option_list settings;
	int64_t from, to;
};

static const struct nm_option options[] = {
    NM_ROW_MACHINE(struct debug_options, simulation),
    NM_ROW_CACHE(struct debug_options, simulation),
    {"set", 's', "NAME=VALUE", "set a parameter, or the address of an array", NM_OPTION_LIST,
     offsetof(struct debug_options, settings), NULL},
    {"from", 0, "N", "begin with the N-th reference, with empty caches (1)", NM_OPTION_NUMBER,
     offsetof(struct debug_options, from), NULL},
    {"to", 0, "N", "end with the N-th reference (the last)", NM_OPTION_NUMBER,
     offsetof(struct debug_options, to), NULL},
};

static int run(const struct nm_command *self, int argc, char **argv)
{
	struct debug_options o = {.simulation = {.threads = 1}};
	const char *settings[NM_OPTION_LIST_ROOM + 1] = {NULL};
	struct nm_simulation simulation = {.machine = {.count = 0}};
	struct nm_debugger_source source = {.settings = settings, .machine = &simulation.machine};
	struct nm_debugger *debugger;
	struct nm_operands operands;
	struct nm_error err;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count != 1)
		return nm_usage(self, "name one loop nest to debug");
	status = nm_simulation_prepare(self, &o.simulation, &simulation);
	if (status)
		return status;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return nm_usage(self, "debug needs a terminal");
	memcpy(settings, o.settings.at, o.settings.count * sizeof *settings);
	source.path = operands.at[0];
	source.from = (uint64_t)o.from;
	source.to = (uint64_t)o.to;
	status = nm_debugger_open(&debugger, &source, &err);
	if (status)
		return nm_failed(&err, NM_STATUS_BAD_NEST);
	status = nm_debug_screen(debugger);
	nm_debugger_close(debugger);
	return status;
}

const struct nm_command nm_cmd_debug = {
    .name = "debug",
    .summary = "Watch, step and rewind a cache in the terminal",
    .operands = "NEST",
    .details =
	"Shows the first cache as a grid while the references of a loop nest go by, forward and back.\n"
	"Without --machine and --cache, nearmiss simulates the caches of this machine.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
