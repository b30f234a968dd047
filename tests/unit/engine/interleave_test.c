/* SPDX-License-Identifier: MIT
 *
 * interleave_test.c - the merged order of threads: equals that of a slow twin on random programs, sane and
 * senseless; orders which synchronisation enforces hold, and locks exclude; nothing is lost, threads never
 * all wait, and memory is bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interleave.h"
#include "interleave_programs.h"
#include "interleave_twin.h"

/* ---- the interleaver ------------------------------------------------------------------------------ */

/* A hint: of the event with the number `event`, before place `before`; for a store `event` is unknown. */
struct hinted {
	size_t event, before;
	unsigned core;
	int is_store;
};

struct sink {
	struct numbers out;   /* clocks: numbers in the recorded order */
	struct numbers cores; /* of each */
	int hints;            /* what is merged has hints: for each reference one, perhaps two */
	struct nm_vec(struct hinted) hinted;
};

static int receive(void *arg, const struct nm_merged *batch)
{
	struct sink *sink = arg;
	size_t turn = 0;

	assert_true(batch->count + batch->hint_count > 0 && batch->count <= NM_BATCH);
	for (size_t i = 0; i < batch->hint_count; i++) {
		const struct nm_cache_hint *h = &batch->hints[i];

		assert_true(h->before <= batch->count && (!i || h->before >= h[-1].before));
		assert_int_equal(nm_vec_push(&sink->hinted, (struct hinted){(size_t)h->prefetch.address,
									    sink->out.count + h->before,
									    h->core, h->is_store}),
				 0);
	}
	assert_int_equal(batch->time_slices[batch->time_slice_count - 1].end, batch->count);
	for (size_t i = 0; i < batch->count; i++) {
		while (batch->time_slices[turn].end <= i)
			turn++;
		assert_int_equal(nm_vec_push(&sink->out, batch->clock[i]), 0);
		assert_int_equal(nm_vec_push(&sink->cores, batch->time_slices[turn].core), 0);
	}
	return 0;
}

/* The hints of the reference that the event is: a prefetch before it and, if it is a plain write, that it is
 * non-temporal. */
static size_t hints_of(const struct event *e, size_t event, size_t before, size_t syncs,
		       struct nm_cache_hint *ret)
{
	ret[0] = (struct nm_cache_hint){
	    .before = (uint16_t)before, .syncs = (uint16_t)syncs, .prefetch = {.address = event}};
	ret[1] = (struct nm_cache_hint){.before = (uint16_t)before, .syncs = (uint16_t)syncs, .is_store = 1};
	return e->kind == NM_SYNC_NONE && e->ref.kind == NM_REF_WRITE ? 2 : 1;
}

/* In batches of random lengths. */
static uint64_t merge(const struct nm_interleave_setup *setup, const struct events *events, struct sink *sink)
{
	struct nm_interleave *m;
	struct nm_ref refs[NM_BATCH];
	uint64_t clock[NM_BATCH], stalls;
	static struct nm_sync syncs[EVENTS + 1000];
	static struct nm_cache_hint hints[NM_BATCH];
	struct nm_interleave_setup all = *setup;
	size_t count = 0, sync_count = 0, hint_count = 0;

	all.output = receive;
	all.arg = sink;
	all.clocked = 1;
	assert_int_equal(nm_interleave_new(&m, &all), 0);
	for (size_t i = 0; i < events->count; i++) {
		const struct event *e = &events->at[i];

		if (sink->hints && is_ref(e))
			hint_count += hints_of(e, i, count, sync_count, hints + hint_count);
		if (e->kind != NM_SYNC_NONE)
			syncs[sync_count++] =
			    (struct nm_sync){e->object, (uint32_t)count, e->thread, e->parent, e->kind};
		if (is_ref(e)) {
			clock[count] = i;
			refs[count++] = e->ref;
		}
		if (i + 1 == events->count || count == NM_BATCH / 2 || below(60) == 0) {
			const struct nm_thread_batch batch = {.refs = refs,
							      .count = count,
							      .syncs = syncs,
							      .sync_count = sync_count,
							      .hints = hints,
							      .hint_count = hint_count,
							      .clock = clock};

			assert_int_equal(nm_interleave_add(m, &batch), 0);
			assert_true(nm_interleave_is_valid(m));
			count = sync_count = hint_count = 0;
		}
	}
	assert_int_equal(nm_interleave_drain(m), 0);
	assert_true(nm_interleave_is_valid(m));
	stalls = nm_interleave_forced_progress(m);
	nm_interleave_free(m);
	return stalls;
}

