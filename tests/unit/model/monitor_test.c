/* SPDX-License-Identifier: MIT
 *
 * monitor_test.c - the events that a monitored hierarchy reports, one by one, against those of the slow twin;
 * that monitoring changes no count; and what the event filter keeps, against plain sums over all events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_filter.h"
#include "instruction_clock.h"
#include "machine.h"
#include "model_twin.h"
#include "numbers.h"
#include "vector.h"

enum { REFS = 6000 };

struct events {
	struct nm_vec(struct nm_event) list;
};

static void keep(void *self, const struct nm_event *e)
{
	struct events *events = self;

	assert_int_equal(nm_vec_push(&events->list, *e), 0);
}

static void make_stream(struct nm_ref *refs, int fetches, uint32_t span)
{
	for (unsigned i = 0; i < REFS; i++) {
		int fetch = fetches && below(2);
		uint64_t address = below(3) ? i * 24u % span : below(span);

		refs[i] = (struct nm_ref){.address = 0x400000 + address,
					  .attr = 1 + below(TWIN_ATTRS - 1),
					  .size = (uint16_t)(below(8) ? 1 + below(16) : 1 + below(200)),
					  .kind = fetch      ? NM_REF_FETCH
						  : below(3) ? NM_REF_READ
							     : NM_REF_WRITE,
					  .weight = fetch ? (uint8_t)(1 + below(5)) : 1};
	}
}

static const char *const geometries[] = {
    "L1d=1K,2,64",
    "L1d=2K,8,64:L2=8K,16,64",
    "L1d=2K,8,64,prefetch=next:L2=8K,16,64",
    "L1d=1K,4,64,prefetch=stride:L2=4K,4,64,inclusion=inclusive,prefetch=stream:L3=16K,8,128",
    "L1d=1K,2,32:L2=4K,8,64:L3=16K,4,128",
    "L1d=512,full,64:L2=5K,80,64",
    "L1d=1K,4,16,sets=13:L2=4K,4,256",
    "L1i=1K,2,32:L1d=1K,4,64:L2=4K,8,64",
    "L1i=1K,2,64:L2=4K,8,64",
    "L1d=2K,8,64,policy=fifo:L2=8K,16,64,policy=srrip",
    "L1d=1K,2,64,write=through:L2=8K,8,64",
    "L1d=1K,2,64,write=through,allocate=no:L2=4K,8,64:L3=16K,16,64",
    "L1d=1K,4,64:L2=2K,4,64,inclusion=inclusive",
    "L1d=1K,2,32:L2=2K,4,64,inclusion=inclusive:L3=3K,6,128,inclusion=inclusive",
    "L1d=1K,4,64:L2=2K,4,64,inclusion=exclusive",
    "L1d=1K,4,64:L2=2K,4,64,inclusion=exclusive:L3=8K,8,64,inclusion=exclusive",
    "L1d=1K,2,64,index=xor:L2=4K,4,64",
    "L1i=1K,2,32,policy=tree-plru:L1d=1K,4,64:L2=2K,8,64,inclusion=inclusive",
};
enum { GEOMETRIES = sizeof geometries / sizeof *geometries };

static struct nm_ref refs[REFS];

static struct nm_hierarchy *new_hierarchy(const struct nm_machine *machine)
{
	struct nm_hierarchy *h;
	struct nm_error err;

	assert_int_equal(nm_hierarchy_new(&h, machine, &err), 0);
	return h;
}

static void feed(struct nm_hierarchy *h)
{
	for (size_t i = 0, n; i < REFS; i += n) {
		n = 1 + below(NM_BATCH);
		if (n > REFS - i)
			n = REFS - i;
		assert_int_equal(nm_hierarchy_run(h, refs + i, n), 0);
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
}

/* All events of a machine for a stream. */
static struct events watched(unsigned geometry, struct nm_machine *ret_machine)
{
	struct events events = {0};
	struct nm_hierarchy *h;
	struct nm_error err;

	rng_state = geometry;
	assert_int_equal(nm_machine_parse(geometries[geometry], ret_machine, &err), 0);
	make_stream(refs, strncmp(geometries[geometry], "L1i", 3) == 0,
		    (uint32_t)ret_machine->levels[0].size * 3);
	h = new_hierarchy(ret_machine);
	nm_hierarchy_watch(h, &(struct nm_monitor){.event = keep, .self = &events});
	feed(h);
	nm_hierarchy_free(h);
	return events;
}

