/* SPDX-License-Identifier: MIT
 *
 * profile_test.c - profiles are whole or not there, say what was put in, and only answer.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile_priv.h"
#include "reader.h"
#include "sample.h"
#include "sources.h"

static char directory[] = "/tmp/nearmiss-profile-XXXXXX";

static int enter(void **state)
{
	(void)state;
	return !mkdtemp(directory) || chdir(directory);
}

static int leave(void **state)
{
	char command[80];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return chdir("/") || system(command);
}

/* All rows of a query as "a|b\nc|d\n"; malloc'ed. Fails the test if the query fails. */
static char *ask(struct nm_profile *profile, const char *sql)
{
	struct nm_rows *rows;
	struct nm_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	unsigned i;
	int status;

	if (nm_profile_query(profile, sql, &rows, &err))
		fail_msg("%s: %s", sql, err.text);
	while ((status = nm_rows_next(rows, &err)) > 0)
		for (i = 0; i < nm_rows_columns(rows); i++)
			fprintf(out, "%s%c", nm_rows_text(rows, i) ? nm_rows_text(rows, i) : "-",
				i + 1 < nm_rows_columns(rows) ? '|' : '\n');
	assert_int_equal(status, 0);
	nm_rows_free(rows);
	fclose(out);
	return text;
}

static void expect(struct nm_profile *profile, const char *sql, const char *answer)
{
	char *text = ask(profile, sql);

	assert_string_equal(text, answer);
	free(text);
}

static struct nm_profile *open_ok(const char *path)
{
	struct nm_profile *profile;
	struct nm_error err;

	if (nm_profile_open(&profile, path, &err))
		fail_msg("%s", err.text);
	return profile;
}

static struct nm_profile *sample(const char *path)
{
	struct nm_error err;

	if (nm_sample_write(path, &err))
		fail_msg("%s", err.text);
	return open_ok(path);
}

static int files_here(void)
{
	FILE *list = popen("ls -A | wc -l", "r");
	int n = -1;

	assert_int_equal(fscanf(list, "%d", &n), 1);
	pclose(list);
	return n;
}

static void empty_directory(void) { assert_int_equal(system("rm -rf ./* ./.[!.]*"), 0); }

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
	       "solver|0|./solver 512|0|8000000|1446100|0\ncc1|0.2|cc1 x.c|0|5000|200|0\n"
	       "cc1#2|0.10|cc1 x.c|0|7000|200|0\n");
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
	expect(profile, "SELECT type, structure, field, offset, bytes, sampled, stays, used FROM fields",
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
	expect(profile, "SELECT object, lines, hot, hot_stays, idle FROM hot_lines",
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

static void test_same_path_twice(void **state)
{
	struct nm_profile_writer *writer;
	struct nm_error err;

	(void)state;
	empty_directory();
	assert_int_equal(nm_profile_writer_new(&writer, "a.nmp", &err), 0);
	assert_int_equal(nm_profile_writer_add(writer, nm_sample(0), &err), 0);
	assert_int_equal(nm_profile_writer_add(writer, nm_sample(0), &err), NM_EINVAL);
	assert_int_equal(nm_profile_writer_commit(writer, &err), NM_EINVAL);
	assert_int_equal(files_here(), 0);
}

static void put_old(const char *path)
{
	FILE *file = fopen(path, "w");

	fputs("old", file);
	fclose(file);
}

static void expect_old(const char *path)
{
	char text[8] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof text, file));
	fclose(file);
	assert_string_equal(text, "old");
}

static void test_old_file_stays_until_the_end(void **state)
{
	struct nm_profile_writer *writer;
	struct nm_error err;

	(void)state;
	empty_directory();
	put_old("a.nmp");
	assert_int_equal(nm_profile_writer_new(&writer, "a.nmp", &err), 0);
	assert_int_equal(nm_profile_writer_add(writer, nm_sample(0), &err), 0);
	expect_old("a.nmp");
	nm_profile_writer_abort(writer);
	expect_old("a.nmp");
	assert_int_equal(files_here(), 1);
	nm_profile_close(sample("a.nmp"));
	assert_int_equal(files_here(), 1);
}

