/* SPDX-License-Identifier: MIT
 *
 * phase_name.c - names phases by what misses most in them.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

/* What dominates a phase: "sweep, wide"; malloc'ed, NULL: out of memory. */
static char *describe(const struct nm_result *r, const struct nm_result_phase *phase)
{
	const struct nm_result_site *site = phase->site == UINT32_MAX ? NULL : &r->sites[phase->site];
	const char *code = site ? site->user_function ? site->user_function : site->function : NULL;
	const char *object = phase->object == UINT32_MAX ? NULL : r->objects[phase->object].name;
	char *name = NULL;

	if (phase->is_quiet || (!code && !object))
		return strdup("few misses");
	return asprintf(&name, "%s%s%s", code ? code : "", code && object ? ", " : "", object ? object : "") <
		       0
		   ? NULL
		   : name;
}

char *nm_result_phase_name(const struct nm_result *r, size_t phase)
{
	char *name = describe(r, &r->phases[phase]), *numbered = NULL;
	unsigned same = 1;

	assert(phase < r->phase_count);
	for (size_t i = 0; i < phase && name; i++) {
		char *other = describe(r, &r->phases[i]);

		same += other && !strcmp(other, name);
		free(other);
	}
	if (!name || same == 1)
		return name;
	if (asprintf(&numbered, "%s (%u)", name, same) < 0)
		numbered = NULL;
	free(name);
	return numbered;
}
