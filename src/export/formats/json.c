/* SPDX-License-Identifier: MIT
 *
 * json.c - a profile as one JSON object: info, processes, levels, objects, counts, the rows of each view as
 * objects whose members are named as its columns. docs/format/export.md is the promise.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export_priv.h"
#include "text.h"

enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(10) };

static const struct {
	const char *name;
	unsigned by;
} views[] = {
    {"processes", NM_BY_PROCESS},
    {"levels", NM_BY_PROCESS | NM_BY_LEVEL},
    {"objects", NM_BY_PROCESS},
    {"counts", NM_BY_PROCESS | NM_BY_THREAD | NM_BY_LEVEL},
};

/* Writes a value and releases it; NULL means out of memory. */
static int dump_json(json_t *json, FILE *out)
{
	int status = json ? json_dumpf(json, out, FLAGS) : -1;

	json_decref(json);
	return status ? (ferror(out) ? 0 : NM_ENOMEM) : 0; /* the caller checks ferror(out) */
}

int nm_export_json(const char *text, FILE *out) { return dump_json(json_string(text), out); }

static json_t *row_value(struct nm_rows *rows, unsigned column)
{
	json_t *json;
	char *clean;

	switch (nm_rows_type(rows, column)) {
	case NM_VALUE_INTEGER: return json_integer(nm_rows_integer(rows, column));
	case NM_VALUE_REAL:
		if (isfinite(nm_rows_real(rows, column))) /* JSON has no infinity */
			return json_real(nm_rows_real(rows, column));
		return json_null();
	case NM_VALUE_NULL: return json_null();
	case NM_VALUE_TEXT: break;
	}
	clean = nm_utf8_clean(nm_rows_text(rows, column));
	json = clean ? json_string(clean) : NULL;
	free(clean);
	return json;
}

static int write_row(struct nm_rows *rows, FILE *out)
{
	json_t *object = json_object();

	for (unsigned i = 0; object && i < nm_rows_columns(rows); i++)
		if (json_object_set_new(object, nm_rows_name(rows, i), row_value(rows, i))) {
			json_decref(object);
			object = NULL;
		}
	return dump_json(object, out);
}

static int write_view(struct nm_export *e, unsigned view, FILE *out, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char select[60];
	const char *comma = "";
	int status;

	snprintf(select, sizeof select, "SELECT * FROM %s", views[view].name);
	status = nm_facts_query(e, select, views[view].by, "", &rows, err);
	fprintf(out, ",\n\"%s\":[", views[view].name);
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		fprintf(out, "%s\n", comma);
		comma = ",";
		status = write_row(rows, out) ? nm_fail_memory(err) : 0;
	}
	fputs("\n]", out);
	nm_rows_free(rows);
	return status;
}

/* The view info, as one object. */
static int write_info(struct nm_export *e, FILE *out, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	json_t *info = json_object();
	int status = nm_profile_query(e->profile, "SELECT key, value FROM info ORDER BY key", &rows, err);

	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = json_object_set_new(info, nm_rows_text(rows, 0), row_value(rows, 1))
			     ? nm_fail_memory(err)
			     : 0;
	nm_rows_free(rows);
	fputs(",\n\"info\":", out);
	if (!status && dump_json(json_incref(info), out))
		status = nm_fail_memory(err);
	json_decref(info);
	return status;
}

static int write_json(struct nm_export *e, FILE *out, struct nm_error *err)
{
	int status;

	fputs("{\"schema\":\"nearmiss-export/1\",\"version\":\"" NM_VERSION "\"", out);
	status = write_info(e, out, err);
	for (unsigned i = 0; !status && i < sizeof views / sizeof *views; i++)
		status = write_view(e, i, out, err);
	fputs("}\n", out);
	return status;
}

const struct nm_exporter nm_exporter_json = {
    .name = "json",
    .summary = "the profile as one object: info, processes, levels, objects, counts",
    .flags = NM_EXPORTER_WHOLE | NM_EXPORTER_ALL_LEVELS,
    .write = write_json,
};