static struct nm_interleave_setup random_setup(struct nm_machine *machine)
{
	machine->cores = 1 + (unsigned)below(THREADS);
	return (struct nm_interleave_setup){
	    .machine = machine,
	    .order = {.quantum = 1 + (uint32_t)below(40), .random = (int)below(2), .seed = below(1000)},
	    .hold_least = 1 + below(300),
	    .hold_most = UINT64_MAX};
}

static void check_twin(const struct events *events, unsigned seed)
{
	struct nm_machine machine = {.cores = 1};
	const struct nm_interleave_setup setup = random_setup(&machine);
	struct twin *t = twin_new(&setup);
	struct sink sink = {0};
	uint64_t stalls;

	for (size_t i = 0; i < events->count; i++)
		twin_add(t, &events->at[i], i);
	twin_drain(t);
	stalls = merge(&setup, events, &sink);
	assert_int_equal(sink.out.count, t->out.count);
	for (size_t i = 0; i < sink.out.count; i++)
		if (sink.out.at[i] != t->out.at[i])
			fail_msg("seed %u: reference %zu is %zu, not %zu", seed, i, (size_t)sink.out.at[i],
				 (size_t)t->out.at[i]);
	assert_int_equal(stalls, t->stalls);
	twin_free(t);
	nm_vec_free(&sink.out);
	nm_vec_free(&sink.cores);
}

static void test_twin(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 150; seed++) {
		struct events events = make_program(seed, seed % 2);

		check_twin(&events, seed);
		nm_vec_free(&events);
	}
}

/* A thread comes and goes, the first one runs alone for any number of references, and another thread
 * comes. */
static void test_alone_between_threads(void **state)
{
	(void)state;
	for (unsigned alone = 0; alone < 1100; alone++) {
		struct program p = {.count = 1, .running = 1, .live = {[1] = 1}};

		rng_state = alone + 1;
		add(&p, (struct event){.kind = NM_SYNC_START, .object = 101, .thread = 1});
		add_sync(&p, NM_SYNC_THREAD, 1);
		start_one(&p);
		add_access(&p);
		add_sync(&p, NM_SYNC_THREAD, 2);
		add_access(&p);
		add_sync(&p, NM_SYNC_EXIT, 2);
		add_sync(&p, NM_SYNC_THREAD, 1);
		for (unsigned i = 0; i < alone; i++)
			add_access(&p);
		start_one(&p);
		add_access(&p);
		add_sync(&p, NM_SYNC_THREAD, 3);
		add_access(&p);
		check_twin(&p.events, alone);
		nm_vec_free(&p.events);
	}
}

/* ---- time slices ---------------------------------------------------------------------------------- */

static int note_slices(void *arg, const struct nm_merged *batch)
{
	struct numbers *ends = arg;

	for (size_t i = 0; i < batch->time_slice_count; i++)
		assert_int_equal(
		    nm_vec_push(ends, batch->time_slices[i].end * 10u + batch->time_slices[i].synchronised),
		    0);
	return 0;
}

/* A thread that synchronises begins a time slice, on its core too, and the slice says so. */
static void test_synchronised_slices(void **state)
{
	const struct nm_ref refs[3] = {
	    {.size = 8, .weight = 1}, {.size = 8, .weight = 1}, {.size = 8, .weight = 1}};
	const struct nm_sync syncs[] = {{.kind = NM_SYNC_THREAD, .object = 1},
					{.kind = NM_SYNC_UNLOCK, .object = 5, .index = 1}};
	const struct nm_thread_batch batch = {.refs = refs, .count = 3, .syncs = syncs, .sync_count = 2};
	struct nm_machine machine = {.cores = 2};
	struct numbers ends = {0};
	const struct nm_interleave_setup setup = {.machine = &machine, .output = note_slices, .arg = &ends};
	struct nm_interleave *m;

	(void)state;
	assert_int_equal(nm_interleave_new(&m, &setup), 0);
	assert_int_equal(nm_interleave_add(m, &batch), 0);
	assert_int_equal(nm_interleave_drain(m), 0);
	assert_int_equal(ends.count, 2);
	assert_int_equal(ends.at[0], 10); /* one reference, not synchronised */
	assert_int_equal(ends.at[1], 31); /* two more, after that */
	nm_interleave_free(m);
	nm_vec_free(&ends);
}

