/* SPDX-License-Identifier: MIT
 *
 * machine_test.c - SPECs: what they mean, where their faults are, and the named machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"
#include "policy.h"

static void test_parse(void **state)
{
	struct nm_machine m;
	struct nm_error err;
	(void)state;

	assert_int_equal(nm_machine_parse("L1d=32K,8,64:L1i=32k,full,64:L2=1M,16,128,sets=253", &m, &err), 0);
	assert_int_equal(m.count, 3);
	assert_string_equal(m.levels[0].name, "L1d");
	assert_int_equal(m.levels[0].sets, 64);
	assert_int_equal(m.levels[0].side, NM_SIDE_DATA);
	assert_int_equal(m.levels[1].side, NM_SIDE_INSTRUCTION);
	assert_int_equal(m.levels[1].sets, 1);
	assert_int_equal(m.levels[1].ways, 512);
	assert_int_equal(m.levels[2].side, NM_SIDE_UNIFIED);
	assert_int_equal(m.levels[2].size, 253 * 16 * 128);
	assert_int_equal(nm_machine_parse("D1=8096,1,32:L2=64K,4,32,side=data", &m, &err), 0);
	assert_int_equal(m.levels[0].sets, 253);
	assert_int_equal(m.levels[0].side, NM_SIDE_DATA);
	assert_int_equal(m.levels[1].side, NM_SIDE_DATA);
}

/* A level of the largest size, however it is made, has a SPEC that can be read again. */
static void test_large_levels_are_read_as_they_are_written(void **state)
{
	static const char *const specs[] = {"L2=1,15,128,sets=2511111", "L2=256G,16,4096",
					    "L2=5000000000,1,128"};
	struct nm_machine m, back;
	struct nm_error err;
	char text[400];

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		assert_int_equal(nm_machine_parse(specs[i], &m, &err), 0);
		assert_true(nm_machine_format(&m, text, sizeof text) < sizeof text);
		assert_int_equal(nm_machine_parse(text, &back, &err), 0);
		assert_int_equal(back.levels[0].size, m.levels[0].size);
		assert_int_equal(back.levels[0].sets, m.levels[0].sets);
	}
}

