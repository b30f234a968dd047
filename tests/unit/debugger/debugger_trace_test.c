/* SPDX-License-Identifier: MIT
 *
 * debugger_trace_test.c - the debugger on random streams, written as traces: who evicted a line against a
 * twin that remembers the last departure of every line, and steps back against a run from the start; and as
 * parts, read again.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "caches.h"
#include "debugger_priv.h"
#include "numbers.h"
#include "parts.h"

enum { REFERENCES = 5 * NM_PIECE_REFERENCES / 2, LINES = 1024, LINE = 64, ASKED = 60 };

/* A Dinero trace: some lines are hot, and some never touched again for long. */
static void write_trace(char path[64])
{
	strcpy(path, "/tmp/nearmiss-debugger-XXXXXX");
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	for (unsigned i = 0; i < REFERENCES; i++) {
		const uint64_t line = below(3) ? below(48) : below(8) ? LINES / 2 + below(64) : below(LINES);

		fprintf(file, "%d %llx\n", (int)below(2),
			(unsigned long long)(0x100000 + line * LINE + 8 * below(8)));
	}
	fclose(file);
}

static void warn(const char *format, ...) { (void)format; }

static struct nm_debugger *open_trace(const char *spec)
{
	static struct nm_machine machine;
	static char path[64];
	struct nm_debugger_source source = {
	    .path = path, .machine = &machine, .feedback = {.warn = warn}, .interval = 1 << 14};
	struct nm_debugger *d = NULL;
	struct nm_error err = {0};

	write_trace(path);
	if (nm_machine_parse(spec, &machine, &err) || nm_debugger_open(&d, &source, &err))
		fail_msg("%s", err.text);
	unlink(path);
	assert_int_equal(nm_debugger_total(d), REFERENCES);
	return d;
}

static struct nm_caches *start_twin(struct nm_debugger *d)
{
	struct nm_caches *twin;
	struct nm_error err;

	assert_int_equal(nm_caches_new(&twin, &d->checkpoints->program, &d->checkpoints->machine, &err), 0);
	return twin;
}

static void feed(struct nm_debugger *d, struct nm_caches *twin)
{
	assert_int_equal(nm_caches_feed(twin, nm_reference_at(d->checkpoints->reader, twin->position)), 0);
}

/* ---- who evicted a line ---- */

struct departure {
	uint64_t position;
	struct nm_effect left;
};

static void note_departures(const struct nm_caches *twin, struct departure (*last)[LINES])
{
	for (unsigned i = 0; i < twin->effect_count; i++) {
		const struct nm_effect *e = &twin->effects[i];

		if (nm_event_leaves(e->kind))
			last[e->level][(e->line - 0x100000) / LINE] = (struct departure){twin->position, *e};
	}
}

static void evictors_are_those_that_a_twin_remembers(const char *spec)
{
	struct nm_debugger *d = open_trace(spec);
	struct nm_caches *twin = start_twin(d);
	struct departure(*last)[LINES] = calloc(NM_MAX_LEVELS, sizeof *last);
	unsigned evicted = 0;

	for (unsigned i = 1; i <= ASKED; i++) {
		const uint64_t position = (uint64_t)i * REFERENCES / ASKED, line = below(LINES);
		struct nm_departure found;
		struct nm_error err;

		while (twin->position < position) {
			feed(d, twin);
			note_departures(twin, last);
		}
		assert_int_equal(nm_debugger_go(d, position, &err), 0);
		for (unsigned level = 0; level < d->checkpoints->machine.count; level++) {
			const struct departure *want = &last[level][line];

			assert_int_equal(
			    nm_debugger_evicted(d, level, 0, 0x100000 + line * LINE, &found, &err), 0);
			assert_int_equal(found.evicted_at, want->position);
			if (want->position)
				assert_memory_equal(&found.left, &want->left, sizeof want->left);
			evicted += want->position > 0;
		}
	}
	assert_true(evicted > ASKED / 2);
	free(last);
	nm_caches_free(twin);
	nm_debugger_close(d);
}

static void evictors_are_found(void **state)
{
	(void)state;
	evictors_are_those_that_a_twin_remembers("L1d=1K,2,64:L2=8K,4,64");
	evictors_are_those_that_a_twin_remembers("L1d=1K,2,64:L2=8K,4,64,inclusion=inclusive,policy=random");
}

static void filters_never_say_no_wrongly(void **state)
{
	enum { COUNT = 4000 };
	struct nm_shared_record record;
	struct nm_error err;
	unsigned wrong = 0;

	(void)state;
	assert_int_equal(nm_record_new(&record, 10 * NM_PIECE_REFERENCES, &err), 0);
	for (uint64_t i = 0; i < COUNT; i++)
		nm_record_left(&record, 3, i % 3, i * LINE);
	for (uint64_t i = 0; i < COUNT; i++)
		assert_true(nm_record_may_have_left(&record, 3, i % 3, i * LINE));
	for (uint64_t i = COUNT; i < 2 * COUNT; i++)
		wrong += (unsigned)nm_record_may_have_left(&record, 3, i % 3, i * LINE);
	assert_true(wrong < COUNT / 100);
	assert_false(nm_record_may_have_left(&record, 4, 0, 0));
	nm_record_free(&record);
}

/* ---- parts for a page ---- */

