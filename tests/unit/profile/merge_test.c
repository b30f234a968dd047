/* SPDX-License-Identifier: MIT
 *
 * merge_test.c - what a merge takes for the same, what it keeps apart, and what it refuses. That sums are those
 * of the inputs in every view is tested on recordings (tests/e2e/test_merge.py).
 *
 * Runs of one program: `app` with two buckets of one name, told apart by a number and by their calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hierarchy.h"
#include "merge.h"
#include "profile_queries.h"
#include "temporary_folder.h"

enum { OBJECTS = 3 };

struct run {
	const char *build_id, *rank, *ranks, *cache;
	uint64_t misses[OBJECTS];
	int swapped; /* the buckets come in the other order, and so with the other's number */
};

static void write_run(const char *path, const struct run *run)
{
	static struct nm_result_site site = {.function = "main", .file = "app.c", .line = 7, .module = "app"};
	struct nm_result_module module = {"/bin/app", "app", run->build_id};
	struct nm_result_object objects[OBJECTS] = {
	    {.name = "table", .kind = NM_OBJECT_GLOBAL, .type = "int[64]", .bytes = 256},
	    {.name = "node (app.c:7)",
	     .kind = NM_OBJECT_HEAP,
	     .bytes = 64,
	     .blocks = 2,
	     .largest = 32,
	     .allocated_at = "app.c:7",
	     .call = run->swapped ? 20 : 10},
	    {.name = "node (app.c:7) #2",
	     .kind = NM_OBJECT_HEAP,
	     .bytes = 96,
	     .blocks = 1,
	     .largest = 96,
	     .allocated_at = "app.c:7",
	     .call = run->swapped ? 10 : 20}};
	struct nm_result_attribution attrs[OBJECTS] = {{1, 0, 0, 0}, {1, 0, 1, 0}, {1, 0, 2, 0}};
	struct nm_counts counts[OBJECTS] = {{.reads = 0}};
	struct nm_result result = {.process = "app",
				   .path = "0",
				   .command = "app",
				   .objects = objects,
				   .object_count = OBJECTS,
				   .sites = &site,
				   .site_count = 1,
				   .attrs = attrs,
				   .attr_count = OBJECTS,
				   .modules = &module,
				   .module_count = 1,
				   .instructions = 1000};
	struct nm_profile_writer *writer;
	struct nm_error err;

	for (int i = 0; i < OBJECTS; i++) {
		counts[i].reads = 1000;
		counts[i].read_misses = counts[i].loads = counts[i].cold =
		    run->misses[run->swapped && i ? 3 - i : i];
		result.levels[0].total.reads += counts[i].reads;
		result.levels[0].total.read_misses += counts[i].read_misses;
	}
	result.levels[0].counts = counts;
	assert_int_equal(nm_machine_parse(run->cache ? run->cache : "L1d=1K,2,64", &result.machine, &err), 0);
	assert_int_equal(nm_profile_writer_new(&writer, path, &err), 0);
	assert_int_equal(nm_profile_writer_add(writer, &result, &err), 0);
	if (run->rank)
		assert_int_equal(nm_profile_writer_info(writer, "rank", run->rank, &err), 0);
	if (run->ranks)
		assert_int_equal(nm_profile_writer_info(writer, "ranks", run->ranks, &err), 0);
	assert_int_equal(nm_profile_writer_commit(writer, &err), 0);
}

/* Merges runs; what came of it. */
static struct nm_merge_ended merge_runs(const char *output, const struct run *runs, int count)
{
	struct nm_merge_ended ended;
	struct nm_merge *merge;
	struct nm_error err;

	assert_int_equal(nm_merge_new(&merge, output, &err), 0);
	for (int i = 0; i < count; i++) {
		char path[20];

		snprintf(path, sizeof path, "%d.nmp", i);
		write_run(path, &runs[i]);
		if (nm_merge_add(merge, path, &err))
			fail_msg("%s", err.text);
	}
	assert_int_equal(nm_merge_commit(merge, &ended, &err), 0);
	return ended;
}

