/* SPDX-License-Identifier: MIT
 *
 * policy_test.c - laws of replacement and inclusion on random streams: LRU caches hold what smaller ones
 * hold, OPT loads least and equals a search of the future, inclusive levels hold what those above hold,
 * exclusive ones nothing of it; and how each index spreads lines that collide.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "general.h"
#include "hierarchy.h"
#include "machine.h"
#include "numbers.h"
#include "oracle.h"

enum { REFS = 20000, STREAMS = 4 };

/* Line numbers: uniform, skewed, a loop that does not fit, phases of both. */
static void make_lines(uint64_t *lines, unsigned stream)
{
	rng_state = stream + 1;
	for (unsigned i = 0; i < REFS; i++)
		lines[i] = stream == 0   ? below(300)
			   : stream == 1 ? below(1 + below(400))
			   : stream == 2 ? i % 90
			   : i / 900 % 2 ? below(400)
					 : i % 70;
}

static struct nm_hierarchy *start(const char *spec)
{
	struct nm_hierarchy *h = NULL;
	struct nm_machine machine;
	struct nm_error err;

	if (nm_machine_parse(spec, &machine, &err) || nm_hierarchy_new(&h, &machine, &err))
		fail_msg("%s: %s", spec, err.text);
	return h;
}

static void touch(struct nm_hierarchy *h, uint64_t line, int write)
{
	struct nm_ref ref = {.address = line * 64, .size = 8, .weight = 1};

	ref.kind = write ? NM_REF_WRITE : NM_REF_READ;
	assert_int_equal(nm_hierarchy_run(h, &ref, 1), 0);
}

static uint64_t loads_of(struct nm_hierarchy *h, unsigned level)
{
	struct nm_counts total;

	nm_hierarchy_total(h, level, &total);
	return total.loads;
}

static uint64_t run(const char *spec, const uint64_t *lines)
{
	struct nm_hierarchy *h = start(spec);

	for (unsigned i = 0; i < REFS; i++)
		touch(h, lines[i], 0);
	uint64_t loads = loads_of(h, 0);
	nm_hierarchy_free(h);
	return loads;
}

/* The stack property: with more ways in each set, LRU misses nowhere where it hit before. */
static void test_stack(void **state)
{
	static const char *const general[] = {"", ",policy=lru,index=xor"};
	static uint64_t lines[REFS];
	(void)state;
	for (unsigned s = 0; s < STREAMS; s++)
		for (unsigned c = 0; c < 2; c++) {
			struct nm_hierarchy *h[8];

			make_lines(lines, s);
			for (unsigned w = 0; w < 8; w++) {
				char spec[64];
				snprintf(spec, sizeof spec, "L1=0,%u,64,sets=8%s", w + 1, general[c]);
				h[w] = start(spec);
			}
			for (unsigned i = 0; i < REFS; i++) {
				int held = 0;
				for (unsigned w = 0; w < 8; w++) {
					uint64_t before = loads_of(h[w], 0);
					touch(h[w], lines[i], 0);
					int hit = loads_of(h[w], 0) == before;
					assert_true(hit || !held);
					held = hit;
				}
			}
			for (unsigned w = 0; w < 8; w++)
				nm_hierarchy_free(h[w]);
		}
}

/* Of the lines held, the one whose next use is farthest, by looking for it. */
static uint64_t search_the_future(const struct nm_level_spec *spec, const uint64_t *lines)
{
	uint64_t held[64][16], loads = 0;
	unsigned count[64] = {0};

	for (unsigned i = 0; i < REFS; i++) {
		uint64_t set = lines[i] % spec->sets;
		unsigned w = 0, farthest = 0, worst = 0;

		while (w < count[set] && held[set][w] != lines[i])
			w++;
		if (w < count[set])
			continue;
		loads++;
		if (count[set] < spec->ways) {
			held[set][count[set]++] = lines[i];
			continue;
		}
		for (w = 0; w < spec->ways; w++) {
			unsigned next = i + 1;
			while (next < REFS && lines[next] != held[set][w])
				next++;
			if (next >= farthest) {
				farthest = next;
				worst = w;
			}
		}
		held[set][worst] = lines[i];
	}
	return loads;
}

