/* SPDX-License-Identifier: MIT
 *
 * program_nest.c - the references of a loop nest, as a program to debug.
 *
 * Each reference of the text has two attribution keys: one for iterations that count, and one for warm-up.
 */
#include <stdlib.h>
#include <string.h>

#include "debug_program.h"
#include "debugger.h"

struct loading {
	struct nm_debug_program *program;
	const struct nm_debugger_source *source;
	struct nm_nest_reference_info *info; /* by reference */
};

static uint32_t attr_of(size_t reference, int warms_up)
{
	return 1 + 2 * (uint32_t)reference + (warms_up != 0);
}

static int note_step(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	const struct loading *l = self;
	const struct nm_nest_reference_info *info = &l->info[step->reference];
	const struct nm_reference r = {.address = step->address,
				       .attr = attr_of(step->reference, step->warms_up),
				       .size = (uint16_t)info->bytes,
				       .is_write = info->is_write != 0};

	return nm_references_append(&l->program->references, &r) ? nm_fail_memory(err) : 0;
}

static int list_arrays(struct nm_debug_program *p)
{
	struct nm_nest_array_info a;

	for (size_t i = 0; nm_nest_array_at(p->nest, i, &a); i++) {
		const char *name = nm_intern(&p->names, a.name);

		if (!name ||
		    nm_vec_push(&p->objects, (struct nm_debug_object){
						 .name = name, .low = a.address, .end = a.address + a.bytes}))
			return NM_ENOMEM;
	}
	return 0;
}

static int list_references(struct loading *l)
{
	struct nm_debug_program *p = l->program;
	struct nm_nest_reference_info info;
	size_t count = 0;

	while (nm_nest_reference_at(p->nest, count, &info))
		count++;
	l->info = calloc(count + 1, sizeof *l->info);
	if (!l->info || nm_vec_reach(&p->sites, 1 + 2 * count))
		return NM_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		nm_nest_reference_at(p->nest, i, &info);
		l->info[i] = info;
		info.name = nm_intern(&p->names, info.name);
		if (!info.name)
			return NM_ENOMEM;
		for (int warm = 0; warm < 2; warm++)
			p->sites.at[attr_of(i, warm)] =
			    (struct nm_debug_site){.function = info.name,
						   .file = p->path,
						   .line = info.line,
						   .object = nm_debug_object_named(p, info.array),
						   .thread = 1,
						   .row = attr_of(i, warm),
						   .element = info.bytes};
	}
	return 0;
}

int nm_debug_load_nest(struct nm_debug_program *p, const struct nm_debugger_source *source,
		       struct nm_error *err)
{
	struct loading l = {.program = p, .source = source};
	const struct nm_nest_visitor visitor = {note_step, &l};
	const uint64_t first = source->from ? source->from : 1, last = source->to ? source->to : UINT64_MAX;
	int status = nm_nest_load(&p->nest, source->path, source->settings, err);

	if (status)
		return status;
	p->first = first;
	p->path = nm_intern(&p->names, source->path);
	if (!p->path || list_arrays(p) || list_references(&l))
		status = nm_fail_memory(err);
	if (!status)
		status = nm_nest_walk(p->nest, first, last, &visitor, err);
	if (!status && nm_references_close(&p->references))
		status = nm_fail_memory(err);
	free(l.info);
	return status;
}
