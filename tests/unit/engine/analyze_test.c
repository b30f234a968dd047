/* SPDX-License-Identifier: MIT
 *
 * analyze_test.c - the engine on streams made by hand: what is charged to whom, for any number of threads.
 */
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "encode.h"
#include "engine_priv.h"
#include "numbers.h"
#include "session.h"

#define STACK_LOW 0x7000000000ull
#define STACK_END 0x7000100000ull
#define DATA 0x10000000ull

enum { BLOCK_PLAIN = 1, BLOCK_CALL, BLOCK_RETURN, BLOCK_EXIT, BLOCK_PREFETCH };

static uint64_t access_word(unsigned size, unsigned instruction, unsigned flags)
{
	return size | (uint64_t)instruction << 16 | (uint64_t)flags << 32;
}

static void define(struct nm_wire_words *w, uint32_t id, uint64_t pc, uint8_t end, const uint64_t *accesses,
		   uint16_t count, const uint64_t *exits, uint16_t exit_count)
{
	uint64_t instructions[2] = {pc | 4ull << 48, (pc + 4) | 4ull << 48};
	struct nm_wire_block_info info = {
	    .id = id, .instructions = instructions, .accesses = accesses, .exits = exits};

	info.def = (struct nm_wire_block_def){
	    .pc = pc, .instructions = 2, .accesses = count, .exits = exit_count, .end = end};
	assert_int_equal(nm_wire_block_def_encode(w, &info), 0);
}

static void run_block(struct nm_wire_words *w, uint32_t id, size_t count, const uint64_t *addresses)
{
	assert_int_equal(nm_wire_block_encode(w, id, addresses, count), 0);
}

#define RUN(w, id, ...) run_block(w, id, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void start(struct nm_wire_words *w, enum nm_wire_start how, uint32_t pid, uint32_t parent,
		  uint32_t ordinal)
{
	const char *argv[] = {"./prog", "x"};
	struct nm_wire_process p = {.start = how,
				    .version = NM_WIRE_VERSION,
				    .pid = pid,
				    .parent = parent,
				    .ordinal = ordinal,
				    .argc = 2,
				    .executable = "/no/such/prog",
				    .directory = "/"};

	assert_int_equal(nm_wire_process_encode(w, &p, argv), 0);
	if (how == NM_WIRE_FORKED)
		return;
	nm_wire_thread_start_encode(w, &(struct nm_wire_thread_start){1, 0, STACK_LOW, STACK_END});
	nm_wire_thread_encode(w, &(struct nm_wire_thread){1});
	nm_wire_map_encode(w, &(struct nm_wire_map){.flags = NM_WIRE_PROT_READ | NM_WIRE_PROT_WRITE,
						    .address = DATA,
						    .bytes = 1 << 20,
						    .path = ""});
	define(
	    w, BLOCK_PLAIN, 0x400000, NM_WIRE_JUMP,
	    (uint64_t[]){access_word(8, 0, NM_WIRE_READ | NM_WIRE_GUARDED), access_word(8, 1, NM_WIRE_WRITE)},
	    2, NULL, 0);
	define(w, BLOCK_CALL, 0x400100, NM_WIRE_CALL,
	       (uint64_t[]){access_word(8, 1, NM_WIRE_WRITE | NM_WIRE_FRAME)}, 1, NULL, 0);
	define(w, BLOCK_RETURN, 0x400200, NM_WIRE_RETURN,
	       (uint64_t[]){access_word(8, 1, NM_WIRE_READ | NM_WIRE_FRAME)}, 1, NULL, 0);
	define(w, BLOCK_EXIT, 0x400300, NM_WIRE_JUMP,
	       (uint64_t[]){access_word(4, 0, NM_WIRE_READ), access_word(4, 1, NM_WIRE_READ)}, 2,
	       (uint64_t[]){1 | 1 << 16}, 1);
	define(w, BLOCK_PREFETCH, 0x400400, NM_WIRE_JUMP,
	       (uint64_t[]){access_word(8, 0, NM_WIRE_PREFETCH), access_word(8, 1, NM_WIRE_READ)}, 2, NULL,
	       0);
}

