/* SPDX-License-Identifier: MIT
 *
 * sampler_test.c - samples of loads and residencies against a slow twin: a list of the lines of each set, in
 * the order of their last use, and of what is known of their residencies.
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
#include "sampler.h"

enum { SETS = 16, WAYS = 4, LINE = 64, ATTRS = 50, BATCHES = 600 };

struct twin_line {
	uint64_t line, mask, served, used;
	uint32_t attr;
};

struct twin {
	struct twin_line lines[SETS][WAYS]; /* line 0 is never used */
	uint64_t now, loads, residencies;
	/* What all samples of followed lines must sum up to, if they are followed from the first on. */
	uint64_t residencies_of[4096], served_of[4096], bytes_of[4096];
};

static void end_residency(struct twin *t, const struct twin_line *l)
{
	t->residencies++;
	t->residencies_of[l->line]++;
	t->served_of[l->line] += l->served;
	t->bytes_of[l->line] += (uint64_t)__builtin_popcountll(l->mask);
}

/* 1 if it missed. */
static int twin_take(struct twin *t, const struct nm_ref *r)
{
	uint64_t line = r->address / LINE;
	struct twin_line *set = t->lines[line % SETS], *at = set;

	for (unsigned i = 0; i < WAYS && at->line != line; i++)
		if (set[i].line == line || (at->line != line && set[i].used < at->used))
			at = &set[i];
	const int missed = at->line != line;
	if (missed) {
		if (at->line)
			end_residency(t, at);
		*at = (struct twin_line){.line = line, .attr = r->attr};
		t->loads++;
	}
	at->used = ++t->now;
	at->served++;
	at->mask |= ((1ull << r->size) - 1) << r->address % LINE;
	return missed;
}

static void fill_batch(struct nm_ref *batch, unsigned lines)
{
	for (unsigned i = 0; i < NM_BATCH; i++) {
		uint64_t line = 1 + below(lines);

		batch[i] = (struct nm_ref){.address = line * LINE + below(8) * 8,
					   .attr = 1 + (uint32_t)below(ATTRS),
					   .size = 8,
					   .kind = below(4) ? NM_REF_READ : NM_REF_WRITE,
					   .weight = 1};
	}
}

struct sums {
	uint64_t misses, miss_samples, weight, samples, residencies_of[4096], served_of[4096], bytes_of[4096];
};

/* The samples of the batch: each miss is one that the twin saw, in order. */
static void read_samples(struct nm_line_samples *g, const struct nm_ref *batch, const uint8_t *missed,
			 struct sums *sums)
{
	unsigned at = 0;

	for (size_t i = 0; i < g->list.count; i++) {
		const struct nm_line_sample *one = &g->list.at[i];

		if (!one->residency) {
			while (at < NM_BATCH && !(missed[at] && batch[at].address == one->address &&
						  batch[at].attr == one->attr))
				at++;
			assert_true(at < NM_BATCH);
			assert_int_equal(batch[at].kind == NM_REF_WRITE, one->write);
			sums->misses += one->weight;
			sums->miss_samples++;
			at++;
			continue;
		}
		sums->weight += one->weight;
		sums->samples++;
		sums->residencies_of[one->address / LINE] += one->followed;
		sums->served_of[one->address / LINE] += one->followed ? one->served : 0;
		sums->bytes_of[one->address / LINE] +=
		    one->followed ? (uint64_t)__builtin_popcountll(one->mask[0]) : 0;
	}
	g->list.count = 0;
}

