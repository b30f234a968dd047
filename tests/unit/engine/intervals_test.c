/* SPDX-License-Identifier: MIT
 *
 * intervals_test.c - intervals of random streams against a slow twin, which reads all counters of the model
 * after every batch: what an interval has counted is the difference between its ends, and the sum over
 * intervals is what the run has counted, for levels of every kind. Sketches against the true number of lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "intervals.h"
#include "numbers.h"

enum { BATCHES = 3000, REFS = 48, KEYS = 40, LEVELS = 3, CORES = 2 };

/* The twin: counts after each batch, as far as intervals have them. */
struct moment {
	uint64_t instructions;
	struct nm_counts counts[LEVELS][KEYS], totals[LEVELS];
};

static struct moment moments[BATCHES + 1];

static void make_batch(struct nm_ref *refs, unsigned batch)
{
	const uint64_t base = batch / 500 * 2000; /* the program moves on */

	for (unsigned i = 0; i < REFS; i++)
		refs[i] = (struct nm_ref){.address = (base + below(1 + below(600))) * 24,
					  .attr = 1 + (uint32_t)below(1 + batch % 7 * 6) % (KEYS - 1),
					  .size = 1 + (uint16_t)below(16),
					  .kind = below(3) ? NM_REF_READ : NM_REF_WRITE,
					  .weight = 1};
}

static void take_moment(const struct nm_hierarchy *h, unsigned levels, struct moment *to)
{
	for (unsigned level = 0; level < levels; level++) {
		struct nm_counts *counts;
		size_t keys;

		memset(to->counts[level], 0, sizeof to->counts[level]);
		assert_int_equal(nm_hierarchy_counts(h, level, &counts, &keys), 0);
		memcpy(to->counts[level], counts, (keys < KEYS ? keys : KEYS) * sizeof *counts);
		nm_hierarchy_total(h, level, &to->totals[level]);
		free(counts);
	}
}

static const struct moment *moment_at(uint64_t instructions)
{
	const struct moment *found = NULL;

	for (unsigned i = 0; i <= BATCHES && !found; i++)
		if (moments[i].instructions == instructions)
			found = &moments[i];
	assert_non_null(found);
	return found;
}

static void check_counts(const struct nm_counts *got, const struct nm_counts *begin,
			 const struct nm_counts *end, const char *spec)
{
	const uint64_t is[] = {got->read_misses, got->write_misses, got->cold, got->capacity,
			       got->conflict,    got->coherence,    got->loads};
	const uint64_t should[] = {end->read_misses - begin->read_misses,
				   end->write_misses - begin->write_misses,
				   end->cold - begin->cold,
				   end->capacity - begin->capacity,
				   end->conflict - begin->conflict,
				   end->coherence - begin->coherence,
				   end->loads - begin->loads};

	for (unsigned i = 0; i < sizeof is / sizeof *is; i++)
		if (is[i] != should[i])
			fail_msg("%s: count %u is %llu, not %llu", spec, i, (unsigned long long)is[i],
				 (unsigned long long)should[i]);
}

static void check_level(const struct nm_interval *interval, struct nm_change_reader *reader, unsigned level,
			const char *spec)
{
	const struct moment *begin = moment_at(interval->begin), *end = moment_at(interval->end);
	struct nm_counts got[KEYS] = {0};

	while (nm_changes_next(reader)) {
		assert_true(reader->change.key < KEYS);
		got[reader->change.key] = nm_change_counts(&reader->change);
	}
	for (unsigned key = 0; key < KEYS; key++)
		check_counts(&got[key], &begin->counts[level][key], &end->counts[level][key], spec);
}

/* References to a level: the program's own, and the loads of the levels that request lines of it. */
static void check_references(const struct nm_intervals *v, unsigned level, const char *spec)
{
	const struct nm_counts *total = &moments[BATCHES].totals[level];
	uint64_t refs[2] = {0, 0};

	for (size_t i = 0; i < v->list.count; i++)
		for (unsigned k = 0; k < 2; k++)
			refs[k] += v->list.at[i].refs[level][k];
	for (unsigned above = 0; above < v->levels; above++)
		if (v->next[above] == (int)level)
			for (size_t i = 0; i < v->list.count; i++) {
				struct nm_change_reader reader = nm_changes_read(&v->list.at[i]);

				for (unsigned at = 0; at <= above; at++) {
					if (at)
						nm_changes_next_level(&reader);
					while (nm_changes_next(&reader)) {
						refs[0] +=
						    at == above ? reader.change.counts[NM_CHANGE_READS] : 0;
						refs[1] +=
						    at == above ? reader.change.counts[NM_CHANGE_WRITES] : 0;
					}
				}
			}
	if (refs[0] != total->reads || refs[1] != total->writes)
		fail_msg("%s: level %u has %llu references, not %llu", spec, level,
			 (unsigned long long)(refs[0] + refs[1]),
			 (unsigned long long)(total->reads + total->writes));
}

