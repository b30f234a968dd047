/* SPDX-License-Identifier: MIT
 *
 * cores_test.c - machines with several cores: against a slow, obvious twin of private and shared LRU levels;
 * private levels behave as separate machines with one core each; all threads on one core are a
 * machine with one core; and which levels are shared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "machine.h"
#include "numbers.h"

enum { REFS = 20000, ATTRS = 6, CORES = 3, LEVELS = 3, FIELDS = sizeof(struct nm_counts) / sizeof(uint64_t) };

/* Bursts of references of one core each; attribution key c is of core c % CORES. */
static void make_stream(struct nm_ref *refs, unsigned *cores, unsigned seed)
{
	unsigned core = 0;

	rng_state = seed;
	for (unsigned i = 0; i < REFS; i++) {
		if (below(50) == 0)
			core = (unsigned)below(CORES);
		cores[i] = core;
		refs[i] = (struct nm_ref){.address = (below(3) ? core << 12 : 0) + below(1 + below(400)) * 64,
					  .attr = core + CORES * (uint32_t)below(ATTRS / CORES),
					  .size = 8,
					  .kind = below(3) ? NM_REF_READ : NM_REF_WRITE,
					  .weight = 1};
	}
}

static struct nm_hierarchy *start(const char *spec, unsigned cores, struct nm_machine *ret_machine)
{
	struct nm_hierarchy *h;
	struct nm_error err;

	if (nm_machine_parse(spec, ret_machine, &err))
		fail_msg("%s: %s", spec, err.text);
	ret_machine->cores = cores;
	assert_int_equal(nm_hierarchy_new(&h, ret_machine, &err), 0);
	return h;
}

/* Adds up counts by level and attribution key. */
static void gather(const struct nm_hierarchy *h, unsigned levels, uint64_t (*sums)[ATTRS][FIELDS])
{
	for (unsigned level = 0; level < levels; level++) {
		struct nm_counts *counts, total;
		size_t attrs;

		assert_int_equal(nm_hierarchy_counts(h, level, &counts, &attrs), 0);
		nm_hierarchy_total(h, level, &total);
		for (size_t c = 0; c < attrs && c < ATTRS; c++) {
			uint64_t row[FIELDS];
			memcpy(row, &counts[c], sizeof row);
			total.loads -= counts[c].loads;
			for (unsigned f = 0; f < FIELDS; f++)
				sums[level][c][f] += row[f];
		}
		assert_int_equal(total.loads, 0);
		free(counts);
	}
}

/* ---- the twin ---- */

struct entry {
	uint64_t line, touched; /* 0: free */
	uint32_t attr;
};

struct twin_level {
	struct nm_level_spec spec;
	int private;
	struct entry *entries[CORES]; /* [sets][ways]; shared: those of core 0 */
	uint64_t counts[ATTRS][3];    /* references, loads, evictions */
};

static void look_up(struct twin_level *levels, unsigned count, unsigned level, unsigned core, uint64_t line,
		    uint32_t attr, uint64_t now)
{
	struct twin_level *l = &levels[level];
	struct entry *set = l->entries[l->private ? core : 0] + line % l->spec.sets * l->spec.ways,
		     *victim = set;

	l->counts[attr][0]++;
	for (unsigned w = 0; w < l->spec.ways; w++) {
		if (set[w].touched && set[w].line == line) {
			set[w].touched = now;
			return;
		}
		if (set[w].touched < victim->touched)
			victim = &set[w];
	}
	l->counts[attr][1]++;
	if (victim->touched)
		l->counts[victim->attr][2]++;
	*victim = (struct entry){line, now, attr};
	if (level + 1 < count)
		look_up(levels, count, level + 1, core, line, attr, now);
}

