/* SPDX-License-Identifier: MIT
 *
 * profile_fuzz.c - libFuzzer over what reads a profile: all reports, annotations, evictions and exports.
 *
 * Input that begins as SQLite files do is a profile. All other input is SQL that changes a copy of a stored
 * profile, so that what a checksum or a damaged page would stop gets through. Whatever is read must end with
 * a code of ours, and JSON that was written without a fault must parse.
 *
 *     build-fuzz/tests/fuzz/profile_fuzz -dict=tests/fuzz/profile_fuzz.dict CORPUS
 *     tests/fuzz/corpus/profile_fuzz
 */
#include <fcntl.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate.h"
#include "evictions.h"
#include "export.h"
#include "report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
	if (!holds)
		abort();
}

static void expect_status(int status, int is_json, const char *text, size_t bytes)
{
	json_t *value;

	demand(status <= 0 && status >= NM_EPLUGIN);
	if (status || !is_json)
		return;
	value = json_loadb(text, bytes, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	demand(value != NULL);
	json_decref(value);
}

/* One way to read a profile: what, in which format, to a stream. */
typedef int reading(struct nm_profile *profile, unsigned which, const struct nm_style *style, FILE *out);

static int read_report(struct nm_profile *profile, unsigned which, const struct nm_style *style, FILE *out)
{
	const struct nm_report_request request = {
	    .limit = 5, .by = "process,thread,level,function,file,line,object,type"};
	const struct nm_report *report = which ? nm_report_at(which - 1) : &nm_report_by;
	struct nm_error err;

	return report ? nm_report_run(report, profile, &request, style, out, &err) : 1;
}

static int read_evictions(struct nm_profile *profile, unsigned which, const struct nm_style *style, FILE *out)
{
	const struct nm_evictions_request requests[] = {
	    {.limit = -1}, {.evictor = "*", .limit = 5}, {.limit = 5, .by_set = 1}};
	struct nm_error err;

	return which < 3 ? nm_evictions_run(profile, &requests[which], style, out, &err) : 1;
}

static int read_annotation(struct nm_profile *profile, unsigned which, const struct nm_style *style,
			   FILE *out)
{
	struct nm_annotate_request request = {.assembly = (int)which, .context = 1};
	struct nm_error err;

	return which < 2 ? nm_annotate_run(profile, &request, style, out, &err) : 1;
}

static int read_export(struct nm_profile *profile, unsigned which, const struct nm_style *style, FILE *out)
{
	const struct nm_export_request request = {0};
	const struct nm_exporter *exporter = nm_exporter_at(which);
	struct nm_export *export = NULL;
	struct nm_error err;
	int status;

	(void)style;
	if (!exporter)
		return 1;
	status = nm_export_open(&export, exporter, profile, &request, &err);
	if (!status)
		status = nm_export_write(export, 0, out, &err);
	nm_export_close(export);
	return status;
}

static void read_all(struct nm_profile *profile, reading *read, enum nm_format format)
{
	const struct nm_style style = {.format = format, .width = 100, .ellipsis = "..."};
	int status = 0;

	for (unsigned which = 0; status <= 0; which++) {
		char *text = NULL;
		size_t bytes = 0;
		FILE *out = open_memstream(&text, &bytes);

		demand(out != NULL);
		status = read(profile, which, &style, out);
		fclose(out);
		if (status <= 0)
			expect_status(status, read != read_export && format == NM_FORMAT_JSON, text, bytes);
		free(text);
	}
}

static void read_profile(const char *path, enum nm_format format)
{
	struct nm_profile *profile;
	struct nm_error err;

	if (nm_profile_open(&profile, path, &err))
		return;
	read_all(profile, read_report, format);
	read_all(profile, read_evictions, format);
	read_all(profile, read_annotation, format);
	read_all(profile, read_export, format);
	nm_profile_close(profile);
}

static void remove_profile(void);

/* The file that holds the profile of this run; SQLite opens files by their paths. */
static const char *profile_path(void)
{
	static char path[64];
	int fd;

	if (!*path) {
		snprintf(path, sizeof path, "/dev/shm/profile_fuzz.%ld", (long)getpid());
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		demand(fd >= 0);
		close(fd);
		atexit(remove_profile);
	}
	return path;
}

static void remove_profile(void) { unlink(profile_path()); }

static void write_profile(const void *bytes, size_t count)
{
	FILE *out = fopen(profile_path(), "we");

	demand(out && fwrite(bytes, 1, count, out) == count);
	demand(!fclose(out));
}

static void copy_sample(void)
{
	static char *sample;
	static size_t bytes;

	if (!sample) {
		FILE *in = fopen(SAMPLE_PROFILE, "re");

		demand(in && !fseek(in, 0, SEEK_END));
		bytes = (size_t)ftell(in);
		sample = malloc(bytes);
		rewind(in);
		demand(sample && fread(sample, 1, bytes, in) == bytes);
		fclose(in);
	}
	write_profile(sample, bytes);
}

static int stop_long_script(void *steps_left) { return !--*(int *)steps_left; }

/* Nothing but the copy: no other file, and no function that reads one. */
static int only_the_copy(void *self, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)self, (void)a, (void)b, (void)c, (void)d;
	return action == SQLITE_ATTACH || action == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK;
}

static void change(const char *sql)
{
	int steps_left = 200;
	sqlite3 *db;

	demand(!sqlite3_open(profile_path(), &db));
	sqlite3_exec(db, "PRAGMA journal_mode = OFF", NULL, NULL, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
	sqlite3_progress_handler(db, 1000, stop_long_script, &steps_left);
	sqlite3_set_authorizer(db, only_the_copy, NULL);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum nm_format formats[] = {NM_FORMAT_TEXT, NM_FORMAT_CSV, NM_FORMAT_JSON};
	char *sql;

	if (size > 6 && !memcmp(data, "SQLite", 6)) {
		write_profile(data, size);
	} else {
		sql = strndup((const char *)data, size);
		demand(sql != NULL);
		copy_sample();
		change(sql);
		free(sql);
	}
	read_profile(profile_path(), formats[size % 3]);
	return 0;
}
