/* SPDX-License-Identifier: MIT */
#include "one_machine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "batch_builder.h"
#include "engine_priv.h"
#include "one_machine_priv.h"

/* References that are held: a child may come that much later than its parent, or be read before it. */
enum { HOLD_LEAST = 1 << 20 };

/* ---- the cache pass -------------------------------------------------------------------------------- */

static int run_batch(void *arg, const struct nm_batch *b, const struct nm_ref *next)
{
	struct nm_one_machine *m = arg;
	const struct nm_pass_batch batch = {.refs = b->refs,
					    .count = b->count,
					    .time_slices = b->time_slices,
					    .time_slice_count = b->time_slice_count,
					    .hints = b->hints,
					    .hint_count = b->hint_count,
					    .uncounted = b->uncounted,
					    .next = next};

	return nm_pass_cache.batch(m->pass, &batch);
}

static int submit_merged(void *arg, const struct nm_merged *merged)
{
	struct nm_one_machine *m = arg;
	const struct nm_batch batch = {.refs = merged->refs,
				       .count = merged->count,
				       .time_slices = merged->time_slices,
				       .time_slice_count = merged->time_slice_count,
				       .hints = merged->hints,
				       .hint_count = merged->hint_count,
				       .uncounted = m->has_uncounted};
	int status = nm_workers_submit(m->workers, &batch);

	m->submitted++;
	if (!status && m->submitted - m->retired > NM_BATCHES_IN_FLIGHT)
		status = nm_pass_cache.retired(m->pass, NULL, m->retired++);
	return status;
}

int nm_one_machine_catch_up(struct nm_one_machine *m)
{
	int status = nm_interleave_send(m->interleave);

	if (!status)
		status = nm_schedules_catch_up(m->schedules);
	if (!status)
		status = nm_workers_drain(m->workers);
	while (m->retired < m->submitted && !status)
		status = nm_pass_cache.retired(m->pass, NULL, m->retired++);
	return status;
}

int nm_one_machine_before_fork(struct nm_one_machine *m)
{
	const int status = nm_workers_drain(m->workers);

	if (!status)
		nm_workers_before_fork(m->workers);
	return status;
}

void nm_one_machine_after_fork(struct nm_one_machine *m, int is_child)
{
	nm_workers_after_fork(m->workers, is_child);
}

static int make_pass(struct nm_one_machine *m, struct nm_error *err)
{
	const struct nm_pass_setup setup = {
	    .options = &m->options, .coalesced = m->coalesced, .one_machine = m};
	const struct nm_interleave_setup merge = {.machine = m->options.machine,
						  .order = m->options.order,
						  .hold_least = HOLD_LEAST,
						  .keeps_ended = 1,
						  .output = submit_merged,
						  .arg = m};
	int status = nm_pass_cache.make(&m->pass, &setup, err);

	if (status)
		return status;
	if (nm_interleave_new(&m->interleave, &merge))
		return nm_fail_memory(err);
	nm_interleave_set_coalesced(m->interleave, m->coalesced);
	nm_workers_add(m->workers, run_batch, m);
	return nm_schedules_new(&m->schedules, &setup, &merge, err);
}

int nm_one_machine_new(struct nm_one_machine **ret, const struct nm_engine_options *options,
		       struct nm_error *err)
{
	struct nm_one_machine *m = calloc(1, sizeof *m);
	int status;

	if (!m)
		return nm_fail_memory(err);
	m->options = *options;
	m->coalesced = nm_coalesced_table_new();
	status = m->coalesced && !nm_vec_reach(&m->keys, 1)
		     ? nm_workers_new(&m->workers, options->threads, options->idle, err)
		     : nm_fail_memory(err);
	if (!status)
		status = make_pass(m, err);
	if (status)
		nm_one_machine_free(m);
	else
		*ret = m;
	return status;
}

