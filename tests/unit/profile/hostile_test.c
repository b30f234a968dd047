/* SPDX-License-Identifier: MIT
 *
 * hostile_test.c - hostile profiles: every column of every table has wrong values, views are replaced, never
 * end, or are missing. Reading them gives figures or a message, never a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "read_all.h"
#include "reader.h"
#include "sample.h"

static void enter_folder(void)
{
	char folder[] = "/tmp/nearmiss-hostile-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
}

static void copy(const char *from)
{
	static char bytes[1 << 20];
	FILE *in = fopen(from, "r"), *out = fopen("bad.nmp", "w");
	size_t n = fread(bytes, 1, sizeof bytes, in);

	assert_true(n > 0 && n < sizeof bytes);
	assert_int_equal(fwrite(bytes, 1, n, out), n);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

static void change(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open("bad.nmp", &db), 0);
	sqlite3_exec(db, "PRAGMA writable_schema=1; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", NULL,
		     NULL, NULL);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
}

/* Runs fn(table, column) for every column of every table of a profile. */
static void each_column(const char *path, void (*fn)(const char *table, const char *column, const char *path))
{
	static const char sql[] = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
				  "WHERE m.type = 'table'";
	sqlite3_stmt *columns;
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), 0);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &columns, NULL), 0);
	while (sqlite3_step(columns) == SQLITE_ROW)
		fn((const char *)sqlite3_column_text(columns, 0),
		   (const char *)sqlite3_column_text(columns, 1), path);
	sqlite3_finalize(columns);
	sqlite3_close(db);
}

/* Every sixth column gets one of several values, in turn; the fuzzer of profiles tries the others. */
static void spoil_column(const char *table, const char *column, const char *path)
{
	static const char *const values[] = {"NULL", "'x'",   "-9223372036854775808",
					     "NULL", "9e999", "x'00ff'"};
	enum { EACH = 6 };
	static unsigned turn;
	char sql[300];

	if (turn++ % EACH)
		return;
	copy(path);
	snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s SET %s = %s", table, column, values[turn / EACH % 6]);
	change(sql);
	nm_read_all("bad.nmp");
}

static void test_columns(void **state)
{
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_sample_write("good.nmp", &err), 0);
	assert_true(nm_read_all("good.nmp") >= 0);
	each_column("good.nmp", spoil_column);
}

static void test_views(void **state)
{
	static const char *const changes[] = {
	    "DROP VIEW counts",
	    "DROP VIEW levels",
	    "DELETE FROM level",
	    "DELETE FROM process",
	    "DELETE FROM cell",
	    "DELETE FROM object",
	    "DELETE FROM text",
	    "DROP VIEW info; CREATE VIEW info AS SELECT NULL AS key, NULL AS value",
	    "DROP VIEW undebugged; CREATE VIEW undebugged AS SELECT NULL AS process, NULL AS module",
	    "DROP VIEW objects; CREATE VIEW objects AS SELECT 1",
	    "DROP VIEW sites; CREATE VIEW sites AS SELECT 1",
	    "UPDATE entry SET value = 'L1d=32K,8,0' WHERE key = 'machine_spec'",
	    "UPDATE context SET parent = context",
	    "UPDATE context SET parent = NULL",
	    "UPDATE level SET line_size = 0",
	};
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_sample_write("good.nmp", &err), 0);
	for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
		copy("good.nmp");
		change(changes[i]);
		assert_int_not_equal(nm_read_all("bad.nmp"), 0);
	}
}

/* A profile without a process, as of a program that could not be recorded. */
static void test_nothing_recorded(void **state)
{
	struct nm_profile_writer *writer;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_profile_writer_new(&writer, "bad.nmp", &err), 0);
	assert_int_equal(nm_profile_writer_commit(writer, &err), 0);
	assert_true(nm_read_all("bad.nmp") > 0);
}

static void test_endless_view_is_stopped(void **state)
{
	struct nm_profile *profile;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_sample_write("good.nmp", &err), 0);
	copy("good.nmp");
	change(
	    "DROP VIEW info; CREATE VIEW info AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) "
	    "SELECT 'profile_version' AS key, i AS value FROM n WHERE i < 0");
	assert_int_equal(nm_profile_open(&profile, "bad.nmp", &err), NM_EFORMAT);
	if (!strstr(err.text, "does not end"))
		fail_msg("%s", err.text);
}

/* A flipped bit anywhere is found; what SQLite itself changes is not damage. */
static void test_flipped_bits(void **state)
{
	struct nm_profile *profile;
	struct nm_error err;
	struct stat st;

	(void)state;
	assert_int_equal(nm_sample_write("good.nmp", &err), 0);
	assert_int_equal(stat("good.nmp", &st), 0);
	for (long at = 100; at < st.st_size - 16; at += 1009) {
		FILE *file;
		int byte;

		copy("good.nmp");
		file = fopen("bad.nmp", "r+");
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		byte = fgetc(file) ^ 1 << at % 8;
		assert_int_equal(fseek(file, at, SEEK_SET), 0);
		fputc(byte, file);
		assert_int_equal(fclose(file), 0);
		assert_int_equal(nm_profile_open(&profile, "bad.nmp", &err), NM_EFORMAT);
	}
	copy("good.nmp");
	change("UPDATE entry SET value = './other' WHERE key = 'command'");
	assert_int_equal(nm_profile_open(&profile, "bad.nmp", &err), 0);
	nm_profile_close(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_columns),          cmocka_unit_test(test_views),
	    cmocka_unit_test(test_nothing_recorded), cmocka_unit_test(test_endless_view_is_stopped),
	    cmocka_unit_test(test_flipped_bits),
	};

	enter_folder();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