/* What is wrong in a SPEC, and the column where that starts. */
static const struct {
	const char *spec;
	int column;
} spec_faults[] = {
    {"", 0},
    {"=32K,8,64", 0},
    {"L1d", 3},
    {"L1d=", 4},
    {"L1d=32X,8,64", 6},
    {"L1d=32K", 7},
    {"L1d=32K,8", 9},
    {"L1d=32K,0,64", 8},
    {"L1d=32K,8,63", 10},
    {"L1d=32K,8,8192", 10},
    {"L1d=32K,8,4", 10},
    {"L1d=1000,8,64", 4},
    {"L1d=0,8,64", 4},
    {"L1d=0,full,64", 4},
    {"L1d=32,full,64", 4},
    {"L1d=99999999999999999999999,8,64", 4},
    {"L1d=64G,8,8", 4},
    {"L1d=257G,8,4096", 4},
    {"L1d=99999999999G,8,64", 4},
    {"L1d=1K,8,64,", 12},
    {"L1d=1K,8,64,colour=red", 12},
    {"L1d=1K,8,64,sets=0", 17},
    {"L1d=1K,8,64,sets=99999999999", 17},
    {"L1d=1K,full,64,sets=2", 20},
    {"L1d=1K,8,64,side=left", 17},
    {"L1d=1K,8,64,policy=best", 19},
    {"L1d=1K,8,64,policy=lruu", 19},
    {"L1d=1K,8,64,policy=random,seed=x", 31},
    {"L1d=1K,8,64,seed=4", 17},
    {"L1d=1K,8,64,index=hash", 18},
    {"L1d=1K,8,64,sets=3,index=xor", 25},
    {"L1d=1K,full,64,index=prime", 21},
    {"L1d=1K,8,64,slices=4", 19},
    {"L1d=4K,8,64,index=slices,slices=3", 32},
    {"L1d=8K,8,64,sets=10,index=slices", 26},
    {"L1d=8K,8,128,index=slices", 19},
    {"L1d=1K,8,64,write=never", 18},
    {"L1d=1K,8,64,allocate=maybe", 21},
    {"L1d=1K,8,64,inclusion=some", 22},
    {"L1d=1K,8,64,inclusion=exclusive", 0},
    {"L1d=1K,8,64:L2=4K,8,128,inclusion=exclusive", 12},
    {"L1d=1K,8,64,write=through:L2=4K,8,64,inclusion=exclusive", 26},
    {"L1d=1K,8,64:L2=4K,8,64,inclusion=exclusive:L3=8K,8,64,inclusion=inclusive", 43},
    {"L1d=1K,8,64,plugin=", 19},
    {"L1d=1K,8,64,plugin=:L2=1M,8,64", 19},
    {"L1d=1K,8,64,plugin=./a.so,policy=fifo", 19},
    {"L1d=1K,8,64,index=xor,plugin=a.so", 29},
    {"L1d=1K,8,64,sector=x", 19},
    {"L1d=1K,8,64,sector=64", 19},
    {"L1d=1K,8,64,sector=4", 19},
    {"L1d=1K,8,64,sector=24", 19},
    {"L1d=1K,8,64,sector=32,plugin=a.so", 19},
    {"L1d=1K,8,64:L2=4K,8,64,sector=32", 12},
    {"L1d=1K,8,64:L2=4K,8,64,inclusion=exclusive,sector=32", 50},
    {"L1d=1K,8,64,sector=32:L2=4K,8,64,inclusion=exclusive", 22},
    {"L1d=1G,8,64,sector=8", 19},
    {"L1d=1K,8,64,prefetch=all", 21},
    {"L1d=1K,8,64,prefetch=no,degree=2", 31},
    {"L1d=1K,8,64,cross=yes", 18},
    {"L1d=1K,8,64,prefetch=next,degree=0", 33},
    {"L1d=1K,8,64,prefetch=next,degree=65", 33},
    {"L1d=1K,8,64,prefetch=stride,distance=1025", 37},
    {"L1d=1K,8,64,prefetch=stream,table=65537", 34},
    {"L1d=1K,8,64,prefetch=next,table=16", 32},
    {"L1d=1K,8,64,policy=opt,prefetch=next", 32},
    {"L1d=1K,8,64:L2=4K,8,64,inclusion=exclusive,prefetch=next", 52},
    {"L1d=1K,8,64,prefetch=next:L2=4K,8,64,policy=opt", 26},
    {"L1=256K,4,4K,pages=4K,prefetch=next", 31},
    {"L1d=1K,8,64,latency=0", 20},
    {"L1d=1K,8,64,latency=1000001", 20},
    {"L1d=1K,8,64,latency=fast", 20},
    {"L1d=1K,8,64:memory=0", 19},
    {"L1d=1K,8,64:memory=200:L2=1M,8,64", 23},
    {"memory=200", 10}, /* a level's name, since no level precedes it */
    {"L1d=32K,8,64:", 13},
    {"L1d=32K,8,64:L2=1M,8,32", 13},
    {"L1d=32K,8,64:L1d=1M,8,64", 13},
    {"L1=32K,8,64:L2d=1M,8,64", 12},
    {"L1d=32K,8,64 ", 12},
    {"LongNameOfALevel=32K,8,64", 0},
    {"a=1K,1,8:b=1K,1,8:c=1K,1,8:e=1K,1,8:f=1K,1,8:g=1K,1,8:h=1K,1,8:j=1K,1,8:k=1K,1,8", 72},
};