static void check_twin(const char *spec, const char *private, unsigned seed)
{
	static struct nm_ref refs[REFS];
	static unsigned cores[REFS];
	uint64_t got[LEVELS][ATTRS][FIELDS] = {0};
	struct twin_level twin[LEVELS] = {0};
	struct nm_machine machine;
	struct nm_hierarchy *h = start(spec, CORES, &machine);
	struct nm_counts names;

	make_stream(refs, cores, seed);
	for (unsigned i = 0; i < machine.count; i++) {
		twin[i].spec = machine.levels[i];
		twin[i].private = private[i] == 'p';
		assert_int_equal(nm_machine_private(&machine, i), twin[i].private);
		for (unsigned c = 0; c < CORES; c++)
			twin[i].entries[c] =
			    calloc(twin[i].spec.sets * twin[i].spec.ways, sizeof(struct entry));
	}
	for (unsigned i = 0; i < REFS; i++) {
		nm_hierarchy_set_core(h, cores[i]);
		assert_int_equal(nm_hierarchy_run(h, &refs[i], 1), 0);
		look_up(twin, machine.count, 0, cores[i], refs[i].address / 64, refs[i].attr, i + 1);
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
	gather(h, machine.count, got);
	for (unsigned i = 0; i < machine.count; i++) {
		for (unsigned c = 0; c < ATTRS; c++) {
			memcpy(&names, got[i][c], sizeof names);
			if (i) /* the caller counts references to the first level */
				assert_int_equal(names.reads + names.writes, twin[i].counts[c][0]);
			assert_int_equal(names.read_misses + names.write_misses, twin[i].counts[c][1]);
			assert_int_equal(names.loads, twin[i].counts[c][1]);
			assert_int_equal(names.evictions, twin[i].counts[c][2]);
			assert_int_equal(names.cold + names.capacity + names.conflict, names.loads);
		}
		for (unsigned c = 0; c < CORES; c++)
			free(twin[i].entries[c]);
	}
	nm_hierarchy_free(h);
}

static void test_twin(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed < 5; seed++) {
		check_twin("L1d=1K,2,64", "p", seed);
		check_twin("L1d=1K,2,64:L2=4K,4,64", "ps", seed);
		check_twin("L1d=1K,2,64:L2=4K,4,64,shared=no", "pp", seed);
		check_twin("L1d=1K,2,64:L2=4K,8,64:L3=16K,16,64", "pps", seed);
		check_twin("L1d=1K,full,64:L2=3K,3,64,shared=yes:L3=16K,full,64", "pss", seed);
		check_twin("L1d=1K,4,64,shared=yes:L2=4K,4,64", "ss", seed);
	}
}

/* ---- laws ---- */