static void compare(const char *spec, const struct events *got, const struct events *want)
{
	for (size_t i = 0; i < got->list.count && i < want->list.count; i++) {
		const struct nm_event *a = &got->list.at[i], *b = &want->list.at[i];

		if (a->line != b->line || a->set != b->set || a->times != b->times || a->attr != b->attr ||
		    a->victim != b->victim || a->kind != b->kind || a->level != b->level ||
		    a->last != b->last)
			fail_msg("%s: event %zu is %u of %#llx at level %u, not %u of %#llx at level %u",
				 spec, i, a->kind, (unsigned long long)a->line, a->level, b->kind,
				 (unsigned long long)b->line, b->level);
	}
	assert_int_equal(got->list.count, want->list.count);
	assert_true(got->list.count > REFS);
}

static void test_twin(void **state)
{
	(void)state;
	for (unsigned g = 0; g < GEOMETRIES; g++) {
		struct twin *t = calloc(1, sizeof *t);
		struct events told = {0}, got = watched(g, &t->machine);

		t->monitor = (struct nm_monitor){.event = keep, .self = &told};
		twin_run(t, refs, REFS);
		compare(geometries[g], &got, &told);
		nm_vec_free(&told.list);
		nm_vec_free(&got.list);
		twin_done(t);
		free(t);
	}
}

/* Each reference has its number, in ascending order; what it touches lies within it, and in the line of a
 * first level. */
static void test_references(void **state)
{
	(void)state;
	for (unsigned g = 0; g < GEOMETRIES; g++) {
		struct nm_machine machine;
		struct events events = watched(g, &machine);
		uint64_t number = 0;
		size_t at = 0;

		for (unsigned i = 0; i < REFS; i++) {
			const struct nm_ref *r = &refs[i];
			size_t first = at;

			number += r->weight;
			for (; at < events.list.count && events.list.at[at].reference == number; at++) {
				const struct nm_event *e = &events.list.at[at];

				assert_true(e->bytes >= 1 && e->address >= r->address &&
					    e->address + e->bytes <= r->address + r->size);
				assert_int_equal(e->attr, r->attr);
				if (!nm_event_of_untouched_line(e->kind))
					assert_true(e->line <= e->address &&
						    e->address + e->bytes <=
							e->line + machine.levels[e->level].line);
			}
			assert_true(at > first);
		}
		assert_int_equal(at, events.list.count);
		nm_vec_free(&events.list);
	}
}

/* Monitoring does not change the counts of a hierarchy. */
static void test_figures_stay(void **state)
{
	(void)state;
	for (unsigned g = 0; g < GEOMETRIES; g++) {
		struct nm_machine machine;
		struct events events = watched(g, &machine);
		struct nm_hierarchy *plain = new_hierarchy(&machine), *other = new_hierarchy(&machine);

		nm_vec_free(&events.list);
		nm_hierarchy_watch(other, &(struct nm_monitor){.event = keep, .self = &events});
		feed(plain);
		feed(other);
		for (unsigned level = 0; level < machine.count; level++) {
			struct nm_counts *a, *b;
			size_t n, m;

			assert_int_equal(nm_hierarchy_counts(plain, level, &a, &n), 0);
			assert_int_equal(nm_hierarchy_counts(other, level, &b, &m), 0);
			assert_int_equal(n, m);
			assert_memory_equal(a, b, n * sizeof *a);
			free(a);
			free(b);
		}
		nm_vec_free(&events.list);
		nm_hierarchy_free(plain);
		nm_hierarchy_free(other);
	}
}

static struct nm_filtered_events filter(const struct nm_machine *machine,
					const struct nm_event_query *request)
{
	struct nm_hierarchy *h = new_hierarchy(machine);
	struct nm_filtered_events kept;
	struct nm_event_filter *s;

	assert_int_equal(nm_event_filter_new(&s, request, machine), 0);
	nm_event_filter_attach(s, h);
	feed(h);
	assert_int_equal(nm_event_filter_take(s, &kept), 0);
	nm_event_filter_free(s);
	nm_hierarchy_free(h);
	return kept;
}

