/* SPDX-License-Identifier: MIT */
#include "debug_options.h"

#include <string.h>

#include "message.h"

int nm_debug_prepare(const struct nm_command *self, const struct nm_debug_options *o,
		     struct nm_debug_session *s)
{
	memset(s, 0, sizeof *s);
	memcpy(s->settings, o->settings.at, o->settings.count * sizeof *s->settings);
	if (o->from < 0 || o->to < 0 || (o->to && o->to < o->from))
		return nm_usage(self, "--from and --to count references from 1, upwards");
	return nm_simulation_prepare(self, &o->simulation, &s->simulation);
}

int nm_debug_open(const struct nm_debug_options *o, const char *path, struct nm_debug_session *s)
{
	const struct nm_debugger_source source = {.path = path,
						  .settings = s->settings,
						  .machine = &s->simulation.machine,
						  .order = s->simulation.run.engine.order,
						  .feedback = s->simulation.run.feedback,
						  .process = (unsigned)o->process,
						  .from = (uint64_t)o->from,
						  .to = (uint64_t)o->to};
	struct nm_error err;

	return nm_debugger_open(&s->debugger, &source, &err) ? nm_failed(&err, NM_STATUS_BAD_INPUT) : 0;
}
