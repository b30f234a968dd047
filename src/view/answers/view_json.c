/* SPDX-License-Identifier: MIT */
#include "view_json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "levels.h"
#include "memstream.h"
#include "selection.h"
#include "sums.h"
#include "text.h"

json_t *nm_view_text(const char *text)
{
	char *clean = text ? nm_utf8_clean(text) : NULL;
	json_t *json = clean ? json_string(clean) : json_null();

	free(clean);
	return json;
}

json_t *nm_view_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *nm_view_value(const struct nm_rows *rows, unsigned column)
{
	switch (nm_rows_type(rows, column)) {
	case NM_VALUE_INTEGER: return json_integer(nm_rows_integer(rows, column));
	case NM_VALUE_REAL: return nm_view_real(nm_rows_real(rows, column));
	case NM_VALUE_TEXT: return nm_view_text(nm_rows_text(rows, column));
	default: return json_null();
	}
}

static json_t *object_of_row(const struct nm_rows *rows)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < nm_rows_columns(rows); i++)
		json_object_set_new(object, nm_rows_name(rows, i), nm_view_value(rows, i));
	return object;
}

int nm_view_select(struct nm_profile *profile, const char *sql, const char *const *texts, unsigned count,
		   json_t **ret_list, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	json_t *list = json_array();
	int status = nm_profile_query(profile, sql, &rows, err);

	for (unsigned i = 0; !status && i < count; i++)
		nm_rows_bind_text(rows, (int)i + 1, texts[i]);
	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = json_array_append_new(list, object_of_row(rows)) ? nm_fail_memory(err) : 0;
	nm_rows_free(rows);
	if (status)
		json_decref(list);
	else
		*ret_list = list;
	return status;
}

int nm_view_level(struct nm_profile *profile, const struct nm_request *request, char **ret_level,
		  struct nm_error *err)
{
	const char *level = nm_request_text(request, "level");
	int status = nm_select_counts(profile, err);

	if (status)
		return status;
	if (!level)
		return nm_select_first_level(profile, ret_level, err);
	status = nm_select_level(profile, level, err);
	if (status)
		return status;
	*ret_level = strdup(level);
	return *ret_level ? 0 : nm_fail_memory(err);
}

int nm_view_is_mine(const struct nm_request *request)
{
	const char *mine = nm_request_text(request, "mine");

	return mine && !strcmp(mine, "1");
}

int nm_view_part(const struct nm_request *request, int64_t usual, int64_t *ret_offset, int64_t *ret_limit,
		 struct nm_error *err)
{
	const int status = nm_request_number(request, "offset", 0, INT32_MAX, 0, ret_offset, err);

	return status ? status : nm_request_number(request, "limit", 1, NM_VIEW_ROWS, usual, ret_limit, err);
}

int nm_view_input(struct nm_profile *profile, const struct nm_request *request, const char **ret_input,
		  struct nm_error *err)
{
	*ret_input = nm_request_text(request, "input");
	return *ret_input ? nm_select_input(profile, *ret_input, err) : 0;
}

int nm_view_counts(const struct nm_view_profile *of, const char *level, const char *input,
		   const struct nm_cube **ret_counts, struct nm_error *err)
{
	return nm_fact_store_get(of->facts, of->profile, input ? NM_FACTS_INPUT : NM_FACTS_COUNTS, level,
				 input, ret_counts, err);
}

static int read_instructions(struct nm_profile *profile, const char *input, int64_t *ret,
			     struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile,
				      input ? "SELECT instructions FROM inputs WHERE input = ?1"
					    : "SELECT sum(instructions) FROM processes",
				      &rows, err);

	if (!status && input)
		nm_rows_bind_text(rows, 1, input);
	if (!status && (status = nm_rows_next(rows, err)) > 0) {
		*ret = nm_rows_bounded(rows, 0);
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

int nm_view_total(struct nm_profile *profile, const char *level, const char *input,
		  struct nm_metric_total *total, struct nm_error *err)
{
	struct nm_levels levels = {.count = 0};
	int status = nm_levels_load(&levels, profile, NULL, err);
	const struct nm_level *found = status ? NULL : nm_levels_named(&levels, level);

	total->unit = found ? found->unit : 0;
	nm_levels_done(&levels);
	return status ? status : read_instructions(profile, input, &total->instructions, err);
}

json_t *nm_view_key(nm_key key, int is_number)
{
	if (!key)
		return json_null();
	return is_number ? json_integer(nm_key_number(key)) : json_string(nm_key_text(key));
}

json_t *nm_view_keys(const struct nm_cube *facts, size_t row)
{
	const nm_key *keys = nm_cube_keys(facts, row);
	json_t *json = json_object();

	for (unsigned k = 0; k < facts->key_count; k++)
		json_object_set_new(json, facts->names[k], nm_view_key(keys[k], facts->numbers >> k & 1));
	return json;
}

int nm_view_run(nm_view_report *report, struct nm_profile *profile, const void *request,
		json_t **ret_document, struct nm_error *err)
{
	static const struct nm_style style = {.format = NM_FORMAT_JSON, .ellipsis = "..."};
	char *text = NULL;
	size_t bytes;
	FILE *out = nm_memstream_open(&text, &bytes);
	int status = out ? report(profile, request, &style, out, err) : nm_fail_memory(err);

	if (out && nm_memstream_close(out, &text) && !status)
		status = nm_fail_memory(err);
	if (!status) {
		*ret_document = json_loadb(text, bytes, 0, NULL);
		status = *ret_document ? 0 : nm_fail_memory(err);
	}
	free(text);
	return status;
}