static void alloc(struct nm_wire_words *w, uint64_t address, uint64_t size)
{
	RUN(w, BLOCK_CALL, STACK_END - 0x108);
	RUN(w, BLOCK_RETURN, STACK_END - 0x108);
	nm_wire_alloc_encode(w, &(struct nm_wire_alloc){NM_WIRE_MALLOC, address, size, 0x401000});
}

struct run {
	struct nm_machine machine;
	struct nm_symbols *symbols;
	struct nm_session *session;
	struct nm_result *const *results;
	size_t count;
};

static void begin_window(struct run *r, unsigned threads, int fetches, struct nm_run_window window)
{
	struct nm_engine_options options = {
	    .machine = &r->machine, .threads = threads, .instructions = fetches, .window = window};

	assert_int_equal(
	    nm_machine_parse(fetches ? "L1i=1K,2,64:L1d=1K,2,64:L2=8K,4,64" : "L1d=1K,2,64:L2=8K,4,64",
			     &r->machine, NULL),
	    0);
	assert_int_equal(nm_symbols_new(&r->symbols, NULL), 0);
	options.symbols = r->symbols;
	assert_int_equal(nm_session_new(&r->session, &options, NULL), 0);
}

static void begin(struct run *r, unsigned threads, int fetches)
{
	begin_window(r, threads, fetches, (struct nm_run_window){.in = NULL});
}

static int feed(struct run *r, uint32_t stream, const struct nm_wire_words *w, struct nm_error *err)
{
	return nm_session_feed(r->session, stream, w->at, w->count, err);
}

static void finish(struct run *r)
{
	assert_int_equal(nm_session_results(r->session, &r->results, &r->count, NULL), 0);
}

static void end(struct run *r)
{
	nm_session_free(r->session);
	nm_symbols_free(r->symbols);
}

static struct nm_counts of_object(const struct nm_result *result, unsigned level, const char *name)
{
	struct nm_counts sum = {0};

	for (size_t i = 0; i < result->attr_count; i++) {
		const struct nm_counts *c = &result->levels[level].counts[i];

		if (strcmp(result->objects[result->attrs[i].object].name, name))
			continue;
		sum.reads += c->reads;
		sum.writes += c->writes;
		sum.loads += c->loads;
		sum.used_bytes += c->used_bytes;
		sum.read_misses += c->read_misses;
		sum.write_misses += c->write_misses;
	}
	return sum;
}

static void charges_the_right_objects(void **state)
{
	struct nm_wire_words w = {0};
	struct run r;
	struct nm_counts c;

	(void)state;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	alloc(&w, DATA + 0x100, 0x80);
	nm_wire_name_encode(&w, &(struct nm_wire_name){DATA + 0x8000, 64, "my table"});
	RUN(&w, BLOCK_PLAIN, DATA + 0x100, DATA + 0x178);  /* first and last word of the block */
	RUN(&w, BLOCK_PLAIN, DATA + 0x180, DATA + 0x8000); /* behind it: the allocator's; the named range */
	RUN(&w, BLOCK_PLAIN, 0, STACK_END - 0x200);        /* skipped by its guard; own frame */
	RUN(&w, BLOCK_PREFETCH, DATA + 0x100, DATA + 0x120);
	nm_wire_measure_encode(&w, &(struct nm_wire_measure){0});
	RUN(&w, BLOCK_PLAIN, DATA + 0x100, DATA + 0x100); /* not measured */
	nm_wire_measure_encode(&w, &(struct nm_wire_measure){1});
	nm_wire_free_encode(&w, &(struct nm_wire_free){NM_WIRE_FREE_CALL, DATA + 0x100});
	RUN(&w, BLOCK_EXIT, DATA + 0x100); /* freed: the allocator's again; left at the side exit */
	nm_wire_exit_encode(&w, &(struct nm_wire_exit){42});
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	assert_int_equal(r.count, 1);
	c = of_object(r.results[0], 0, "heap <unknown caller>");
	assert_int_equal(c.reads, 2);
	assert_int_equal(c.writes, 1);
	assert_int_equal(c.loads, 2);
	c = of_object(r.results[0], 0, "my table");
	assert_int_equal(c.reads + c.writes, 1);
	c = of_object(r.results[0], 0, "<heap bookkeeping>");
	assert_int_equal(c.reads, 2);
	assert_int_equal(r.results[0]->references, 9);
	assert_int_equal(r.results[0]->instructions, 2 * 2 + 2 * 4 + 1);
	assert_int_equal(r.results[0]->exit_status, 42);
	assert_string_equal(r.results[0]->command, "./prog x");
	end(&r);
	nm_vec_free(&w);
}

