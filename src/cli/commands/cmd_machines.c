/* SPDX-License-Identifier: MIT
 *
 * cmd_machines.c - nearmiss machines [NAME|FILE]: lists the memory hierarchies that have a name.
 */
#include <stdio.h>

#include "machine.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "report_options.h"
#include "simulation_options.h"
#include "table.h"

struct machines_options {
	int64_t width;
};

static const struct nm_option options[] = {NM_ROW_WIDTH(struct machines_options, width)};

static void show_machine(const struct nm_machine *machine, unsigned width)
{
	char spec[4096], lead[sizeof machine->name + 16];

	nm_machine_format(machine, spec, sizeof spec);
	snprintf(lead, sizeof lead, "%-15s ", machine->name);
	nm_print_wrapped(lead, machine->description, width, stdout);
	nm_print_wrapped("                ", spec, width, stdout);
}

static int run_machines(const struct nm_command *self, int argc, char **argv)
{
	struct machines_options o = {.width = NM_WIDTH_OF_TERMINAL};
	struct nm_command_output output = {.file = stdout};
	const struct nm_machine *table;
	struct nm_operands operands;
	struct nm_machine machine;
	unsigned width;
	int status;
	size_t i, count;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count > 1)
		return nm_usage(self, "name one machine, not also \"%s\"", operands.at[1]);
	status = nm_find_machine(operands.count ? operands.at[0] : "host", &machine);
	if (status)
		return status;
	width = nm_style_of(stdout, NM_FORMAT_TEXT, o.width).width;
	show_machine(&machine, width);
	table = nm_machine_table(&count);
	for (i = 0; i < count && !operands.count; i++)
		show_machine(&table[i], width);
	return nm_output_close(&output);
}

const struct nm_command nm_cmd_machines = {
    .name = "machines",
    .summary = "List the memory hierarchies that have a name",
    .operands = "[NAME|FILE]",
    .details = "Each is shown with the SPEC that `nearmiss record --cache` takes.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_machines,
};
