/* SPDX-License-Identifier: MIT
 *
 * source.c - the list of source files, and one file with figures for each line.
 *
 * Texts come from `nearmiss annotate`, with its rules: a file of this machine is shown only where the
 * profile may point to it. line.c has the details of one line.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate.h"
#include "grouping.h"

/* ---- all files ---- */

/* Names of the files whose text is in the profile, as members of an object. */
static int read_stored(struct nm_profile *profile, json_t *stored, struct nm_error *err)
{
	json_t *list = NULL, *source;
	size_t i;
	const int status =
	    nm_view_select(profile, "SELECT file FROM sources WHERE text IS NOT NULL AND file IS NOT NULL",
			   NULL, 0, &list, err);
	json_array_foreach(list, i, source)
	    json_object_set_new(stored, json_string_value(json_object_get(source, "file")), json_true());
	json_decref(list);
	return status;
}

static json_t *json_of_file(const struct nm_cube *files, size_t row, const json_t *stored)
{
	const char *name = nm_key_text(*nm_cube_keys(files, row));
	const struct nm_metric_sums sums = nm_cube_counts(files, row);

	return json_pack("{ss sI sI sb}", "file", name, "misses", (json_int_t)nm_cube_misses(files, row),
			 "loads", (json_int_t)sums.loads, "available",
			 json_object_get(stored, name) || !access(name, R_OK));
}

static int list_files(const struct nm_cube *facts, const json_t *stored, json_t **ret_answer)
{
	struct nm_cube files;
	struct nm_ranked *order;
	size_t count = 0;
	int status = nm_cube_group(&files, facts, (unsigned[]){nm_cube_key(facts, "file")}, 1, NULL, 0);

	if (status)
		return status;
	*ret_answer = json_array();
	order = malloc((files.row_count + 1) * sizeof *order);
	for (size_t row = 0; order && row < files.row_count; row++)
		if (*nm_cube_keys(&files, row))
			order[count++] = (struct nm_ranked){(double)nm_cube_misses(&files, row), row};
	nm_cube_rank(&files, order, count);
	for (size_t i = 0; i < count && i < NM_VIEW_ROWS; i++)
		json_array_append_new(*ret_answer, json_of_file(&files, order[i].row, stored));
	status = order ? 0 : NM_ENOMEM;
	free(order);
	nm_cube_done(&files);
	return status;
}

int nm_view_sources(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err)
{
	const struct nm_cube *facts;
	const char *input;
	json_t *stored = json_object();
	char *level = NULL;
	int status = nm_view_input(of->profile, request, &input, err);

	if (!status)
		status = nm_view_level(of->profile, request, &level, err);
	if (!status)
		status = nm_view_counts(of, level, input, &facts, err);
	if (!status)
		status = read_stored(of->profile, stored, err);
	if (!status && list_files(facts, stored, ret_answer))
		status = nm_fail_memory(err);
	json_decref(stored);
	free(level);
	return status;
}

/* ---- one file ---- */

static nm_view_report annotate_source;
static int annotate_source(struct nm_profile *profile, const void *request, const struct nm_style *style,
			   FILE *out, struct nm_error *err)
{
	return nm_annotate_run(profile, request, style, out, err);
}

/* Of an annotation, drops the figures that are not known of the input. */
static void drop_unknown(json_t *row, const char *input)
{
	const struct nm_metric *m;

	for (unsigned i = 0; input && (m = nm_metric_at(i)); i++)
		if (!nm_grouping_has(m, input))
			json_object_del(row, m->name);
}

/* Of an annotation, moves number and text of a line beside its figures. */
static json_t *split_line(json_t *line)
{
	json_t *split = json_pack("{sO sO sO}", "n", json_object_get(line, "line"), "text",
				  json_object_get(line, "source"), "figures", line);

	json_object_del(line, "line");
	json_object_del(line, "source");
	json_object_del(line, "file");
	return split;
}

static json_t *file_of(const json_t *document, const char *name)
{
	json_t *file;
	size_t i;

	json_array_foreach(
	    json_object_get(document, "files"), i,
	    file) if (!strcmp(json_string_value(json_object_get(file, "file")), name)) return file;
	return NULL;
}

static json_t *reshape_file(const json_t *file, const json_t *document, const char *input)
{
	json_t *lines = json_array(), *row;
	size_t i;

	json_array_foreach(json_object_get(file, "lines"), i, row)
	{
		drop_unknown(row, input);
		json_array_append_new(lines, split_line(row));
	}
	json_array_foreach(json_object_get(file, "functions"), i, row) drop_unknown(row, input);
	return json_pack("{sO sO sO sO sO sO so}", "file", json_object_get(file, "file"), "level",
			 json_object_get(document, "level"), "source", json_object_get(file, "source"),
			 "note", json_object_get(file, "note"), "misses", json_object_get(file, "misses"),
			 "functions", json_object_get(file, "functions"), "lines", lines);
}

/* The rows of one file, as annotations need them. */
static int take_rows(const struct nm_cube *facts, nm_key file, struct nm_annotate_rows *ret_rows)
{
	static const char *const names[] = {NM_ANNOTATE_KEYS};
	const struct nm_cube_condition only = {nm_cube_key(facts, "file"), file};
	struct nm_metric_sums unplaced = {0};
	struct nm_cube rows;
	unsigned by[4];
	int status;

	for (unsigned k = 0; k < 4; k++)
		by[k] = nm_cube_key(facts, names[k]);
	status = nm_cube_group(&rows, facts, by, 4, &only, 1);
	if (!status)
		status = nm_annotate_take(&rows, ret_rows, &unplaced);
	nm_cube_done(&rows);
	return status;
}

int nm_view_source(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		   struct nm_error *err)
{
	const char *name = nm_request_text(request, "file"), *input;
	struct nm_annotate_rows rows = {0};
	struct nm_annotate_request what = {.names = &name, .name_count = 1, .context = -1, .rows = &rows};
	const struct nm_cube *facts;
	json_t *document = NULL, *file = NULL;
	char *level = NULL;
	int status = nm_view_input(of->profile, request, &input, err);

	if (!status)
		status = nm_view_level(of->profile, request, &level, err);
	if (!status && !name)
		status = nm_fail(err, NM_EINVAL, "name a file");
	if (!status)
		status = nm_view_total(of->profile, level, input, &what.whole, err);
	if (!status)
		status = nm_view_counts(of, level, input, &facts, err);
	if (!status && take_rows(facts, nm_key_find(&of->facts->names, name), &rows))
		status = nm_fail_memory(err);
	if (!status && rows.count) {
		what.report.level = level;
		if (of->search)
			what.search = *of->search;
		what.whole.sum = nm_cube_all_counts(facts);
		status = nm_view_run(annotate_source, of->profile, &what, &document, err);
		file = file_of(document, name);
	}
	if (file)
		*ret_answer = reshape_file(file, document, input);
	else if (!status)
		status =
		    nm_fail(err, NM_ENOENT, "%.80s has no file %.200s", input ? input : "the profile", name);
	json_decref(document);
	nm_vec_free(&rows);
	free(level);
	return status;
}
