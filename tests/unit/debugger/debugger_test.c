/* SPDX-License-Identifier: MIT
 *
 * debugger_test.c - the cache debugger: its states against a run from the start, its answers, and the
 * published statistics of the tool that it follows (CVT).
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "caches.h"
#include "condition.h"
#include "debugger_priv.h"
#include "references.h"

static const char *const no_settings[] = {NULL};

struct nest_file {
	char path[64];
};

static void write_nest(struct nest_file *f, const char *text)
{
	strcpy(f->path, "/tmp/nearmiss-debugger-XXXXXX");
	const int fd = mkstemp(f->path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct nm_debugger *open_nest(const char *text, const char *spec, uint64_t interval)
{
	static struct nm_machine machine;
	struct nm_debugger_source source = {
	    .settings = no_settings, .machine = &machine, .interval = interval};
	struct nm_debugger *d = NULL;
	static struct nest_file file;
	struct nm_error err = {0};

	write_nest(&file, text);
	source.path = file.path;
	if (nm_machine_parse(spec, &machine, &err))
		fail_msg("%s", err.text);
	if (nm_debugger_open(&d, &source, &err))
		fail_msg("%s", err.text);
	unlink(file.path);
	return d;
}

/* ---- states ---- */

static const char *const mixed = "array A(64, 64), B(64, 64), C(300) of real*8\n"
				 "for i = 1 to 24\n"
				 "  for j = 1 to 60\n"
				 "    A(j, i) = A(j, i) + B(i, j) * C(j + 5*i)\n"
				 "  end\n"
				 "end\n";

/* All that a checkpoint tells of itself. */
static void assert_same_moment(struct nm_debugger *d, struct nm_caches *twin)
{
	struct nm_error err;

	for (unsigned level = 0; level < d->checkpoints->machine.count; level++) {
		const uint64_t sets = nm_caches_sets(twin, level);
		const unsigned ways = nm_caches_ways(twin, level);
		struct nm_slot *slots;
		struct nm_sums *sums;
		size_t count;

		assert_int_equal(nm_checkpoint_slots(&d->current, level, 0, 0, sets, &slots, &err), 0);
		for (uint64_t i = 0; i < sets * ways; i++) {
			const struct nm_slot slot =
			    nm_caches_slot(twin, level, 0, i / ways, (unsigned)(i % ways));

			assert_int_equal(slots[i].line, slot.line);
			assert_int_equal(slots[i].attr, slot.attr);
			assert_int_equal(slots[i].reuse, slot.reuse);
			assert_int_equal(slots[i].dirty, slot.dirty);
			assert_int_equal(slots[i].history.loaded_at, slot.history.loaded_at);
			assert_int_equal(slots[i].history.last_used, slot.history.last_used);
		}
		free(slots);
		for (int by_set = 0; by_set < 2; by_set++) {
			assert_int_equal(nm_checkpoint_sums(&d->current, level, by_set, &sums, &count, &err),
					 0);
			assert_memory_equal(sums, by_set ? twin->by_set[level] : twin->by_attr[level],
					    count * sizeof *sums);
			free(sums);
		}
	}
	if (twin->position) {
		assert_int_equal(d->report.effect_count, twin->effect_count);
		assert_memory_equal(d->report.effects, twin->effects,
				    twin->effect_count * sizeof *twin->effects);
	}
}

/* Jumps about, and compares with caches that are fed from the start each time. */
static void walk(const char *spec)
{
	struct nm_debugger *d = open_nest(mixed, spec, 256);
	uint64_t random = 88172645463325252u;
	struct nm_error err;

	for (unsigned i = 0; i < 40; i++) {
		struct nm_caches *twin;
		uint64_t to;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		to = i % 3 ? random % (nm_debugger_total(d) + 1)
			   : d->current.position - (d->current.position > 0);
		assert_int_equal(nm_debugger_go(d, to, &err), 0);
		assert_int_equal(nm_debugger_position(d), to);
		assert_int_equal(
		    nm_caches_new(&twin, &d->checkpoints->program, &d->checkpoints->machine, &err), 0);
		while (twin->position < to)
			assert_int_equal(
			    nm_caches_feed(twin, nm_reference_at(d->checkpoints->reader, twin->position)), 0);
		assert_same_moment(d, twin);
		nm_caches_free(twin);
	}
	nm_debugger_close(d);
}