/* The loads of the run that counts. */
static uint64_t run_ahead(const struct nm_machine *machine, const uint64_t *lines)
{
	struct nm_oracle *oracle;
	struct nm_hierarchy *h;
	struct nm_error err;
	uint64_t loads = 0;

	assert_int_equal(nm_oracle_new(&oracle, machine, &err), 0);
	for (int ready = 0; !ready;) {
		ready = nm_oracle_ready(oracle);
		assert_int_equal(nm_hierarchy_new_with_oracle(&h, machine, oracle, &err), 0);
		for (unsigned i = 0; i < REFS; i++)
			touch(h, lines[i], 0);
		loads = loads_of(h, 0);
		nm_hierarchy_free(h);
		nm_oracle_next_run(oracle);
	}
	nm_oracle_free(oracle);
	return loads;
}

static void test_optimal(void **state)
{
	static const char *const geometries[] = {"L1=0,4,64,sets=8", "L1=0,1,64,sets=32", "L1=0,16,64,sets=3",
						 "L1=1K,full,64"};
	static uint64_t lines[REFS];
	(void)state;
	for (unsigned g = 0; g < 4; g++)
		for (unsigned s = 0; s < STREAMS; s++) {
			struct nm_machine machine;
			struct nm_error err;
			uint64_t optimal;
			char spec[80];

			make_lines(lines, s);
			snprintf(spec, sizeof spec, "%s,policy=opt", geometries[g]);
			assert_int_equal(nm_machine_parse(spec, &machine, &err), 0);
			optimal = run_ahead(&machine, lines);
			assert_int_equal(optimal, search_the_future(&machine.levels[0], lines));
			for (unsigned p = 0; nm_policies[p]; p++) {
				if (nm_policies[p]->looks_ahead)
					continue;
				snprintf(spec, sizeof spec, "%s,policy=%s", geometries[g],
					 nm_policies[p]->name);
				assert_true(run(spec, lines) >= optimal);
			}
		}
}

/* Policies differ on a loop that is a little too long: LRU and FIFO keep nothing of it, BRRIP most. */
static void test_thrashing(void **state)
{
	static uint64_t lines[REFS];
	uint64_t random, drrip;
	(void)state;
	for (unsigned i = 0; i < REFS; i++)
		lines[i] = i % 80;
	assert_int_equal(run("L1=4K,full,64", lines), REFS);
	assert_int_equal(run("L1=4K,full,64,policy=fifo", lines), REFS);
	assert_int_equal(run("L1=4K,full,64,policy=srrip", lines), REFS);
	assert_true(run("L1=4K,full,64,policy=brrip", lines) < REFS / 3);
	random = run("L1=4K,full,64,policy=random", lines);
	assert_true(random < REFS * 3 / 4);
	assert_int_equal(run("L1=4K,full,64,policy=random", lines), random);
	assert_true(run("L1=4K,full,64,policy=random,seed=1", lines) != random);
	drrip = run("L1=0,2,64,policy=drrip,sets=32", lines);
	assert_true(drrip < run("L1=0,2,64,policy=srrip,sets=32", lines));
}

