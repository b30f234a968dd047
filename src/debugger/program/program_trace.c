/* SPDX-License-Identifier: MIT
 *
 * program_trace.c - the references of a trace, as a program to debug.
 */
#include "program.h"

int nm_debug_load_trace(struct nm_debug_program *program, const struct nm_debugger_source *source,
			struct nm_error *err)
{
	(void)program;
	return nm_fail(err, NM_EINVAL, "%s is a trace", source->path);
}