/* How many time slices there are if a thread has made 256 references, and ended, before the one that started it makes
 * as many. */
static size_t slices_after_the_end(int keeps_ended)
{
	static const struct nm_sync before[] = {
	    {.kind = NM_SYNC_START, .object = 1, .thread = 1},
	    {.kind = NM_SYNC_THREAD, .object = 1},
	    {.kind = NM_SYNC_START, .object = 2, .thread = 2, .parent = 1},
	    {.kind = NM_SYNC_THREAD, .object = 2}};
	static const struct nm_sync after[] = {{.kind = NM_SYNC_EXIT, .object = 2},
					       {.kind = NM_SYNC_THREAD, .object = 1}};
	struct nm_ref refs[256];
	struct nm_machine machine = {.cores = 2};
	struct numbers ends = {0};
	const struct nm_interleave_setup setup = {
	    .machine = &machine, .keeps_ended = keeps_ended, .output = note_slices, .arg = &ends};
	struct nm_interleave *m;
	size_t slices;

	for (size_t i = 0; i < 256; i++)
		refs[i] = (struct nm_ref){.address = i * 64, .size = 8, .weight = 1};
	assert_int_equal(nm_interleave_new(&m, &setup), 0);
	assert_int_equal(
	    nm_interleave_add(
		m, &(struct nm_thread_batch){.refs = refs, .count = 256, .syncs = before, .sync_count = 4}),
	    0);
	assert_int_equal(
	    nm_interleave_add(
		m, &(struct nm_thread_batch){.refs = refs, .count = 256, .syncs = after, .sync_count = 2}),
	    0);
	assert_int_equal(nm_interleave_is_over(m, 2), !keeps_ended);
	assert_int_equal(nm_interleave_settle(m), 0);
	assert_int_equal(nm_interleave_is_over(m, 2), 1);
	assert_int_equal(nm_interleave_drain(m), 0);
	slices = ends.count;
	nm_interleave_free(m);
	nm_vec_free(&ends);
	return slices;
}

/* A thread that has ended is merged with the one that is left, if that is asked for. */
static void test_threads_that_have_ended_are_merged(void **state)
{
	(void)state;
	assert_int_equal(slices_after_the_end(0), 2);
	assert_int_equal(slices_after_the_end(1), 2 * 256 / NM_QUANTUM);
}

/* ---- what the order has to be --------------------------------------------------------------------- */

/* Where each event that is a reference went; SIZE_MAX: nowhere. */
static size_t *places_of(const struct events *events, const struct sink *sink)
{
	size_t *place = malloc(events->count * sizeof *place), refs = 0;

	for (size_t i = 0; i < events->count; i++) {
		place[i] = SIZE_MAX;
		refs += (size_t)is_ref(&events->at[i]);
	}
	assert_int_equal(sink->out.count, refs);
	for (size_t i = 0; i < sink->out.count; i++) {
		assert_true(place[sink->out.at[i]] == SIZE_MAX);
		place[sink->out.at[i]] = i;
	}
	return place;
}

/* Each thread's references are in their order, and nothing is lost or twice. */
static void check_threads(const struct events *events, const size_t *place)
{
	size_t last[THREADS + 1] = {0};

	for (size_t i = 0; i < events->count; i++) {
		const struct event *e = &events->at[i];

		if (!is_ref(e))
			continue;
		assert_true(place[i] + 1 > last[e->ref.attr]);
		last[e->ref.attr] = place[i] + 1;
	}
}

/* The next reference of the thread from event i on, or the last one before. */
static size_t place_near(const struct events *events, const size_t *place, size_t i, uint32_t thread,
			 int step)
{
	for (; i < events->count; i += (size_t)step)
		if (is_ref(&events->at[i]) && events->at[i].ref.attr == thread)
			return place[i];
	return SIZE_MAX;
}