static void run(const char *spec, unsigned lines)
{
	static struct nm_sampler sampler;
	static struct twin twin;
	static struct sums sums;
	struct nm_ref batch[NM_BATCH];
	uint8_t missed[NM_BATCH];
	struct nm_machine machine;
	struct nm_hierarchy *h;
	uint64_t last;

	memset(&twin, 0, sizeof twin);
	memset(&sums, 0, sizeof sums);
	rng_state = lines;
	assert_int_equal(nm_machine_parse(spec, &machine, NULL), 0);
	assert_int_equal(nm_hierarchy_new(&h, &machine, NULL), 0);
	nm_sampler_init(&sampler);
	nm_hierarchy_set_sampler(h, &sampler);
	for (unsigned b = 0; b < BATCHES; b++) {
		fill_batch(batch, lines);
		for (unsigned i = 0; i < NM_BATCH; i++)
			missed[i] = (uint8_t)twin_take(&twin, &batch[i]);
		assert_int_equal(nm_hierarchy_run(h, batch, NM_BATCH), 0);
		assert_int_equal(sampler.batches, b + 1);
		read_samples(&sampler.lists[b % NM_SAMPLE_LISTS], batch, missed, &sums);
		if (twin.loads <= 2000) /* in the beginning all are sampled */
			assert_true(sums.miss_samples == twin.loads && sums.misses == twin.loads);
	}
	/* Loads since the last sample are missing, and the residency that ends next. */
	assert_in_range(twin.loads - sums.misses, 0, 2 * NM_SAMPLE_GAP);
	assert_in_range(twin.residencies - sums.weight + sizeof twin.lines / sizeof(struct twin_line), 0,
			4 * NM_SAMPLE_GAP);
	assert_true(sums.miss_samples < twin.loads / 8);
	assert_int_equal(nm_hierarchy_sample_rest(h), 0);
	last = sampler.batches - 1;
	read_samples(&sampler.lists[last % NM_SAMPLE_LISTS], batch, missed, &sums);
	for (unsigned s = 0; s < SETS; s++)
		for (unsigned w = 0; w < WAYS; w++)
			if (twin.lines[s][w].line)
				end_residency(&twin, &twin.lines[s][w]);
	uint64_t followed = 0;
	for (uint64_t l = 0; l < 4096; l++)
		if (nm_sampler_hash(l) <= sampler.chosen) {
			assert_int_equal(sums.residencies_of[l], twin.residencies_of[l]);
			assert_int_equal(sums.served_of[l], twin.served_of[l]);
			assert_int_equal(sums.bytes_of[l], twin.bytes_of[l]);
			followed += twin.residencies_of[l] > 0;
		}
	assert_in_range(followed, 1, lines / 2);
	nm_sampler_done(&sampler);
	nm_hierarchy_free(h);
}

static void test_loads_and_residencies(void **unused)
{
	(void)unused;
	run("L1d=4K,4,64:L2=64K,8,64", 4000);
	run("L1d=4K,4,64:L2=64K,8,64", 900);
}

/* A general level gives the same samples. */
static void test_general_levels(void **unused)
{
	(void)unused;
	run("L1d=4K,4,64:L2=64K,8,64,inclusion=exclusive", 4000);
}

/* While all loads of the first level are sampled, the loads of further levels noted with them are all that
 * these levels count. */
static void further_levels(const char *spec)
{
	static struct nm_sampler sampler;
	struct nm_ref batch[NM_BATCH];
	struct nm_machine machine;
	struct nm_hierarchy *h;
	uint64_t loaded[NM_MAX_LEVELS] = {0}, first = 0;

	rng_state = 5;
	assert_int_equal(nm_machine_parse(spec, &machine, NULL), 0);
	assert_int_equal(nm_hierarchy_new(&h, &machine, NULL), 0);
	nm_sampler_init(&sampler);
	nm_hierarchy_set_sampler(h, &sampler);
	for (unsigned b = 0; b < 2; b++) {
		struct nm_line_samples *g = &sampler.lists[b];

		fill_batch(batch, 300);
		assert_int_equal(nm_hierarchy_run(h, batch, NM_BATCH), 0);
		for (size_t i = 0; i < g->list.count; i++) {
			first += !g->list.at[i].residency;
			assert_true(g->list.at[i].residency ? !g->list.at[i].loaded
							    : g->list.at[i].weight == 1);
			for (unsigned level = 1; level < machine.count; level++)
				loaded[level] += g->list.at[i].loaded >> level & 1;
		}
	}
	assert_int_equal(nm_hierarchy_finish(h), 0);
	for (unsigned level = 0; level < machine.count; level++) {
		struct nm_counts total;

		nm_hierarchy_total(h, level, &total);
		assert_int_equal(total.read_misses + total.write_misses, level ? loaded[level] : first);
		assert_true(total.loads > 200);
	}
	nm_sampler_done(&sampler);
	nm_hierarchy_free(h);
}

