/* SPDX-License-Identifier: MIT
 *
 * pmu_test.c - the rules of a PMU's samplers against a slow twin, which looks for each sample in the list of all
 * occurrences, on random streams; and what is said of faults in their description.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"
#include "map.h"
#include "numbers.h"
#include "simulated_pmu.h"

enum { COUNT = 6000 };

static struct nm_pmu_occurrence stream[COUNT];

/* Several accesses an instruction, several lines a reference, and gaps. */
static void make_stream(void)
{
	uint64_t instruction = 0;

	for (size_t i = 0; i < COUNT; i++) {
		struct nm_pmu_occurrence *o = &stream[i];
		const int continues = i && stream[i - 1].is_fill && !below(8);

		if (continues) {
			*o = stream[i - 1];
			o->is_further = 1;
			continue;
		}
		instruction += below(3) ? 1 + below(4) : 0;
		*o = (struct nm_pmu_occurrence){.instruction = instruction,
						.is_access = below(20) != 0,
						.is_load = below(3) != 0,
						.is_fill = below(4) == 0};
		o->is_load &= o->is_access;
	}
}

/* ---- the twin: marks what is sampled, and counts interrupts ---- */

struct twin {
	const struct nm_pmu *pmu;
	unsigned index;
	uint64_t drawn;
	uint8_t sampled[COUNT];
	uint64_t interrupts, tagged_accesses;
};

static uint64_t period(struct twin *t)
{
	const uint64_t n = t->pmu->samplers[t->index].period,
		       stream_of = nm_mix64(t->pmu->seed << 8 | t->index);

	t->drawn++;
	return t->pmu->random ? n - n / 2 + nm_mix64(stream_of + t->drawn) % (2 * (n / 2) + 1) : n;
}

static int counts(const struct twin *t, const struct nm_pmu_occurrence *o)
{
	return t->pmu->samplers[t->index].rule == NM_PMU_MISS ? o->is_fill
							      : o->is_fill && o->is_load && !o->is_further;
}

static void sample_events(struct twin *t)
{
	const int shadowed = t->pmu->samplers[t->index].rule == NM_PMU_PEBS;
	size_t events[COUNT], count = 0, at = 0;

	for (size_t i = 0; i < COUNT; i++)
		if (counts(t, &stream[i]))
			events[count++] = i;
	for (at += period(t); at <= count; at += period(t)) { /* events so far, the last of them overflows */
		const uint64_t clear = stream[events[at - 1]].instruction + t->pmu->shadow;

		if (shadowed)
			do
				at++;
			while (at <= count && stream[events[at - 1]].instruction < clear);
		if (at > count)
			return;
		t->sampled[events[at - 1]] = 1;
		t->interrupts++;
	}
}

static void sample_tags(struct twin *t)
{
	uint64_t last = 0;

	for (size_t i = 0; i < COUNT; i++)
		if (stream[i].is_access && !stream[i].is_further)
			last = stream[i].instruction;
	for (uint64_t tag = period(t); tag <= last; tag += period(t)) {
		t->interrupts++;
		for (size_t i = 0; i < COUNT; i++) {
			if (stream[i].instruction != tag || !stream[i].is_access || stream[i].is_further)
				continue;
			t->tagged_accesses++;
			t->sampled[i] = stream[i].is_fill;
			break;
		}
	}
}

static void compare(const struct nm_pmu *pmu, unsigned index)
{
	struct twin *t = calloc(1, sizeof *t);
	struct nm_pmu_sampler sampler;

	assert_non_null(t);
	t->pmu = pmu;
	t->index = index;
	if (pmu->samplers[index].rule == NM_PMU_IBS)
		sample_tags(t);
	else
		sample_events(t);
	nm_pmu_sampler_init(&sampler, pmu, index);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(nm_pmu_sampler_see(&sampler, &stream[i]), t->sampled[i]);
	assert_int_equal(sampler.interrupts, t->interrupts);
	assert_int_equal(sampler.tagged_accesses, t->tagged_accesses);
	assert_true(sampler.interrupts > COUNT / (40 * pmu->samplers[index].period));
	free(t);
}

static void test_twin(void **state)
{
	struct nm_pmu pmu;
	struct nm_error err;

	(void)state;
	rng_state = 11;
	for (int round = 0; round < 40; round++) {
		assert_int_equal(
		    nm_pmu_parse("miss@1,miss@7,precise@1,precise@5,pebs@1,pebs@6,ibs@1,ibs@10,ibs@64", &pmu,
				 &err),
		    0);
		pmu.random = round & 1;
		pmu.seed = (uint64_t)round;
		pmu.shadow = (uint32_t)below(20);
		make_stream();
		for (unsigned i = 0; i < pmu.count; i++)
			compare(&pmu, i);
	}
}

