/* SPDX-License-Identifier: MIT
 *
 * machine_shares.c - what the one machine counted, and each process's share of it.
 *
 * The cache pass finishes as for one program whose attributions are the machine's keys. Those that do not count are
 * told apart by their object.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "one_machine_priv.h"

enum { COUNTED, UNMEASURED, OBJECTS };

/* ---- engines as members ---- */

int nm_engine_join(struct nm_engine *e, const struct nm_engine *before)
{
	return nm_member_new(&e->output.member, e->options.one_machine, e,
			     before ? before->output.member : NULL, 0);
}

int nm_engine_stop(struct nm_engine *e, struct nm_error *err)
{
	return nm_replay_flush(&e->replay) || nm_member_end(e->output.member) ? nm_fail_memory(err) : 0;
}

int nm_engine_is_merged(const struct nm_engine *e) { return nm_member_is_merged(e->output.member); }

struct nm_machine_member *nm_engine_member(const struct nm_engine *e) { return e->output.member; }

/* Room for what the caches count, to which the program's references are added first. */
static int make_levels(struct nm_result *r)
{
	for (unsigned i = 0; i < r->machine.count; i++) {
		struct nm_result_level *level = &r->levels[i];

		level->counts = calloc(r->attr_count + 1, sizeof *level->counts);
		level->context_counts = calloc(r->context_attr_count + 1, sizeof *level->context_counts);
		if (!level->counts || !level->context_counts)
			return NM_ENOMEM;
	}
	return 0;
}

static uint32_t *copy_indices(const uint32_t *from, size_t count)
{
	uint32_t *to = malloc((count + 1) * sizeof *to);

	return to ? memcpy(to, from, count * sizeof *to) : NULL;
}

int nm_member_keep(struct nm_machine_member *member, const struct nm_pass_merge *merge,
		   struct nm_result *result)
{
	member->attrs = copy_indices(merge->keys, merge->key_count);
	member->contexts = merge->contexts ? copy_indices(merge->contexts, merge->key_count) : NULL;
	if (!member->attrs || (merge->contexts && !member->contexts))
		return NM_ENOMEM;
	member->named = merge->key_count;
	for (size_t key = 1; key < member->named && key < member->keys.count; key++) {
		struct machine_key *k = &member->machine->keys.at[member->keys.at[key]];

		k->thread = result->attrs[merge->keys[key]].thread;
		k->is_unmeasured = !nm_pass_counts_key(merge, result, key);
	}
	return make_levels(result);
}

/* ---- the whole ---- */

const struct nm_machine_member *nm_one_machine_owner(const struct nm_one_machine *m, uint32_t key,
						     uint32_t *ret_attr)
{
	const struct machine_key *k = &m->keys.at[key];

	assert(key < m->keys.count);
	if (!k->member || k->key >= k->member->named)
		return NULL;
	*ret_attr = k->member->attrs[k->key];
	return k->member;
}

/* The result's attributions, one for each key. */
static int make_attributions(struct nm_one_machine *m, uint32_t *identity)
{
	struct nm_result *r = &m->result;

	r->machine = *m->options.machine;
	r->objects = calloc(OBJECTS, sizeof *r->objects);
	r->attrs = calloc(m->keys.count + 1, sizeof *r->attrs);
	if (!r->objects || !r->attrs)
		return NM_ENOMEM;
	r->object_count = OBJECTS;
	r->objects[UNMEASURED].kind = NM_OBJECT_UNMEASURED;
	r->attr_count = m->keys.count;
	for (size_t key = 1; key < m->keys.count; key++) {
		identity[key] = (uint32_t)key;
		r->attrs[key].object = m->keys.at[key].is_unmeasured ? UNMEASURED : COUNTED;
		r->attrs[key].thread = m->keys.at[key].thread;
	}
	return 0;
}

int nm_one_machine_settle(struct nm_one_machine *m, int all, struct nm_error *err)
{
	int status = all ? nm_interleave_drain(m->interleave) : nm_interleave_settle(m->interleave);

	if (!status)
		status = all ? nm_schedules_drain(m->schedules) : nm_schedules_settle(m->schedules);
	return status || nm_one_machine_catch_up(m) ? nm_fail_memory(err) : 0;
}

int nm_one_machine_finish(struct nm_one_machine *m, struct nm_error *err)
{
	uint32_t *identity = calloc(m->keys.count + 1, sizeof *identity);
	const struct nm_pass_merge merge = {.key_count = m->keys.count, .keys = identity};
	int status = identity ? 0 : NM_ENOMEM;

	if (m->has_ended) {
		free(identity);
		return 0;
	}
	m->has_ended = 1;
	if (!status)
		status = nm_pass_cache.ending(m->pass, NULL);
	if (!status)
		status = nm_schedules_ending(m->schedules);
	if (!status)
		status = make_attributions(m, identity);
	if (!status)
		status = nm_pass_cache.finish(m->pass, &merge, &m->result);
	if (!status)
		status = nm_schedules_finish(m->schedules, &merge, &m->result);
	m->result.order.stalls = nm_interleave_forced_progress(m->interleave);
	free(identity);
	nm_pass_cache.free(m->pass);
	m->pass = NULL;
	return status ? nm_fail_memory(err) : 0;
}