static void test_future_refused(void **state)
{
	struct nm_hierarchy *h = NULL;
	struct nm_machine machine;
	struct nm_error err;
	(void)state;
	assert_int_equal(nm_machine_parse("L1d=32K,8,64:L2=1M,16,64,policy=opt", &machine, &err), 0);
	assert_int_equal(nm_hierarchy_new(&h, &machine, &err), NM_EINVAL);
	assert_non_null(strstr(err.text, "level L2: policy=opt"));
	assert_int_equal(nm_machine_parse("L1d=32K,8,64,policy=opt,allocate=no", &machine, &err), NM_EINVAL);
	assert_int_equal(err.column, 20);
	assert_int_equal(
	    nm_machine_parse("L1=1K,1,64:L2=2K,2,64,inclusion=exclusive,policy=opt", &machine, &err),
	    NM_EINVAL);
	assert_int_equal(
	    nm_machine_parse("L1=1K,1,64,policy=opt:L2=2K,2,64,inclusion=inclusive", &machine, &err),
	    NM_EINVAL);
	assert_null(h);
}

/* Lines as far apart as all sets together. */
static void test_index(void **state)
{
	static uint64_t lines[REFS];
	(void)state;
	for (unsigned i = 0; i < REFS; i++)
		lines[i] = i % 40 * 64;
	assert_int_equal(run("L1=4K,1,64", lines), REFS);
	assert_int_equal(run("L1=4K,1,64,index=xor", lines), 40);
	assert_int_equal(run("L1=4K,1,64,index=prime", lines), 40);
	assert_int_equal(run("L1=0,16,64,sets=64", lines), REFS);
	assert_int_equal(run("L1=0,16,64,sets=64,index=slices,slices=8", lines), 40);
}

/* The lines of a level; `lines` has room for all. Without those that an exclusive level has handed over. */
static size_t held(const struct nm_cache *c, uint64_t *lines)
{
	size_t n = 0;

	for (uint64_t slot = 0; (slot = nm_cache_next_resident(c, slot)) < c->spec.sets * c->ways; slot++)
		lines[n++] = c->tags[slot];
	return n;
}

static void check_inclusion(const char *spec, int exclusive)
{
	static uint64_t lines[REFS], upper[4096];
	struct nm_hierarchy *h;
	struct nm_machine machine;
	struct nm_error err;

	assert_int_equal(nm_machine_parse(spec, &machine, &err), 0);
	for (unsigned s = 0; s < STREAMS; s++) {
		h = start(spec);
		make_lines(lines, s);
		for (unsigned i = 0; i < REFS; i++) {
			touch(h, lines[i], i % 3 == 0);
			for (unsigned u = 0; u + 1 < machine.count; u++) {
				size_t n = held(nm_hierarchy_level(h, u), upper);
				for (size_t k = 0; k < n; k++)
					assert_int_equal(nm_cache_find(nm_hierarchy_level(h, u + 1),
								       upper[k]) == NM_NO_SLOT,
							 exclusive);
			}
		}
		nm_hierarchy_free(h);
	}
}

static void test_inclusion(void **state)
{
	(void)state;
	check_inclusion("L1=1K,4,64:L2=4K,4,64,inclusion=inclusive", 0);
	check_inclusion("L1=1K,4,64,policy=random:L2=2K,8,64,policy=nru,inclusion=inclusive", 0);
	check_inclusion("L1=1K,2,64:L2=2K,4,64,inclusion=inclusive:L3=4K,2,64,inclusion=inclusive", 0);
	check_inclusion("L1=1K,4,64:L2=4K,4,64,inclusion=exclusive", 1);
	check_inclusion("L1=1K,1,64:L2=1K,full,64,policy=fifo,inclusion=exclusive", 1);
	check_inclusion("L1=1K,4,64,policy=srrip:L2=2K,2,64,inclusion=exclusive,index=xor", 1);
}

/* An exclusive level adds its size to that of the one above; an inclusive one does not. */
static void test_sizes_add_up(void **state)
{
	static uint64_t lines[REFS];
	struct nm_hierarchy *h;
	(void)state;
	for (unsigned i = 0; i < REFS; i++)
		lines[i] = i % 48;
	for (unsigned exclusive = 0; exclusive < 2; exclusive++) {
		h = start(exclusive ? "L1=1K,full,64:L2=2K,full,64,inclusion=exclusive"
				    : "L1=1K,full,64:L2=2K,full,64,inclusion=inclusive");
		for (unsigned i = 0; i < REFS; i++)
			touch(h, lines[i], 0);
		assert_int_equal(loads_of(h, 1), exclusive ? 48 : REFS);
		nm_hierarchy_free(h);
	}
}