/* With one event a sample, a sampler of misses takes them all. */
static void test_every_miss(void **state)
{
	const struct nm_pmu pmu = {.samplers = {{NM_PMU_MISS, 1}}, .count = 1};
	struct nm_pmu_sampler sampler;

	(void)state;
	make_stream();
	nm_pmu_sampler_init(&sampler, &pmu, 0);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(nm_pmu_sampler_see(&sampler, &stream[i]), stream[i].is_fill);
}

/* Random periods lie around the period, and their mean is it. */
static void test_periods(void **state)
{
	const struct nm_pmu pmu = {.samplers = {{NM_PMU_MISS, 100}}, .count = 1, .random = 1, .seed = 5};
	const struct nm_pmu_occurrence miss = {.is_fill = 1};
	struct nm_pmu_sampler sampler;
	unsigned samples = 0, since = 0;

	(void)state;
	nm_pmu_sampler_init(&sampler, &pmu, 0);
	for (unsigned i = 0; i < 1000000; i++) {
		since++;
		if (!nm_pmu_sampler_see(&sampler, &miss))
			continue;
		assert_in_range(since, 50, 150);
		since = 0;
		samples++;
	}
	assert_in_range(samples, 9900, 10100);
}

/* ---- descriptions ---- */

static void test_parse(void **state)
{
	struct nm_pmu pmu;
	struct nm_error err;
	char name[NM_PMU_NAME];

	(void)state;
	assert_int_equal(nm_pmu_parse("miss@1000,level=L2,ibs@4,random=9,shadow=3,handler=0", &pmu, &err), 0);
	assert_int_equal(pmu.count, 2);
	assert_int_equal(pmu.samplers[1].rule, NM_PMU_IBS);
	assert_int_equal(pmu.samplers[1].period, 4);
	assert_true(pmu.random && pmu.seed == 9 && pmu.shadow == 3 && !pmu.handler);
	assert_string_equal(pmu.level, "L2");
	nm_pmu_name(&pmu.samplers[0], name);
	assert_string_equal(name, "miss@1000");
	assert_true(nm_pmu_needs_instructions(&pmu));
	assert_int_equal(nm_pmu_parse("miss@1,precise@2", &pmu, &err), 0);
	assert_false(nm_pmu_needs_instructions(&pmu));
}

static void test_faults(void **state)
{
	static const char *const faults[] = {
	    "",
	    "miss",
	    "miss@",
	    "miss@0",
	    "miss@x",
	    "hit@3",
	    "miss@1,miss@1",
	    "random=1",
	    "miss@1,",
	    "miss@1,random=",
	    "miss@1,speed=1",
	    "miss@-1",
	    "miss@1,handler=65537",
	    "miss@1,level=",
	    "miss@1000000000000000",
	    "miss@1,level=abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"};
	struct nm_pmu pmu;
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		assert_int_equal(nm_pmu_parse(faults[i], &pmu, &err), NM_EINVAL);
		assert_true(strlen(err.text) > 10);
	}
}

static void test_level(void **state)
{
	struct nm_machine machine;
	struct nm_pmu pmu;
	struct nm_error err;
	unsigned level;

	(void)state;
	assert_int_equal(nm_machine_parse("L1i=512,1,32:L1d=512,1,32:L2=8K,4,32", &machine, &err), 0);
	assert_int_equal(nm_pmu_parse("miss@1", &pmu, &err), 0);
	assert_int_equal(nm_pmu_level(&pmu, &machine, &level, &err), 0);
	assert_int_equal(level, 1);
	assert_int_equal(nm_pmu_parse("miss@1,level=L2", &pmu, &err), 0);
	assert_int_equal(nm_pmu_level(&pmu, &machine, &level, &err), 0);
	assert_int_equal(level, 2);
	assert_int_equal(nm_pmu_parse("miss@1,level=L3", &pmu, &err), 0);
	assert_int_equal(nm_pmu_level(&pmu, &machine, &level, &err), NM_EINVAL);
	assert_non_null(strstr(err.text, "L3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_twin),  cmocka_unit_test(test_every_miss), cmocka_unit_test(test_periods),
	    cmocka_unit_test(test_parse), cmocka_unit_test(test_faults),     cmocka_unit_test(test_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