/* Instructions behind a side exit that was taken are not fetched, even within a run in one line. */
static void fetches_what_was_executed(void **state)
{
	static const char code[] = "code of no file";
	struct nm_wire_words w = {0};
	struct nm_counts c;
	struct run r;

	(void)state;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	RUN(&w, BLOCK_EXIT, DATA);
	begin(&r, 1, 1);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	c = of_object(r.results[0], 0, code);
	assert_int_equal(c.reads, 1);
	assert_int_equal(c.loads, 1);
	assert_int_equal(c.used_bytes, 4);
	end(&r);

	RUN(&w, BLOCK_EXIT, DATA, DATA + 8);
	begin(&r, 1, 1);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	c = of_object(r.results[0], 0, code);
	assert_int_equal(c.reads, 3);
	assert_int_equal(c.loads, 1);
	assert_int_equal(c.used_bytes, 8);
	end(&r);
	nm_vec_free(&w);
}

/* A window that begins after some references begins there with fetches too, which are none of them. */
static void counts_data_up_to_a_window(void **state)
{
	struct nm_wire_words w = {0};
	struct run r;

	(void)state;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	for (unsigned i = 0; i < 4; i++)
		RUN(&w, BLOCK_PLAIN, DATA, DATA + 8);
	for (int fetches = 0; fetches < 2; fetches++) {
		begin_window(&r, 1, fetches,
			     (struct nm_run_window){.from = {NM_POSITION_REFERENCES, 3, NULL}});
		assert_int_equal(feed(&r, 0, &w, NULL), 0);
		finish(&r);
		assert_int_equal(r.results[0]->references, 4); /* those of the last two blocks */
		end(&r);
	}
	nm_vec_free(&w);
}

static void remembers_frames_of_callers(void **state)
{
	struct nm_wire_words w = {0};
	struct run r;

	(void)state;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	RUN(&w, BLOCK_CALL, STACK_END - 0x100);
	RUN(&w, BLOCK_CALL, STACK_END - 0x200);
	RUN(&w, BLOCK_PLAIN, STACK_END - 0x180, STACK_END - 0x300); /* caller's frame, own frame */
	RUN(&w, BLOCK_PLAIN, STACK_END - 0x80, DATA);               /* above the first call; a mapping */
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	assert_int_equal(of_object(r.results[0], 0, "stack of <code without a file>").reads, 1);
	assert_int_equal(of_object(r.results[0], 0, "stack of <code without a file>").writes, 3);
	assert_int_equal(of_object(r.results[0], 0, "<anonymous memory>").writes, 1);
	assert_int_equal(r.results[0]->exit_status, -1); /* the stream ended early */
	end(&r);
	nm_vec_free(&w);
}

/* A long random stream with heap traffic. */
static void random_stream(struct nm_wire_words *w)
{
	start(w, NM_WIRE_STARTED, 5, 1, 0);
	for (unsigned i = 0; i < 40000; i++) {
		uint64_t at = DATA + below(1 << 17),
			 to = below(4) ? STACK_END - 8 - below(0x400) : DATA + below(1 << 14);

		if (!below(50))
			alloc(w, DATA + below(1 << 13) * 16, 1 + below(300));
		else if (!below(40))
			nm_wire_free_encode(
			    w, &(struct nm_wire_free){NM_WIRE_FREE_CALL, DATA + below(1 << 13) * 16});
		RUN(w, BLOCK_PLAIN, at, to);
	}
}

