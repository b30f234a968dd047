/* SPDX-License-Identifier: MIT
 *
 * profile_test.c - files of profiles: whole or not there, checked when they are opened, and only read.
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
#include "profile_queries.h"
#include "sources.h"
#include "temporary_folder.h"

static int files_here(void)
{
	FILE *list = popen("ls -A | wc -l", "r");
	int n = -1;

	assert_int_equal(fscanf(list, "%d", &n), 1);
	pclose(list);
	return n;
}

static void empty_directory(void) { assert_int_equal(system("rm -rf ./* ./.[!.]*"), 0); }

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

/* Plants faults in the tables of a profile that is complete. */
static void test_invariants(void **state)
{
	static const char *const faults[] = {"UPDATE cell SET place = 1000000 + place",
					     "UPDATE cell SET level = 1000000 + level",
					     "UPDATE eviction SET victim = 1000000",
					     "UPDATE eviction SET prefetches = count + 1",
					     "UPDATE place SET site = 1000000",
					     "UPDATE place SET object = 1000000",
					     "UPDATE object SET process = 1000000",
					     "UPDATE object SET name = 1000000",
					     "UPDATE level SET process = 1000000",
					     "UPDATE site SET file = 1000000 WHERE file IS NOT NULL",
					     "UPDATE site SET user = 1000000",
					     "UPDATE process SET refs = refs + 1",
					     "INSERT INTO process(id) VALUES(1000000)"};
	struct nm_profile_writer *writer;

	(void)state;
	empty_directory();
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		assert_int_equal(nm_profile_writer_new(&writer, "a.nmp", NULL), 0);
		assert_int_equal(nm_profile_writer_add(writer, nm_sample(0), NULL), 0);
		assert_true(nm_profile_writer_is_valid(writer));
		assert_int_equal(sqlite3_exec(nm_profile_writer_db(writer), faults[i], NULL, NULL, NULL),
				 SQLITE_OK);
		if (!sqlite3_changes(nm_profile_writer_db(writer)) || nm_profile_writer_is_valid(writer))
			fail_msg("%s is not seen", faults[i]);
		nm_profile_writer_abort(writer);
	}
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
	expect_old("a.nmp.old");
	assert_int_equal(files_here(), 2);
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
	assert_non_null(strstr(err.text, "version 2, this program reads 1"));
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

/* Profiles of version 1 stay readable. */
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
	    cmocka_unit_test(test_same_path_twice),
	    cmocka_unit_test(test_invariants),
	    cmocka_unit_test(test_old_file_stays_until_the_end),
	    cmocka_unit_test(test_full_disk),
	    cmocka_unit_test(test_where_nothing_can_be_written),
	    cmocka_unit_test(test_link_stays_a_link),
	    cmocka_unit_test(test_odd_names),
	    cmocka_unit_test(test_files_that_are_no_profiles),
	    cmocka_unit_test(test_damage_anywhere),
	    cmocka_unit_test(test_queries_only_read),
	    cmocka_unit_test(test_faults_in_sql_have_a_place),
	    cmocka_unit_test(test_sources),
	    cmocka_unit_test(test_damaged_sources),
	    cmocka_unit_test(test_source_roots),
	    cmocka_unit_test(test_replaced_profile_keeps_its_mode),
	    cmocka_unit_test(test_stored_sample),
	};

	return cmocka_run_group_tests(tests, enter_temporary_folder, remove_temporary_folder);
}
