/* SPDX-License-Identifier: MIT
 *
 * grouped_test.c - coalesced accesses change no result: a random program whose collector coalesces accesses,
 * and the same with an address word for each access (grouped_stream.h), in each way in which the engine
 * executes blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine_priv.h"
#include "grouped_stream.h"
#include "named_results.h"

struct way {
	const char *machine;
	unsigned threads, copy, cores;
	int instructions, by_instruction, contexts, heap_chains, all_sampled;
	enum nm_event_query_mode event_query; /* 0: none */
};

struct outcome {
	struct nm_event_query event_query;
	struct nm_result parent, child;
};

static void feed(struct nm_engine *engine, const struct nm_wire_words *words)
{
	struct nm_error err;

	if (nm_engine_feed(engine, words->at, words->count, &err))
		fail_msg("%s", err.text);
}

static void run(struct outcome *ret, const struct maker *m, int grouped, const struct way *way,
		struct nm_symbols *symbols)
{
	struct nm_machine machine;
	struct nm_engine_options options = {.machine = &machine,
					    .symbols = symbols,
					    .threads = way->threads,
					    .instructions = way->instructions,
					    .by_instruction = way->by_instruction,
					    .contexts = way->contexts,
					    .heap_chains = way->heap_chains};
	struct nm_engine *engine, *child;
	uint32_t ordinal;

	assert_int_equal(nm_machine_parse(way->machine, &machine, NULL), 0);
	machine.cores = way->cores;
	ret->event_query = (struct nm_event_query){
	    .mode = way->event_query, .end = UINT64_MAX, .by_attr = 1, .shift = 6, .skip = 300, .limit = 60};
	memset(ret->event_query.kinds, way->event_query == NM_QUERY_LOG ? 1 << NM_EVENT_REPLACE : 63,
	       sizeof ret->event_query.kinds);
	if (way->event_query)
		options.event_query = &ret->event_query;
	assert_int_equal(nm_engine_new(&engine, &options, NULL), 0);
	engine->replay.execute = nm_execute_supported(way->copy);
	if (way->all_sampled)
		engine->replay.builder.bursts.until = UINT64_MAX;
	feed(engine, &m->words[grouped]);
	child = nm_engine_take_child(engine, &ordinal);
	assert_non_null(child);
	assert_int_equal(nm_engine_finish(engine, &ret->parent, NULL), 0);
	nm_engine_free(engine);
	child->replay.execute = nm_execute_supported(way->copy);
	feed(child, &m->child[grouped]);
	assert_int_equal(nm_engine_finish(child, &ret->child, NULL), 0);
	nm_engine_free(child);
}

static void check(const struct maker *m, const char *what, struct way way, struct nm_symbols *symbols)
{
	struct outcome single = {0}, grouped = {0};

	run(&single, m, 0, &way, symbols);
	run(&grouped, m, 1, &way, symbols);
	same_results(what, &single.parent, &grouped.parent);
	same_results(what, &single.child, &grouped.child);
	assert_true(grouped.parent.references > 5 * STEPS);
	if (way.all_sampled)
		assert_true(grouped.parent.stride_count > BLOCKS);
	nm_result_free(&single.parent);
	nm_result_free(&single.child);
	nm_result_free(&grouped.parent);
	nm_result_free(&grouped.child);
}

static const char fast[] = "L1d=1K,8,64:L2=8K,4,64", sides[] = "L1i=1K,2,64:L1d=1K,4,32:L2=8K,8,64",
		  pages[] = "L1=16K,full,4K,pages=4K", ahead[] = "L1d=1K,4,64,prefetch=stride:L2=4K,4,64";

static const struct {
	const char *what;
	struct way way;
} ways[] = {
    {"plain", {fast, .threads = 1}},
    {"by instruction", {fast, .threads = 1, .by_instruction = 1}},
    {"two threads", {fast, .threads = 2, .by_instruction = 1}},
    {"contexts", {fast, .threads = 1, .contexts = 1}},
    {"contexts, two threads", {fast, .threads = 2, .contexts = 1, .by_instruction = 1}},
    {"heap chains", {fast, .threads = 1, .contexts = 1, .heap_chains = 1}},
    {"fetches", {sides, .threads = 1, .instructions = 1}},
    {"fetches and contexts", {sides, .threads = 2, .instructions = 1, .contexts = 1, .by_instruction = 1}},
    {"all sampled", {fast, .threads = 1, .all_sampled = 1, .by_instruction = 1}},
    {"cores", {fast, .threads = 1, .cores = 2, .by_instruction = 1}},
    {"pages", {pages, .threads = 1}},
    {"prefetches", {ahead, .threads = 1, .by_instruction = 1}},
    {"events", {fast, .threads = 1, .event_query = NM_QUERY_GRANULES}},
    {"an event", {fast, .threads = 2, .event_query = NM_QUERY_LOG}},
};

static void groups_change_nothing(void **state)
{
	static struct maker m;

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		struct nm_symbols *symbols;

		m = (struct maker){0};
		rng_state = round;
		make_streams(&m);
		assert_int_equal(nm_symbols_new(&symbols, NULL), 0);
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
			for (unsigned copy = 0; nm_execute_supported(copy) && (i < 3 || !copy); copy++) {
				struct way way = ways[i].way;

				way.copy = copy;
				check(&m, ways[i].what, way, symbols);
			}
		nm_symbols_free(symbols);
		free_streams(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(groups_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
