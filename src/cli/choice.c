/* SPDX-License-Identifier: MIT
 *
 * choice.c - see choice.h.
 */
#include "choice.h"

#include <string.h>
#include <unistd.h>

#include "host.h"
#include "message.h"

enum { MAX_THREADS = 64 };

int64_t nm_default_threads(void) { return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1; }

/* A level that nothing reaches is left out: L1i without --instr. */
static void drop_instruction_levels(struct nm_machine *machine)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].side != NM_SIDE_INSTRUCTION)
			machine->levels[kept++] = machine->levels[i];
	machine->count = kept;
}

int nm_choose(const struct nm_command *self, const struct nm_choice *o, struct nm_machine *ret_machine)
{
	const struct nm_machine *named;
	struct nm_error err;

	if (o->threads < 1 || o->threads > MAX_THREADS)
		return nm_usage(self, "--threads takes a number from 1 to %d", MAX_THREADS);
	if (o->machine && o->cache)
		return nm_usage(self, "--machine and --cache exclude each other");
	if (o->cache) {
		if (nm_machine_parse(o->cache, ret_machine, &err))
			return nm_failed(&err, NM_STATUS_BAD_MACHINE);
	} else if (!o->machine || !strcmp(o->machine, "host")) {
		if (nm_machine_host(ret_machine, &err))
			return nm_failed(&err, NM_STATUS_BAD_MACHINE);
	} else {
		named = nm_machine_named(o->machine);
		if (!named) {
			nm_message("unknown machine \"%s\" (see nearmiss machines)", o->machine);
			return NM_STATUS_BAD_MACHINE;
		}
		*ret_machine = *named;
	}
	if (nm_machine_check_present(ret_machine, &err))
		return nm_failed(&err, NM_STATUS_BAD_MACHINE);
	if (!o->instructions)
		drop_instruction_levels(ret_machine);
	if (ret_machine->count)
		return 0;
	nm_message("the machine has no level that takes data: give --instr too");
	return NM_STATUS_BAD_MACHINE;
}
