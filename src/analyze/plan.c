/* SPDX-License-Identifier: MIT
 *
 * plan.c - makes plans from the definitions of blocks (plan.h).
 */
#include <string.h>

#include "coalesced.h"
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
	if (nm_vec_reach(&e->definitions, (size_t)info.id + 1))
		return nm_fail_memory(err);
	d = &e->definitions.at[info.id];
	if (d->words)
		return nm_fail(err, NM_EFORMAT, "block %u is defined twice", info.id);
	d->words = nm_arena_alloc(&e->codebook->arena, r->words * sizeof *d->words);
	if (!d->words)
		return nm_fail_memory(err);
	memcpy(d->words, r->payload, r->words * sizeof *d->words);
	d->count = (uint32_t)r->words;
	return 0;
}

/* What the function at pc is called. */
static const char *function_at(const struct nm_mapping *m, uint64_t pc)
{
	struct nm_function f;

	if (!m || !m->module)
		return "<code without a file>";
	return nm_module_function(m->module, pc - m->bias, &f) ? f.name : nm_module_name(m->module);
}

/* The next lane and its origin: of an access or, with `more` behind it, a group that begins with it. */
static int plan_lane(struct nm_engine *e, struct nm_plan *plan, const struct nm_wire_block_info *info,
		     uint32_t access, uint32_t word, const struct nm_mapping *m)
{
	struct nm_origin o = {.plan = plan, .access = (uint16_t)(e->origins.count - plan->first_origin)};
	uint64_t w = info->accesses[access],
		 pc = nm_wire_instruction_pc(info->instructions[nm_wire_access_instruction(w)]);
	uint32_t site;

	nm_lane_of(&o, low) = NM_BIAS;
	nm_lane_of(&o, length) = NM_NO_LENGTH;
	nm_lane_of(&o, word) = (uint64_t)word << 32;
	o.grouped = nm_word_is_coalesced((uint64_t)word << 32);
	if (nm_cells_site(&e->cells, pc, m ? m->module : NULL, m ? m->bias : 0, &site))
		return NM_ENOMEM;
	return nm_vec_push(&e->origin_sites, site) || nm_vec_push(&e->origins, o) ? NM_ENOMEM : 0;
}

/* What stands behind the address of a reference, without a cell. */
static uint32_t ref_word(uint32_t size, uint32_t kind, uint32_t weight)
{
	return size | kind << 16 | weight << 24;
}

/* Of a single access. */
static uint32_t access_word(struct nm_plan *plan, uint64_t w)
{
	unsigned flags = nm_wire_access_flags(w);
	unsigned kind = flags & NM_WIRE_WRITE ? NM_REF_WRITE : NM_REF_READ;

	if (flags & NM_WIRE_PREFETCH)
		kind = NM_PREFETCH;
	if (flags & (NM_WIRE_PREFETCH | NM_WIRE_GUARDED))
		plan->words = 0;
	return ref_word(nm_wire_access_size(w), kind, 1);
}

/* Of a group, if it can be taken as one reference. */
static uint32_t group_word(struct nm_plan *plan, const uint64_t *accesses, uint32_t count)
{
	uint64_t bytes = 0;
	uint32_t writes = 0, end = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t distance = nm_wire_access_distance(accesses[i]),
			 last = distance + nm_wire_access_size(accesses[i]);

		end = last > end ? last : end;
		if (end <= NM_COALESCED_SPAN)
			bytes |= ~0ull >> (64 - nm_wire_access_size(accesses[i])) << distance;
		writes += (nm_wire_access_flags(accesses[i]) & NM_WIRE_WRITE) != 0;
	}
	if (end > NM_COALESCED_SPAN || bytes != ~0ull >> (64 - end) || count > NM_COALESCED_MAX) {
		plan->words = 0;
		return ref_word(1, 0, 1);
	}
	return ref_word(end, writes, count);
}

/* How many accesses the group has that begins at one. */
static uint32_t group_count(const struct nm_wire_block_info *info, uint32_t access)
{
	uint32_t n = 1;

	while (access + n < info->def.accesses &&
	       nm_wire_access_flags(info->accesses[access + n]) & NM_WIRE_FOLLOWS)
		n++;
	return n;
}