static void threads_change_nothing(void **state)
{
	struct nm_wire_words w = {0};
	struct run r[4];

	(void)state;
	random_stream(&w);
	for (int fetches = 0; fetches < 2; fetches++) {
		for (unsigned i = 0; i < 4; i++) {
			begin(&r[i], i + 1 + i / 3, fetches); /* 1, 2, 3 and 5 threads */
			assert_int_equal(feed(&r[i], 0, &w, NULL), 0);
			finish(&r[i]);
		}
		for (unsigned i = 1; i < 4; i++) {
			const struct nm_result *a = r[0].results[0], *b = r[i].results[0];

			assert_int_equal(a->attr_count, b->attr_count);
			assert_memory_equal(a->attrs, b->attrs, a->attr_count * sizeof *a->attrs);
			for (unsigned level = 0; level < a->machine.count; level++) {
				assert_memory_equal(a->levels[level].counts, b->levels[level].counts,
						    a->attr_count * sizeof *a->levels[level].counts);
				assert_int_equal(a->levels[level].eviction_count,
						 b->levels[level].eviction_count);
			}
		}
		for (unsigned i = 0; i < 4; i++)
			end(&r[i]);
	}
	nm_vec_free(&w);
}

static void sums_close(void **state)
{
	struct nm_wire_words w = {0};
	struct run r;
	const struct nm_result *result;

	(void)state;
	random_stream(&w);
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	result = r.results[0];
	for (unsigned level = 0; level < result->machine.count; level++) {
		const struct nm_result_level *l = &result->levels[level];
		struct nm_counts sum = {0};
		uint64_t matrix = 0;

		for (size_t i = 0; i < result->attr_count; i++) {
			sum.reads += l->counts[i].reads;
			sum.writes += l->counts[i].writes;
			sum.loads += l->counts[i].loads;
			sum.evictions += l->counts[i].evictions;
		}
		for (size_t i = 0; i < l->eviction_count; i++)
			matrix += l->evictions[i].count;
		assert_int_equal(sum.reads, l->total.reads);
		assert_int_equal(sum.writes, l->total.writes);
		assert_int_equal(sum.loads, l->total.loads);
		assert_int_equal(sum.evictions, l->total.evictions);
		assert_int_equal(matrix, l->total.evictions);
		if (level == 0)
			assert_int_equal(sum.reads + sum.writes, result->references);
	}
	end(&r);
	nm_vec_free(&w);
}

/* In the order of their numbers, of however many digits. */
static void children_are_in_order(void **state)
{
	static const unsigned ordinals[] = {10000, 2, 9999};
	struct nm_wire_words parent = {0}, child = {0};
	struct run r;

	(void)state;
	start(&parent, NM_WIRE_STARTED, 5, 1, 0);
	for (uint32_t i = 0; i < 3; i++)
		nm_wire_fork_encode(&parent, &(struct nm_wire_fork){6 + i, ordinals[i]});
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &parent, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		child.count = 0;
		start(&child, NM_WIRE_FORKED, 6 + i, 5, ordinals[i]);
		assert_int_equal(feed(&r, 1 + i, &child, NULL), 0);
	}
	finish(&r);
	assert_int_equal(r.count, 4);
	assert_string_equal(r.results[1]->path, "0.0002");
	assert_string_equal(r.results[2]->path, "0.9999");
	assert_string_equal(r.results[3]->path, "0.10000");
	end(&r);
	nm_vec_free(&parent);
	nm_vec_free(&child);
}

