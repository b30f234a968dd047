/* SPDX-License-Identifier: MIT
 *
 * relocations_test.c - the pass that relocates memory against its twin: the addresses of a random stream are
 * relocated one by one, and a hierarchy is fed with them. All misses by key and level must be the same. Memory
 * comes while the stream runs. And: areas never meet, wherever they are shifted to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "finish_pass.h"
#include "lru_misses.h"
#include "numbers.h"
#include "pass.h"
#include "relocations.h"

enum { KEYS = 12, RELOCATIONS = 9, BATCHES = 30, GROUPS_MOST = 200 };

static const char program[] = "/bin/program";

/* ---- a stream ---- */

/* Memory as a process gets it; it begins on a page of `area`, bytes of which are used. */
struct memory {
	uint64_t low, bytes;
	enum nm_area_kind kind;
};
static const struct memory memories[] = {
    {0x400000, 0x3000, NM_AREA_FILE},      {0x404000, 0x2000, NM_AREA_FILE},
    {0x406000, 0x1000, NM_AREA_MAPPING},   {0x800000, 0x4000, NM_AREA_HEAP},
    {0x7ffff000, 0x1000, NM_AREA_STACK},   {0x10000000, 0x8000, NM_AREA_MAPPING},
    {0x10008000, 0x2000, NM_AREA_MAPPING},
};
enum { MEMORIES = sizeof memories / sizeof *memories };

static void add_memory(struct nm_areas *areas, const struct memory *m)
{
	if (!nm_areas_cover(areas, m->low, m->low + m->bytes))
		assert_int_equal(nm_areas_add(areas, m->low, m->low + m->bytes, m->kind,
					      m->kind == NM_AREA_FILE ? program : NULL),
				 0);
}

/* Mostly near the address before, as programs have it. A run of data is longer than the caches' lists of misses. */
static struct nm_ref random_ref(unsigned memory_count)
{
	static uint64_t at[MEMORIES], count;
	const unsigned i = (unsigned)below(memory_count);
	const struct memory *m = &memories[i];
	struct nm_ref r = {.size = (uint16_t)(below(9) ? 1u << below(5) : 1 + below(200)), .weight = 1};

	if (!below(20))
		at[i] = below(m->bytes);
	r.address = m->low + (at[i] + below(160)) % (m->bytes - r.size);
	r.attr = 1 + (uint32_t)below(KEYS - 1);
	r.kind = count++ % 8192 < 4096 || below(8) ? (uint8_t)below(2) : NM_REF_FETCH;
	return r;
}

static struct nm_ref random_group(struct nm_coalesced_table *table, unsigned memory_count)
{
	struct nm_coalesced_member members[] = {
	    {.attr = 1 + (uint32_t)below(KEYS - 1), .distance = 0, .size = 8, .kind = NM_REF_READ},
	    {.attr = 1 + (uint32_t)below(KEYS - 1), .distance = 8, .size = 4, .kind = NM_REF_WRITE}};
	struct nm_ref r = random_ref(memory_count);

	r.address = memories[0].low + below(memories[0].bytes - 16);
	r.kind = 1;
	r.size = 12;
	r.weight = 2;
	r.attr = table->count > GROUPS_MOST ? 1 + (uint32_t)below(GROUPS_MOST)
					    : nm_coalesced_add(table, members, 2);
	return r;
}

/* ---- the twin ---- */

struct twin {
	struct nm_hierarchy *hierarchies[RELOCATIONS];
};

static void run_twin(struct twin *t, const struct nm_areas *areas, const struct nm_coalesced_table *table,
		     const struct nm_ref *ref)
{
	struct nm_ref singles[NM_COALESCED_MAX];
	const unsigned n = nm_pass_expand(table, ref, singles);

	for (unsigned k = 0; k < RELOCATIONS; k++)
		for (unsigned i = 0; i < n; i++) {
			struct nm_ref moved = singles[i];

			moved.address = nm_relocated(areas, moved.address, k);
			assert_int_equal(nm_hierarchy_run(t->hierarchies[k], &moved, 1), 0);
		}
}