static void jumps_find_the_state_of_a_run_from_the_start(void **state)
{
	(void)state;
	walk("L1d=1K,2,64:L2=4K,4,64,inclusion=inclusive");
	walk("L1d=1K,2,32,policy=random,prefetch=next:L2=4K,4,64,policy=tree-plru");
	walk("L1d=1K,2,64:L2=4K,4,64,inclusion=inclusive");
}

static void checkpoints_are_thinned(void **state)
{
	struct nm_debugger *d = open_nest(mixed, "L1d=1K,2,64", 16);

	(void)state;
	assert_true(d->checkpoints->regular.count <= NM_CHECKPOINTS);
	assert_true(d->checkpoints->interval > 16);
	for (size_t i = 0; i < d->checkpoints->regular.count; i++)
		assert_int_equal(d->checkpoints->regular.at[i].position % d->checkpoints->interval, 0);
	nm_debugger_close(d);
}

/* ---- references ---- */

static void references_come_back_as_they_were(void **state)
{
	enum { COUNT = 3 * NM_REFERENCE_BLOCK + 77 };
	struct nm_reference *in = calloc(COUNT, sizeof *in);
	struct nm_references packed = {0};
	struct nm_reference_reader *reader;
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		in[i] = (struct nm_reference){.address = random >> 60 ? i * 8 : random,
					      .attr = 1 + (uint32_t)(random >> 33) % (i % 2 ? 3 : 100000),
					      .size = (uint16_t)(1 + (random >> 40) % 16),
					      .is_write = random >> 50 & 1,
					      .synchronised = (random >> 51 & 63) == 0};
		assert_int_equal(nm_references_append(&packed, &in[i]), 0);
	}
	assert_int_equal(nm_references_close(&packed), 0);
	assert_int_equal(nm_reference_reader_new(&reader, &packed), 0);
	for (size_t i = COUNT; i-- > 0;)
		assert_memory_equal(nm_reference_at(reader, i), &in[i], sizeof *in);
	nm_reference_reader_free(reader);
	nm_references_done(&packed);
	free(in);
}

/* ---- published statistics ---- */

static uint64_t misses_of(struct nm_debugger *d, uint64_t position, const char *function,
			  unsigned *ret_conflict)
{
	struct nm_sums *sums;
	struct nm_error err;
	uint64_t misses = 0;
	size_t count;

	*ret_conflict = 0;
	assert_int_equal(nm_debugger_sums(d, position, 0, 0, &sums, &count, &err), 0);
	for (size_t i = 1; i < count; i++) {
		if (!d->checkpoints->program.sites.at[i].function ||
		    strcmp(d->checkpoints->program.sites.at[i].function, function) != 0)
			continue;
		misses += sums[i].misses;
		*ret_conflict += (unsigned)sums[i].of_class[NM_CLASS_CONFLICT];
	}
	free(sums);
	return misses;
}

/* CVT, figures 2 and 3: Y between the two references to X, and outside. */
static void interference_is_as_published(void **state)
{
	static const char *const form = "array X(0:99, 0:100) of real*4 at 0x100000\n"
					"array Y(0:99, 0:99) of real*4 at %d\n"
					"for i = 0 to 99\n for j = 0 to 99\n"
					"  X(j, i) = X(j, i + 1) + Y(j, i)\n end\nend\n";
	static const struct {
		int behind; /* of X */
		unsigned misses, conflicts;
	} cases[] = {{81952, 1250, 1238}, {40448, 12, 0}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct nm_debugger *d;
		char text[400];
		unsigned conflicts;

		snprintf(text, sizeof text, form, 0x100000 + cases[i].behind);
		d = open_nest(text, "L1d=8K,1,32", 0);
		assert_int_equal(misses_of(d, nm_debugger_total(d), "X(j,i+1)", &conflicts), 1251);
		assert_int_equal(misses_of(d, nm_debugger_total(d), "Y(j,i)", &conflicts), 1250);
		assert_int_equal(misses_of(d, nm_debugger_total(d), "X(j,i) =", &conflicts), cases[i].misses);
		if (cases[i].conflicts)
			assert_int_equal(conflicts, cases[i].conflicts);
		nm_debugger_close(d);
	}
}