static void test_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof spec_faults / sizeof spec_faults[0]; i++) {
		struct nm_machine m = {.count = 77};
		struct nm_error err;
		int code = nm_machine_parse(spec_faults[i].spec, &m, &err);
		if (code != NM_EINVAL && code != NM_EFORMAT)
			fail_msg("'%s' gives %d", spec_faults[i].spec, code);
		if (err.column != spec_faults[i].column)
			fail_msg("'%s': column %d (%s), not %d", spec_faults[i].spec, err.column, err.text,
				 spec_faults[i].column);
		assert_string_equal(err.subject, spec_faults[i].spec);
		assert_int_equal(m.count, 77);
		assert_true(nm_machine_parse(spec_faults[i].spec, &m, NULL) < 0);
	}
}

/* Formatting and parsing give the same levels, for every named machine and some others. */
static void check_round_trip(const struct nm_machine *m)
{
	char text[2048], again[512];
	struct nm_machine back;
	struct nm_error err;
	size_t n = nm_machine_format(m, text, sizeof text);

	assert_int_equal(n, strlen(text));
	assert_int_equal(nm_machine_parse(text, &back, &err), 0);
	assert_int_equal(back.count, m->count);
	for (unsigned i = 0; i < m->count; i++) {
		assert_string_equal(back.levels[i].name, m->levels[i].name);
		assert_int_equal(back.levels[i].size, m->levels[i].size);
		assert_int_equal(back.levels[i].ways, m->levels[i].ways);
		assert_int_equal(back.levels[i].sets, m->levels[i].sets);
		assert_int_equal(back.levels[i].line, m->levels[i].line);
		assert_int_equal(back.levels[i].side, m->levels[i].side);
		assert_int_equal(back.levels[i].policy, m->levels[i].policy);
		assert_int_equal(back.levels[i].seed, m->levels[i].seed);
		assert_int_equal(back.levels[i].index, m->levels[i].index);
		assert_int_equal(back.levels[i].slices, m->levels[i].slices);
		assert_int_equal(back.levels[i].sector, m->levels[i].sector);
		assert_int_equal(back.levels[i].prefetch, m->levels[i].prefetch);
		assert_int_equal(back.levels[i].degree, m->levels[i].degree);
		assert_int_equal(back.levels[i].distance, m->levels[i].distance);
		assert_int_equal(back.levels[i].table, m->levels[i].table);
		assert_int_equal(back.levels[i].cross_pages, m->levels[i].cross_pages);
		assert_int_equal(back.levels[i].write_through, m->levels[i].write_through);
		assert_int_equal(back.levels[i].no_allocate, m->levels[i].no_allocate);
		assert_int_equal(back.levels[i].inclusion, m->levels[i].inclusion);
		assert_int_equal(back.levels[i].latency, m->levels[i].latency);
		assert_string_equal(back.levels[i].plugin, m->levels[i].plugin);
	}
	assert_int_equal(back.memory_latency, m->memory_latency);
	assert_int_equal(nm_machine_format(&back, again, 8), n);
	assert_int_equal(strlen(again), 7);
}

