/* SPDX-License-Identifier: MIT */
#include "debug_program.h"

#include <stdlib.h>
#include <string.h>

void nm_debug_program_done(struct nm_debug_program *p)
{
	nm_references_done(&p->references);
	nm_vec_free(&p->sites);
	nm_vec_free(&p->objects);
	nm_strings_done(&p->names);
	nm_nest_free(p->nest);
	for (size_t i = 0; i < p->memory.count; i++)
		free(p->memory.at[i].ranges);
	nm_vec_free(&p->memory);
	nm_vec_free(&p->instructions);
}

uint32_t nm_debug_object_named(const struct nm_debug_program *p, const char *name)
{
	for (uint32_t i = 0; i < p->objects.count; i++)
		if (!strcmp(p->objects.at[i].name, name))
			return i;
	return NM_NO_OBJECT;
}

const char *nm_debug_object_name(const struct nm_debug_program *p, uint32_t object)
{
	return object < p->objects.count ? p->objects.at[object].name : NULL;
}

int64_t nm_debug_element(const struct nm_debug_program *p, const struct nm_reference *r)
{
	const struct nm_debug_site *site = &p->sites.at[r->attr];

	if (!site->element || site->object >= p->objects.count)
		return -1;
	return (int64_t)((r->address - p->objects.at[site->object].low) / site->element);
}
