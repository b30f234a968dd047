/* SPDX-License-Identifier: MIT
 *
 * plan.c - makes plans from the definitions of blocks (plan.h).
 */
#include <string.h>

#include "engine_priv.h"

int nm_engine_define(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_block_info info;
	int status = nm_wire_block_decode(r, &info, err);
	struct nm_definition *d;

	if (status)
		return status;
	if (info.id > (1u << 28))
		return nm_fail(err, NM_EFORMAT, "block number %u is out of range", info.id);
	if (info.id >= e->definitions.count) {
		size_t more = info.id + 1 - e->definitions.count;

		if (nm_vec_reserve(&e->definitions, more))
			return nm_fail(err, NM_ENOMEM, "out of memory");
		memset(&e->definitions.at[e->definitions.count], 0, more * sizeof *d);
		e->definitions.count += more;
	}
	d = &e->definitions.at[info.id];
	if (d->words)
		return nm_fail(err, NM_EFORMAT, "block %u is defined twice", info.id);
	d->words = nm_arena_alloc(&e->codebook->arena, r->words * sizeof *d->words);
	if (!d->words)
		return nm_fail(err, NM_ENOMEM, "out of memory");
	memcpy(d->words, r->payload, r->words * sizeof *d->words);
	d->count = (uint32_t)r->words;
	return 0;
}

/* The stack object of the function at pc. */
static int function_frame(struct nm_engine *e, const struct nm_mapping *m, uint64_t pc, uint32_t *ret_object)
{
	struct nm_function f;
	const char *name = "<code without a file>";

	if (m && m->module) {
		name = nm_module_name(m->module);
		if (nm_module_function(m->module, pc - m->bias, &f))
			name = f.name;
	}
	return nm_space_frame_object(&e->space, name, ret_object);
}

static int plan_accesses(struct nm_engine *e, struct nm_plan *plan, const struct nm_wire_block_info *info,
			 const struct nm_mapping *m)
{
	for (uint32_t i = 0; i < plan->accesses; i++) {
		uint64_t w = info->accesses[i];
		uint64_t pc = nm_wire_instruction_pc(info->instructions[nm_wire_access_instruction(w)]);
		unsigned flags = nm_wire_access_flags(w);
		unsigned kind = flags & NM_WIRE_WRITE ? NM_REF_WRITE : NM_REF_READ;

		if (flags & NM_WIRE_PREFETCH) {
			kind = NM_PREFETCH;
			plan->prefetches = 1;
		}
		plan->access[i].rest = nm_wire_access_size(w) | kind << 16 | 1u << 24;
		if (nm_cells_place(&e->cells, pc, m ? m->module : NULL, m ? m->bias : 0,
				   &plan->origin->access[i].place))
			return NM_ENOMEM;
	}
	for (uint32_t i = 0; i < plan->exits; i++)
		plan->origin->exit[i] =
		    (struct nm_side_exit){(uint16_t)nm_wire_exit_accesses(info->exits[i]),
					  (uint16_t)nm_wire_exit_instructions(info->exits[i])};
	plan->first_exit = plan->origin->exit[0];
	return 0;
}

/* Runs of whole instructions within one line; an instruction that straddles two is a run of its own. */
static int plan_fetches(struct nm_engine *e, struct nm_plan *plan, const struct nm_wire_block_info *info,
			const struct nm_mapping *m)
{
	uint64_t mask = ~(uint64_t)(e->fetch_line - 1);
	uint32_t object, place;

	struct nm_plan_origin *origin = plan->origin;

	origin->fetch = nm_arena_alloc(&e->arena, plan->instructions * sizeof *origin->fetch);
	if (!origin->fetch ||
	    nm_space_code_object(&e->space, m && m->module ? nm_module_name(m->module) : "no file", &object))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < plan->instructions; i++) {
		uint64_t pc = nm_wire_instruction_pc(info->instructions[i]);
		unsigned bytes = nm_wire_instruction_bytes(info->instructions[i]);
		struct nm_fetch *f = origin->fetches ? &origin->fetch[origin->fetches - 1] : NULL;

		if (f && f->address + f->bytes == pc && f->instructions < 255 &&
		    ((pc + bytes - 1) & mask) == (f->address & mask)) {
			f->instructions++;
			f->bytes = (uint8_t)(f->bytes + bytes);
			continue;
		}
		f = &origin->fetch[origin->fetches++];
		*f = (struct nm_fetch){pc, 0, (uint16_t)i, 1, (uint8_t)bytes};
		if (nm_cells_place(&e->cells, pc, m ? m->module : NULL, m ? m->bias : 0, &place))
			return NM_ENOMEM;
		f->cell = nm_cells_get(&e->cells, e->thread->number, place, object);
		if (!f->cell)
			return NM_ENOMEM;
	}
	return 0;
}

/* Makes room for block id in the running thread's table of plans. */
static int grow_plans(struct nm_engine *e, uint32_t id)
{
	struct nm_thread *t = e->thread;

	if (nm_vec_grow((void **)&t->plans, &t->plan_room, e->plan_room, id + 1 - e->plan_room,
			sizeof *t->plans))
		return NM_ENOMEM;
	memset(t->plans + e->plan_room, 0, (t->plan_room - e->plan_room) * sizeof *t->plans);
	e->plans = t->plans;
	e->plan_room = t->plan_room;
	return 0;
}

struct nm_plan *nm_engine_plan(struct nm_engine *e, uint32_t id, struct nm_error *err)
{
	struct nm_wire_record r = {.kind = NM_WIRE_BLOCK_DEF, .arg = id};
	struct nm_wire_block_info info;
	const struct nm_mapping *m;
	struct nm_plan *p;

	if (!e->thread || id >= e->definitions.count || !e->definitions.at[id].words) {
		nm_fail(err, NM_EFORMAT, "block %u runs before it is defined", id);
		return NULL;
	}
	r.payload = e->definitions.at[id].words;
	r.words = e->definitions.at[id].count;
	if (nm_wire_block_decode(&r, &info, err))
		return NULL;
	m = nm_space_mapping(&e->space, info.def.pc);
	p = nm_arena_alloc(&e->arena, sizeof *p + info.def.accesses * sizeof *p->access + 16);
	if (!p)
		goto exhausted;
	p = (struct nm_plan *)(((uintptr_t)p + 31) & ~(uintptr_t)31); /* arenas align to 16 */
	p->accesses = info.def.accesses;
	p->exits = info.def.exits;
	p->instructions = info.def.instructions;
	p->end = info.def.end;
	p->call_pc =
	    p->instructions ? nm_wire_instruction_pc(info.instructions[p->instructions - 1]) : info.def.pc;
	p->origin = nm_arena_alloc(&e->arena, sizeof *p->origin + p->accesses * sizeof p->origin->access[0]);
	if (!p->origin)
		goto exhausted;
	p->origin->exit = nm_arena_alloc(&e->arena, (p->exits + 1u) * sizeof *p->origin->exit);
	if (!p->origin->exit || plan_accesses(e, p, &info, m) ||
	    function_frame(e, m, info.def.pc, &p->stack_object) ||
	    (e->fetching && plan_fetches(e, p, &info, m)) || (id >= e->plan_room && grow_plans(e, id)))
		goto exhausted;
	e->plans[id] = p;
	return p;
exhausted:
	nm_fail(err, NM_ENOMEM, "out of memory");
	return NULL;
}
