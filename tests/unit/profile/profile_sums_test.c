/* SPDX-License-Identifier: MIT
 *
 * profile_sums_test.c - the views of a profile: counts are stored as they are, and added up by place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile_queries.h"
#include "temporary_folder.h"
#include "writer.h"

enum { SAMPLE_ATTRS = 9 };

static struct nm_profile *write_result(const struct nm_result *result)
{
	struct nm_profile_writer *writer;
	struct nm_error err;

	assert_int_equal(nm_profile_writer_new(&writer, "result.nmp", &err), 0);
	assert_int_equal(nm_profile_writer_add(writer, result, &err), 0);
	assert_int_equal(nm_profile_writer_commit(writer, &err), 0);
	return open_ok("result.nmp");
}

static void test_counts(void **state)
{
	struct nm_profile *profile = sample("a.nmp");

	(void)state;
	expect(profile, "SELECT count(*) FROM counts WHERE process = 'solver' AND level = 'L1d'", "7\n");
	/* Two sites of two modules that read the same are one row. */
	expect(profile, "SELECT reads, conflict, thread FROM counts WHERE line = 1281 AND level = 'L1d'",
	       "22000|6800|1\n");
	/* A row of zeros is not stored. */
	expect(profile, "SELECT count(*) FROM counts WHERE object = 'stack of main'", "0\n");
	/* What is unknown is NULL. */
	expect(profile, "SELECT function, file, line FROM counts WHERE object = '<unknown>' AND level = 'L2'",
	       "-|-|-\n");
	/* Rows come in the order of the process tree, then level, thread and text. */
	expect(profile, "SELECT process, thread, line FROM counts WHERE level = 'L1d' AND line IS NOT NULL",
	       "solver|1|40\nsolver|1|40\nsolver|1|41\nsolver|1|1281\nsolver|2|41\ncc1|1|7\ncc1#2|1|7\n");
	nm_profile_close(profile);
}

static void test_levels_are_sums_of_counts(void **state)
{
	static const char *const columns[] = {"reads", "writes",    "read_misses", "write_misses",
					      "cold",  "capacity",  "conflict",    "coherence",
					      "loads", "evictions", "writebacks"};
	struct nm_profile *profile = sample("a.nmp");
	size_t i;

	(void)state;
	for (i = 0; i < sizeof columns / sizeof *columns; i++) {
		char sql[200], *levels, *counts;

		snprintf(sql, sizeof sql, "SELECT process, level, %s FROM levels ORDER BY 1, 2", columns[i]);
		levels = ask(profile, sql);
		snprintf(sql, sizeof sql,
			 "SELECT process, level, sum(%s) FROM counts GROUP BY 1, 2 ORDER BY 1, 2",
			 columns[i]);
		counts = ask(profile, sql);
		assert_string_equal(levels, counts);
		free(levels);
		free(counts);
	}
	nm_profile_close(profile);
}

static void test_other_views(void **state)
{
	struct nm_profile *profile = sample("a.nmp");

	(void)state;
	expect(profile, "SELECT * FROM processes",
	       "solver|0|./solver 512|0|8000000|1446100|0|0\ncc1|0.2|cc1 x.c|0|5000|200|0|0\n"
	       "cc1#2|0.10|cc1 x.c|0|7000|200|0|0\n");
	expect(profile,
	       "SELECT level, size, ways, line_size, sets, policy, side FROM levels WHERE process = 'cc1'",
	       "L1d|32768|8|64|64|lru|data\nL2|1048576|16|64|1024|lru|unified\n");
	expect(profile, "SELECT * FROM objects WHERE kind = 'heap' AND process = 'cc1'",
	       "heap ggc_alloc (ggc.c:7)|heap|-|4096|1|4096|ggc.c:7|cc1\n");
	expect(profile, "SELECT module FROM undebugged",
	       "/lib/x86_64-linux-gnu/libc.so.6\n/opt/vendor/libplugin.so\n");
	expect(profile, "SELECT object, name, value FROM pass_figures WHERE pass = 'pages' ORDER BY value",
	       "heap std::map<int, std::vector<long> >::insert (tree.cc:88)|touched|3\nmatrix|touched|12\n");
	expect(profile, "SELECT key, value FROM info WHERE key IN ('command', 'references', 'machine_spec')",
	       "command|./solver 512\nmachine_spec|L1d=32K,8,64:L2=1M,16,64\nreferences|1446500\n");
	nm_profile_close(profile);
}

