/* SPDX-License-Identifier: MIT
 *
 * profile.c - the library's profiles: the reader (reader.h) under public names.
 *
 * The public types are never completed; their pointers are those of the reader's own types.
 */
#include "library_priv.h"
#include "reader.h"

_Static_assert((int)NEARMISS_NULL == NM_VALUE_NULL && (int)NEARMISS_INTEGER == NM_VALUE_INTEGER &&
		   (int)NEARMISS_REAL == NM_VALUE_REAL && (int)NEARMISS_TEXT == NM_VALUE_TEXT,
	       "types of the library are the reader's");

static struct nm_profile *profile_of(struct nearmiss_profile *profile) { return (void *)profile; }

static struct nm_rows *rows_of(struct nearmiss_rows *rows) { return (void *)rows; }

static const struct nm_rows *row_of(const struct nearmiss_rows *rows) { return (const void *)rows; }

int nearmiss_profile_open(const char *path, struct nearmiss_profile **ret_profile, struct nearmiss_error *err)
{
	struct nm_profile *profile;
	struct nm_error fault;
	int status = nm_profile_open(&profile, path, &fault);

	if (status)
		return nm_library_fail(err, &fault, status);
	*ret_profile = (void *)profile;
	return 0;
}

void nearmiss_profile_close(struct nearmiss_profile *profile)
{
	if (profile)
		nm_profile_close(profile_of(profile));
}

int nearmiss_profile_has(struct nearmiss_profile *profile, const char *view, struct nearmiss_error *err)
{
	struct nm_error fault;
	int status = nm_profile_has(profile_of(profile), view, &fault);

	return status < 0 ? nm_library_fail(err, &fault, status) : status;
}

int nearmiss_query(struct nearmiss_profile *profile, const char *sql, struct nearmiss_rows **ret_rows,
		   struct nearmiss_error *err)
{
	struct nm_rows *rows;
	struct nm_error fault;
	int status = nm_profile_query(profile_of(profile), sql, &rows, &fault);

	if (status)
		return nm_library_fail(err, &fault, status);
	*ret_rows = (void *)rows;
	return 0;
}

void nearmiss_bind_text(struct nearmiss_rows *rows, int parameter, const char *text)
{
	nm_rows_bind_text(rows_of(rows), parameter, text);
}

void nearmiss_bind_integer(struct nearmiss_rows *rows, int parameter, int64_t value)
{
	nm_rows_bind_integer(rows_of(rows), parameter, value);
}

void nearmiss_rows_free(struct nearmiss_rows *rows)
{
	if (rows)
		nm_rows_free(rows_of(rows));
}

int nearmiss_next(struct nearmiss_rows *rows, struct nearmiss_error *err)
{
	struct nm_error fault;
	int status = nm_rows_next(rows_of(rows), &fault);

	return status < 0 ? nm_library_fail(err, &fault, status) : status;
}

unsigned nearmiss_columns(const struct nearmiss_rows *rows) { return nm_rows_columns(row_of(rows)); }

const char *nearmiss_column_name(const struct nearmiss_rows *rows, unsigned column)
{
	return nm_rows_name(row_of(rows), column);
}

enum nearmiss_type nearmiss_value_type(const struct nearmiss_rows *rows, unsigned column)
{
	return (enum nearmiss_type)nm_rows_type(row_of(rows), column);
}

const char *nearmiss_text(const struct nearmiss_rows *rows, unsigned column)
{
	return nm_rows_text(row_of(rows), column);
}

int64_t nearmiss_integer(const struct nearmiss_rows *rows, unsigned column)
{
	return nm_rows_integer(row_of(rows), column);
}

double nearmiss_real(const struct nearmiss_rows *rows, unsigned column)
{
	return nm_rows_real(row_of(rows), column);
}