static void test_further_levels(void **unused)
{
	(void)unused;
	further_levels("L1d=2K,4,64:L2=4K,4,64:L3=8K,8,64");
	further_levels("L1d=2K,4,32:L2=4K,4,64:L3=8K,2,128");
	further_levels("L1d=2K,4,64:L2=4K,4,64,inclusion=exclusive:L3=8K,8,64");
	further_levels("L1d=2K,4,64:L2=4K,4,64,inclusion=inclusive:L3=8K,8,64,policy=fifo");
	further_levels("L1d=2K,4,32:L2=4K,4,64,sector=32");
}

/* Later, against levels of which each is a list of lines. */
static void test_further_levels_of_some_loads(void **unused)
{
	static struct nm_sampler sampler;
	static struct twin levels[2];
	struct nm_ref batch[NM_BATCH];
	uint32_t loaded[NM_BATCH];
	struct nm_machine machine;
	struct nm_hierarchy *h;
	unsigned told = 0;

	(void)unused;
	memset(levels, 0, sizeof levels);
	assert_int_equal(nm_machine_parse("L1d=4K,4,64:L2=4K,4,64", &machine, NULL), 0);
	assert_int_equal(nm_hierarchy_new(&h, &machine, NULL), 0);
	nm_sampler_init(&sampler);
	nm_hierarchy_set_sampler(h, &sampler);
	for (unsigned b = 0; b < 100; b++) {
		struct nm_line_samples *g = &sampler.lists[b];
		unsigned at = 0;

		fill_batch(batch, 80);
		for (unsigned i = 0; i < NM_BATCH; i++)
			loaded[i] =
			    twin_take(&levels[0], &batch[i]) ? 1 + 2 * twin_take(&levels[1], &batch[i]) : 0;
		assert_int_equal(nm_hierarchy_run(h, batch, NM_BATCH), 0);
		for (size_t i = 0; i < g->list.count; i++) {
			const struct nm_line_sample *one = &g->list.at[i];

			if (one->residency)
				continue;
			while (at < NM_BATCH && !(loaded[at] && batch[at].address == one->address &&
						  batch[at].attr == one->attr))
				at++;
			assert_true(at < NM_BATCH);
			if (one->weight == 1) /* else another like it may have come before */
				assert_int_equal(one->loaded, loaded[at] & 2);
			told += one->loaded == 2;
			at++;
		}
	}
	assert_true(told > 100);
	nm_sampler_done(&sampler);
	nm_hierarchy_free(h);
}

/* What a line is followed by does not depend on how long lines are; ones that are too long are not told
 * of. */
static void test_long_lines(void **unused)
{
	static struct nm_sampler sampler;
	struct nm_ref batch[NM_BATCH];
	struct nm_machine machine;
	struct nm_hierarchy *h;

	(void)unused;
	assert_int_equal(nm_machine_parse("L1d=64K,4,4096", &machine, NULL), 0);
	assert_int_equal(nm_hierarchy_new(&h, &machine, NULL), 0);
	nm_sampler_init(&sampler);
	nm_hierarchy_set_sampler(h, &sampler);
	fill_batch(batch, 4000);
	assert_int_equal(nm_hierarchy_run(h, batch, NM_BATCH), 0);
	assert_int_equal(nm_hierarchy_sample_rest(h), 0);
	assert_int_equal(sampler.batches, 0);
	nm_sampler_done(&sampler);
	nm_hierarchy_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_loads_and_residencies),
	    cmocka_unit_test(test_general_levels),
	    cmocka_unit_test(test_further_levels),
	    cmocka_unit_test(test_further_levels_of_some_loads),
	    cmocka_unit_test(test_long_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
