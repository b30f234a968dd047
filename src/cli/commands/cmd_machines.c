/* SPDX-License-Identifier: MIT
 *
 * cmd_machines.c - nearmiss machines [NAME|FILE]: lists the memory hierarchies that have a name.
 */
#include <stdio.h>

#include "machine.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "simulation_options.h"

static void show_machine(const struct nm_machine *machine)
{
	char spec[4096];

	nm_machine_format(machine, spec, sizeof spec);
	printf("%-15s %s\n", machine->name, machine->description);
	printf("%-15s %s\n", "", spec);
}

static int run_machines(const struct nm_command *self, int argc, char **argv)
{
	struct nm_command_output output = {.file = stdout};
	const struct nm_machine *table;
	struct nm_operands operands;
	struct nm_machine machine;
	int status;
	size_t i, count;

	if (!nm_options_parse(self, argc, argv, NULL, &operands, &status))
		return status;
	if (operands.count > 1)
		return nm_usage(self, "name one machine, not also \"%s\"", operands.at[1]);
	status = nm_find_machine(operands.count ? operands.at[0] : "host", &machine);
	if (status)
		return status;
	show_machine(&machine);
	table = nm_machine_table(&count);
	for (i = 0; i < count && !operands.count; i++)
		show_machine(&table[i]);
	return nm_output_close(&output);
}

const struct nm_command nm_cmd_machines = {
    .name = "machines",
    .summary = "List the memory hierarchies that have a name",
    .operands = "[NAME|FILE]",
    .details = "Each is shown with the SPEC that `nearmiss record --cache` takes.\n",
    .run = run_machines,
};