static void run(struct nm_hierarchy *h, struct nm_intervals *v, unsigned cores)
{
	struct nm_ref refs[REFS];

	for (unsigned i = 1; i <= BATCHES; i++) {
		make_batch(refs, i);
		nm_hierarchy_set_core(h, (unsigned)below(cores));
		assert_int_equal(nm_hierarchy_run(h, refs, REFS), 0);
		moments[i].instructions = moments[i - 1].instructions + 1 + below(30000);
		take_moment(h, v->levels, &moments[i]);
		assert_int_equal(nm_intervals_step(v, moments[i].instructions), 0);
	}
	assert_int_equal(nm_intervals_end(v, moments[BATCHES].instructions), 0);
}

static void check(const char *spec, unsigned cores, unsigned seed)
{
	struct nm_machine machine;
	struct nm_hierarchy *h;
	struct nm_intervals v;
	struct nm_error err;
	uint64_t last = 0;

	rng_state = seed;
	assert_int_equal(nm_machine_parse(spec, &machine, &err), 0);
	machine.cores = cores;
	assert_true(machine.count <= LEVELS);
	assert_int_equal(nm_hierarchy_new_shared(&h, &machine, NULL, 1, &err), 0);
	assert_int_equal(nm_intervals_init(&v, h, machine.count), 0);
	run(h, &v, cores);
	assert_true(v.list.count <= NM_MAX_INTERVALS && v.list.count >= NM_MAX_INTERVALS / 2 - 1);
	for (size_t i = 0; i < v.list.count; i++) {
		struct nm_change_reader reader = nm_changes_read(&v.list.at[i]);

		assert_int_equal(v.list.at[i].begin, last);
		last = v.list.at[i].end;
		for (unsigned level = 0; level < machine.count; level++) {
			if (level)
				nm_changes_next_level(&reader);
			check_level(&v.list.at[i], &reader, level, spec);
		}
	}
	assert_int_equal(last, moments[BATCHES].instructions);
	for (unsigned level = 0; level < machine.count; level++)
		check_references(&v, level, spec);
	nm_intervals_done(&v);
	nm_hierarchy_free(h);
}

static void test_twin(void **state)
{
	static const char *const specs[] = {
	    "L1d=2K,8,64:L2=8K,16,64:L3=32K,16,64",
	    "L1d=1K,2,32:L2=4K,8,64:L3=16K,4,128",
	    "L1d=4K,8,128",
	    "L1d=2K,8,64,policy=random:L2=8K,8,64",
	    "L1d=1K,2,32,allocate=no:L2=8K,16,64,write=through,allocate=no:L3=32K,16,256",
	    "L1i=1K,2,32:L1d=1K,4,64,write=through:L2=4K,8,64",
	    "L1d=2K,4,64,sector=16,prefetch=next:L2=8K,8,64",
	    "L1d=2K,8,64:b/L1d=2K,8,64:b/L2=8K,8,64"}; /* one first level for both machines */

	(void)state;
	for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++)
		check(specs[i], 1, 100 + i);
}

static void test_cores(void **state)
{
	(void)state;
	check("L1d=1K,4,64,protocol=mesi:L2=16K,16,64", CORES, 7);
	check("L1d=1K,4,64:L2=4K,4,64,shared=no:L3=16K,16,64", CORES, 8);
}

static void test_sketch(void **state)
{
	(void)state;
	for (unsigned n = 10; n <= 1000000; n *= 10) {
		uint8_t one[NM_SKETCH] = {0}, other[NM_SKETCH] = {0}, both[NM_SKETCH] = {0};
		double count;

		for (uint64_t line = 0; line < n; line++) {
			for (unsigned k = 0; k < 3; k++)
				nm_sketch_add(line % 3 ? one : other, 0x10000 + 7 * line);
			nm_sketch_add(both, 0x10000 + 7 * line);
		}
		nm_sketch_merge(one, other);
		assert_memory_equal(one, both, sizeof one);
		count = nm_sketch_count(both); /* three standard errors */
		assert_true(count > 0.95 * n && count < 1.05 * n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_twin),
	    cmocka_unit_test(test_cores),
	    cmocka_unit_test(test_sketch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