/* ---- answers ---- */

static const char *parameter(void *self, const char *name)
{
	return json_string_value(json_object_get(self, name));
}

/* The answer to a request whose parameters, or body, are written as JSON; NULL: refused. */
static json_t *ask(struct nm_debugger *d, const char *method, const char *path, const char *said)
{
	const int is_get = !strcmp(method, "GET") || !strcmp(method, "DELETE");
	json_t *query = json_loads(said, 0, NULL), *answer;
	const struct nm_debugger_request request = {.method = method,
						    .path = path,
						    .parameter = is_get ? parameter : NULL,
						    .self = query,
						    .body = is_get ? NULL : said};
	struct nm_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int status = nm_debugger_answer(d, &request, out, &err);

	fclose(out);
	answer = status ? NULL : json_loads(text, 0, NULL);
	free(text);
	json_decref(query);
	return answer;
}

static int64_t position_after(struct nm_debugger *d, const char *path, const char *body)
{
	json_t *state = ask(d, "POST", path, body);
	const int64_t position = json_integer_value(json_object_get(state, "position"));

	assert_non_null(state);
	json_decref(state);
	return position;
}

static const char *const small = "array A(1:32), B(1:32) of real*8\n"
				 "for i = 1 to 4\n read A(i)\n read B(8*i)\n end\n"
				 "read A(1)\n";

/* One set of one way: each line that comes in makes another leave. */
static void states_say_what_happened(void **state)
{
	struct nm_debugger *d = open_nest(small, "L1d=64,1,64", 0);
	json_t *answer, *effect, *grid, *line;

	(void)state;
	assert_int_equal(position_after(d, "goto", "{\"position\": 2}"), 2);
	answer = ask(d, "GET", "state", "{}");
	effect = json_array_get(json_object_get(answer, "effects"), 0);
	assert_string_equal(json_string_value(json_object_get(effect, "class")), "cold");
	line = json_object_get(effect, "evicted");
	assert_string_equal(json_string_value(json_object_get(line, "object")), "A");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(line, "last_used"), "position")),
			 1);
	line = json_object_get(answer, "reference");
	assert_string_equal(json_string_value(json_object_get(line, "object")), "B");
	assert_int_equal(json_integer_value(json_object_get(line, "array_index")), 7);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(line, "loops"), "i")), 1);
	json_decref(answer);
	grid = ask(d, "GET", "grid", "{}");
	line = json_array_get(json_object_get(grid, "slots"), 0);
	assert_string_equal(json_string_value(json_object_get(line, "object")), "B");
	assert_int_equal(json_integer_value(json_object_get(line, "loaded_at")), 2);
	json_decref(grid);
	nm_debugger_close(d);
}