/* What a row must hold: a plain sum. */
static uint64_t sum(const struct events *events, const struct nm_event_query *q, const struct nm_machine *m,
		    const struct nm_event_row *row)
{
	uint64_t n = 0;

	for (size_t i = 0; i < events->list.count; i++) {
		const struct nm_event *e = &events->list.at[i];
		uint64_t at = nm_event_of_untouched_line(e->kind) ? e->line : e->address;
		uint64_t bytes = nm_event_of_untouched_line(e->kind) ? m->levels[e->level].line : e->bytes;
		uint64_t place = q->mode == NM_QUERY_GRANULES ? at & -(1ull << q->shift)
				 : q->mode == NM_QUERY_SETS   ? e->set
							      : 0;
		unsigned level = q->serving && e->kind == NM_EVENT_LOAD ? NM_MAX_LEVELS : e->level;

		if (place == row->place && e->kind == row->kind && level == row->level && at < q->end &&
		    at + bytes > q->low && (!q->serving || e->kind != NM_EVENT_LOAD || e->last) &&
		    (!q->by_attr || (e->attr == row->attr && e->victim == row->victim)))
			n += e->times;
	}
	return n;
}

static void check_rows(unsigned geometry, struct nm_event_query q)
{
	struct nm_machine machine;
	struct events events = watched(geometry, &machine);
	struct nm_filtered_events kept;
	uint64_t total = 0, wanted = 0;

	for (unsigned i = 0; i < machine.count; i++)
		q.kinds[i] = q.serving ? 1 << NM_EVENT_HIT | 1 << NM_EVENT_LOAD : 63;
	kept = filter(&machine, &q);
	assert_true(kept.row_count > 0);
	for (size_t i = 0; i < kept.row_count; i += 1 + kept.row_count / 200)
		assert_int_equal(kept.rows[i].count, sum(&events, &q, &machine, &kept.rows[i]));
	for (size_t i = 0; i < kept.row_count; i++)
		total += kept.rows[i].count;
	for (size_t i = 0; i < events.list.count; i++) {
		const struct nm_event *e = &events.list.at[i];

		wanted += q.serving
			      ? (e->kind == NM_EVENT_HIT || (e->kind == NM_EVENT_LOAD && e->last)) * e->times
			      : e->times;
	}
	if (!q.low)
		assert_int_equal(total, wanted);
	free(kept.rows);
	nm_vec_free(&events.list);
}

static void test_rows(void **state)
{
	(void)state;
	for (unsigned g = 0; g < GEOMETRIES; g++) {
		struct nm_event_query q = {.end = UINT64_MAX};

		check_rows(g, q);
		q.by_attr = 1;
		check_rows(g, q);
		q.mode = NM_QUERY_SETS;
		check_rows(g, q);
		q.mode = NM_QUERY_GRANULES;
		q.shift = 6;
		check_rows(g, q);
		q.by_attr = 0;
		q.serving = 1;
		check_rows(g, q);
		q.low = 0x400123;
		q.end = 0x400456;
		check_rows(g, q);
		q.serving = 0;
		q.shift = 3;
		check_rows(g, q);
	}
}

/* The residencies of a line begin with its loads, in order; their hits are those reported in between. */
static void test_residencies(void **state)
{
	const struct nm_event_query q = {.mode = NM_QUERY_RESIDENCIES,
					 .kinds = {15, 15, 15},
					 .end = UINT64_MAX,
					 .address = 0x400145,
					 .limit = 5};
	struct nm_machine machine;
	struct events events;
	struct nm_filtered_events kept;
	size_t n = 0;

	(void)state;
	events = watched(1, &machine);
	kept = filter(&machine, &q);
	for (size_t i = 0; i < events.list.count; i++) {
		const struct nm_event *load = &events.list.at[i];
		const struct nm_event_residency *residency = &kept.residencies[n];
		uint64_t hits = 0;
		size_t k = i + 1;

		if (load->kind != NM_EVENT_LOAD || load->line != 0x400140 || n++ >= kept.residency_count)
			continue;
		for (; k < events.list.count; k++) {
			const struct nm_event *e = &events.list.at[k];

			if (e->level != load->level || e->line != load->line)
				continue;
			if (e->kind == NM_EVENT_REPLACE)
				break;
			hits += e->kind == NM_EVENT_HIT;
		}
		assert_int_equal(residency->level, load->level);
		assert_int_equal(residency->loaded, load->reference);
		assert_int_equal(residency->loader, load->attr);
		assert_int_equal(residency->address, load->address);
		assert_int_equal(residency->hits, hits);
		assert_int_equal(residency->left, k < events.list.count ? events.list.at[k].reference : 0);
		assert_int_equal(residency->evictor, k < events.list.count ? events.list.at[k].attr : 0);
		assert_int_equal(residency->push, k < events.list.count ? events.list.at[k].address : 0);
	}
	assert_int_equal(kept.residency_count, 5);
	assert_true(n > 5);
	assert_int_equal(kept.total, n);
	free(kept.residencies);
	nm_vec_free(&events.list);
}

