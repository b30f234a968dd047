/* SPDX-License-Identifier: MIT
 *
 * prefetch_trials_test.c - trials of prefetches against their twin: hierarchies with hints (hierarchy.h) that are fed
 * the whole stream, reference by reference, with the prefetch of each distance before each execution. All counts must
 * be the same, on one thread and on several.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "numbers.h"
#include "prefetch_trials.h"

enum { REFS = 30000, KEYS = 9, SEQUENCES = 3, DISTANCES = 6, TRIALS = 2 * DISTANCES };

static const unsigned distances[DISTANCES] = {0, 1, 2, 7, 20, 64};

struct stream {
	size_t count;
	struct nm_lru_misses_ref refs[REFS];
	uint32_t sequences[REFS];
};

/* A walk, a table that is accessed at random, and a few lines that all need; the last keys execute sequences. */
static struct stream *random_stream(uint64_t table)
{
	struct stream *s = calloc(1, sizeof *s);
	uint64_t walk = 0;

	assert_non_null(s);
	for (s->count = 0; s->count < REFS; s->count++) {
		struct nm_lru_misses_ref *r = &s->refs[s->count];

		*r = (struct nm_lru_misses_ref){.key = 1 + (uint32_t)below(KEYS - 1),
						.size = (uint16_t)(below(20) ? 8 : 1 + below(150))};
		r->address = r->key < 4   ? 0x1000 + below(300)
			     : r->key < 6 ? 0x100000 + (walk += 8) % 20000
					  : 0x900000 + below(table);
		s->sequences[s->count] =
		    r->key >= KEYS - SEQUENCES && below(3) ? r->key - (KEYS - SEQUENCES) + 1 : 0;
	}
	return s;
}

static void parse(const char *spec, struct nm_machine *machine)
{
	static const uint32_t latencies[] = {0, 12, 40};
	struct nm_error err;

	if (nm_machine_parse(spec, machine, &err))
		fail_msg("%s: %s", spec, err.text);
	for (unsigned i = 0; i < machine->count; i++)
		machine->levels[i].latency = latencies[i];
	machine->memory_latency = 150;
	machine->hints = 1;
}

/* ---- the twin ---- */

/* The reference that the prefetch before reference i touches, or 0. */
static size_t target_of(const struct stream *s, size_t i, unsigned distance)
{
	size_t k = i;

	if (!distance || !s->sequences[i])
		return 0;
	while (distance && ++k < s->count)
		distance -= s->sequences[k] == s->sequences[i];
	return k < s->count && k - i <= NM_TRIAL_AHEAD ? k : 0;
}

static uint64_t first_misses(const struct nm_hierarchy *h)
{
	struct nm_counts total;

	nm_hierarchy_total(h, 0, &total);
	return total.read_misses + total.write_misses;
}