/* What checkpoints in one answer change, from the start on, is what the grid at the last of them shows. */
static void moments_that_are_played_add_up(void **state)
{
	struct nm_debugger *d = open_nest(mixed, "L1d=1K,2,64", 0);
	json_t *grid = ask(d, "GET", "grid", "{}"), *slots = json_object_get(grid, "slots"), *played,
	       *checkpoint, *change, *want, *slot;
	size_t i, k;

	(void)state;
	played = ask(d, "POST", "play",
		     "{\"count\": 7, \"by\": 11, \"panes\": [{\"level\": \"L1d\", \"set_from\": 0}]}");
	assert_int_equal(nm_debugger_position(d), 77);
	json_array_foreach(json_object_get(played, "moments"), i, checkpoint)
	{
		assert_int_equal(
		    json_integer_value(json_object_get(json_object_get(checkpoint, "state"), "position")),
		    11 * (i + 1));
		change = json_object_get(json_array_get(json_object_get(checkpoint, "grids"), 0), "changes");
		json_array_foreach(change, k, slot) json_array_set(
		    slots, (size_t)json_integer_value(json_array_get(slot, 0)), json_array_get(slot, 1));
	}
	want = ask(d, "GET", "grid", "{}");
	json_array_foreach(slots, i, slot)
	{
		if (json_is_object(slot))
			json_object_set_new(
			    slot, "age",
			    json_integer(77 - json_integer_value(json_object_get(slot, "last_used"))));
		assert_true(json_equal(slot, json_array_get(json_object_get(want, "slots"), i)));
	}
	assert_null(ask(d, "POST", "play", "{\"count\": 65}"));
	assert_null(ask(d, "POST", "play", "{\"by\": 0}"));
	json_decref(grid);
	json_decref(played);
	json_decref(want);
	nm_debugger_close(d);
}

static void evictors_are_found(void **state)
{
	struct nm_debugger *d = open_nest(small, "L1d=64,1,64", 0);
	json_t *answer;

	(void)state;
	position_after(d, "goto", "{\"position\": 8}");
	answer = ask(d, "GET", "evicted", "{\"address\": \"0x100000\"}");
	assert_string_equal(json_string_value(json_object_get(answer, "is")), "evicted");
	assert_int_equal(json_integer_value(json_object_get(answer, "evicted_at")), 8);
	assert_string_equal(json_string_value(json_object_get(json_object_get(answer, "evictor"), "object")),
			    "B");
	json_decref(answer);
	position_after(d, "goto", "{\"position\": 9}");
	answer = ask(d, "GET", "evicted", "{\"address\": \"0x100000\"}");
	assert_string_equal(json_string_value(json_object_get(answer, "is")), "resident");
	assert_int_equal(json_integer_value(json_object_get(answer, "evicted_at")), 8);
	json_decref(answer);
	nm_debugger_close(d);
}

static void runs_stop_where_they_should(void **state)
{
	struct nm_debugger *d = open_nest(small, "L1d=128,1,64", 0);

	(void)state;
	assert_int_equal(position_after(d, "run", "{\"until\": \"miss\"}"), 1);
	assert_int_equal(position_after(d, "run", "{\"until\": \"condition\", \"condition\": \"i == 3\"}"),
			 5);
	assert_int_equal(
	    position_after(d, "run",
			   "{\"until\": \"condition\", \"condition\": \"i == 2\", \"backwards\": true}"),
	    4);
	assert_int_equal(position_after(d, "run", "{\"until\": \"eviction\", \"object\": \"A\"}"), 6);
	assert_int_equal(position_after(d, "step", "{\"count\": -2}"), 4);
	assert_null(ask(d, "POST", "run", "{\"until\": \"condition\", \"condition\": \"i == \"}"));
	assert_null(ask(d, "POST", "goto", "{\"position\": \"x\"}"));
	assert_null(ask(d, "GET", "nothing", "{}"));
	nm_debugger_close(d);
}

