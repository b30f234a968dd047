/* SPDX-License-Identifier: MIT
 *
 * pmu_pass_test.c - the pass that simulates a PMU against its twin, on random streams: the twin finds each loaded
 * line and its victim in lists of lines in the order of their last use, shows them to samplers of its own, and keeps
 * one more such cache for each sampler, which the handler of the interrupts uses too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "finish_pass.h"
#include "numbers.h"
#include "pass.h"

enum { KEYS = 20, BATCHES = 40, SETS = 16, WAYS = 2, LINE = 64, RING = 512 << 10, RECORD = 64 };
static const char spec[] = "L1d=2K,2,64";

/* ---- the twin ---- */

struct lru {
	struct {
		uint64_t line; /* 0: free */
		uint32_t key;
	} at[SETS][WAYS]; /* the latest use first */
	uint64_t misses[KEYS];
};

/* Whether the line was loaded; *ret_victim: the key of the line that left, or 0. */
static int touch(struct lru *c, uint64_t line, uint32_t key, uint32_t *ret_victim)
{
	unsigned way = 0;
	int loaded;

	while (way < WAYS && c->at[line % SETS][way].line != line)
		way++;
	loaded = way == WAYS;
	*ret_victim = 0;
	if (loaded) {
		way = WAYS - 1;
		*ret_victim = c->at[line % SETS][way].key;
		c->at[line % SETS][way].line = line;
		c->at[line % SETS][way].key = key;
	}
	for (; way; way--) {
		const __typeof__(c->at[0][0]) one = c->at[line % SETS][way];

		c->at[line % SETS][way] = c->at[line % SETS][way - 1];
		c->at[line % SETS][way - 1] = one;
	}
	return loaded;
}

/* A reference as a whole: how many lines it loads, and their victims. */
static unsigned refer(struct lru *c, uint64_t address, unsigned size, uint32_t key, uint32_t *ret_victims)
{
	unsigned loads = 0;

	for (uint64_t line = address / LINE; line <= (address + size - 1) / LINE; line++)
		loads += (unsigned)touch(c, line, key, &ret_victims[loads]);
	c->misses[key] += loads > 0;
	return loads;
}

struct twin {
	const struct nm_pmu *pmu;
	struct lru truth, copies[NM_PMU_SAMPLERS];
	struct nm_pmu_sampler samplers[NM_PMU_SAMPLERS];
	uint64_t records[NM_PMU_SAMPLERS];
	uint64_t samples[NM_PMU_SAMPLERS][KEYS][KEYS]; /* by key and victim, 0: none */
};

static void handle(struct twin *t, unsigned i)
{
	uint32_t victims[8];

	for (unsigned k = 0; k < t->pmu->handler; k++)
		refer(&t->copies[i], UINT64_C(0xffff888000000000) + k * LINE, 1, 0, victims);
	refer(&t->copies[i], UINT64_C(0xffff888010000000) + t->records[i]++ * RECORD % RING, RECORD, 0,
	      victims);
}

static void see(struct twin *t, unsigned i, const struct nm_ref *ref, uint64_t instruction, unsigned loads,
		const uint32_t *victims)
{
	const uint64_t before = t->samplers[i].interrupts;
	uint32_t ignored[8];

	refer(&t->copies[i], ref->address, ref->size, ref->attr, ignored);
	for (unsigned k = 0; k < (loads ? loads : 1) && ref->weight; k++) {
		const struct nm_pmu_occurrence o = {.instruction = instruction,
						    .is_access = 1,
						    .is_load = ref->kind == NM_REF_READ,
						    .is_fill = loads > 0,
						    .is_further = k > 0};

		if (nm_pmu_sampler_see(&t->samplers[i], &o))
			t->samples[i][ref->attr][t->pmu->samplers[i].rule == NM_PMU_MISS ? victims[k] : 0]++;
	}
	for (uint64_t n = before; n < t->samplers[i].interrupts; n++)
		handle(t, i);
}

static void run_twin(struct twin *t, const struct nm_ref *ref, uint64_t instruction)
{
	uint32_t victims[8];
	const unsigned loads = refer(&t->truth, ref->address, ref->size, ref->attr, victims);

	for (unsigned i = 0; i < t->pmu->count; i++)
		see(t, i, ref, instruction, loads, victims);
}

/* ---- the stream ---- */

static struct nm_ref random_ref(void)
{
	static uint64_t at;

	if (!below(6))
		at = below(64 * LINE);
	return (struct nm_ref){.address = 0x10000 + at + below(2 * LINE),
			       .attr = 1 + (uint32_t)below(KEYS - 1),
			       .size = (uint16_t)(below(10) ? 1u << below(5) : 1 + below(3 * LINE)),
			       .kind = (uint8_t)below(2),
			       .weight = below(30) != 0};
}

static struct nm_ref random_group(struct nm_coalesced_table *table)
{
	struct nm_coalesced_member members[] = {
	    {.attr = 1 + (uint32_t)below(KEYS - 1), .distance = 0, .size = 8, .kind = NM_REF_READ},
	    {.attr = 1 + (uint32_t)below(KEYS - 1), .distance = 8, .size = 4, .kind = NM_REF_WRITE}};