const struct nm_result *nm_one_machine_result(const struct nm_one_machine *m) { return &m->result; }

/* ---- the share of a process ---- */

static void add_walk(struct nm_walk *to, const struct nm_walk *more)
{
	if (more->loads > to->loads)
		*to = *more;
}

/* What only some levels and machines count. */
static int make_further(const struct nm_result *all, struct nm_result *r)
{
	for (unsigned i = 0; i < r->machine.count; i++) {
		struct nm_result_level *level = &r->levels[i];

		if (all->levels[i].extras &&
		    !(level->extras = calloc(r->attr_count + 1, sizeof *level->extras)))
			return NM_ENOMEM;
	}
	return all->walks && !(r->walks = calloc(r->attr_count + 1, sizeof *r->walks)) ? NM_ENOMEM : 0;
}

/* A key's counts at a level, for its attribution and context. */
static void add_key(const struct nm_machine_member *member, uint32_t key, const struct nm_result_level *all,
		    struct nm_result_level *level)
{
	const uint32_t machine_key = member->keys.at[key], attr = member->attrs[key];

	assert(key < member->keys.count);
	nm_counts_add(&level->counts[attr], &all->counts[machine_key]);
	if (member->contexts)
		nm_counts_add(&level->context_counts[member->contexts[key]], &all->counts[machine_key]);
	if (all->extras)
		nm_extras_add(&level->extras[attr], &all->extras[machine_key]);
}

/* Whether the machine has seen the key, and it counts. */
static int has_counts(const struct nm_machine_member *member, uint32_t key)
{
	assert(key < member->keys.count);
	return member->keys.at[key] && !member->machine->keys.at[member->keys.at[key]].is_unmeasured;
}

/* The level's share of a further order. */
static int add_schedule_level(const struct nm_machine_member *member, size_t keys, unsigned i,
			      const struct nm_result_schedule *all, const struct nm_result *r,
			      struct nm_result_schedule *to)
{
	const int is_first = nm_machine_first(&r->machine, i, NM_SIDE_DATA) ||
			     nm_machine_first(&r->machine, i, NM_SIDE_INSTRUCTION);

	assert(i < NM_MAX_LEVELS);
	if (all->extras[i] && !(to->extras[i] = calloc(r->attr_count + 1, sizeof *to->extras[i])))
		return NM_ENOMEM;
	for (uint32_t key = 1; key < keys; key++) {
		const uint32_t machine_key = member->keys.at[key];

		if (!has_counts(member, key))
			continue;
		nm_counts_add(&to->totals[i], &all->counts[i][machine_key]);
		if (all->extras[i])
			nm_extras_add(&to->extras[i][member->attrs[key]], &all->extras[i][machine_key]);
	}
	if (is_first) { /* what the program references is the same in all orders */
		to->totals[i].reads = r->levels[i].total.reads;
		to->totals[i].writes = r->levels[i].total.writes;
	}
	return 0;
}

static int add_schedules(const struct nm_machine_member *member, size_t keys, struct nm_result *r)
{
	const struct nm_result *all = &member->machine->result;
	int status = 0;

	if (!all->schedule_count || r->schedules) /* it may have been opened before */
		return 0;
	r->schedules = calloc(all->schedule_count, sizeof *r->schedules);
	if (!r->schedules)
		return NM_ENOMEM;
	for (; r->schedule_count < all->schedule_count && !status; r->schedule_count++) {
		const struct nm_result_schedule *from = &all->schedules[r->schedule_count];
		struct nm_result_schedule *to = &r->schedules[r->schedule_count];

		to->order = from->order;
		for (unsigned i = 0; i < r->machine.count && !status; i++)
			status = add_schedule_level(member, keys, i, from, r, to);
	}
	return status;
}

int nm_member_add_counts(const struct nm_machine_member *member, struct nm_result *r, struct nm_error *err)
{
	const struct nm_result *all = &member->machine->result;
	const size_t keys = member->keys.count < member->named ? member->keys.count : member->named;

	assert(member->machine->has_ended);
	r->is_of_one_machine = 1;
	if (make_further(all, r))
		return nm_fail_memory(err);
	for (unsigned i = 0; i < r->machine.count; i++) {
		struct nm_result_level *level = &r->levels[i];

		for (uint32_t key = 1; key < keys; key++)
			if (has_counts(member, key))
				add_key(member, key, &all->levels[i], level);
		level->total = (struct nm_counts){0};
		for (size_t attr = 0; attr < r->attr_count; attr++)
			nm_counts_add(&level->total, &level->counts[attr]);
	}
	for (uint32_t key = 1; key < keys && all->walks; key++)
		if (has_counts(member, key))
			add_walk(&r->walks[member->attrs[key]], &all->walks[member->keys.at[key]]);
	nm_result_share_chases(r);
	return add_schedules(member, keys, r) ? nm_fail_memory(err) : 0;
}