static void free_member(struct nm_machine_member *member)
{
	nm_member_leave(member);
	nm_vec_free(&member->threads);
	nm_vec_free(&member->keys);
	nm_vec_free(&member->groups);
	free(member->attrs);
	free(member->contexts);
	free(member);
}

void nm_one_machine_free(struct nm_one_machine *m)
{
	if (!m)
		return;
	nm_workers_free(m->workers);
	nm_interleave_free(m->interleave);
	nm_schedules_free(m->schedules);
	if (m->pass)
		nm_pass_cache.free(m->pass);
	for (size_t i = 0; i < m->members.count; i++)
		free_member(m->members.at[i]);
	nm_vec_free(&m->members);
	nm_vec_free(&m->keys);
	nm_vec_free(&m->pieces);
	nm_map_done(&m->piece_at);
	nm_machine_memory_done(&m->memory);
	nm_result_free(&m->result);
	nm_coalesced_table_free(m->coalesced);
	free(m);
}

/* ---- numbers of the machine ------------------------------------------------------------------------ */

static uint32_t thread_of(struct nm_machine_member *member, uint64_t thread)
{
	uint32_t *number;

	if (!thread || nm_vec_reach(&member->threads, thread + 1))
		return 0;
	number = &member->threads.at[thread];
	if (!*number)
		*number = ++member->machine->thread_count;
	return *number;
}

uint32_t nm_member_thread(const struct nm_machine_member *member, uint32_t thread)
{
	return thread < member->threads.count ? member->threads.at[thread] : 0;
}

/* 0: out of memory. */
static uint32_t make_key(struct nm_machine_member *member, uint32_t key)
{
	struct nm_one_machine *m = member->machine;

	if (nm_vec_reach(&member->keys, (size_t)key + 1))
		return 0;
	if (!member->keys.at[key] && key) {
		if (nm_vec_push(&m->keys, (struct machine_key){.member = member, .key = key}))
			return 0;
		member->keys.at[key] = (uint32_t)m->keys.count - 1;
	}
	return member->keys.at[key];
}

static inline uint32_t key_of(struct nm_machine_member *member, uint32_t key)
{
	const uint32_t known = key < member->keys.count ? member->keys.at[key] : 0;

	return __builtin_expect(known != 0, 1) ? known : make_key(member, key);
}

/* The number of a coalesced access. 0: out of memory. */
static uint32_t make_group(struct nm_machine_member *member, uint32_t number)
{
	const struct nm_coalesced *group;
	struct nm_coalesced_member members[NM_COALESCED_MAX];

	if (nm_vec_reach(&member->groups, (size_t)number + 1))
		return 0;
	group = nm_coalesced_at(member->program->replay.resolver.coalesced, number);
	for (uint32_t i = 0; i < group->members; i++) {
		members[i] = group->member[i];
		members[i].attr = key_of(member, members[i].attr);
		if (!members[i].attr)
			return 0;
	}
	return member->groups.at[number] =
		   nm_coalesced_add(member->machine->coalesced, members, group->members);
}

static inline uint32_t group_of(struct nm_machine_member *member, uint32_t number)
{
	const uint32_t known = number < member->groups.count ? member->groups.at[number] : 0;

	return __builtin_expect(known != 0, 1) ? known : make_group(member, number);
}

/* Adds to all orders. */
static int add_batch(struct nm_one_machine *m, const struct nm_thread_batch *batch)
{
	const int status = nm_interleave_add(m->interleave, batch);

	return status ? status : nm_schedules_add(m->schedules, batch, m->has_uncounted);
}

static int add_sync(struct nm_one_machine *m, const struct nm_sync *sync)
{
	return add_batch(m, &(struct nm_thread_batch){.syncs = sync, .sync_count = 1});
}

/* ---- references ------------------------------------------------------------------------------------- */

static int translate_address(struct nm_machine_member *member, uint64_t *address, int writes)
{
	uint64_t distance;

	if (nm_machine_distance(&member->pages, *address, writes, &distance))
		return NM_ENOMEM;
	*address += distance;
	return 0;
}