static void each_kind_of_breakpoint_stops(void **state)
{
	static const struct {
		const char *body;
		int at;
	} cases[] = {
	    {"{\"kind\": \"reference\", \"position\": 3}", 3},
	    {"{\"kind\": \"reference\", \"reference\": \"B(8*i)\"}", 2},
	    {"{\"kind\": \"line\", \"line\": 6}", 9},
	    {"{\"kind\": \"object\", \"object\": \"B\"}", 2},
	    {"{\"kind\": \"section\", \"object\": \"B\", \"from\": 20, \"to\": 24}", 6},
	    {"{\"kind\": \"cache\", \"set_from\": 1, \"set_to\": 1}", 4},
	    {"{\"kind\": \"loops\", \"loops\": {\"i\": 4}}", 7},
	    {"{\"kind\": \"evicts\", \"evictor\": \"B\", \"victim\": \"A\"}", 2},
	    {"{\"kind\": \"conflict\"}", 3},
	    {"{\"kind\": \"condition\", \"condition\": \"hit && object == 'A'\"}", 5},
	    {"{\"kind\": \"object\", \"object\": \"A\", \"skip\": 2}", 5},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nm_debugger *d = open_nest(small, "L1d=128,1,64", 0);
		json_t *answer = ask(d, "POST", "breakpoints", cases[i].body);

		assert_non_null(answer);
		json_decref(answer);
		assert_int_equal(position_after(d, "run", "{\"until\": \"breakpoint\"}"), cases[i].at);
		nm_debugger_close(d);
	}
}

/* The position of the n-th reference to an object. */
static uint64_t nth_reference_to(struct nm_debugger *d, const char *object, uint64_t n)
{
	const struct nm_debug_program *program = nm_debugger_program(d);
	uint64_t at = 0;

	while (n) {
		const struct nm_reference *r = nm_reference_at(d->checkpoints->reader, at++);

		n -= !strcmp(nm_debug_object_name(program, program->sites.at[r->attr].object), object);
	}
	return at;
}

/* Matches that are skipped are counted across checkpoints, and across runs that a limit of time interrupts. */
static void skips_are_counted_through_the_run(void **state)
{
	static const unsigned limits[] = {0, 1};
	const struct nm_breakpoint breakpoint = {.expression = "object == \"C\"", .enabled = 1, .skip = 999};
	struct nm_debugger *d = open_nest(mixed, "L1d=1K,2,64", 64);
	enum nm_stopped stopped;
	struct nm_error err;
	uint32_t id;

	(void)state;
	assert_int_equal(nm_debugger_break(d, &breakpoint, &id, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		const struct nm_debugger_run how = {.limit_ms = limits[i]};

		assert_int_equal(nm_debugger_go(d, 0, &err), 0);
		do
			assert_int_equal(nm_debugger_run(d, &how, &stopped, &id, &err), 0);
		while (stopped == NM_STOPPED_LIMIT);
		assert_int_equal(stopped, NM_STOPPED_MATCH);
		assert_int_equal(nm_debugger_position(d), nth_reference_to(d, "C", 1000));
	}
	/* A run that goes on from its match begins to count. */
	assert_int_equal(nm_debugger_run(d, &(struct nm_debugger_run){0}, &stopped, &id, &err), 0);
	assert_int_equal(stopped, NM_STOPPED_END);
	nm_debugger_close(d);
}

static void nests_are_run_again(void **state)
{
	struct nm_debugger *d = open_nest(small, "L1d=128,1,64", 0);

	(void)state;
	/* the file of the nest is gone: nothing changes */
	position_after(d, "goto", "{\"position\": 3}");
	assert_null(ask(d, "POST", "nest", "{\"bases\": {\"B\": 2097152}}"));
	assert_null(ask(d, "POST", "nest", "{\"pads\": {\"B\": 64}}"));
	assert_int_equal(nm_debugger_position(d), 3);
	nm_debugger_close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(jumps_find_the_state_of_a_run_from_the_start),
	    cmocka_unit_test(checkpoints_are_thinned),
	    cmocka_unit_test(references_come_back_as_they_were),
	    cmocka_unit_test(interference_is_as_published),
	    cmocka_unit_test(states_say_what_happened),
	    cmocka_unit_test(moments_that_are_played_add_up),
	    cmocka_unit_test(evictors_are_found),
	    cmocka_unit_test(runs_stop_where_they_should),
	    cmocka_unit_test(each_kind_of_breakpoint_stops),
	    cmocka_unit_test(skips_are_counted_through_the_run),
	    cmocka_unit_test(nests_are_run_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