static void test_numbers_do_not_matter(void **state)
{
	const struct run runs[] = {{.build_id = "aa", .misses = {5, 100, 2}},
				   {.build_id = "aa", .misses = {6, 200, 3}, .swapped = 1}};
	struct nm_profile *profile;

	(void)state;
	merge_runs("all.nmp", runs, 2);
	profile = open_ok("all.nmp");
	expect(profile, "SELECT object, sum(read_misses) FROM counts GROUP BY 1 ORDER BY 1",
	       "node (app.c:7)|300\nnode (app.c:7) #2|5\ntable|11\n");
	expect(profile, "SELECT object, bytes, blocks, largest FROM objects ORDER BY 1",
	       "node (app.c:7)|160|3|96\nnode (app.c:7) #2|160|3|96\ntable|256|0|0\n");
	expect(profile, "SELECT process, instructions FROM processes", "app|2000\n");
	expect(profile, "SELECT input FROM inputs", "0.nmp\n1.nmp\n");
	nm_profile_close(profile);
}

static void test_builds_stay_apart(void **state)
{
	const struct run runs[] = {{.build_id = "aa", .misses = {1}},
				   {.build_id = "bb", .misses = {2}},
				   {.build_id = "aa", .misses = {4}}};
	struct nm_profile *profile;

	(void)state;
	merge_runs("all.nmp", runs, 3);
	profile = open_ok("all.nmp");
	expect(profile, "SELECT process, sum(read_misses) FROM counts GROUP BY 1 ORDER BY 1",
	       "app|5\napp#2|2\n");
	expect(profile, "SELECT process, build_id FROM modules ORDER BY 1", "app|aa\napp#2|bb\n");
	nm_profile_close(profile);
}

/* Six ranks of eight: two edges, and four that agree within a tenth. Rank 5 misses most on `table`. */
static void test_ranks(void **state)
{
	const struct run runs[] = {{.rank = "0", .ranks = "8", .misses = {10, 500}},
				   {.rank = "1", .ranks = "8", .misses = {10, 1000}},
				   {.rank = "2", .ranks = "8", .misses = {0, 1020}},
				   {.rank = "4", .ranks = "8", .misses = {10, 990}},
				   {.rank = "5", .ranks = "8", .misses = {13, 1010}},
				   {.rank = "7", .ranks = "8", .misses = {10, 520}}};
	struct nm_merge_ended ended;
	struct nm_profile *profile;

	(void)state;
	ended = merge_runs("all.nmp", runs, 6);
	assert_string_equal(ended.missing, "3, 6");
	assert_int_equal(ended.inputs, 6);
	profile = open_ok("all.nmp");
	expect(
	    profile,
	    "SELECT object, least, round(mean, 2), greatest, greatest_input FROM spread_objects ORDER BY 1",
	    "node (app.c:7)|500|840.0|1020|rank 2\ntable|0|8.83|13|rank 5\n");
	expect(profile, "SELECT alike, group_concat(rank) FROM inputs GROUP BY 1", "1|1,2,4,5\n2|0,7\n");
	expect(profile, "SELECT value FROM info WHERE key = 'missing_ranks'", "3, 6\n");
	nm_profile_close(profile);
}

static void test_merged_profiles_merge(void **state)
{
	const struct run runs[] = {{.rank = "0", .ranks = "2", .misses = {10, 500}},
				   {.rank = "1", .ranks = "2", .misses = {20, 900}}};
	struct nm_merge_ended ended;
	struct nm_profile *profile;
	struct nm_merge *merge;
	struct nm_error err;

	(void)state;
	merge_runs("a.nmp", runs, 1);
	assert_int_equal(nm_merge_new(&merge, "b.nmp", &err), 0);
	write_run("1.nmp", &runs[1]);
	assert_int_equal(nm_merge_add(merge, "1.nmp", &err), 0);
	assert_int_equal(nm_merge_add(merge, "a.nmp", &err), 0);
	assert_int_equal(nm_merge_commit(merge, &ended, &err), 0);
	profile = open_ok("b.nmp");
	expect(profile, "SELECT input, object, misses FROM input_counts ORDER BY 1, 2",
	       "rank 0|node (app.c:7)|500\nrank 0|table|10\nrank 1|node (app.c:7)|900\nrank 1|table|20\n");
	expect(profile, "SELECT sum(read_misses) FROM counts", "1430\n");
	nm_profile_close(profile);
}

