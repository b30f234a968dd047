/* SPDX-License-Identifier: MIT
 *
 * overview.c - the first page, with the summary of `nearmiss report`. Of one input of a merged profile: inputs.c.
 */
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "level_cube.h"
#include "memstream.h"
#include "notes.h"
#include "report_table.h"
#include "selection.h"
#include "view_json.h"

static json_t *value_of(const struct nm_value *v)
{
	switch (v->type) {
	case NM_VALUE_INTEGER: return json_integer(v->integer);
	case NM_VALUE_REAL: return nm_view_real(v->real);
	case NM_VALUE_TEXT: return nm_view_text(v->text);
	default: return json_null();
	}
}

/* The named columns of a row; "line=line_size" renames. */
static json_t *row_as_object(const struct nm_table *table, size_t row, const char *const *names)
{
	json_t *object = json_object();
	char key[40];

	for (; *names; names++) {
		const char *column = strchr(*names, '=');

		snprintf(key, sizeof key, "%.*s", (int)strcspn(*names, "="), *names);
		json_object_set_new(object, key,
				    value_of(nm_table_find(table, row, column ? column + 1 : *names)));
	}
	return object;
}

static int add_info(struct nm_profile *profile, json_t *answer, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	json_t *info = json_object();
	int status =
	    nm_profile_query(profile, "SELECT key, CAST(value AS TEXT) FROM info ORDER BY key", &rows, err);

	json_object_set_new(answer, "info", info);
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const char *key = nm_rows_text(rows, 0);

		json_object_set_new(info, key ? key : "", nm_view_text(nm_rows_text(rows, 1)));
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

/* ---- levels ---- */

/* Bytes and estimated cycles of each level, which the report "levels" does not have. */
static void add_costs(json_t *level, const struct nm_charged *charged, const struct nm_selection *selection)
{
	for (size_t row = 0; row < charged->cube.row_count; row++) {
		const struct nm_metric_row sums = nm_charged_row(charged, row);
		const int64_t of = nm_key_number(nm_cube_keys(&charged->cube, row)[0]);
		const char *name = json_string_value(json_object_get(level, "level"));

		if (!name || strcmp(name, selection->levels.at[of].name) != 0)
			continue;
		json_object_set_new(level, "bytes", json_integer(sums.sums.loaded_bytes));
		json_object_set_new(level, "cycles", json_integer(sums.cycles));
	}
}

static int load_costs(struct nm_profile *profile, const struct nm_selection *selection,
		      struct nm_charged *ret_charged, struct nm_error *err)
{
	static const unsigned by[] = {NM_CUBE_LEVEL};
	const struct nm_selection all = {.request = {.level = selection->request.level},
					 .levels = selection->levels};
	struct nm_level_cube cube;
	int status = nm_level_cube_load(
	    &cube, profile, &(struct nm_level_cube_request){.selection = &all, .view = "counts"}, err);

	if (!status && nm_charge(ret_charged, &cube, &all, NULL, by, 1, NULL, 0))
		status = nm_fail_memory(err);
	nm_level_cube_done(&cube);
	return status;
}

static int add_levels(struct nm_profile *profile, const struct nm_selection *selection, json_t *answer,
		      struct nm_error *err)
{
	static const char *const names[] = {
	    "level",     "size",   "ways",       "line=line_size", "sets", "policy",   "reads",
	    "writes",    "misses", "miss_ratio", "mpki",           "cold", "capacity", "conflict",
	    "coherence", "loads",  "evictions",  "writebacks",     NULL};
	struct nm_selection all = {.request = {.level = selection->request.level}};
	struct nm_report_table levels = {.table = {0}};
	json_t *list = json_array();
	struct nm_charged costs = {.cube = {.key_count = 0}};
	int status = load_costs(profile, selection, &costs, err);

	if (!status)
		status = nm_report_fill(nm_report_named("levels"), profile, &all, &levels, err);
	for (size_t row = 0; !status && row < levels.table.row_count; row++) {
		json_t *level = row_as_object(&levels.table, row, names);

		add_costs(level, &costs, selection);
		json_array_append_new(list, level);
	}
	nm_report_table_done(&levels);
	nm_charged_done(&costs);
	json_object_set_new(answer, "levels", list);
	return status;
}

/* ---- pairs and advice ---- */

static void add_pairs(const struct nm_table *pairs, json_t *answer)
{
	static const char *const names[] = {
	    "object", "function", "file",         "line",         "misses", "share",
	    "mpki",   "cycles",   "cycles_share", "waste",        "cause",  "try",
	    "saving", "evictor",  "evictor_file", "evictor_line", NULL};
	json_t *list = json_array();

	for (size_t row = 0; row < pairs->row_count; row++)
		json_array_append_new(list, row_as_object(pairs, row, names));
	json_object_set_new(answer, "pairs", list);
}

/* Advice for each of the first pairs that it is worth a word on, and for the very first. */
static void add_advice(const struct nm_table *pairs, json_t *answer)
{
	static const char *const names[] = {"title=cause", "text=try", "object", "file",
					    "line",        "saving",   NULL};
	json_t *list = json_array();

	for (size_t row = 0; row < pairs->row_count; row++) {
		const struct nm_saving saving = nm_advice_saving(pairs, row);
		json_t *advice;

		if (!nm_table_named(pairs, row, "try")->text || (row && nm_advice_worth(pairs, row) < 0))
			continue;
		advice = row_as_object(pairs, row, names);
		json_object_set_new(advice, "saving_misses",
				    saving.misses > 0 ? json_real(saving.misses) : json_null());
		json_object_set_new(advice, "saving_cycles",
				    saving.cycles > 0 ? json_real(saving.cycles) : json_null());
		json_array_append_new(list, advice);
	}
	json_object_set_new(answer, "advice", list);
}

static const char *level_of(const struct nm_verdict *verdict)
{
	return nm_verdict_is_bound(verdict) ? verdict->level : NULL;
}

static int add_verdict(struct nm_profile *profile, const struct nm_selection *selection,
		       struct nm_table *pairs, json_t *answer, struct nm_error *err)
{
	struct nm_verdict verdict;
	struct nm_notes notes = {0};
	json_t *list = json_array();
	char *text = NULL;
	FILE *out;
	int status = nm_verdict_make(profile, selection, &verdict, err);

	if (!status)
		status = nm_notes_make(profile, selection, &verdict, pairs, &notes, NULL, err);
	out = status ? NULL : nm_memstream_open(&text, NULL);
	if (out)
		nm_verdict_write(&verdict, out);
	if (!status && (!out || nm_memstream_close(out, &text)))
		status = nm_fail_memory(err);
	for (size_t i = 0; i < notes.count; i++)
		json_array_append_new(list, nm_view_text(notes.at[i]));
	json_object_set_new(answer, "verdict", nm_view_text(text));
	json_object_set_new(answer, "verdict_level", nm_view_text(level_of(&verdict)));
	json_object_set_new(answer, "not_simulated",
			    json_string(selection->levels.has_covered ? "" : "no prefetchers are simulated"));
	json_object_set_new(answer, "notes", list);
	nm_vec_free(&notes);
	free(text);
	return status;
}

int nm_view_verdict_level(struct nm_profile *profile, char **ret_level, struct nm_error *err)
{
	const struct nm_report_request what = {.limit = 0};
	struct nm_selection selection = {.one_level = 0};
	struct nm_verdict verdict;
	int status = nm_selection_make(profile, &what, &selection, err);

	*ret_level = NULL;
	if (!status)
		status = nm_verdict_make(profile, &selection, &verdict, err);
	if (!status && level_of(&verdict) && !(*ret_level = strdup(level_of(&verdict))))
		status = nm_fail_memory(err);
	nm_selection_done(&selection);
	return status;
}

static int add_summary(struct nm_profile *profile, const char *level, json_t *answer, struct nm_error *err)
{
	const struct nm_report_request what = {.limit = 10, .level = level};
	struct nm_selection selection = {.one_level = 0};
	struct nm_report_table pairs = {.table = {0}};
	int status = add_info(profile, answer, err);

	if (!status)
		status = nm_selection_make(profile, &what, &selection, err);
	if (!status)
		status = add_levels(profile, &selection, answer, err);
	if (!status)
		status = nm_report_fill(nm_report_named("pairs"), profile, &selection, &pairs, err);
	if (!status) {
		add_pairs(&pairs.table, answer);
		add_advice(&pairs.table, answer);
		status = add_verdict(profile, &selection, &pairs.table, answer, err);
	}
	nm_report_table_done(&pairs);
	nm_selection_done(&selection);
	return status;
}

int nm_view_overview(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		     struct nm_error *err)
{
	const char *input;
	char *level = NULL;
	int status = nm_view_input(of->profile, request, &input, err);

	*ret_answer = json_object();
	if (!status)
		status = nm_view_level(of->profile, request, &level, err);
	if (!status)
		status = input ? nm_view_overview_of_input(of->profile, level, input, *ret_answer, err)
			       : add_summary(of->profile, level, *ret_answer, err);
	free(level);
	return status;
}