/* Runs the stream with prefetches; which references miss in the first level. */
static struct nm_hierarchy *run_twin(const struct stream *s, const struct nm_machine *machine,
				     unsigned distance, uint8_t *ret_missed)
{
	struct nm_hierarchy *h;
	uint64_t misses = 0;

	assert_int_equal(nm_hierarchy_new(&h, machine, NULL), 0);
	for (size_t i = 0; i < s->count; i++) {
		const size_t target = target_of(s, i, distance);
		const struct nm_software_prefetch prefetch = {.address = s->refs[target].address,
							      .attr = s->refs[i].key};
		const struct nm_ref ref = {.address = s->refs[i].address,
					   .attr = s->refs[i].key,
					   .size = s->refs[i].size,
					   .weight = 1};

		if (target)
			assert_int_equal(nm_hierarchy_prefetch(h, &prefetch), 0);
		assert_int_equal(nm_hierarchy_run(h, &ref, 1), 0);
		ret_missed[i] = first_misses(h) > misses;
		misses = first_misses(h);
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
	return h;
}

static void compare_counts(const struct nm_hierarchy *h, const struct nm_machine *machine,
			   const struct nm_prefetch_counts *c)
{
	struct nm_extras *extras, sum = {0};
	size_t attrs;

	assert_int_equal(nm_hierarchy_extra_counts(h, 0, &extras, &attrs), 0);
	for (size_t a = 0; a < attrs; a++)
		nm_extras_add(&sum, &extras[a]);
	free(extras);
	assert_int_equal(c->redundant, sum.redundant);
	assert_int_equal(c->prefetches, sum.redundant + sum.prefetches);
	assert_int_equal(c->useful, sum.useful);
	assert_int_equal(nm_prefetch_late(c), sum.late);
	for (unsigned depth = 0; depth <= machine->count; depth++)
		assert_true(c->rest[depth] >= c->late[depth] &&
			    c->rest[depth] <= c->late[depth] * (depth < machine->count
								    ? machine->levels[depth].latency
								    : machine->memory_latency));
}

static void compare_misses(const struct nm_hierarchy *h, const struct nm_prefetch_trials *t, unsigned trial,
			   unsigned levels)
{
	for (unsigned level = 0; level < levels; level++) {
		struct nm_counts *counts;
		size_t attrs;

		assert_int_equal(nm_hierarchy_counts(h, level, &counts, &attrs), 0);
		for (size_t key = 1; key < attrs; key++)
			assert_int_equal(nm_prefetch_trials_misses(t, trial, key, level),
					 counts[key].read_misses + counts[key].write_misses);
		free(counts);
	}
}

static void compare(const struct stream *s, const struct nm_machine *machine,
		    const struct nm_prefetch_trials *t, unsigned first)
{
	static uint8_t before[REFS], missed[REFS];

	for (unsigned d = 0; d < DISTANCES; d++) {
		struct nm_hierarchy *h = run_twin(s, machine, distances[d], d ? missed : before);
		const struct nm_prefetch_counts *c = nm_prefetch_trials_counts(t, first + d);
		uint64_t covered = 0, polluted = 0;

		for (size_t i = 0; d && i < s->count; i++) {
			covered += before[i] && !missed[i];
			polluted += !before[i] && missed[i];
		}
		assert_int_equal(c->covered, covered);
		assert_int_equal(c->polluted, polluted);
		compare_counts(h, machine, c);
		compare_misses(h, t, first + d, machine->count);
		nm_hierarchy_free(h);
	}
}

/* ---- tests ---- */

static void check_stream(const struct stream *s, const struct nm_machine machines[2], unsigned threads)
{
	struct nm_prefetch_trial trials[TRIALS];
	struct nm_prefetch_trials *t;

	for (unsigned i = 0; i < TRIALS; i++)
		trials[i] = (struct nm_prefetch_trial){&machines[i / DISTANCES], distances[i % DISTANCES]};
	t = nm_prefetch_trials_new(trials, TRIALS, threads);
	assert_non_null(t);
	assert_int_equal(nm_prefetch_trials_reserve(t, KEYS), 0);
	for (size_t i = 0; i < s->count; i++)
		assert_int_equal(nm_prefetch_trials_add(t, &s->refs[i], s->sequences[i]), 0);
	assert_int_equal(nm_prefetch_trials_end(t), 0);
	compare(s, &machines[0], t, 0);
	compare(s, &machines[1], t, DISTANCES);
	nm_prefetch_trials_free(t);
}

/* Small caches and larger ones, of sets that have 1, 3 and more as a common divisor. */
static void test_as_hierarchies_with_hints(void **state)
{
	static const char *const specs[][2] = {
	    {"L1d=1K,4,64:L2=4K,4,64:L3=32K,8,64", "L1d=8K,4,64:L2=32K,4,64:L3=256K,8,64"},
	    {"L1d=192,1,64", "L1d=9K,3,64:L2=24K,6,64"},
	    {"L1d=2K,8,32:L2=6K,6,64", "L1d=512,full,32:L2=3K,3,128"},
	};
	static const uint64_t tables[] = {3000, 30000, 400000};

	(void)state;
	rng_state = 11;
	for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct nm_machine machines[2];
		struct stream *s = random_stream(tables[i]);

		parse(specs[i][0], &machines[0]);
		parse(specs[i][1], &machines[1]);
		check_stream(s, machines, 1 + i);
		free(s);
	}
}

/* A load that is executed every so many references, each time of another line. */
static void run_sparse(unsigned gap, struct nm_prefetch_counts *ret)
{
	struct nm_machine machine;
	struct nm_prefetch_trials *t;
	const struct nm_prefetch_trial trials[] = {{&machine, 0}, {&machine, 1}};
	enum { EXECUTIONS = 5 };

	parse("L1d=1K,4,64:L2=4K,4,64", &machine);
	t = nm_prefetch_trials_new(trials, 2, 1);
	assert_non_null(t);
	assert_int_equal(nm_prefetch_trials_reserve(t, 2), 0);
	for (unsigned i = 0; i < EXECUTIONS * gap; i++) {
		const struct nm_lru_misses_ref ref = {.address = i % gap ? 64 * (i % 3)
									 : 0x10000 + 64 * (uint64_t)i / gap,
						      .key = 1,
						      .size = 8};

		assert_int_equal(nm_prefetch_trials_add(t, &ref, !(i % gap)), 0);
	}
	assert_int_equal(nm_prefetch_trials_end(t), 0);
	assert_int_equal(nm_prefetch_trials_lines(t), EXECUTIONS);
	*ret = *nm_prefetch_trials_counts(t, 1);
	nm_prefetch_trials_free(t);
}

static void test_how_far_ahead(void **state)
{
	struct nm_prefetch_counts c;

	(void)state;
	run_sparse(100, &c); /* the line needs 150 references */
	assert_int_equal(c.prefetches, 4);
	assert_int_equal(c.late[2], 4);
	assert_int_equal(c.rest[2], 4 * 50);
	run_sparse(NM_TRIAL_AHEAD, &c);
	assert_int_equal(c.useful, 4);
	assert_int_equal(nm_prefetch_late(&c), 0);
	run_sparse(NM_TRIAL_AHEAD + 1, &c);
	assert_int_equal(c.prefetches, 0);
}

static void test_which_machines(void **state)
{
	struct nm_machine machine, other;
	struct nm_error err;

	(void)state;
	parse("L1d=1K,4,64,policy=tree-plru", &machine);
	assert_int_equal(nm_prefetch_trials_check(&machine, &err), NM_EINVAL);
	parse("L1d=1K,4,64", &machine);
	parse("L1d=2K,4,64", &other);
	assert_int_equal(nm_machine_join(&machine, &other, &err), 0);
	assert_int_equal(nm_prefetch_trials_check(&machine, &err), NM_EINVAL);
	parse("L1i=1K,4,64:L1d=1K,4,64:L2=4K,4,64", &machine);
	assert_int_equal(nm_prefetch_trials_check(&machine, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_as_hierarchies_with_hints),
	    cmocka_unit_test(test_how_far_ahead),
	    cmocka_unit_test(test_which_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