/* Lanes for address words, then for each access of a group. */
static int plan_lanes(struct nm_engine *e, struct nm_plan *plan, const struct nm_wire_block_info *info,
		      const struct nm_mapping *m)
{
	struct nm_plan_tables *t = &e->tables.at[plan->tables];
	uint32_t word = 0, lane = info->groups;
	int status = 0;

	for (uint32_t i = 0, n; i < t->accesses && !status; i += n, word++) {
		n = group_count(info, i);
		status = plan_lane(e, plan, info, i,
				   n > 1 ? group_word(plan, info->accesses + i, n)
					 : access_word(plan, info->accesses[i]),
				   m);
		for (uint32_t k = i; k < i + n; k++)
			t->single[k] = (struct nm_single){
			    (uint16_t)word, (uint16_t)nm_wire_access_distance(info->accesses[k]),
			    (uint16_t)(n > 1 ? lane++ : word)};
	}
	for (uint32_t i = 0; i < t->accesses && !status; i++)
		if (t->single[i].lane >= info->groups)
			status = plan_lane(e, plan, info, i, access_word(plan, info->accesses[i]), m);
	return status;
}

static int plan_accesses(struct nm_engine *e, struct nm_plan *plan, const struct nm_wire_block_info *info,
			 const struct nm_mapping *m)
{
	struct nm_plan_tables *t = &e->tables.at[plan->tables];

	if (e->origins.count > UINT32_MAX - t->lanes)
		return NM_ENOMEM;
	plan->first_origin = (uint32_t)e->origins.count;
	if (plan_lanes(e, plan, info, m))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < t->exits; i++) {
		uint32_t accesses = nm_wire_exit_accesses(info->exits[i]);

		t->exit[i] =
		    (struct nm_side_exit){.accesses = (uint16_t)accesses,
					  .instructions = (uint16_t)nm_wire_exit_instructions(info->exits[i]),
					  .words = t->single[accesses].word};
	}
	if (t->accesses)
		plan->frame = t->single[t->accesses - 1].distance;
	return 0;
}

/* Each side exit learns how many bytes of its run's `bytes` it has executed behind instruction i. */
static void note_exits(struct nm_plan_tables *t, uint32_t i, uint8_t bytes)
{
	for (uint32_t k = 0; k < t->exits; k++)
		if (t->exit[k].instructions == i + 1)
			t->exit[k].fetched = bytes;
}

/* Runs of whole instructions within one line; an instruction that straddles two is a run of its own. */
static int plan_fetches(struct nm_engine *e, struct nm_plan *plan, const struct nm_wire_block_info *info,
			const struct nm_mapping *m)
{
	uint64_t mask = ~(uint64_t)(e->fetch_line - 1);
	uint32_t object, site;
	struct nm_plan_tables *t = &e->tables.at[plan->tables];

	t->fetch = nm_arena_alloc(&e->arena, plan->instructions * sizeof *t->fetch);
	if (!t->fetch ||
	    nm_space_code_object(&e->space, m && m->module ? nm_module_name(m->module) : "no file", &object))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < plan->instructions; i++) {
		uint64_t pc = nm_wire_instruction_pc(info->instructions[i]);
		unsigned bytes = nm_wire_instruction_bytes(info->instructions[i]);
		struct nm_fetch *f = t->fetches ? &t->fetch[t->fetches - 1] : NULL;

		if (f && f->address + f->bytes == pc && f->instructions < 255 &&
		    ((pc + bytes - 1) & mask) == (f->address & mask)) {
			f->instructions++;
			f->bytes = (uint8_t)(f->bytes + bytes);
			note_exits(t, i, f->bytes);
			continue;
		}
		f = &t->fetch[t->fetches++];
		*f = (struct nm_fetch){pc, 0, (uint16_t)i, 1, (uint8_t)bytes};
		note_exits(t, i, f->bytes);
		if (nm_cells_site(&e->cells, pc, m ? m->module : NULL, m ? m->bias : 0, &site))
			return NM_ENOMEM;
		f->cell = nm_cells_get(&e->cells, e->thread->number, e->cells.sites.at[site].place, object);
		if (!f->cell)
			return NM_ENOMEM;
	}
	return 0;
}

struct nm_plan nm_no_plan;

