/* SPDX-License-Identifier: MIT
 *
 * one_machine_test.c - random processes that run on one machine: they fork, execute programs, start threads, wait for
 * each other, end or are killed anywhere, and touch private and shared pages. Their merged order, and the coherence
 * misses of each reference, equal those of a slow model: frames of memory, copied when one of several owners writes;
 * the interleaver's twin for the order; and for each line the cores that have, or had, a copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine_priv.h"
#include "interleave_twin.h"
#include "numbers.h"
#include "one_machine_priv.h"

enum { SHARED = 2, PAGES = 5 /* the first ones of an object that processes share */, FRAMES = 256 };
enum { PAGE = 1 << NM_MACHINE_PAGE_SHIFT, PAGE_LINES = PAGE / 64, PARTS = 400, PART = 60 };

/* An event of the recorded order; if it is a reference: */
struct touch {
	uint64_t address; /* in frames */
	uint32_t thread;
	int writes;
};

struct process {
	struct nm_machine_member *member;
	uint64_t base;             /* address of the shared pages */
	uint64_t frames[PAGES];    /* 0: none yet */
	uint32_t threads[THREADS]; /* their numbers on the machine */
	int live[THREADS];
	uint32_t count, running; /* 0: none runs yet; else 1 + index of a thread */
	uint32_t after;          /* thread of the machine before the first one */
	int has_ended;
};

struct world {
	struct nm_one_machine *machine;
	struct nm_hierarchy *hierarchy;
	struct numbers out; /* merged, by number in the recorded order */
	struct twin *twin;
	struct nm_vec(struct touch) touches; /* by that number */
	unsigned users[FRAMES];
	uint64_t frames;
	struct process processes[THREADS];
	uint32_t process_count, thread_count;
	/* The part of a stream that is being made. */
	struct process *p;
	struct nm_ref refs[NM_BATCH];
	struct nm_sync syncs[NM_SYNCS];
	size_t count, sync_count;
};

/* ---- the machine, without its workers ---- */

static int receive(void *arg, const struct nm_merged *b)
{
	struct world *w = arg;

	for (size_t i = 0; i < b->count; i++)
		assert_int_equal(nm_vec_push(&w->out, w->machine->keys.at[b->refs[i].attr].key), 0);
	return nm_hierarchy_run_time_slices(w->hierarchy, b->refs, b->time_slices, b->time_slice_count);
}

static void make_machine(struct world *w, struct nm_machine *spec)
{
	struct nm_interleave_setup setup = {
	    .machine = spec,
	    .order = {.quantum = 1 + (uint32_t)below(40), .random = (int)below(2), .seed = below(1000)},
	    .hold_least = 1 + below(300),
	    .hold_most = UINT64_MAX,
	    .keeps_ended = 1,
	    .output = receive,
	    .arg = w};
	struct nm_error err;

	assert_int_equal(nm_machine_parse("L1d=4M,32,64,protocol=mesi:L2=8M,16,64", spec, &err), 0);
	spec->cores = 2 + (unsigned)below(4);
	assert_int_equal(nm_hierarchy_new(&w->hierarchy, spec, &err), 0);
	w->machine = calloc(1, sizeof *w->machine);
	assert_non_null(w->machine);
	w->machine->coalesced = nm_coalesced_table_new();
	assert_int_equal(nm_interleave_new(&w->machine->interleave, &setup), 0);
	assert_int_equal(nm_vec_reach(&w->machine->keys, 1), 0);
	w->twin = twin_new(&setup);
	assert_int_equal(nm_vec_push(&w->touches, (struct touch){0}), 0);
}

static void free_world(struct world *w)
{
	nm_one_machine_free(w->machine);
	nm_hierarchy_free(w->hierarchy);
	twin_free(w->twin);
	nm_vec_free(&w->out);
	nm_vec_free(&w->touches);
}

/* ---- what a process does, and what the model makes of it ---- */

static struct nm_engine *no_program(void)
{
	static struct nm_engine *empty; /* its references all count, and none are coalesced */

	if (!empty)
		empty = calloc(1, sizeof *empty);
	return empty;
}