static void test_table(void **state)
{
	size_t count;
	const struct nm_machine *table = nm_machine_table(&count);
	struct nm_machine m;
	struct nm_error err;
	(void)state;

	assert_true(count >= 8);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(nm_machine_check(&table[i], &err), 0);
		assert_ptr_equal(nm_machine_named(table[i].name), &table[i]);
		assert_true(strlen(table[i].description) > 10);
		check_round_trip(&table[i]);
		/* no figure without its source */
		assert_int_equal(strstr(table[i].description, "latencies ") != NULL,
				 table[i].count > 2 && table[i].levels[2].latency != 0);
	}
	assert_int_equal(nm_machine_named("haswell")->levels[2].latency, 12);
	assert_int_equal(nm_machine_named("haswell")->levels[3].latency, 36);
	assert_int_equal(nm_machine_named("haswell")->memory_latency, 230); /* 36 + 57 ns at 3.4 GHz */
	assert_null(nm_machine_named("abacus"));
	assert_int_equal(nm_machine_named("pentium-m")->levels[2].sets, 2048);
	assert_int_equal(nm_machine_parse("L1d=8096,1,32:L2=16K,full,64,side=data:L3=1G,16,64", &m, &err), 0);
	check_round_trip(&m);
	assert_int_equal(
	    nm_machine_parse(
		"L1d=32K,8,64,policy=tree-plru,write=through,allocate=no:"
		"L2=1M,16,64,policy=random,seed=9,index=xor,inclusion=inclusive:"
		"L3=16M,16,64,policy=drrip,index=slices,slices=8,latency=40:L4=64M,16,64,index=prime,"
		"inclusion=exclusive",
		&m, &err),
	    0);
	assert_string_equal(m.levels[0].policy->name, "tree-plru");
	assert_true(m.levels[0].write_through && m.levels[0].no_allocate);
	assert_int_equal(m.levels[1].seed, 9);
	assert_int_equal(m.levels[2].slices, 8);
	assert_int_equal(m.levels[3].inclusion, NM_EXCLUSIVE);
	check_round_trip(&m);
	assert_int_equal(
	    nm_machine_parse("L1d=32K,8,64,prefetch=stride,degree=3,distance=5,table=64,cross=yes:"
			     "L2=1M,16,64,prefetch=stream,latency=9:L3=4M,16,64,prefetch=next",
			     &m, &err),
	    0);
	assert_int_equal(m.levels[0].degree, 3);
	assert_int_equal(m.levels[1].prefetch, NM_PREFETCH_STREAM);
	check_round_trip(&m);
	assert_int_equal(nm_machine_parse("L1d=32K,8,64:L2=1M,16,64,latency=14:memory=200", &m, &err), 0);
	assert_int_equal(m.count, 2);
	assert_int_equal(m.levels[0].latency, 0);
	assert_int_equal(m.levels[1].latency, 14);
	assert_int_equal(m.memory_latency, 200);
	check_round_trip(&m);
}

/* A SPEC may name its machine itself; the name gives way only to one that is taken. */
static void test_join_keeps_prefixes(void **state)
{
	struct nm_machine all = {.count = 0}, one;
	struct nm_error err;
	(void)state;
	assert_int_equal(nm_machine_parse("L1d=8K,1,32", &all, &err), 0);
	assert_int_equal(nm_machine_parse("small/L1d=1K,1,32:small/L2=4K,1,32", &one, &err), 0);
	assert_int_equal(nm_machine_join(&all, &one, &err), 0);
	assert_string_equal(all.levels[1].name, "small/L1d");
	assert_string_equal(all.levels[2].name, "small/L2");
	assert_int_equal(nm_machine_join(&all, &one, &err), 0);
	assert_string_equal(all.levels[3].name, "2/L1d");
	assert_int_equal(nm_machine_parse("big/L1d=2K,1,32:L2=8K,1,32", &one, &err), 0);
	assert_int_equal(nm_machine_join(&all, &one, &err), 0);
	assert_string_equal(all.levels[5].name, "big/L1d");
	assert_string_equal(all.levels[6].name, "big/L2");
	check_round_trip(&all);
}