/* Makes room for block id in the running thread's table of plans. */
static int grow_plans(struct nm_engine *e, uint32_t id)
{
	struct nm_thread *t = e->thread;

	if (nm_vec_grow((void **)&t->plans, &t->plan_room, e->plan_room, id + 1 - e->plan_room,
			sizeof *t->plans))
		return NM_ENOMEM;
	for (size_t i = e->plan_room; i < t->plan_room; i++)
		t->plans[i] = &nm_no_plan;
	e->plans = t->plans;
	e->plan_room = t->plan_room;
	return 0;
}

/* How many lanes a block has: one for each address word, and those of accesses in groups. */
static uint32_t count_lanes(const struct nm_wire_block_info *info)
{
	uint32_t lanes = info->groups;

	for (uint32_t i = 0, n; i < info->def.accesses; i += n) {
		n = group_count(info, i);
		lanes += n > 1 ? n : 0;
	}
	return lanes;
}

/* An empty plan for the block. */
static struct nm_plan *new_plan(struct nm_engine *e, const struct nm_wire_block_info *info)
{
	struct nm_plan_tables t = {.accesses = info->def.accesses,
				   .exits = info->def.exits,
				   .words = info->groups,
				   .lanes = count_lanes(info)};
	size_t groups = (t.lanes + NM_LANES - 1u) / NM_LANES;
	struct nm_plan *p = nm_arena_alloc(&e->arena, sizeof *p + groups * sizeof p->lanes[0] + 48);

	t.exit = nm_arena_alloc(&e->arena, (t.exits + 1u) * sizeof *t.exit);
	t.single = nm_arena_alloc(&e->arena, (t.accesses + 1u) * sizeof *t.single);
	if (!p || !t.exit || !t.single || e->tables.count >= UINT32_MAX || nm_vec_push(&e->tables, t))
		return NULL;
	p = (struct nm_plan *)(((uintptr_t)p + 63) & ~(uintptr_t)63); /* arenas align to 16 */
	p->words = t.words > NM_BATCH ? 0 : (uint16_t)(t.words + 1);
	p->more = t.accesses - t.words;
	p->instructions = info->def.instructions;
	p->end = info->def.end;
	p->call_pc =
	    p->instructions ? nm_wire_instruction_pc(info->instructions[p->instructions - 1]) : info->def.pc;
	p->tables = (uint32_t)(e->tables.count - 1);
	e->tables.at[p->tables].plan = p;
	return p;
}

static int fill_plan(struct nm_engine *e, struct nm_plan *p, const struct nm_wire_block_info *info)
{
	const struct nm_mapping *m = nm_space_mapping(&e->space, info->def.pc);
	/* Objects are not to depend on blocks that a collector may leave out. */
	const int framed = info->def.accesses || e->calls || e->fetching;
	/* But all names are asked for: a trace keeps those that were, and its replay may want others. */
	const char *function = function_at(m, info->def.pc);
	const struct nm_object *frame;

	if (plan_accesses(e, p, info, m) ||
	    (framed && nm_space_frame_object(&e->space, function, &p->stack_object)) ||
	    (e->fetching && plan_fetches(e, p, info, m)))
		return NM_ENOMEM;
	frame = &e->space.objects.at[p->stack_object];
	p->fills = frame->copies || frame->clears ? UINT8_MAX : 0;
	return 0;
}

struct nm_plan *nm_engine_plan(struct nm_engine *e, uint32_t id, struct nm_error *err)
{
	struct nm_wire_record r = {.kind = NM_WIRE_BLOCK_DEF, .arg = id};
	struct nm_wire_block_info info;
	struct nm_plan *p;

	if (!e->thread || id >= e->definitions.count || !e->definitions.at[id].words) {
		nm_fail(err, NM_EFORMAT, "block %u runs before it is defined", id);
		return NULL;
	}
	r.payload = e->definitions.at[id].words;
	r.words = e->definitions.at[id].count;
	if (nm_wire_block_decode(&r, &info, err))
		return NULL;
	if (count_lanes(&info) > UINT16_MAX) {
		nm_fail(err, NM_EFORMAT, "block %u has too many accesses in groups", id);
		return NULL;
	}
	p = nm_engine_settle(e) ? NULL : new_plan(e, &info); /* it makes objects, and cells for fetches */
	if (!p || fill_plan(e, p, &info) || (id >= e->plan_room && grow_plans(e, id))) {
		nm_fail_memory(err);
		return NULL;
	}
	e->plans[id] = p;
	return p;
}