static void test_evictions(void **state)
{
	struct nm_profile *profile = sample("a.nmp");

	(void)state;
	/* Attribution keys of two threads are one place: 10000 + 35000. */
	expect(
	    profile,
	    "SELECT evictor, line, count FROM evictions WHERE level = 'L1d' AND victim_line = 41 ORDER BY line",
	    "matrix|40|60000\nmatrix|41|45000\n");
	expect(profile,
	       "SELECT evictor, line, count FROM top_evictors WHERE level = 'L1d' AND victim_line = 41",
	       "matrix|40|60000\n");
	expect(profile, "SELECT sum(count) FROM evictions WHERE level = 'L2'", "49000\n");
	nm_profile_close(profile);
}

/* Of evictors that replaced equally many lines of a victim the one whose function and line sort first is the
 * top one, in whatever order the result lists them. */
static void test_tie_of_the_top_evictor(void **state)
{
	static struct nm_result result; /* too large for the stack */

	(void)state;
	for (unsigned turn = 0; turn < 2; turn++) {
		struct nm_eviction evictions[2];
		struct nm_profile_writer *writer;
		struct nm_profile *profile;
		struct nm_error err;

		result = *nm_sample(0);
		for (unsigned i = 0; i < 2; i++)
			evictions[i] = (struct nm_eviction){
			    .victim = 1, .evictor = (i + turn) % 2 ? 3 : 0, .count = 700};
		result.levels[0].evictions = evictions;
		result.levels[0].eviction_count = 2;
		assert_int_equal(nm_profile_writer_new(&writer, "tie.nmp", &err), 0);
		assert_int_equal(nm_profile_writer_add(writer, &result, &err), 0);
		assert_int_equal(nm_profile_writer_commit(writer, &err), 0);
		profile = open_ok("tie.nmp");
		expect(
		    profile, "SELECT evictor, line, count FROM evictions WHERE level = 'L1d' ORDER BY line",
		    "matrix|40|700\nheap std::map<int, std::vector<long> >::insert (tree.cc:88)|1281|700\n");
		expect(profile, "SELECT evictor, line, count FROM top_evictors WHERE level = 'L1d'",
		       "matrix|40|700\n");
		nm_profile_close(profile);
	}
}

/* Strides of attribution keys that are one place are added up before the most frequent is chosen; of equal
 * ones the shortest. */
static void test_sites(void **state)
{
	struct nm_profile *profile = sample("a.nmp");

	(void)state;
	expect(profile, "SELECT process, line, object, sampled, stride, followed FROM sites ORDER BY line",
	       "solver|40|matrix|10|0|3\nsolver|41|matrix|150|8|70\n");
	nm_profile_close(profile);
}

/* What was sampled shares out what is exact: 20,000 reads by 30 to 10, 9,000 read misses by 2 to 1, and so
 * on. */
static void test_fields(void **state)
{
	struct nm_profile *profile = sample("a.nmp");

	(void)state;
	expect(profile,
	       "SELECT type, structure, field, offset, bytes, sampled, residencies, used FROM fields",
	       "struct node|64|key|0|8|32|900|900\nstruct node|64|place.x|8|8|30|900|300\n"
	       "struct node|64|name|16|48|0|900|9\n");
	expect(profile,
	       "SELECT field, reads, writes, read_misses, write_misses, loads FROM field_counts "
	       "WHERE level = 'L1d' AND type = 'struct node' AND file LIKE '%stl_vector.h'",
	       "key|17000|2000|6900|766|7666\nplace.x|5000|20000|3000|334|3334\n");
	expect(
	    profile,
	    "SELECT count(*) FROM (SELECT process, thread, level, line, object, sum(reads), sum(writes), "
	    "sum(read_misses), sum(loads), sum(used_bytes), sum(evictions) FROM field_counts "
	    "GROUP BY 1, 2, 3, 4, 5, function, file EXCEPT SELECT process, thread, level, line, object, reads, "
	    "writes, read_misses, loads, used_bytes, evictions FROM counts)",
	    "0\n");
	expect(profile, "SELECT field, other, together, apart, visits, both FROM affinity",
	       "key|place.x|300|600|40|30\nkey|name|9|891|40|0\n");
	expect(profile, "SELECT object, lines, hot, hot_residencies, idle FROM hot_lines",
	       "heap std::map<int, std::vector<long> >::insert (tree.cc:88)|100|30|80|5\n");
	nm_profile_close(profile);
}

/* Attribution keys that agree in all but the thread are added up, and those of one object where objects were
 * asked for. What is no level is memory. */