static void tell_twin(struct world *w, struct event e, struct touch touch)
{
	twin_add(w->twin, &e, w->touches.count);
	assert_int_equal(nm_vec_push(&w->touches, touch), 0);
}

static void tell_sync(struct world *w, struct event e) { tell_twin(w, e, (struct touch){0}); }

/* The place of a byte in frames: shared ones have the numbers below SHARED. */
static uint64_t place_of(struct world *w, size_t page, uint64_t offset, int writes)
{
	uint64_t *frame = &w->p->frames[page];

	if (page < SHARED)
		return page * PAGE + offset;
	if (*frame && writes && w->users[*frame] > 1) {
		w->users[*frame]--;
		*frame = 0;
	}
	if (!*frame) {
		*frame = SHARED + ++w->frames;
		assert_true(*frame < FRAMES);
		w->users[*frame] = 1;
	}
	return *frame * PAGE + offset;
}

static uint64_t address_of(const struct process *p, size_t page, uint64_t offset)
{
	return page < SHARED ? p->base + page * PAGE + offset : page * PAGE + offset;
}

/* An event of the running thread: `own` as its stream has it, `seen` as the twin does. */
static void sync_as(struct world *w, uint8_t kind, uint64_t own, uint64_t seen)
{
	w->syncs[w->sync_count++] =
	    (struct nm_sync){.object = own, .index = (uint32_t)w->count, .kind = kind};
	if (kind != NM_SYNC_ATOMIC && kind != NM_SYNC_UPDATE)
		tell_sync(w, (struct event){.kind = kind, .object = seen});
}

static void refer(struct world *w, uint8_t kind, size_t page, uint64_t offset, int writes)
{
	const struct nm_ref r = {.address = address_of(w->p, page, offset),
				 .attr = (uint32_t)w->touches.count,
				 .size = offset % 8 ? 4 : (uint16_t)(4 << below(2)),
				 .kind = writes ? NM_REF_WRITE : NM_REF_READ,
				 .weight = 1};
	struct event e = {.kind = kind, .ref = r};
	const struct touch touch = {place_of(w, page, offset, writes), w->p->threads[w->p->running - 1],
				    writes};

	if (kind != NM_SYNC_NONE)
		sync_as(w, kind, 0, 0);
	w->refs[w->count++] = r;
	e.ref.address = touch.address;
	tell_twin(w, e, touch);
}

static void run_thread_of(struct world *w, uint32_t own)
{
	w->p->running = own;
	sync_as(w, NM_SYNC_THREAD, own, w->p->threads[own - 1]);
}

static uint64_t made_number(const struct world *w, uint32_t own)
{
	return 1000 * (uint64_t)(1 + w->p - w->processes) + own;
}

static void start_one_thread(struct world *w)
{
	struct process *p = w->p;
	const uint32_t own = p->count + 1, parent = p->running ? p->threads[p->running - 1] : p->after;

	if (w->thread_count == THREADS)
		return;
	if (p->running && below(3))
		sync_as(w, NM_SYNC_CREATE, own, made_number(w, own));
	p->threads[p->count++] = ++w->thread_count;
	p->live[own - 1] = 1;
	w->syncs[w->sync_count++] = (struct nm_sync){.object = own,
						     .index = (uint32_t)w->count,
						     .thread = own,
						     .parent = p->running,
						     .kind = NM_SYNC_START};
	tell_sync(w, (struct event){.kind = NM_SYNC_START,
				    .object = made_number(w, own),
				    .thread = w->thread_count,
				    .parent = parent});
	if (!p->running)
		run_thread_of(w, own);
}

static void end_one_thread(struct world *w)
{
	struct process *p = w->p;
	const uint32_t own = 1 + (uint32_t)below(p->count);

	if (!p->live[own - 1] || own == p->running)
		return;
	p->live[own - 1] = 0;
	sync_as(w, NM_SYNC_EXIT, own, p->threads[own - 1]);
}

static void switch_thread(struct world *w)
{
	const uint32_t own = 1 + (uint32_t)below(w->p->count);

	if (w->p->live[own - 1])
		run_thread_of(w, own);
}