/* A limit on the size of files stands for a full disk: write fails in the same places. */
static void test_full_disk(void **state)
{
	struct rlimit before, limit;
	rlim_t bytes;
	struct nm_error err;
	int status = 0, failures = 0;

	(void)state;
	empty_directory();
	put_old("a.nmp");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (bytes = 0; bytes < 1 << 20; bytes += 16384) {
		limit = before;
		limit.rlim_cur = bytes;
		setrlimit(RLIMIT_FSIZE, &limit);
		status = nm_sample_write("a.nmp", &err);
		setrlimit(RLIMIT_FSIZE, &before);
		if (!status)
			break;
		if (status != NM_ENOSPC)
			fail_msg("%s", err.text);
		assert_non_null(strstr(err.text, "no space"));
		expect_old("a.nmp");
		assert_int_equal(files_here(), 1);
		failures++;
	}
	assert_int_equal(status, 0);
	assert_true(failures > 2);
	nm_profile_close(open_ok("a.nmp"));
}

static void test_where_nothing_can_be_written(void **state)
{
	struct nm_profile_writer *writer;
	struct nm_error err;

	(void)state;
	empty_directory();
	assert_int_equal(nm_profile_writer_new(&writer, "no/such/a.nmp", &err), NM_ENOENT);
	assert_int_equal(mkdir("folder", 0777), 0);
	assert_int_equal(nm_profile_writer_new(&writer, "folder", &err), NM_EIO);
	assert_int_equal(nm_profile_writer_new(&writer, "/dev/null", &err), NM_EIO);
	assert_int_equal(nm_profile_writer_new(&writer, "folder", NULL), NM_EIO);
	assert_int_equal(files_here(), 1);
}