static void test_events(void **state)
{
	const struct nm_event_query by_object = {.mode = NM_QUERY_SETS, .by_attr = 1, .of_objects = 1};
	const struct nm_event_query by_line = {.mode = NM_QUERY_GRANULES, .by_attr = 1};
	const struct nm_event_query *const requests[] = {&by_object, &by_line};
	struct nm_event_row rows[] = {{3, 5, 1, 0, NM_EVENT_LOAD, 0},
				      {3, 7, 2, 0, NM_EVENT_LOAD, 0},
				      {3, 1, 0, 0, NM_EVENT_LOAD, 0},
				      {3, 2, 1, 3, NM_EVENT_REPLACE, 0},
				      {9, 4, 3, 1, NM_EVENT_LOAD, NM_MAX_LEVELS}};
	struct nm_result result = *nm_sample(0);
	struct nm_profile_writer *writer;
	struct nm_profile *profile;
	struct nm_error err;

	(void)state;
	result.events = (struct nm_filtered_events){.rows = rows, .row_count = 5};
	for (unsigned i = 0; i < 2; i++) {
		result.events.query = requests[i];
		assert_int_equal(nm_profile_writer_new(&writer, i ? "line.nmp" : "object.nmp", &err), 0);
		assert_int_equal(nm_profile_writer_add(writer, &result, &err), 0);
		assert_int_equal(nm_profile_writer_commit(writer, &err), 0);
	}
	profile = open_ok("object.nmp");
	expect(
	    profile,
	    "SELECT level, event, cache_set, address, line, substr(object, 1, 9), substr(victim, 1, 9), count FROM events",
	    "L1d|load|3|-|-|matrix|-|13\nL1d|replace|3|-|-|matrix|heap std:|2\n"
	    "memory|load|9|-|-|heap std:|-|4\n");
	expect(profile, "SELECT level, cache_set, loads, evictions FROM sets", "L1d|3|13|2\n");
	nm_profile_close(profile);
	profile = open_ok("line.nmp");
	expect(
	    profile,
	    "SELECT level, event, cache_set, address, line, substr(victim, 1, 9), victim_line, count FROM events",
	    "L1d|load|-|3|40|-|-|1\nL1d|load|-|3|41|-|-|12\nL1d|replace|-|3|41|heap std:|1281|2\n"
	    "memory|load|-|9|1281|-|-|4\n");
	expect(profile, "SELECT * FROM sets", "");
	nm_profile_close(profile);
}

/* The counts of instructions add up to those of their lines; their code is stored. */
static void test_instructions(void **state)
{
	struct nm_profile *profile;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_asm_sample_write("asm.nmp", &err), 0);
	assert_int_equal(nm_profile_open(&profile, "asm.nmp", &err), 0);
	expect(
	    profile,
	    "SELECT count(*) FROM (SELECT process, thread, level, function, file, line, object, sum(reads), "
	    "sum(writes), sum(read_misses), sum(write_misses), sum(cold), sum(capacity), sum(conflict), "
	    "sum(coherence), sum(loads), sum(reuse), sum(used_bytes), sum(loaded_bytes), sum(evictions), "
	    "sum(writebacks), sum(weighted_bytes), sum(covered), sum(dependent), sum(page_walks) FROM instructions GROUP BY 1, 2, 3, 4, 5, 6, 7 EXCEPT "
	    "SELECT process, thread, level, function, file, line, object, reads, writes, read_misses, write_misses, cold, "
	    "capacity, conflict, coherence, loads, reuse, used_bytes, loaded_bytes, evictions, writebacks, "
	    "weighted_bytes, covered, dependent, page_walks FROM counts)",
	    "0\n");
	expect(profile, "SELECT sum(loads) - (SELECT sum(loads) FROM counts) FROM instructions", "0\n");
	expect(profile,
	       "SELECT module, address, function, line, object, reads FROM instructions "
	       "WHERE process = 'walk' AND level = 'L1d' AND module = 'walk'",
	       "walk|4360|main|50|gr\xc3\xb6\xc3\x9f"
	       "e|3000\nwalk|4508|at|41|gr\xc3\xb6\xc3\x9f"
	       "e|20\nwalk|4508|at|41|matrix|1000000\nwalk|4537|walk|42|stack of main|1\n");
	expect(profile, "SELECT process, module, address, function, length(bytes) FROM code",
	       "walk|libplugin.so|8192|-|5\nwalk|libplugin.so|8195|-|2\nwalk|walk|4355|main|13\n"
	       "walk|walk|4482|walk|56\nwalk#2|walk|4355|main|6\n");
	expect(profile, "SELECT address, function, line FROM code_lines WHERE address BETWEEN 4500 AND 4520",
	       "4501|walk|38\n4508|at|41\n4514|walk|38\n");
	nm_profile_close(profile);
}