struct read_back {
	struct nm_part_sink sink; /* first */
	struct nm_parts_run run;
	int takes_blocks;
};

static int read_part(struct nm_part_sink *sink, const struct nm_program_part *part, int *ret_fits,
		     struct nm_error *err)
{
	struct read_back *r = (struct read_back *)sink;

	*ret_fits = 1;
	if (!strcmp(part->kind, "run")) {
		char *text = strndup(part->bytes, part->size);
		const int status = nm_parts_read_run(&r->run, text, err);

		free(text);
		return status;
	}
	*ret_fits = r->takes_blocks;
	if (!r->takes_blocks)
		return 0;
	assert_int_equal(
	    nm_parts_read_blocks(
		&r->run.program.references,
		&(struct nm_program_part){.count = part->count, .bytes = part->bytes, .size = part->size - 1},
		err),
	    NM_EFORMAT);
	nm_references_done(&r->run.program.references);
	memset(&r->run.program.references, 0, sizeof r->run.program.references);
	return nm_parts_read_blocks(&r->run.program.references, part, err);
}

static void names_are_the_same(const struct nm_debug_program *a, const struct nm_debug_program *b)
{
	assert_int_equal(a->sites.count, b->sites.count);
	assert_int_equal(a->objects.count, b->objects.count);
	for (size_t i = 1; i < a->sites.count; i++) {
		assert_string_equal(a->sites.at[i].function ? a->sites.at[i].function : "",
				    b->sites.at[i].function ? b->sites.at[i].function : "");
		assert_int_equal(a->sites.at[i].object, b->sites.at[i].object);
		assert_int_equal(a->sites.at[i].row, b->sites.at[i].row);
	}
	for (size_t i = 0; i < a->objects.count; i++) {
		assert_string_equal(a->objects.at[i].name, b->objects.at[i].name);
		assert_int_equal(a->objects.at[i].end, b->objects.at[i].end);
	}
}

static void parts_are_read_as_they_were_written(void **state)
{
	struct nm_debugger *d = open_trace("L1d=1K,2,64:L2=8K,4,64,policy=fifo");
	struct read_back r = {.sink = {read_part}, .takes_blocks = 1}, cut = {.sink = {read_part}};
	struct nm_reference_reader *reader;
	struct nm_error err = {0};
	char specs[2][200];
	uint64_t total;

	(void)state;
	if (nm_parts_write(d, &r.sink, &total, &err))
		fail_msg("%s", err.text);
	assert_int_equal(total, REFERENCES);
	assert_int_equal(r.run.program.references.count, REFERENCES);
	assert_int_equal(nm_reference_reader_new(&reader, &r.run.program.references), 0);
	for (uint64_t i = 0; i < REFERENCES; i++) {
		const struct nm_reference *a = nm_reference_at(d->checkpoints->reader, i),
					  *b = nm_reference_at(reader, i);

		assert_true(a->address == b->address && a->attr == b->attr && a->size == b->size &&
			    a->is_write == b->is_write && a->uncounted == b->uncounted);
	}
	names_are_the_same(&d->checkpoints->program, &r.run.program);
	nm_machine_format(&d->checkpoints->machine, specs[0], sizeof *specs);
	nm_machine_format(&r.run.machine, specs[1], sizeof *specs);
	assert_string_equal(specs[0], specs[1]);
	assert_int_equal(nm_parts_write(d, &cut.sink, &total, &err), 0);
	assert_int_equal(total, 0);
	nm_reference_reader_free(reader);
	nm_parts_run_done(&cut.run);
	nm_parts_run_done(&r.run);
	nm_debugger_close(d);
}

/* ---- back ---- */

static void steps_back_are_runs_from_the_start(void **state)
{
	struct nm_debugger *d = open_trace("L1d=1K,2,64,policy=random:L2=8K,4,64,prefetch=next");
	struct nm_error err;

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		const uint64_t position = 1 + below(REFERENCES - 1);
		struct nm_caches *twin = start_twin(d);
		struct nm_slot *slots;

		assert_int_equal(nm_debugger_go(d, position + 1, &err), 0);
		assert_int_equal(nm_debugger_go(d, position, &err), 0);
		while (twin->position < position)
			feed(d, twin);
		assert_int_equal(d->report.effect_count, twin->effect_count);
		assert_memory_equal(d->report.effects, twin->effects,
				    twin->effect_count * sizeof *twin->effects);
		assert_int_equal(
		    nm_checkpoint_slots(&d->current, 1, 0, 0, nm_caches_sets(twin, 1), &slots, &err), 0);
		for (unsigned k = 0; k < nm_caches_sets(twin, 1) * nm_caches_ways(twin, 1); k++) {
			const struct nm_slot slot = nm_caches_slot(twin, 1, 0, k / nm_caches_ways(twin, 1),
								   k % nm_caches_ways(twin, 1));

			assert_int_equal(slots[k].line, slot.line);
			assert_int_equal(slots[k].history.last_used, slot.history.last_used);
			assert_int_equal(slots[k].dirty, slot.dirty);
		}
		free(slots);
		nm_caches_free(twin);
	}
	nm_debugger_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(evictors_are_found),
	    cmocka_unit_test(parts_are_read_as_they_were_written),
	    cmocka_unit_test(filters_never_say_no_wrongly),
	    cmocka_unit_test(steps_back_are_runs_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
