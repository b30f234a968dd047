/* SPDX-License-Identifier: MIT
 *
 * machine.c - the library's errors and machines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "library_priv.h"

_Static_assert((int)NEARMISS_EPLUGIN == (int)NM_EPLUGIN && (int)NEARMISS_EINVAL == (int)NM_EINVAL &&
		   (int)NEARMISS_EVERSION == (int)NM_EVERSION,
	       "codes of the library are ours");

int nm_library_fail(struct nearmiss_error *err, const struct nm_error *from, int status)
{
	if (!err)
		return status;
	err->code = status;
	err->column = from->column;
	snprintf(err->text, sizeof err->text, "%s", from->text);
	return status;
}

const char *nearmiss_version(void) { return NM_VERSION; }

static int hand_out(const struct nm_machine *machine, struct nearmiss_machine **ret_machine,
		    struct nearmiss_error *err)
{
	size_t room = nm_machine_format(machine, NULL, 0) + 1;
	struct nearmiss_machine *m = malloc(sizeof *m + room);
	struct nm_error fault;

	if (!m)
		return nm_library_fail(err, &fault,
				       nm_fail(&fault, NM_ENOMEM, "out of memory for a machine"));
	m->machine = *machine;
	nm_machine_format(machine, m->spec, room);
	*ret_machine = m;
	return 0;
}

int nearmiss_machine_parse(const char *spec, struct nearmiss_machine **ret_machine,
			   struct nearmiss_error *err)
{
	struct nm_machine machine;
	struct nm_error fault;
	int status = nm_machine_parse(spec, &machine, &fault);

	return status ? nm_library_fail(err, &fault, status) : hand_out(&machine, ret_machine, err);
}

int nearmiss_machine_named(const char *name, struct nearmiss_machine **ret_machine,
			   struct nearmiss_error *err)
{
	const struct nm_machine *named = nm_machine_named(name);
	struct nm_machine host;
	struct nm_error fault;
	int status = 0;

	if (!strcmp(name, "host")) {
		status = nm_machine_host(&host, &fault);
		named = &host;
	} else if (!named) {
		status = nm_fail(&fault, NM_ENOENT, "there is no machine '%s'", name);
	}
	return status ? nm_library_fail(err, &fault, status) : hand_out(named, ret_machine, err);
}

void nearmiss_machine_free(struct nearmiss_machine *machine) { free(machine); }

const char *nearmiss_machine_spec(const struct nearmiss_machine *machine) { return machine->spec; }

unsigned nearmiss_machine_levels(const struct nearmiss_machine *machine) { return machine->machine.count; }

const char *nearmiss_level_name(const struct nearmiss_machine *machine, unsigned level)
{
	return level < machine->machine.count ? machine->machine.levels[level].name : NULL;
}

uint64_t nearmiss_level_property(const struct nearmiss_machine *machine, unsigned level,
				 enum nearmiss_property property)
{
	const struct nm_level_spec *l = &machine->machine.levels[level];

	if (level >= machine->machine.count)
		return 0;
	switch (property) {
	case NEARMISS_SIZE: return l->size;
	case NEARMISS_WAYS: return l->ways;
	case NEARMISS_LINE: return l->line;
	case NEARMISS_SETS: return l->sets;
	case NEARMISS_SECTOR: return nm_level_unit(l);
	}
	return 0;
}