static void compare(struct twin *t, const struct nm_machine *machine, const struct nm_result *result)
{
	for (unsigned k = 0; k < RELOCATIONS; k++) {
		assert_int_equal(nm_hierarchy_finish(t->hierarchies[k]), 0);
		for (unsigned level = 0; level < machine->count; level++) {
			const uint64_t *misses =
			    &result->relocated[(k * machine->count + level) * result->attr_count];
			struct nm_counts *counts;
			uint64_t sum = 0;
			size_t keys;

			assert_int_equal(nm_hierarchy_counts(t->hierarchies[k], level, &counts, &keys), 0);
			for (size_t key = 1; key < KEYS && key < keys; key++) {
				assert_int_equal(misses[key],
						 counts[key].read_misses + counts[key].write_misses);
				sum += misses[key];
			}
			assert_true(sum > 100);
			free(counts);
		}
		nm_hierarchy_free(t->hierarchies[k]);
	}
}

/* ---- the pass ---- */

static void run_machine(const struct nm_machine *machine, unsigned threads, uint64_t seed)
{
	const struct nm_engine_options options = {
	    .machine = machine, .threads = threads, .relocations = RELOCATIONS};
	struct nm_coalesced_table *table = nm_coalesced_table_new();
	struct nm_areas areas = {.parts = 0};
	const struct nm_pass_setup setup = {.options = &options, .coalesced = table, .areas = &areas};
	struct nm_result result = {.machine = *machine};
	struct nm_ref refs[NM_BATCH];
	struct twin twin;
	void *pass = NULL;

	rng_state = seed;
	assert_int_equal(nm_pass_relocations.make(&pass, &setup, NULL), 0);
	for (unsigned k = 0; k < RELOCATIONS; k++)
		assert_int_equal(nm_hierarchy_new(&twin.hierarchies[k], machine, NULL), 0);
	nm_coalesced_raise_limit(table, KEYS);
	for (unsigned b = 0; b < BATCHES; b++) {
		const unsigned there = b < MEMORIES ? b + 1 : MEMORIES;
		const struct nm_pass_batch batch = {.refs = refs, .count = NM_BATCH};

		add_memory(&areas, &memories[there - 1]);
		for (unsigned i = 0; i < NM_BATCH; i++) {
			refs[i] = below(10) ? random_ref(there) : random_group(table, there);
			run_twin(&twin, &areas, table, &refs[i]);
		}
		assert_int_equal(nm_pass_relocations.batch(pass, &batch), 0);
	}
	finish_pass(&nm_pass_relocations, pass, KEYS, &result);
	assert_int_equal(result.relocations, RELOCATIONS);
	compare(&twin, machine, &result);
	free(result.relocated);
	nm_pass_relocations.free(pass);
	nm_areas_done(&areas);
	nm_coalesced_table_free(table);
}

static void test_twin(void **state)
{
	static const char *const specs[] = {
	    "L1d=1K,2,64:L2=4K,4,64",
	    "L1i=1K,4,32:L1d=1K,4,32:L2=8K,8,64",
	    "L1d=512,1,32:L2=3K,3,64:L3=32K,16,128",
	    "L1d=8K,16,128:L2=24K,6,256",
	    "L1=2K,8,64:L2=16K,16,64",
	    "L1d=32K,8,64:L2=64K,4,64",
	    "L1i=8K,4,64:L1d=6K,12,64:L2=64K,8,64",
	    "L1d=1K,4,8:L2=4K,4,64",
	    "L1i=4K,4,64:L2=8K,8,64",
	};
	static const uint64_t seeds[] = {7, 1, 24};

	(void)state;
	for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct nm_machine machine, other;

		assert_int_equal(nm_machine_parse(specs[i], &machine, NULL), 0);
		for (unsigned k = 0; k < sizeof seeds / sizeof *seeds; k++)
			run_machine(&machine, 1, seeds[k]);
		assert_int_equal(nm_machine_parse("L1d=2K,full,64:L2=16K,4,64", &other, NULL), 0);
		assert_int_equal(nm_machine_join(&machine, &other, NULL), 0);
		run_machine(&machine, 3, seeds[0]);
	}
}

static void test_refused_machines(void **state)
{
	static const char *const specs[] = {"L1d=1K,2,64,policy=fifo", "L1d=1K,2,64,write=through",
					    "L1d=1K,2,64,prefetch=next", "L1d=64K,full,64"};
	struct nm_error err;

	(void)state;
	for (unsigned i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct nm_machine machine;

		assert_int_equal(nm_machine_parse(specs[i], &machine, NULL), 0);
		assert_int_equal(nm_lru_misses_check(&machine, "relocations", &err), NM_EINVAL);
		assert_non_null(strstr(err.text, "L1d"));
	}
}