/* Names are known at the end only: here, those of some keys are asked for. */
static int is_asked(const struct nm_event_query *q, const struct nm_event *e)
{
	return !q->by_attr || (e->attr + e->victim) % 3 == 1;
}

static int passes(const struct nm_event_query *q, const struct nm_machine *m, const struct nm_event *e)
{
	const int untouched = nm_event_of_untouched_line(e->kind);
	const uint64_t at = untouched ? e->line : e->address,
		       bytes = untouched ? m->levels[e->level].line : e->bytes;

	return q->kinds[e->level] >> e->kind & 1 && at < q->end && at + bytes > q->low &&
	       (!q->of_set || e->set == q->set) && is_asked(q, e);
}

/* A log has the events that come behind the first `skip`, in their order; if names pick, among others. */
static void check_log(unsigned geometry, struct nm_event_query q)
{
	struct nm_machine machine;
	struct events events = watched(geometry, &machine);
	struct nm_filtered_events kept = filter(&machine, &q);
	const uint64_t end = nm_event_query_end(&q);
	uint64_t n = 0, before = 0, counted = 0;
	size_t k = 0;

	for (size_t i = 0; i < events.list.count; i++) {
		const struct nm_event *e = &events.list.at[i];

		if (!passes(&q, &machine, e))
			continue;
		n += e->times;
		if (n <= q.skip || n - e->times >= end)
			continue;
		for (; k < kept.logged_count && q.by_attr; k++) {
			before += is_asked(&q, &kept.logged[k].at) ? kept.logged[k].at.times : 0;
			if (is_asked(&q, &kept.logged[k].at) && before > q.skip)
				break;
		}
		assert_true(k < kept.logged_count);
		assert_int_equal(kept.logged[k].at.reference, e->reference);
		assert_int_equal(kept.logged[k].at.line, e->line);
		assert_int_equal(kept.logged[k].at.kind, e->kind);
		k++;
	}
	for (size_t i = 0; i < kept.row_count; i++) {
		const struct nm_event of = {.attr = kept.rows[i].attr, .victim = kept.rows[i].victim};

		counted += is_asked(&q, &of) ? kept.rows[i].count : 0;
	}
	assert_int_equal(q.by_attr ? counted : kept.total, n);
	assert_true(q.by_attr || k == kept.logged_count);
	free(kept.rows);
	free(kept.logged);
	nm_vec_free(&events.list);
}

static void test_log(void **state)
{
	static const uint64_t windows[][2] = {{0, 1},          {6, 1},          {40, 25},
					      {0, UINT64_MAX}, {9, UINT64_MAX}, {1 << 30, 1}};

	(void)state;
	for (unsigned g = 0; g < GEOMETRIES; g++)
		for (unsigned i = 0; i < 2 * sizeof windows / sizeof *windows; i++) {
			struct nm_event_query q = {.mode = NM_QUERY_LOG,
						   .kinds = {63, i / 2 % 2 ? 63 : 1 << NM_EVENT_REPLACE, 63},
						   .end = UINT64_MAX,
						   .by_attr = i % 2 != 0,
						   .skip = windows[i / 2][0],
						   .limit = windows[i / 2][1]};

			check_log(g, q);
			q.low = 0x400140;
			q.end = 0x400180;
			check_log(g, q);
			q.of_set = 1;
			q.set = 1;
			check_log(g, q);
		}
}

/* The decoder is as far ahead as it can be; each batch is read with its own counts. */
static void test_instruction_clock(void **state)
{
	struct nm_instruction_clock *m = nm_instruction_clock_new();
	uint64_t noted = 0, read = 0;

	(void)state;
	for (unsigned batch = 0; batch < 3 * NM_INSTRUCTION_CLOCK_LISTS; batch++) {
		const uint64_t *counts;

		for (unsigned i = 0; i < 5; i++)
			nm_instruction_clock_note(m, i, noted += 1 + i % 3);
		nm_instruction_clock_submit(m, m->draft, 5);
		if (batch < NM_BATCHES_IN_FLIGHT - 1)
			continue;
		counts = nm_instruction_clock_read(m);
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(counts[i], read += 1 + i % 3);
	}
	nm_instruction_clock_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_instruction_clock),
	    cmocka_unit_test(test_twin),
	    cmocka_unit_test(test_references),
	    cmocka_unit_test(test_figures_stay),
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_residencies),
	    cmocka_unit_test(test_log),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