static void test_link_stays_a_link(void **state)
{
	struct stat st;

	(void)state;
	empty_directory();
	put_old("target");
	assert_int_equal(symlink("target", "a.nmp"), 0);
	nm_profile_close(sample("a.nmp"));
	assert_int_equal(lstat("a.nmp", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	nm_profile_close(open_ok("target"));
}

static void test_odd_names(void **state)
{
	(void)state;
	nm_profile_close(sample("a b?c=d#e%20f&'\".nmp"));
	nm_profile_close(sample("file:x.nmp"));
}

static int open_code(const char *path)
{
	struct nm_profile *profile;
	struct nm_error err;
	int status = nm_profile_open(&profile, path, &err);

	if (!status)
		nm_profile_close(profile);
	return status;
}

/* Copies the sample, changes one byte at `at` (if not negative), and cuts it to `bytes` (if not 0). */
static void spoil(long at, int byte, off_t bytes)
{
	int fd;
	unsigned char value = (unsigned char)byte;

	assert_int_equal(system("cp a.nmp spoilt.nmp"), 0);
	fd = open("spoilt.nmp", O_RDWR);
	if (at >= 0)
		assert_int_equal(pwrite(fd, &value, 1, at), 1);
	if (bytes)
		assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static void test_files_that_are_no_profiles(void **state)
{
	struct nm_profile *profile;
	struct nm_error err;
	FILE *file;

	(void)state;
	empty_directory();
	assert_int_equal(open_code("none.nmp"), NM_ENOENT);
	assert_int_equal(open_code("."), NM_EFORMAT);
	file = fopen("empty", "w");
	fclose(file);
	assert_int_equal(open_code("empty"), NM_EFORMAT);
	put_old("text");
	assert_int_equal(open_code("text"), NM_EFORMAT);
	nm_profile_close(sample("a.nmp"));
	spoil(68, 'x', 0); /* another application's database */
	assert_int_equal(open_code("spoilt.nmp"), NM_EFORMAT);
	spoil(63, NM_PROFILE_VERSION + 1, 0);
	assert_int_equal(nm_profile_open(&profile, "spoilt.nmp", &err), NM_EVERSION);
	assert_non_null(strstr(err.text, "newer"));
	spoil(-1, 0, 20000);
	assert_int_equal(nm_profile_open(&profile, "spoilt.nmp", &err), NM_EFORMAT);
	assert_non_null(strstr(err.text, "cut off"));
}

/* Runs a query to its end; 0 or the first failure. */
static int exhaust(struct nm_profile *profile, const char *sql)
{
	struct nm_rows *rows;
	struct nm_error err;
	int status = nm_profile_query(profile, sql, &rows, &err);

	if (status)
		return status;
	while ((status = nm_rows_next(rows, &err)) > 0)
		;
	nm_rows_free(rows);
	return status;
}

/* A changed byte anywhere gives an answer or an error, never a crash. */
static void test_damage_anywhere(void **state)
{
	struct nm_profile *profile;
	struct nm_error err;
	struct stat st;
	int refused = 0;
	long at;

	(void)state;
	empty_directory();
	nm_profile_close(sample("a.nmp"));
	assert_int_equal(stat("a.nmp", &st), 0);
	for (at = 0; at < st.st_size; at += 337) {
		spoil(at, 0xff, 0);
		if (nm_profile_open(&profile, "spoilt.nmp", &err)) {
			refused++;
			continue;
		}
		refused += exhaust(profile, "SELECT * FROM counts") == NM_EFORMAT;
		exhaust(profile, "SELECT * FROM evictions");
		exhaust(profile, "SELECT * FROM objects");
		exhaust(profile, "SELECT * FROM levels");
		nm_profile_close(profile);
	}
	assert_true(refused > 0);
}

static void test_queries_only_read(void **state)
{
	static const char *const writes[] = {"DELETE FROM entry",
					     "INSERT INTO entry VALUES(1, 2)",
					     "UPDATE process SET name = 'x'",
					     "CREATE TABLE t(x)",
					     "CREATE TEMP TABLE t(x)",
					     "DROP VIEW counts",
					     "ATTACH 'other.db' AS other",
					     "PRAGMA user_version = 7",
					     "VACUUM INTO 'copy.db'",
					     "BEGIN"};
	struct nm_profile *profile = sample("a.nmp");
	struct nm_rows *rows;
	struct nm_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof writes / sizeof *writes; i++) {
		assert_int_equal(nm_profile_query(profile, writes[i], &rows, &err), NM_EINVAL);
		assert_string_equal(err.text, "a query may only read the profile");
	}
	nm_profile_close(profile);
	assert_int_equal(access("other.db", F_OK), -1);
	assert_int_equal(access("copy.db", F_OK), -1);
}

static void test_faults_in_sql_have_a_place(void **state)
{
	struct nm_profile *profile = sample("a.nmp");
	struct nm_rows *rows;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_profile_query(profile, "SELECT nope FROM counts", &rows, &err), NM_EINVAL);
	assert_int_equal(err.column, 7);
	assert_int_equal(nm_profile_query(profile, "SELECT 1; SELECT 2", &rows, &err), NM_EINVAL);
	assert_int_equal(err.column, 10);
	assert_int_equal(nm_profile_query(profile, " -- nothing", &rows, &err), NM_EINVAL);
	assert_int_equal(exhaust(profile, "SELECT 1; -- a comment"), 0);
	nm_profile_close(profile);
}

/* What version 1 wrote stays readable. */
/* Instructions of a line add up to what the line has, and come with their code. */
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
	    "sum(writebacks), sum(weighted_bytes), sum(foreseen), sum(chained) FROM instructions GROUP BY 1, 2, 3, 4, 5, 6, 7 EXCEPT "
	    "SELECT process, thread, level, function, file, line, object, reads, writes, read_misses, write_misses, cold, "
	    "capacity, conflict, coherence, loads, reuse, used_bytes, loaded_bytes, evictions, writebacks, "
	    "weighted_bytes, foreseen, chained FROM counts)",
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

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The sample with three sources of its own: one that packs well, one that does not, an empty one; and one
 * that is not there. */
static void write_with_sources(const char *path, const struct nm_source_choice *choice)
{
	static const char *const names[] = {"long.c", "short.c", "empty.c", "missing.c"};
	struct nm_result result = *nm_sample(0);
	struct nm_result_site *sites = calloc(result.site_count, sizeof *sites);
	struct nm_profile_writer *writer;
	struct nm_error err;

	write_text("long.c",
		   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
	write_text("short.c", "x");
	write_text("empty.c", "");
	assert_non_null(sites);
	memcpy(sites, result.sites, result.site_count * sizeof *sites);
	result.sites = sites;
	for (size_t i = 0; i < 4; i++)
		result.sites[i].file = names[i];
	result.sites[0].built = 1; /* long before its source */
	result.sites[1].built = INT64_MAX - 1;
	assert_int_equal(nm_profile_writer_new(&writer, path, &err), 0);
	assert_int_equal(nm_profile_writer_add(writer, &result, &err), 0);
	assert_int_equal(nm_profile_writer_sources(writer, choice, &err), 0);
	assert_int_equal(nm_profile_writer_commit(writer, &err), 0);
	free(sites);
}

static const struct nm_source_choice all_sources = {.embed = 1};

static void test_sources(void **state)
{
	struct nm_stored_source source;
	struct nm_profile *profile;
	struct nm_error err;

	(void)state;
	write_with_sources("facts.nmp", &(struct nm_source_choice){0});
	write_with_sources("texts.nmp", &all_sources);
	assert_int_equal(nm_profile_open(&profile, "facts.nmp", &err), 0);
	expect(profile, "SELECT file, bytes, md5, newer, text IS NULL FROM sources ORDER BY file",
	       "empty.c|0|d41d8cd98f00b204e9800998ecf8427e|0|1\n"
	       "long.c|82|ee9321c304fbd7d102beb9d2960b6064|1|1\n"
	       "short.c|1|9dd4e461268c8034f5c8564e155c67a6|0|1\n");
	nm_profile_close(profile);
	assert_int_equal(nm_profile_open(&profile, "texts.nmp", &err), 0);
	expect(profile, "SELECT file, length(text) < bytes FROM sources ORDER BY file",
	       "empty.c|0\nlong.c|1\nshort.c|0\n");
	assert_int_equal(nm_profile_source(profile, "long.c", &source, &err), 1);
	assert_int_equal(source.bytes, 82);
	assert_int_equal(strspn(source.text, "a"), 81);
	assert_true(source.is_newer);
	free(source.text);
	assert_int_equal(nm_profile_source(profile, "empty.c", &source, &err), 1);
	assert_string_equal(source.text, "");
	free(source.text);
	assert_int_equal(nm_profile_source(profile, "missing.c", &source, &err), 0);
	nm_profile_close(profile);
	assert_int_equal(nm_profile_open(&profile, NM_TEST_DATA "/profile-v1.nmp", &err), 0);
	assert_int_equal(nm_profile_source(profile, "/src/solver/solver.c", &source, &err), 0);
	nm_profile_close(profile);
}

/* Only what lies below a root is kept, also where a link seems to lie there. */
static void test_source_roots(void **state)
{
	const char *const roots[] = {"elsewhere", "inside"};
	struct nm_profile *profile;
	struct nm_error err;

	(void)state;
	mkdir("inside", 0700);
	unlink("long.c");
	write_text("inside/long.c", "text");
	assert_int_equal(symlink("inside/long.c", "long.c"), 0);
	write_with_sources("roots.nmp", &(struct nm_source_choice){1, roots, 2});
	unlink("long.c");
	assert_int_equal(nm_profile_open(&profile, "roots.nmp", &err), 0);
	expect(profile, "SELECT file, text IS NULL FROM sources ORDER BY file",
	       "empty.c|1\nlong.c|0\nshort.c|1\n");
	nm_profile_close(profile);
}

/* Who may read a profile stays as it was when it is replaced. */
static void test_replaced_profile_keeps_its_mode(void **state)
{
	const struct nm_source_choice none = {0};
	struct stat st;

	(void)state;
	write_with_sources("mode.nmp", &none);
	assert_int_equal(chmod("mode.nmp", 0600), 0);
	write_with_sources("mode.nmp", &none);
	assert_int_equal(stat("mode.nmp", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* Texts that claim another size than they have, or are no zlib stream, are refused. */
static void test_damaged_sources(void **state)
{
	static const char *const damage[] = {"bytes = 1000", "bytes = 81", "bytes = -1", "bytes = 1 << 40",
					     "text = x'0102'"};
	struct nm_stored_source source;
	struct nm_profile *profile;
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		char sql[100];
		sqlite3 *db;

		write_with_sources("damaged.nmp", &all_sources);
		snprintf(sql, sizeof sql, "UPDATE source SET %s WHERE bytes = 82", damage[i]);
		assert_int_equal(sqlite3_open("damaged.nmp", &db), 0);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), 0);
		sqlite3_close(db);
		assert_int_equal(nm_profile_open(&profile, "damaged.nmp", &err), 0);
		assert_int_equal(nm_profile_source(profile, "long.c", &source, &err), NM_EFORMAT);
		nm_profile_close(profile);
	}
}

static void test_stored_sample(void **state)
{
	struct nm_profile *profile = open_ok(NM_TEST_DATA "/profile-v1.nmp");

	(void)state;
	expect(
	    profile,
	    "SELECT process, level, sum(read_misses), sum(write_misses), sum(loads), sum(reuse), sum(used_bytes), "
	    "sum(loaded_bytes) FROM counts GROUP BY 1, 2 ORDER BY 1, 2",
	    "cc1|L1d|0|64|64|200|800|4096\ncc1|L2|0|64|64|64|800|4096\n"
	    "cc1#2|L1d|0|64|64|200|800|4096\ncc1#2|L2|0|64|64|64|800|4096\n"
	    "solver|L1d|164938|1410|166348|1435100|4221024|10646272\n"
	    "solver|L2|54908|250|55158|262008|745264|3530112\n");
	expect(profile, "SELECT DISTINCT object FROM objects WHERE type = 'int'",
	       "gr\xc3\xb6\xc3\x9f"
	       "e\n");
	expect(
	    profile,
	    "SELECT victim_function, evictor, count FROM top_evictors WHERE level = 'L1d' AND count = 49000",
	    "multiply|matrix|49000\n");
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
	    cmocka_unit_test(test_same_path_twice),
	    cmocka_unit_test(test_old_file_stays_until_the_end),
	    cmocka_unit_test(test_full_disk),
	    cmocka_unit_test(test_where_nothing_can_be_written),
	    cmocka_unit_test(test_link_stays_a_link),
	    cmocka_unit_test(test_odd_names),
	    cmocka_unit_test(test_files_that_are_no_profiles),
	    cmocka_unit_test(test_damage_anywhere),
	    cmocka_unit_test(test_queries_only_read),
	    cmocka_unit_test(test_faults_in_sql_have_a_place),
	    cmocka_unit_test(test_instructions),
	    cmocka_unit_test(test_sources),
	    cmocka_unit_test(test_damaged_sources),
	    cmocka_unit_test(test_source_roots),
	    cmocka_unit_test(test_replaced_profile_keeps_its_mode),
	    cmocka_unit_test(test_stored_sample),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