	return (struct nm_ref){.address = 0x10000 + below(64 * LINE),
			       .attr = table->count > 100 ? 1 + (uint32_t)below(100)
							  : nm_coalesced_add(table, members, 2),
			       .size = 12,
			       .kind = 1,
			       .weight = 2};
}

/* ---- the comparison ---- */

static void compare(const struct twin *t, const struct nm_result *result)
{
	uint64_t samples[NM_PMU_SAMPLERS][KEYS][KEYS] = {{{0}}};

	for (size_t i = 0; i < result->pmu_sample_count; i++) {
		const struct nm_result_pmu_sample *s = &result->pmu_samples[i];

		samples[s->sampler][s->attr][s->victim == UINT32_MAX ? 0 : s->victim] += s->count;
	}
	assert_memory_equal(samples, t->samples, sizeof samples);
	for (unsigned i = 0; i < t->pmu->count; i++) {
		const struct nm_result_pmu_sampler *did = &result->pmu.samplers[i];
		uint64_t misses = 0, all = 0;

		for (unsigned key = 1; key < KEYS; key++) {
			misses += t->copies[i].misses[key];
			all += t->truth.misses[key];
		}
		assert_int_equal(did->interrupts, t->samplers[i].interrupts);
		assert_true(did->interrupts > 20);
		assert_int_equal(did->tagged_accesses, t->samplers[i].tagged_accesses);
		assert_int_equal(did->program_misses, t->pmu->handler ? misses : 0);
		assert_int_equal(did->handler_misses, t->pmu->handler ? t->copies[i].misses[0] : 0);
		assert_true(!t->pmu->handler || misses > all);
	}
}

static void run_pass(const char *samplers, int coalesced)
{
	struct nm_machine machine;
	struct nm_pmu pmu;
	struct nm_engine_options options = {.machine = &machine, .threads = 1, .pmu = &pmu};
	struct nm_coalesced_table *table = nm_coalesced_table_new();
	const struct nm_pass_setup setup = {.options = &options, .coalesced = table};
	struct nm_result result = {.pmu_sample_count = 0};
	struct nm_ref refs[NM_BATCH], singles[NM_COALESCED_MAX];
	uint64_t clock[NM_BATCH], instruction = 0;
	struct twin *twin = calloc(1, sizeof *twin);
	struct nm_error err;
	void *pass = NULL;

	assert_int_equal(nm_machine_parse(spec, &machine, &err), 0);
	assert_int_equal(nm_pmu_parse(samplers, &pmu, &err), 0);
	assert_int_equal(nm_pass_pmu.make(&pass, &setup, &err), 0);
	assert_int_equal(nm_pass_pmu.needs(&options), coalesced ? 0 : NM_PASS_CLOCK);
	assert_non_null(twin);
	twin->pmu = &pmu;
	for (unsigned i = 0; i < pmu.count; i++)
		nm_pmu_sampler_init(&twin->samplers[i], &pmu, i);
	nm_coalesced_raise_limit(table, KEYS);
	for (unsigned b = 0; b < BATCHES; b++) {
		const struct nm_pass_batch batch = {
		    .refs = refs, .count = NM_BATCH, .clock = coalesced ? NULL : clock, .uncounted = 1};

		for (unsigned i = 0; i < NM_BATCH; i++) {
			refs[i] = coalesced && !below(5) ? random_group(table) : random_ref();
			clock[i] = instruction += below(4);
			for (unsigned j = 0, n = nm_pass_expand(table, &refs[i], singles); j < n; j++)
				run_twin(twin, &singles[j], clock[i]);
		}
		assert_int_equal(nm_pass_pmu.batch(pass, &batch), 0);
	}
	finish_pass(&nm_pass_pmu, pass, KEYS, &result);
	compare(twin, &result);
	free(result.pmu_samples);
	nm_pass_pmu.free(pass);
	nm_coalesced_table_free(table);
	free(twin);
}

static void test_twin(void **state)
{
	(void)state;
	rng_state = 3;
	run_pass("miss@1,miss@10,miss@100,precise@10,handler=4", 1);
	run_pass("miss@13,precise@1,random=4,handler=1", 1);
	run_pass("miss@1,precise@1,handler=0", 1);
	run_pass("miss@5,precise@5,pebs@5,ibs@50,ibs@3,random=2,shadow=5,handler=6", 0);
	run_pass("pebs@1,ibs@1,shadow=0,handler=40", 0);
}

/* What is not asked for is off; caches with other rules are refused. */
static void test_make(void **state)
{
	struct nm_machine machine;
	struct nm_pmu pmu;
	struct nm_engine_options options = {.machine = &machine};
	const struct nm_pass_setup setup = {.options = &options};
	struct nm_error err;
	void *pass = NULL;

	(void)state;
	assert_int_equal(nm_machine_parse("L1d=2K,2,64,policy=fifo", &machine, &err), 0);
	assert_int_equal(nm_pass_pmu.make(&pass, &setup, &err), 0);
	assert_null(pass);
	assert_int_equal(nm_pmu_parse("miss@5", &pmu, &err), 0);
	options.pmu = &pmu;
	assert_int_equal(nm_pass_pmu.make(&pass, &setup, &err), NM_EINVAL);
	assert_non_null(strstr(err.text, "samples of a PMU"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_make)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