/* The child inherits its parent's code and heap, even if its stream arrives first. */
static void children_inherit(void **state)
{
	for (int child_first = 0; child_first < 2; child_first++) {
		struct nm_wire_words parent = {0}, child = {0}, image = {0};
		struct run r;

		(void)state;
		start(&parent, NM_WIRE_STARTED, 5, 1, 0);
		alloc(&parent, DATA + 0x100, 0x80);
		nm_wire_fork_encode(&parent, &(struct nm_wire_fork){6, 1});
		start(&child, NM_WIRE_FORKED, 6, 5, 1);
		nm_wire_thread_encode(&child, &(struct nm_wire_thread){1});
		RUN(&child, BLOCK_PLAIN, DATA + 0x100, DATA + 0x108);
		start(&image, NM_WIRE_EXECED, 6, 5, 0);
		begin(&r, 1, 0);
		if (child_first)
			assert_int_equal(feed(&r, 1, &child, NULL), 0);
		assert_int_equal(feed(&r, 0, &parent, NULL), 0);
		if (!child_first)
			assert_int_equal(feed(&r, 1, &child, NULL), 0);
		assert_int_equal(feed(&r, 2, &image, NULL), 0);
		finish(&r);
		assert_int_equal(r.count, 3);
		assert_string_equal(r.results[0]->path, "0");
		assert_string_equal(r.results[1]->path, "0.0001");
		assert_string_equal(r.results[2]->path, "0.0001x");
		assert_int_equal(of_object(r.results[1], 0, "heap <unknown caller>").reads, 1);
		assert_int_equal(of_object(r.results[1], 0, "heap <unknown caller>").writes, 1);
		end(&r);
		nm_vec_free(&parent);
		nm_vec_free(&child);
		nm_vec_free(&image);
	}
}

/* Reads of object `name` at a site. */
static uint64_t reads_at(const struct nm_result *result, const char *name, const char *function,
			 const char *file, uint32_t line)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < result->attr_count; i++) {
		const struct nm_result_site *s = &result->sites[result->attrs[i].site];

		if (!strcmp(result->objects[result->attrs[i].object].name, name) && s->function && s->file &&
		    !strcmp(s->function, function) && !strcmp(s->file, file) && s->line == line)
			sum += result->levels[0].counts[i].reads;
	}
	return sum;
}

/* Without mappings and modules the stream names data and code; a forked child inherits both. */
static void places_are_named_by_the_stream(void **state)
{
	struct nm_wire_words w = {0}, child = {0};
	const char *argv[] = {"nest"};
	struct nm_wire_process p = {.start = NM_WIRE_STARTED,
				    .version = NM_WIRE_VERSION,
				    .pid = 5,
				    .argc = 1,
				    .executable = "/some.nest",
				    .directory = "/"};
	struct run r;

	(void)state;
	nm_wire_process_encode(&w, &p, argv);
	nm_wire_thread_start_encode(&w, &(struct nm_wire_thread_start){1, 0, 0, 0});
	nm_wire_thread_encode(&w, &(struct nm_wire_thread){1});
	define(&w, BLOCK_EXIT, 0x400300, NM_WIRE_JUMP,
	       (uint64_t[]){access_word(4, 0, NM_WIRE_READ), access_word(4, 1, NM_WIRE_READ)}, 2, NULL, 0);
	nm_wire_place_encode(&w, &(struct nm_wire_place){0x400300, 7, "X(i)", "some.nest"});
	nm_wire_place_encode(&w, &(struct nm_wire_place){0x400304, 7, "Y(i)", "some.nest"});
	nm_wire_name_encode(&w, &(struct nm_wire_name){0x1000, 400, "X"});
	nm_wire_name_encode(&w, &(struct nm_wire_name){0x1190, 400, "Y"});
	for (uint64_t i = 0; i < 100; i++)
		RUN(&w, BLOCK_EXIT, 0x1000 + 4 * i, 0x1190 + 4 * i);
	nm_wire_unname_encode(&w, &(struct nm_wire_unname){0x1190});
	nm_wire_name_encode(&w, &(struct nm_wire_name){0x1190, 400, "Z"});
	RUN(&w, BLOCK_EXIT, 0x1000, 0x1190);
	nm_wire_fork_encode(&w, &(struct nm_wire_fork){6, 1});
	start(&child, NM_WIRE_FORKED, 6, 5, 1);
	nm_wire_thread_encode(&child, &(struct nm_wire_thread){1});
	RUN(&child, BLOCK_EXIT, 0x1000, 0x1190);
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	assert_int_equal(feed(&r, 1, &child, NULL), 0);
	finish(&r);
	assert_int_equal(r.count, 2);
	assert_int_equal(reads_at(r.results[0], "X", "X(i)", "some.nest", 7), 101);
	assert_int_equal(reads_at(r.results[0], "Y", "Y(i)", "some.nest", 7), 100);
	assert_int_equal(reads_at(r.results[0], "Z", "Y(i)", "some.nest", 7), 1);
	assert_int_equal(reads_at(r.results[1], "X", "X(i)", "some.nest", 7), 1);
	assert_int_equal(reads_at(r.results[1], "Z", "Y(i)", "some.nest", 7), 1);
	end(&r);
	nm_vec_free(&w);
	nm_vec_free(&child);
}