/* A lock or a futex of a shared or a private page. */
static void sync_at_word(struct world *w)
{
	static const uint8_t kinds[] = {NM_SYNC_LOCK,   NM_SYNC_SHARE,      NM_SYNC_UNLOCK,
					NM_SYNC_UNLOCK, NM_SYNC_FUTEX_WAIT, NM_SYNC_FUTEX_WAKE};
	const size_t page = below(PAGES);
	const uint64_t offset = below(WORDS) * 4;

	sync_as(w, kinds[below(sizeof kinds)], address_of(w->p, page, offset), place_of(w, page, offset, 1));
}

static void refer_atomically(struct world *w)
{
	const size_t page = below(PAGES);
	const uint64_t offset = below(WORDS) * 4;
	const uint8_t kind = below(2) ? NM_SYNC_ATOMIC : NM_SYNC_UPDATE;

	refer(w, kind, page, offset, 0);
	refer(w, kind, page, offset, 1);
}

static void refer_plainly(struct world *w)
{
	refer(w, NM_SYNC_NONE, below(PAGES), below(64) * 4, below(3) == 0);
}

static void do_something(struct world *w)
{
	static const uint8_t plain[] = {NM_SYNC_JOIN,   NM_SYNC_CALL,  NM_SYNC_CALL,
					NM_SYNC_RESUME, NM_SYNC_ENTER, NM_SYNC_LEAVE};
	const uint64_t dice = below(100);

	if (dice < 1)
		start_one_thread(w);
	else if (dice < 2)
		end_one_thread(w);
	else if (dice < 6)
		switch_thread(w);
	else if (dice < 12)
		sync_as(w, plain[below(sizeof plain)], 0, 0);
	else if (dice < 18)
		sync_at_word(w);
	else if (dice < 26)
		refer_atomically(w);
	else
		refer_plainly(w);
}

/* ---- processes ---- */

static void run_part(struct world *w, void (*act)(struct world *))
{
	struct process *p = w->p;
	const uint64_t events = below(PART);
	struct nm_thread_batch batch = {.refs = w->refs, .syncs = w->syncs};

	if (p->running) /* a turn begins */
		tell_sync(w, (struct event){.kind = NM_SYNC_THREAD, .object = p->threads[p->running - 1]});
	else if (p->count)
		run_thread_of(w, 1);
	else
		start_one_thread(w);
	for (uint64_t i = 0; i < events; i++)
		act(w);
	batch.count = w->count;
	batch.sync_count = w->sync_count;
	assert_int_equal(nm_member_add(p->member, &batch), 0);
	nm_member_end_turn(p->member);
	w->count = w->sync_count = 0;
}

/* A process forked by another; one that goes on with another program; or, without any, the first one. */
static void start_process(struct world *w, struct process *before, int forked)
{
	struct process *p = &w->processes[w->process_count++];
	const struct nm_object_part part = {(1 + below(3)) << 20, SHARED * PAGE, 1, 1, 0};

	if (before)
		p->after = before->running ? before->threads[before->running - 1] : 0;
	assert_int_equal(
	    nm_member_new(&p->member, w->machine, no_program(), before ? before->member : NULL, forked), 0);
	w->p = p;
	if (!forked) {
		p->base = part.address;
		assert_int_equal(nm_machine_pages_share(nm_member_pages(p->member), &part), 0);
		return;
	}
	p->base = before->base;
	memcpy(p->frames, before->frames, sizeof p->frames);
	for (size_t i = 0; i < PAGES; i++)
		w->users[p->frames[i]]++;
	p->threads[p->count++] = ++w->thread_count;
	p->live[0] = 1;
	tell_sync(w, (struct event){.kind = NM_SYNC_START,
				    .object = made_number(w, 1),
				    .thread = w->thread_count,
				    .parent = p->after});
}

/* It ends, or is killed, wherever its threads are. */
static void end_process(struct world *w, struct process *p)
{
	assert_int_equal(nm_member_end(p->member), 0);
	for (uint32_t i = 0; i < p->count; i++)
		tell_sync(w, (struct event){.kind = NM_SYNC_EXIT, .object = p->threads[i]});
	nm_member_leave(p->member);
	for (size_t i = 0; i < PAGES; i++)
		w->users[p->frames[i]] -= p->frames[i] != 0;
	p->has_ended = 1;
}