static void expect_refused(const char *path, enum nm_code code, const char *words)
{
	struct nm_merge *merge;
	struct nm_error err;

	assert_int_equal(nm_merge_new(&merge, "all.nmp", &err), 0);
	assert_int_equal(nm_merge_add(merge, "0.nmp", &err), 0);
	assert_int_equal(nm_merge_add(merge, path, &err), code);
	if (!strstr(err.text, words))
		fail_msg("%s", err.text);
	nm_merge_abort(merge);
	assert_int_not_equal(access("all.nmp", F_OK), 0);
}

static void test_refusals(void **state)
{
	const struct run run = {.misses = {1}}, other = {.cache = "L1d=2K,2,64", .misses = {1}};

	(void)state;
	unlink("all.nmp");
	write_run("0.nmp", &run);
	write_run("other.nmp", &other);
	expect_refused("other.nmp", NM_EINVAL, "other caches");
	expect_refused("none.nmp", NM_ENOENT, "none.nmp");
	assert_int_equal(system("head -c 40000 0.nmp > cut.nmp"), 0);
	expect_refused("cut.nmp", NM_EFORMAT, "cut off");
	/* A table in whose place a view stands; without its checksum, which is optional. */
	assert_int_equal(
	    system("sqlite3 0.nmp \"VACUUM INTO 'forged.nmp'\" && sqlite3 forged.nmp \"PRAGMA application_id="
		   "1852665958; ALTER TABLE walk RENAME TO w; CREATE VIEW walk AS SELECT * FROM w\""),
	    0);
	expect_refused("forged.nmp", NM_EINVAL, "another version");
}

enum { MANY = 14 };

/* 0, or what nm_merge_add_all returned, and the index and words of its failure. */
static int merge_many(const char *output, const char *const *paths, unsigned threads, size_t *faulty,
		      struct nm_error *err)
{
	struct nm_merge_ended ended;
	struct nm_merge *merge;
	int status;

	assert_int_equal(nm_merge_new(&merge, output, err), 0);
	status = nm_merge_add_all(merge, paths, MANY, threads, faulty, err);
	if (status)
		nm_merge_abort(merge);
	else
		assert_int_equal(nm_merge_commit(merge, &ended, err), 0);
	return status;
}

/* Two builds, ranks of one name, buckets in either order: the profile is the same with any number of threads. */
static void test_threads_do_not_matter(void **state)
{
	static char names[MANY][20];
	const char *paths[MANY];
	struct nm_error err;
	size_t faulty;

	(void)state;
	for (int i = 0; i < MANY; i++) {
		const struct run run = {.build_id = i % 5 == 3 ? "bb" : "aa",
					.rank = i % 3 ? NULL : "0",
					.misses = {(uint64_t)i, 100, i == 11 ? 0 : 3},
					.swapped = i % 2};

		snprintf(names[i], sizeof names[i], "many-%d.nmp", i % 9);
		paths[i] = names[i];
		if (i < 9)
			write_run(paths[i], &run);
	}
	assert_int_equal(merge_many("one.nmp", paths, 1, &faulty, &err), 0);
	assert_int_equal(merge_many("two.nmp", paths, 2, &faulty, &err), 0);
	assert_int_equal(merge_many("three.nmp", paths, 3, &faulty, &err), 0);
	assert_int_equal(
	    system("for f in one two three; do sqlite3 $f.nmp .dump >$f; done; cmp one two && cmp one three"),
	    0);
	write_run("other.nmp", &(struct run){.cache = "L1d=2K,2,64", .misses = {1}});
	paths[12] = "other.nmp"; /* within a part */
	assert_int_equal(merge_many("one.nmp", paths, 3, &faulty, &err), NM_EINVAL);
	assert_int_equal(faulty, 12);
	assert_non_null(strstr(err.text, "other.nmp was recorded with other caches"));
	paths[9] = "none.nmp";
	assert_int_equal(merge_many("one.nmp", paths, 3, &faulty, &err), NM_ENOENT);
	assert_int_equal(faulty, 9);
	assert_int_equal(system("test -z \"$(ls | grep tmp)\""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers_do_not_matter),
	    cmocka_unit_test(test_builds_stay_apart),
	    cmocka_unit_test(test_ranks),
	    cmocka_unit_test(test_merged_profiles_merge),
	    cmocka_unit_test(test_refusals),
	    cmocka_unit_test(test_threads_do_not_matter),
	};

	return cmocka_run_group_tests(tests, enter_temporary_folder, remove_temporary_folder);
}