static void refuses_bad_streams(void **state)
{
	struct nm_wire_words w = {0};
	struct nm_error err;
	struct run r;

	(void)state;
	begin(&r, 1, 0);
	nm_wire_exit_encode(&w, &(struct nm_wire_exit){0});
	assert_int_equal(feed(&r, 0, &w, &err), NM_EFORMAT); /* no process */
	w.count = 0;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	RUN(&w, 77, DATA);
	assert_int_equal(feed(&r, 1, &w, &err), NM_EFORMAT); /* an unknown block */
	w.count = 0;
	start(&w, NM_WIRE_STARTED, 6, 1, 0);
	RUN(&w, BLOCK_PLAIN, DATA);
	assert_int_equal(feed(&r, 2, &w, &err), NM_EFORMAT); /* cut short */
	w.count = 0;
	start(&w, NM_WIRE_STARTED, 7, 1, 0);
	nm_wire_thread_encode(&w, &(struct nm_wire_thread){9});
	assert_int_equal(feed(&r, 3, &w, &err), NM_EFORMAT); /* an unknown thread */
	finish(&r);
	assert_int_equal(r.count, 3); /* what was seen before counts */
	end(&r);
	nm_vec_free(&w);
}

/* The engine's state is that of the threads that live, however many have ended. */
static void ended_threads_leave_nothing(void **state)
{
	enum { THREADS = 5000 };
	struct nm_wire_words w = {0};
	struct nm_engine *engine;
	struct nm_result result;
	struct run r;

	(void)state;
	begin(&r, 1, 0);
	assert_int_equal(
	    nm_engine_new(&engine, &(struct nm_engine_options){.machine = &r.machine, .symbols = r.symbols},
			  NULL),
	    0);
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		const uint32_t thread = 2 + i % 3; /* numbers are used again */

		nm_wire_thread_start_encode(&w, &(struct nm_wire_thread_start){thread, 1, DATA, DATA + 4096});
		nm_wire_thread_encode(&w, &(struct nm_wire_thread){thread});
		RUN(&w, BLOCK_CALL, DATA + 2048);
		if (i % 2) /* ends while it runs, or when another does */
			nm_wire_thread_exit_encode(&w, &(struct nm_wire_thread){thread});
		nm_wire_thread_encode(&w, &(struct nm_wire_thread){1});
		if (!(i % 2))
			nm_wire_thread_exit_encode(&w, &(struct nm_wire_thread){thread});
		RUN(&w, BLOCK_PLAIN, DATA + 2048, DATA + 8192); /* where the frame was */
	}
	assert_int_equal(nm_engine_feed(engine, w.at, w.count, NULL), 0);
	assert_int_equal(engine->threads.count, 1);
	assert_int_equal(engine->threads_started, THREADS + 1);
	assert_int_equal(nm_engine_finish(engine, &result, NULL), 0);
	assert_int_equal(result.references, 3 * THREADS);
	nm_result_free(&result);
	nm_engine_free(engine);
	end(&r);
	nm_vec_free(&w);
}

