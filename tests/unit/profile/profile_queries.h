/* SPDX-License-Identifier: MIT
 *
 * profile_queries.h - queries of profiles, for tests.
 */
#ifndef NM_PROFILE_QUERIES_H
#define NM_PROFILE_QUERIES_H

#include <stdio.h>
#include <stdlib.h>

#include "reader.h"
#include "sample.h"

/* All rows of a query as "a|b\nc|d\n"; malloc'ed. Fails the test if the query fails. */
static inline char *ask(struct nm_profile *profile, const char *sql)
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

static inline void expect(struct nm_profile *profile, const char *sql, const char *answer)
{
	char *text = ask(profile, sql);

	assert_string_equal(text, answer);
	free(text);
}

static inline struct nm_profile *open_ok(const char *path)
{
	struct nm_profile *profile;
	struct nm_error err;

	if (nm_profile_open(&profile, path, &err))
		fail_msg("%s", err.text);
	return profile;
}

static inline struct nm_profile *sample(const char *path)
{
	struct nm_error err;

	if (nm_sample_write(path, &err))
		fail_msg("%s", err.text);
	return open_ok(path);
}

#endif