static void check_writes(const char *spec, uint64_t l1_loads, uint64_t l1_misses, uint64_t l1_writebacks,
			 uint64_t l2_reads, uint64_t l2_writes, uint64_t l2_reuse)
{
	struct nm_hierarchy *h = start(spec);
	struct nm_counts l1, l2;

	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < 32; i++) {
			touch(h, i, 1); /* 32 lines written twice, then read */
			touch(h, i, 1);
			touch(h, i, 0);
		}
	assert_int_equal(nm_hierarchy_finish(h), 0);
	nm_hierarchy_total(h, 0, &l1);
	nm_hierarchy_total(h, 1, &l2);
	assert_int_equal(l1.loads, l1_loads);
	assert_int_equal(l1.read_misses + l1.write_misses, l1_misses);
	assert_int_equal(l1.writebacks, l1_writebacks);
	assert_int_equal(l2.reads, l2_reads);
	assert_int_equal(l2.writes, l2_writes);
	assert_int_equal(l2.reuse, l2_reuse);
	nm_hierarchy_free(h);
}

/* 16 lines in the first level, 64 in the second: every round loads all into the first. */
static void test_writes(void **state)
{
	(void)state;
	check_writes("L1=1K,full,64:L2=4K,full,64", 64, 64, 48, 0, 64, 192);
	check_writes("L1=1K,full,64,write=through:L2=4K,full,64", 64, 64, 0, 0, 64 + 128, 192);
	check_writes("L1=1K,full,64,allocate=no:L2=4K,full,64", 64, 192, 0, 64, 128, 192);
	check_writes("L1=1K,full,64,write=through,allocate=no:L2=4K,full,64", 64, 192, 0, 64, 128, 192);
}

/* DRRIP's counter stops at both ends: of 256 sets every eighth leads for SRRIP, the next one for BRRIP, and the
 * others load as the side does that has missed less: far away always, or mostly farthest away. */
static void test_duel(void **state)
{
	enum { FAR = 2, MISSES = 2000, LEADER_OF_SRRIP = 8, LEADER_OF_BRRIP, FOLLOWER };
	struct nm_level_spec spec = {.sets = 256, .ways = 4, .line = 64};
	struct nm_replacement r;
	unsigned char *way;

	(void)state;
	for (unsigned i = 0; nm_policies[i]; i++)
		if (!strcmp(nm_policies[i]->name, "drrip"))
			spec.policy = nm_policies[i];
	assert_int_equal(nm_replacement_init(&r, &spec), 0);
	way = nm_replacement_state(&r, FOLLOWER);
	for (unsigned leader = LEADER_OF_SRRIP; leader <= LEADER_OF_BRRIP; leader++) {
		unsigned far = 0;

		for (unsigned i = 0; i < MISSES; i++)
			r.policy->load(&r, leader, i % 4);
		for (unsigned i = 0; i < 100; i++) {
			r.policy->load(&r, FOLLOWER, 0);
			far += way[0] == FAR;
		}
		assert_in_range(far, leader == LEADER_OF_BRRIP ? 100 : 0,
				leader == LEADER_OF_BRRIP ? 100 : 20);
	}
	nm_replacement_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stack),        cmocka_unit_test(test_optimal),
	    cmocka_unit_test(test_thrashing),    cmocka_unit_test(test_future_refused),
	    cmocka_unit_test(test_index),        cmocka_unit_test(test_inclusion),
	    cmocka_unit_test(test_sizes_add_up), cmocka_unit_test(test_writes),
	    cmocka_unit_test(test_duel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