static void run(const char *spec, unsigned cores, const struct nm_ref *refs, const unsigned *core_of,
		int only, uint64_t (*sums)[ATTRS][FIELDS])
{
	struct nm_machine machine;
	struct nm_hierarchy *h = start(spec, cores, &machine);

	for (unsigned i = 0; i < REFS; i++) {
		if (only >= 0 && core_of[i] != (unsigned)only)
			continue;
		nm_hierarchy_set_core(h, cores > 1 && only < 0 ? core_of[i] : 0);
		assert_int_equal(nm_hierarchy_run(h, &refs[i], 1), 0);
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
	gather(h, machine.count, sums);
	nm_hierarchy_free(h);
}

static const char *const unshared[] = {
    "L1d=1K,2,64",
    "L1d=1K,2,64:L2=4K,4,128,shared=no",
    "L1d=1K,4,64,policy=srrip:L2=4K,8,64,inclusion=inclusive,shared=no",
    "L1d=1K,4,64:L2=4K,8,64,inclusion=exclusive,shared=no",
    "L1d=1K,4,64,write=through,allocate=no:L2=4K,8,64,policy=random,shared=no",
    "L1d=16K,4,4K,pages=4K:L2=64K,4,4K,pages=4K",
};

/* Compares every count of every attribution key. */
static void test_private(void **state)
{
	static struct nm_ref refs[REFS];
	static unsigned cores[REFS];
	(void)state;
	for (unsigned s = 0; s < sizeof unshared / sizeof *unshared; s++) {
		uint64_t together[LEVELS][ATTRS][FIELDS] = {0}, apart[LEVELS][ATTRS][FIELDS] = {0};

		make_stream(refs, cores, s + 1);
		run(unshared[s], CORES, refs, cores, -1, together);
		for (int core = 0; core < CORES; core++)
			run(unshared[s], 1, refs, cores, core, apart);
		assert_memory_equal(together, apart, sizeof apart);
	}
}

static void test_one_core_of_many(void **state)
{
	static const char *const specs[] = {"L1d=1K,2,64:L2=4K,4,64",
					    "L1d=1K,2,64,protocol=mesi:L2=4K,4,64,prefetch=next",
					    "L1d=1K,4,64,protocol=mesi:L2=4K,4,64,prefetch=next",
					    "L1d=1K,2,64:L2=4K,4,64,inclusion=inclusive",
					    "L1d=1K,2,64:L2=4K,4,64,inclusion=exclusive:L3=16K,4,64"};
	static struct nm_ref refs[REFS];
	static unsigned cores[REFS], zero[REFS];
	(void)state;
	for (unsigned s = 0; s < sizeof specs / sizeof *specs; s++) {
		uint64_t many[LEVELS][ATTRS][FIELDS] = {0}, one[LEVELS][ATTRS][FIELDS] = {0};

		make_stream(refs, cores, s + 9);
		run(specs[s], CORES, refs, zero, -1, many);
		run(specs[s], 1, refs, zero, -1, one);
		assert_memory_equal(many, one, sizeof one);
	}
}

/* Lines of an inclusive shared level leave the first level of all cores; those of an exclusive one may be in
 * several. */
static void test_inclusion(void **state)
{
	static const char *const specs[] = {
	    "L1d=1K,2,64:L2=4K,4,64,inclusion=inclusive", "L1d=1K,2,64:L2=4K,4,64,inclusion=exclusive",
	    "L1d=1K,2,64:L2=2K,2,64,inclusion=exclusive:L3=8K,4,64,inclusion=exclusive"};
	static struct nm_ref refs[REFS];
	static unsigned cores[REFS];
	(void)state;
	for (unsigned s = 0; s < 3; s++) {
		uint64_t sums[LEVELS][ATTRS][FIELDS] = {0}, reuse = 0;

		make_stream(refs, cores, s + 20);
		run(specs[s], CORES, refs, cores, -1, sums);
		for (unsigned c = 0; c < ATTRS; c++) {
			struct nm_counts n;
			memcpy(&n, sums[0][c], sizeof n);
			reuse += n.reuse;
		}
		assert_int_equal(reuse, REFS);
	}
}

static void test_map(void **state)
{
	struct nm_machine m;
	struct nm_error err;
	char text[100];
	(void)state;
	assert_int_equal(nm_machine_parse("L1d=1K,2,64,shared=no:L2=4K,4,64,shared=yes", &m, &err), 0);
	nm_machine_format(&m, text, sizeof text);
	assert_string_equal(text, "L1d=1K,2,64,shared=no:L2=4K,4,64,shared=yes");
	assert_int_equal(nm_machine_core(&m, 7), 0);
	m.cores = 4;
	m.core_of[1] = 1; /* thread 2 to core 0 */
	assert_int_equal(nm_machine_core(&m, 1), 0);
	assert_int_equal(nm_machine_core(&m, 2), 0);
	assert_int_equal(nm_machine_core(&m, 3), 2);
	assert_int_equal(nm_machine_core(&m, 1000), 3);
	assert_int_equal(nm_machine_parse("L1d=1K,2,64,shared=yes:L2=4K,4,64,shared=no", &m, &err),
			 NM_EINVAL);
	assert_int_equal(err.column, 23);
	assert_int_equal(nm_machine_parse("L1d=1K,2,64,shared=maybe", &m, &err), NM_EINVAL);
	assert_int_equal(err.column, 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_twin),
	    cmocka_unit_test(test_private),
	    cmocka_unit_test(test_one_core_of_many),
	    cmocka_unit_test(test_inclusion),
	    cmocka_unit_test(test_map),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