/* Copies each reference member by member: changed in a register pair and stored whole, it would wait for its own
 * parts. */
static int translate_references(struct nm_machine_member *member, const struct nm_ref *refs, size_t from,
				size_t end)
{
	struct nm_ref *to = member->machine->refs;

	for (size_t i = from; i < end; i++) {
		const struct nm_ref *r = &refs[i];
		const int is_group = nm_ref_is_coalesced(r);
		const int writes = is_group ? r->kind > 0 : r->kind == NM_REF_WRITE;
		const uint32_t attr = is_group ? group_of(member, r->attr) : key_of(member, r->attr);
		uint64_t distance;

		if (!attr || nm_machine_distance(&member->pages, r->address, writes, &distance))
			return NM_ENOMEM;
		to[i].address = r->address + distance;
		to[i].attr = attr;
		to[i].size = r->size;
		to[i].kind = r->kind;
		to[i].weight = r->weight;
	}
	return 0;
}

/* Numbers that the collector gives to threads, told apart by member. */
static uint64_t collectors_thread(const struct nm_machine_member *member, uint64_t number)
{
	return (uint64_t)member->number << 32 | number;
}

/* A thread starts: the first one of a process after what the one before did. */
static int translate_start(struct nm_machine_member *member, struct nm_sync *s)
{
	const int is_first = member->threads.count == 0;

	s->object = collectors_thread(member, s->object);
	s->thread = thread_of(member, s->thread);
	s->parent = is_first ? member->after : nm_member_thread(member, s->parent);
	return s->thread ? 0 : NM_ENOMEM;
}

static int translate_sync(struct nm_machine_member *member, struct nm_sync *s)
{
	switch (s->kind) {
	case NM_SYNC_THREAD:
		s->object = member->running = thread_of(member, s->object);
		return s->object ? 0 : NM_ENOMEM;
	case NM_SYNC_EXIT:
		s->object = nm_member_thread(member, (uint32_t)s->object);
		member->running = member->running == s->object ? 0 : member->running;
		return 0;
	case NM_SYNC_START: return translate_start(member, s);
	case NM_SYNC_CREATE: s->object = collectors_thread(member, s->object); return 0;
	case NM_SYNC_LOCK:
	case NM_SYNC_SHARE:
	case NM_SYNC_UNLOCK:
	case NM_SYNC_FUTEX_WAIT:
	case NM_SYNC_FUTEX_WAKE: return translate_address(member, &s->object, 1);
	default: return 0;
	}
}

/* From here on this member's references come: a turn of its running thread in the recorded order. */
static int run_member(struct nm_machine_member *member)
{
	struct nm_one_machine *m = member->machine;
	const struct nm_sync sync = {.kind = NM_SYNC_THREAD, .object = member->running};

	if (m->has_turn || !member->running)
		return 0;
	m->has_turn = 1;
	return add_sync(m, &sync);
}

void nm_member_end_turn(struct nm_machine_member *member) { member->machine->has_turn = 0; }

static int translate_hints(struct nm_machine_member *member, const struct nm_thread_batch *batch,
			   struct nm_cache_hint *to)
{
	for (size_t i = 0; i < batch->hint_count; i++) {
		to[i] = batch->hints[i];
		if (to[i].is_store)
			continue;
		to[i].prefetch.attr = key_of(member, to[i].prefetch.attr);
		if (!to[i].prefetch.attr || translate_address(member, &to[i].prefetch.address, 0))
			return NM_ENOMEM;
	}
	return 0;
}

/* In the order of the batch: a lock, too, takes a page of its own by copy on write. */
static int translate(struct nm_machine_member *member, const struct nm_thread_batch *batch)
{
	struct nm_one_machine *m = member->machine;
	size_t at = 0;
	int status = 0;

	for (size_t i = 0; i < batch->sync_count && !status; i++) {
		const size_t index = batch->syncs[i].index;

		m->syncs[i] = batch->syncs[i];
		status = translate_references(member, batch->refs, at, index);
		if (!status)
			status = translate_sync(member, &m->syncs[i]);
		at = index;
	}
	if (!status)
		status = translate_references(member, batch->refs, at, batch->count);
	return status ? status : translate_hints(member, batch, m->hints);
}