static int add_references(void *sum, const struct nm_result *result, struct nm_error *err)
{
	(void)err;
	for (size_t i = 0; i < result->attr_count; i++)
		*(uint64_t *)sum += result->levels[0].counts[i].reads + result->levels[0].counts[i].writes;
	return 0;
}

/* Children whose streams have ended before their parent's fork is seen, in any number: results that were
 * packed are what they were, one by one and all together. */
static void packed_results_are_whole(void **state)
{
	enum { CHILDREN = 40 };
	struct nm_wire_words w = {0}, child = {0};
	uint64_t one_by_one = 0, together = 0;
	struct run r;

	(void)state;
	begin(&r, 1, 0);
	for (uint32_t i = 1; i <= CHILDREN; i++) {
		child.count = 0;
		start(&child, NM_WIRE_FORKED, 100 + i, 5, i);
		nm_wire_thread_encode(&child, &(struct nm_wire_thread){1});
		for (uint32_t k = 0; k < i; k++)
			RUN(&child, BLOCK_PLAIN, DATA + 64 * k, DATA + 8192);
		assert_int_equal(feed(&r, i, &child, NULL), 0);
		assert_int_equal(nm_session_end(r.session, i, NULL), 0);
	}
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	for (uint32_t i = 1; i <= CHILDREN; i++)
		nm_wire_fork_encode(&w, &(struct nm_wire_fork){100 + i, i});
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	assert_int_equal(nm_session_each(r.session, add_references, &one_by_one, NULL), 0);
	finish(&r);
	assert_int_equal(r.count, CHILDREN + 1);
	for (size_t i = 0; i < r.count; i++)
		add_references(&together, r.results[i], NULL);
	assert_int_equal(one_by_one, CHILDREN * (CHILDREN + 1));
	assert_int_equal(together, one_by_one);
	end(&r);
	nm_vec_free(&w);
	nm_vec_free(&child);
}

/* A family of processes at random: each forks some of those with greater numbers, but is killed before some forks. */
enum { FAMILY = 30, FEEDERS = 4 };

static void make_family(struct nm_wire_words *streams)
{
	uint32_t forks[FAMILY] = {0};

	for (uint32_t i = 0; i < FAMILY; i++) {
		const uint32_t parent = (uint32_t)below(i + 1) / 2;

		start(&streams[i], i ? NM_WIRE_FORKED : NM_WIRE_STARTED, 100 + i, 100 + parent,
		      i ? ++forks[parent] : 0);
		nm_wire_thread_encode(&streams[i], &(struct nm_wire_thread){1});
		if (i && below(8))
			nm_wire_fork_encode(&streams[parent], &(struct nm_wire_fork){100 + i, forks[parent]});
		for (uint64_t k = below(3000); k; k--)
			RUN(&streams[below(2) ? i : parent], BLOCK_PLAIN, DATA + 8 * below(4096),
			    DATA + 8 * below(4096));
	}
}

struct feeding {
	struct nm_session *session;
	struct nm_wire_words streams[FAMILY];
	pthread_mutex_t lock;
	uint32_t next;
};

static void *feed_in_turn(void *arg)
{
	struct feeding *f = arg;

	for (;;) {
		const struct nm_wire_words *w;
		uint32_t i;

		pthread_mutex_lock(&f->lock);
		i = f->next < FAMILY ? f->next++ : FAMILY;
		w = &f->streams[i % FAMILY];
		if (i < FAMILY)
			assert(!nm_session_introduce(f->session, i, w->at, w->count, NULL));
		pthread_mutex_unlock(&f->lock);
		if (i == FAMILY)
			return NULL;
		(void)nm_session_feed(f->session, i, w->at, w->count, NULL);
		assert(!nm_session_end(f->session, i, NULL));
	}
}