static void test_join(void **state)
{
	struct nm_machine all = {.count = 0}, one;
	struct nm_error err;
	(void)state;
	assert_int_equal(nm_machine_join(&all, nm_machine_named("pentium-m"), &err), 0);
	assert_int_equal(nm_machine_join(&all, nm_machine_named("zen3"), &err), 0);
	assert_int_equal(nm_machine_join(&all, nm_machine_named("zen3"), &err), 0);
	assert_int_equal(nm_machine_parse("D1=1K,1,64:L2=4K,8,128", &one, &err), 0);
	assert_int_equal(nm_machine_join(&all, &one, &err), 0);
	assert_int_equal(all.count, 3 + 4 + 4 + 2);
	assert_string_equal(all.levels[1].name, "L1d");
	assert_string_equal(all.levels[4].name, "zen3/L1d");
	assert_string_equal(all.levels[8].name, "2/L1d");
	assert_string_equal(all.levels[11].name, "3/D1");
	assert_int_equal(all.levels[11].side, NM_SIDE_DATA);
	assert_string_equal(all.name, "pentium-m, zen3, 2, 3");
	check_round_trip(&all);
	assert_true(nm_machine_same("zen3/L1d", "zen3/L3") && !nm_machine_same("zen3/L1d", "zen/L1d"));
	assert_true(nm_machine_same("L1d", "L2") && !nm_machine_same("L1d", "2/L1d"));
	for (unsigned i = 0; i < 13; i++)
		assert_int_equal(nm_machine_first(&all, i, NM_SIDE_DATA),
				 i == 1 || i == 4 || i == 8 || i == 11);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(nm_machine_join(&all, nm_machine_named("zen3"), &err), 0);
	assert_int_equal(nm_machine_join(&all, nm_machine_named("zen3"), &err), NM_EINVAL);
	assert_int_equal(all.count, 29);
}

static void test_description(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		int column;
		const char *shown;
	} faults[] = {
	    {"L1d=1K,8,64\nL2=1M,8,32\n", 2, 0, "L2=1M,8,32"},
	    {"\n# no\n\tL1d = 1K, 8, 63", 3, 14, " L1d = 1K, 8, 63"},
	    {"L1d=1K,8,\n64", 2, 0, "64"},
	    {"machine x\nL1d = 1K, 8", 2, 11, "L1d = 1K, 8"},
	    {"L1d=1K,8,64\nmachine \t \r\n", 2, 10, "machine    "},
	    {"L1d = 1K, 8, 64 # , colour\nL2 = 1M,8,64,colour=red", 2, 13, "L2 = 1M,8,64,colour=red"},
	};
	struct nm_machine m = {.count = 77};
	struct nm_error err;
	char at[16], text[1100];
	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		assert_int_equal(nm_machine_read(faults[i].text, "f", &m, &err), NM_EINVAL);
		snprintf(at, sizeof at, "f:%u: ", faults[i].line);
		if (strncmp(err.text, at, strlen(at)) != 0 || err.column != faults[i].column)
			fail_msg("%zu: %d: %s", i, err.column, err.text);
		assert_string_equal(err.subject, faults[i].shown);
		assert_int_equal(m.count, 77);
	}
	snprintf(text, sizeof text, "\nL1d = 1K, 8,%*s63 # %*s", 700, "", 300, "");
	assert_int_equal(nm_machine_read(text, "f", &m, &err), NM_EINVAL);
	assert_int_equal(strncmp(err.text, "f:2: ", 5), 0);
	assert_int_equal(strncmp(err.subject + err.column, "63 # ", 5), 0);
	assert_int_equal(nm_machine_read("\n# only\n", "f", &m, &err), NM_EINVAL);
	assert_int_equal(nm_machine_read("machine  my box \r\nsource\tits manual, page 3\r\n\r\n"
					 "L1d = 32K, 8, 64, policy = tree-plru, latency=4\r\n"
					 "  L2 = 1M, 16, 64 # outer\r\nmemory = 200",
					 "f", &m, &err),
			 0);
	assert_string_equal(m.name, "my box");
	assert_string_equal(m.description, "its manual, page 3");
	assert_int_equal(m.count, 2);
	assert_string_equal(m.levels[0].policy->name, "tree-plru");
	assert_int_equal(m.levels[1].sets, 1024);
	assert_int_equal(m.memory_latency, 200);
	assert_int_equal(nm_machine_read("L1d=1K,1,64", "f.machine", &m, &err), 0);
	assert_string_equal(m.name, "f.machine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_large_levels_are_read_as_they_are_written),
	    cmocka_unit_test(test_faults),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_join),
	    cmocka_unit_test(test_join_keeps_prefixes),
	    cmocka_unit_test(test_description),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