int nm_member_add(struct nm_machine_member *member, const struct nm_thread_batch *batch)
{
	struct nm_one_machine *m = member->machine;
	struct nm_thread_batch translated = {.refs = m->refs,
					     .count = batch->count,
					     .syncs = m->syncs,
					     .sync_count = batch->sync_count,
					     .hints = m->hints,
					     .hint_count = batch->hint_count};
	int status = run_member(member);

	assert(batch->count <= NM_BATCH && batch->sync_count <= NM_SYNCS && batch->hint_count <= NM_BATCH);
	if (!status)
		status = translate(member, batch);
	if (status)
		return status;
	m->has_uncounted |= member->program->replay.has_paused;
	nm_coalesced_raise_limit(m->coalesced, (uint32_t)m->keys.count);
	return add_batch(m, &translated);
}

/* ---- members ---------------------------------------------------------------------------------------- */

/* A forked child's thread starts where its parent is. */
static int start_forked(struct nm_machine_member *member, struct nm_machine_member *parent)
{
	const struct nm_sync sync = {.kind = NM_SYNC_START,
				     .object = collectors_thread(member, UINT32_MAX),
				     .thread = thread_of(member, 1),
				     .parent = parent->running};

	if (!sync.thread || nm_machine_pages_fork(&member->pages, &parent->pages))
		return NM_ENOMEM;
	return add_sync(member->machine, &sync);
}

int nm_member_new(struct nm_machine_member **ret, struct nm_one_machine *m, struct nm_engine *program,
		  struct nm_machine_member *before, int forked)
{
	struct nm_machine_member *member = calloc(1, sizeof *member);

	if (!member || nm_vec_push(&m->members, member)) {
		free(member);
		return NM_ENOMEM;
	}
	member->machine = m;
	member->program = program;
	member->elements.program = program;
	member->number = (uint32_t)m->members.count;
	member->after = before ? before->running : 0;
	*ret = member;
	if (forked)
		return start_forked(member, before);
	nm_machine_pages_init(&member->pages, &m->memory);
	return 0;
}

struct nm_machine_pages *nm_member_pages(struct nm_machine_member *member) { return &member->pages; }

void nm_member_released(struct nm_machine_member *member, uint64_t address, uint64_t size, uint32_t object)
{
	nm_elements_released(&member->elements, address, size, object);
}

int nm_member_end(struct nm_machine_member *member)
{
	int status = 0;

	for (size_t i = 0; i < member->threads.count && !status; i++) {
		const struct nm_sync sync = {.kind = NM_SYNC_EXIT, .object = member->threads.at[i]};

		if (sync.object)
			status = add_sync(member->machine, &sync);
	}
	return status;
}

int nm_member_is_merged(const struct nm_machine_member *member)
{
	const struct nm_one_machine *m = member->machine;

	for (size_t i = 0; i < member->threads.count; i++)
		if (!nm_interleave_is_over(m->interleave, member->threads.at[i]) ||
		    !nm_schedules_are_over(m->schedules, member->threads.at[i]))
			return 0;
	return 1;
}

void nm_member_leave(struct nm_machine_member *member)
{
	member->program = NULL;
	nm_machine_pages_done(&member->pages);
	nm_elements_done(&member->elements);
}

int nm_one_machine_touch(const struct nm_one_machine *m, struct nm_member_touch *touch)
{
	const struct machine_key *key = &m->keys.at[touch->key];

	if (!key->member->program)
		return 0;
	*touch = (struct nm_member_touch){&key->member->elements, key->key,
					  nm_machine_pages_back(&key->member->pages, touch->address)};
	return 1;
}