/* No two threads are between taking a lock and giving it up at the same time; programs are sane. */
static void check_locks(const struct events *events, const size_t *place)
{
	struct section {
		uint64_t lock;
		size_t from, end;
	};
	struct nm_vec(struct section) sections = {0};
	size_t begin[LOCKS + 1] = {0};
	uint32_t owner[LOCKS + 1] = {0}, running = 1;

	for (size_t i = 0; i < events->count; i++) {
		const struct event *e = &events->at[i];

		running = e->kind == NM_SYNC_THREAD ? (uint32_t)e->object : running;
		if (e->kind == NM_SYNC_LOCK) {
			begin[e->object] = i;
			owner[e->object] = running;
		} else if (e->kind == NM_SYNC_UNLOCK && owner[e->object] == running) {
			size_t from = place_near(events, place, begin[e->object], running, 1);
			size_t end = place_near(events, place, i, running, -1);

			if (from != SIZE_MAX && end != SIZE_MAX && from <= end)
				assert_int_equal(
				    nm_vec_push(&sections, (struct section){e->object, from, end}), 0);
			owner[e->object] = 0;
		}
	}
	for (size_t i = 0; i < sections.count; i++)
		for (size_t k = i + 1; k < sections.count; k++)
			if (sections.at[i].lock == sections.at[k].lock)
				assert_true(sections.at[i].end < sections.at[k].from ||
					    sections.at[k].end < sections.at[i].from);
	nm_vec_free(&sections);
}

static int touches(const struct event *a, const struct event *b)
{
	return a->ref.address / 4 <= (b->ref.address + b->ref.size - 1) / 4 &&
	       b->ref.address / 4 <= (a->ref.address + a->ref.size - 1) / 4;
}

/* From the first atomic access to a word on, accesses to it are in the recorded order, where one writes. */
static void check_words(const struct events *events, const size_t *place)
{
	for (size_t a = 0; a < events->count; a++) {
		const struct event *atomic = &events->at[a];

		if (atomic->kind != NM_SYNC_ATOMIC)
			continue;
		for (size_t i = a + 1; i < events->count; i++) {
			const struct event *e = &events->at[i];

			if (is_ref(e) && touches(atomic, e) && e->ref.address == atomic->ref.address)
				assert_true(place[a] < place[i]);
		}
	}
}

/* A prefetch comes on the core of the reference that it precedes, between that and the thread's one before; each
 * plain write is a non-temporal store, and nothing else is. */
static void check_hints(const struct events *events, const struct sink *sink, const size_t *place)
{
	size_t prefetches = 0, stores = 0, refs = 0, writes = 0;

	for (size_t i = 0; i < sink->hinted.count; i++) {
		const struct hinted *h = &sink->hinted.at[i];
		const struct event *e = &events->at[h->is_store ? sink->out.at[h->before] : h->event];
		size_t before;

		stores += (size_t)h->is_store;
		prefetches += !h->is_store;
		assert_int_equal(h->core, sink->cores.at[h->is_store ? h->before : place[h->event]]);
		if (h->is_store) {
			assert_true(e->kind == NM_SYNC_NONE && e->ref.kind == NM_REF_WRITE);
			continue;
		}
		before = h->event ? place_near(events, place, h->event - 1, e->ref.attr, -1) : SIZE_MAX;
		assert_true(h->before <= place[h->event] && (before == SIZE_MAX || before < h->before));
	}
	for (size_t i = 0; i < events->count; i++) {
		const struct event *e = &events->at[i];

		refs += (size_t)is_ref(e);
		writes += e->kind == NM_SYNC_NONE && e->ref.kind == NM_REF_WRITE;
	}
	assert_int_equal(prefetches, refs);
	assert_int_equal(stores, writes);
}

static void test_orders_hold(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct nm_machine machine = {.cores = 1};
		struct nm_interleave_setup setup;
		struct events events = make_program(seed, 1);
		struct sink sink = {.hints = seed % 2};
		size_t *place;

		for (size_t i = 0; i < events.count; i++) /* within them the order is the lock's */
			if (events.at[i].kind == NM_SYNC_ENTER || events.at[i].kind == NM_SYNC_LEAVE)
				events.at[i].kind = NM_SYNC_CALL;
		setup = random_setup(&machine);
		setup.hold_most = below(2) ? 500 : UINT64_MAX;
		assert_int_equal(merge(&setup, &events, &sink), 0);
		place = places_of(&events, &sink);
		check_threads(&events, place);
		check_words(&events, place);
		check_locks(&events, place);
		if (sink.hints)
			check_hints(&events, &sink, place);
		free(place);
		nm_vec_free(&sink.hinted);
		nm_vec_free(&sink.out);
		nm_vec_free(&sink.cores);
		nm_vec_free(&events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_twin),
	    cmocka_unit_test(test_alone_between_threads),
	    cmocka_unit_test(test_threads_that_have_ended_are_merged),
	    cmocka_unit_test(test_synchronised_slices),
	    cmocka_unit_test(test_orders_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