static void feed_by_threads(struct run *r, struct feeding *f)
{
	pthread_t threads[FEEDERS];

	f->session = r->session;
	f->next = 0;
	pthread_mutex_init(&f->lock, NULL);
	for (unsigned i = 0; i < FEEDERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, feed_in_turn, f), 0);
	for (unsigned i = 0; i < FEEDERS; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&f->lock);
}

static void equal_results(const struct nm_result *one, const struct nm_result *two)
{
	assert_string_equal(one->path, two->path);
	assert_int_equal(one->references, two->references);
	assert_int_equal(one->attr_count, two->attr_count);
	for (unsigned level = 0; level < 2; level++)
		assert_memory_equal(one->levels[level].counts, two->levels[level].counts,
				    one->attr_count * sizeof *one->levels[level].counts);
}

/* Threads that feed the streams give what one thread gives that feeds them backward, when each child waits for its
 * parent. */
static void streams_are_fed_by_several_threads(void **state)
{
	struct nm_session *session;

	(void)state;
	for (rng_state = 1; rng_state < 2000; rng_state += 97) {
		struct feeding f = {0};
		struct run one, two;

		make_family(f.streams);
		begin(&one, 1, 0);
		begin(&two, 1, 0);
		session = one.session;
		feed_by_threads(&two, &f);
		for (uint32_t i = FAMILY; i--;) {
			(void)nm_session_feed(session, i, f.streams[i].at, f.streams[i].count, NULL);
			assert_int_equal(nm_session_end(session, i, NULL), 0);
		}
		finish(&one);
		finish(&two);
		assert_int_equal(one.count, FAMILY);
		assert_int_equal(two.count, FAMILY);
		for (size_t i = 0; i < FAMILY; i++)
			equal_results(one.results[i], two.results[i]);
		for (size_t i = 0; i < FAMILY; i++)
			nm_vec_free(&f.streams[i]);
		end(&one);
		end(&two);
	}
}

/* Each member of a coalesced access has an entry beside that of the whole, and entries have 16-bit
 * numbers. */
static void refuses_more_accesses_in_groups_than_it_can_number(void **state)
{
	enum { PAIRS = 25000, BLOCK_PAIRS = 90 };
	static uint64_t accesses[2 * PAIRS], addresses[PAIRS];
	struct nm_wire_words w = {0};
	struct nm_error err;
	struct run r;

	(void)state;
	begin(&r, 1, 0);
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	for (unsigned i = 0; i < PAIRS; i++) {
		addresses[i] = DATA;
		accesses[2 * i] = access_word(8, 0, NM_WIRE_READ);
		accesses[2 * i + 1] = access_word(8, 0, NM_WIRE_WRITE | NM_WIRE_FOLLOWS);
	}
	define(&w, BLOCK_PAIRS, 0x401000, NM_WIRE_JUMP, accesses, 2 * PAIRS, NULL, 0);
	run_block(&w, BLOCK_PAIRS, PAIRS, addresses);
	assert_int_equal(feed(&r, 0, &w, &err), NM_EFORMAT);
	assert_non_null(strstr(err.text, "too many accesses in groups"));
	end(&r);
	nm_vec_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(charges_the_right_objects),
	    cmocka_unit_test(fetches_what_was_executed),
	    cmocka_unit_test(counts_data_up_to_a_window),
	    cmocka_unit_test(remembers_frames_of_callers),
	    cmocka_unit_test(threads_change_nothing),
	    cmocka_unit_test(sums_close),
	    cmocka_unit_test(children_inherit),
	    cmocka_unit_test(children_are_in_order),
	    cmocka_unit_test(places_are_named_by_the_stream),
	    cmocka_unit_test(ended_threads_leave_nothing),
	    cmocka_unit_test(packed_results_are_whole),
	    cmocka_unit_test(streams_are_fed_by_several_threads),
	    cmocka_unit_test(refuses_bad_streams),
	    cmocka_unit_test(refuses_more_accesses_in_groups_than_it_can_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