static void run_world(struct world *w)
{
	start_process(w, NULL, 0);
	for (unsigned i = 0; i < PARTS; i++) {
		struct process *p = &w->processes[below(w->process_count)];
		const uint64_t dice = below(40);

		if (p->has_ended)
			continue;
		w->p = p;
		if (dice < 36 || !p->running)
			run_part(w, do_something);
		else if (w->thread_count + 1 < THREADS && w->process_count < THREADS && dice < 38)
			start_process(w, p, 1);
		else if (w->thread_count + 1 < THREADS && w->process_count < THREADS && dice < 39)
			start_process(w, p, 0), end_process(w, p);
		else if (w->process_count > 2)
			end_process(w, p);
	}
}

/* ---- coherence by definition ---- */

/* The coherence misses that the machine counted, by number of the event. To be freed. */
static uint64_t *counted_misses(const struct world *w)
{
	uint64_t *counted = calloc(w->touches.count, sizeof *counted);
	struct nm_extras *extras;
	size_t count;

	assert_non_null(counted);
	assert_int_equal(nm_hierarchy_finish(w->hierarchy), 0);
	assert_int_equal(nm_hierarchy_extra_counts(w->hierarchy, 0, &extras, &count), 0);
	for (size_t key = 1; key < w->machine->keys.count && key < count; key++)
		counted[w->machine->keys.at[key].key] += extras[key].coherence;
	free(extras);
	return counted;
}

/* Each reference misses if its core had the line, and another one has written to it since. */
static void compare_misses(const struct world *w)
{
	static uint8_t had[FRAMES * PAGE_LINES], has[FRAMES * PAGE_LINES]; /* a bit for each core */
	uint64_t *counted = counted_misses(w);
	size_t all = 0;

	memset(had, 0, sizeof had);
	memset(has, 0, sizeof has);
	for (size_t i = 0; i < w->twin->out.count; i++) {
		const uint64_t number = w->twin->out.at[i];
		const struct touch *t = &w->touches.at[number];
		const uint64_t line = t->address / 64;
		const uint8_t mine = (uint8_t)(1u << core_of(w->twin, t->thread));
		const int misses = !(has[line] & mine) && had[line] & mine;

		assert_int_equal(counted[number], misses);
		all += (size_t)misses;
		had[line] |= mine;
		has[line] = t->writes ? mine : (uint8_t)(has[line] | mine);
	}
	assert_true(all > 0 || w->process_count < 2);
	free(counted);
}

static void test_random_processes(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct world *w = calloc(1, sizeof *w);
		struct nm_machine spec;

		assert_non_null(w);
		rng_state = seed;
		make_machine(w, &spec);
		run_world(w);
		assert_int_equal(nm_interleave_drain(w->machine->interleave), 0);
		twin_drain(w->twin);
		assert_int_equal(w->out.count, w->twin->out.count);
		for (size_t i = 0; i < w->out.count; i++)
			if (w->out.at[i] != w->twin->out.at[i])
				fail_msg("seed %u: reference %zu is %zu, not %zu", seed, i,
					 (size_t)w->out.at[i], (size_t)w->twin->out.at[i]);
		assert_int_equal(nm_interleave_forced_progress(w->machine->interleave), w->twin->stalls);
		compare_misses(w);
		free_world(w);
		free(w);
	}
}

/* A process that waits, and so sends nothing, holds back no more of another than if it had gone on. */
static void test_sleeper(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	struct nm_machine spec;

	(void)state;
	assert_non_null(w);
	rng_state = 1;
	make_machine(w, &spec);
	start_process(w, NULL, 0);
	run_part(w, refer_plainly);
	start_process(w, w->p, 1);
	run_part(w, refer_plainly);
	w->p = &w->processes[0];
	for (unsigned i = 0; i < PARTS; i++) {
		run_part(w, refer_plainly);
		assert_true(w->touches.count - w->out.count < NM_BATCH + 1000);
	}
	assert_true(w->out.count > 5 * NM_BATCH);
	free_world(w);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_processes),
					   cmocka_unit_test(test_sleeper)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