/* Of strides with equal counts the shorter one is stored, and of opposite ones that which goes forward. */
static void test_ties_of_strides(void **state)
{
	struct nm_result_strides strides[] = {{1, 10, 0, {{-16, 5}, {16, 5}, {24, 5}}}};
	struct nm_result result = *nm_sample(0);
	struct nm_profile *profile;

	(void)state;
	result.strides = strides;
	result.stride_count = 1;
	profile = write_result(&result);
	expect(profile, "SELECT line, sampled, stride, followed FROM sites", "41|10|16|5\n");
	nm_profile_close(profile);
}

/* The walk of a place is that of its attribution key with the most loads, the first of equal ones. */
static void test_walks(void **state)
{
	struct nm_walk walks[SAMPLE_ATTRS] = {[1] = {.loads = 10, .followed = 6, .step = 8},
					      [2] = {.loads = 10, .followed = 3, .step = 64},
					      [3] = {.loads = 5, .followed = 5, .step = 16},
					      [4] = {.loads = 7, .followed = 7, .step = 24}};
	struct nm_result result = *nm_sample(0);
	struct nm_profile *profile;

	(void)state;
	assert_int_equal(result.attr_count, SAMPLE_ATTRS);
	result.walks = walks;
	profile = write_result(&result);
	expect(profile, "SELECT line, loads, step, followed FROM walks ORDER BY line",
	       "41|10|8|6\n1281|7|24|7\n");
	nm_profile_close(profile);
}

/* References to L2 are the misses of L1d: fields share them by those, but misses of L2 by its own. */
static void test_fields_of_further_levels(void **state)
{
	struct nm_result_field_use uses[] = {{3, 0, {30, 0}, {{2, 0}, {1, 0}}},
					     {3, 1, {10, 20}, {{1, 0}, {3, 0}}}};
	struct nm_result result = *nm_sample(0);
	struct nm_profile *profile;

	(void)state;
	result.field_uses = uses;
	result.field_use_count = 2;
	profile = write_result(&result);
	expect(
	    profile,
	    "SELECT field, reads, read_misses FROM field_counts WHERE level = 'L2' AND type = 'struct node'",
	    "key|6000|725\nplace.x|3000|2175\n");
	nm_profile_close(profile);
}

/* What a context counts includes what it calls; code of a library is at the user's nearest call. */
static void test_contexts(void **state)
{
	struct nm_result_context contexts[] = {{.site = UINT32_MAX},
					       {.site = UINT32_MAX, .function = "main", .calls = 1},
					       {.parent = 1, .site = 0, .function = "multiply", .calls = 5},
					       {.parent = 2, .site = 2, .function = "grow", .calls = 7}};
	struct nm_result_context_attr attrs[] = {{1, 0}, {2, 1}, {3, 3}};
	struct nm_counts first[] = {{.loads = 100}, {.loads = 20}, {.loads = 3}}, further[3] = {{.loads = 0}};
	struct nm_result_site sites[8];
	struct nm_result result = *nm_sample(0);
	struct nm_profile *profile;

	(void)state;
	assert_in_range(result.site_count, 3, 8);
	memcpy(sites, result.sites, result.site_count * sizeof *sites);
	sites[2].is_library = 1;
	result.sites = sites;
	result.contexts = contexts;
	result.context_count = 4;
	result.context_attrs = attrs;
	result.context_attr_count = 3;
	result.levels[0].context_counts = first;
	result.levels[1].context_counts = further;
	profile = write_result(&result);
	expect(profile,
	       "SELECT context, function, calls, loads FROM contexts WHERE level = 'L1d' ORDER BY context",
	       "0|-|0|123\n1|main|1|123\n2|multiply|5|23\n3|grow|7|3\n");
	expect(profile,
	       "SELECT context, line, user_line FROM context_counts WHERE level = 'L1d' ORDER BY context",
	       "1|40|40\n2|41|41\n3|1281|40\n");
	nm_profile_close(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts),
	    cmocka_unit_test(test_levels_are_sums_of_counts),
	    cmocka_unit_test(test_other_views),
	    cmocka_unit_test(test_evictions),
	    cmocka_unit_test(test_tie_of_the_top_evictor),
	    cmocka_unit_test(test_sites),
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_events),
	    cmocka_unit_test(test_instructions),
	    cmocka_unit_test(test_ties_of_strides),
	    cmocka_unit_test(test_walks),
	    cmocka_unit_test(test_fields_of_further_levels),
	    cmocka_unit_test(test_contexts),
	};

	return cmocka_run_group_tests(tests, enter_temporary_folder, remove_temporary_folder);
}