/* ---- areas ---- */

/* A file's segments and its .bss move together, and what a mapping or heap grows by moves with it. */
static void test_areas_that_move_together(void **state)
{
	struct nm_areas areas = {.parts = 0};
	const struct nm_area *file, *heap;

	(void)state;
	for (unsigned i = 0; i < MEMORIES; i++)
		add_memory(&areas, &memories[i]);
	assert_int_equal(areas.at.count, 5);
	file = nm_areas_find(&areas, 0x400000);
	assert_ptr_equal(file, nm_areas_find(&areas, 0x405fff));
	assert_ptr_equal(file, nm_areas_find(&areas, 0x406800));
	assert_null(nm_areas_find(&areas, 0x407000));
	heap = nm_areas_find(&areas, 0x800000);
	assert_int_equal(heap->kind, NM_AREA_HEAP);
	assert_true(nm_areas_cover(&areas, 0x800000, 0x900000));
	assert_ptr_not_equal(nm_areas_find(&areas, 0x10007fff), nm_areas_find(&areas, 0x10008000));
	/* a mapping that grows in place */
	assert_int_equal(nm_areas_add(&areas, 0x10008000, 0x10010000, NM_AREA_MAPPING, NULL), 0);
	assert_ptr_equal(nm_areas_find(&areas, 0x10008000), nm_areas_find(&areas, 0x1000ffff));
	assert_non_null(nm_areas_find(&areas, 0x7fff0000)); /* below the stack */
	nm_areas_done(&areas);
}

/* Random mappings, some huge, many overlapping. */
static void test_areas_never_meet(void **state)
{
	struct nm_areas areas = {.parts = 0};

	(void)state;
	rng_state = 1;
	for (unsigned i = 0; i < 300; i++) {
		const uint64_t low = below(UINT64_C(1) << (20 + below(27))),
			       bytes = 1 + below(UINT64_C(1) << below(44));
		const enum nm_area_kind kind = (enum nm_area_kind)below(4);

		assert_int_equal(
		    nm_areas_add(&areas, low, low + bytes, kind, kind == NM_AREA_FILE ? program : NULL), 0);
		assert_true(nm_areas_cover(&areas, low, low + bytes));
	}
	for (size_t i = 0; i < areas.at.count; i++) {
		const struct nm_area *a = &areas.at.at[i];

		assert_true(a->low < a->end && a->low % 4096 == 0 && a->end % 4096 == 0);
		assert_true(!i || a[-1].end <= a->low);
		for (size_t j = 0; j < areas.at.count; j++) {
			const struct nm_area *b = &areas.at.at[j];

			/* a at its own part, b as far up as it can be */
			assert_true(i == j || a->end + a->shift + NM_AREA_ROOM <= b->low + b->shift ||
				    b->end + b->shift + NM_AREA_ROOM <= a->low + a->shift);
		}
	}
	nm_areas_done(&areas);
}

/* The heap and the stack by 16 bytes, all else by pages; and no two relocations are the same. */
static void test_shifts_are_legal(void **state)
{
	struct nm_areas areas = {.parts = 0};

	(void)state;
	for (unsigned i = 0; i < MEMORIES; i++)
		add_memory(&areas, &memories[i]);
	for (unsigned i = 0; i < MEMORIES; i++) {
		const struct memory *m = &memories[i];
		const int by_grain = m->kind == NM_AREA_HEAP || m->kind == NM_AREA_STACK;

		for (unsigned k = 0; k < RELOCATIONS; k++) {
			const uint64_t at = nm_relocated(&areas, m->low, k);

			assert_int_equal((at - m->low) % (by_grain ? 16 : 4096), 0);
			assert_int_equal(nm_relocated(&areas, m->low + 5, k), at + 5);
			for (unsigned other = 0; other < k; other++)
				assert_int_not_equal(nm_relocated(&areas, m->low, other), at);
		}
	}
	assert_int_equal(nm_relocated(&areas, 0x123, 3), 0x123);
	nm_areas_done(&areas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_twin),
	    cmocka_unit_test(test_refused_machines),
	    cmocka_unit_test(test_areas_that_move_together),
	    cmocka_unit_test(test_areas_never_meet),
	    cmocka_unit_test(test_shifts_are_legal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
