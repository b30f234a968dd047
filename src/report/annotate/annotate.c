/* SPDX-License-Identifier: MIT
 *
 * annotate.c - builds an annotation: rows of `counts`, summed by line, beside the text of their files.
 *
 * The rows of the selection are ordered by file and line; a section takes the rows of its file (and
 * function). Files, functions and lines are ranked by weight: the column that is sorted by, or misses if that
 * column cannot be summed. A threshold is a share of the enclosing total: a file's of the selection, a line's
 * or function's of its file.
 */
#include "annotate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "annotate_priv.h"
#include "levels.h"
#include "map.h"
#include "name_match.h"
#include "selection.h"

/* ---- reading ---- */

int nm_annotate_take(const struct nm_cube *cube, struct nm_annotate_rows *ret_rows,
		     struct nm_metric_sums *unplaced)
{
	size_t *order = nm_cube_order(cube);
	int status = order ? 0 : NM_ENOMEM;

	for (size_t i = 0; i < cube->row_count && !status; i++) {
		const nm_key *keys = nm_cube_keys(cube, order[i]);
		const struct nm_annotate_row row = {nm_key_text(keys[0]), nm_key_text(keys[3]),
						    nm_key_text(keys[2]), nm_key_number(keys[1]),
						    nm_cube_counts(cube, order[i])};

		if (!row.file || row.line <= 0 || row.line > INT32_MAX)
			nm_sums_add(unplaced, &row.figures);
		else
			status = nm_vec_push(ret_rows, row);
	}
	free(order);
	return status;
}

static int read_rows(struct nm_annotation *a, struct nm_annotate_rows *ret_rows)
{
	static const char *const keys[] = {NM_ANNOTATE_KEYS, NULL};
	static const char sql[] =
	    "SELECT file, line, object, function"
#define NM_COUNT(name) ", " #name
#include "counts.def"
#undef NM_COUNT
	    " FROM counts WHERE level = ?1 AND (?2 IS NULL OR process = ?2) AND "
	    "(?3 IS NULL OR thread = ?3) AND (?4 IS NULL OR object = ?4 OR object GLOB ?4)";
	struct nm_cube cube = nm_cube_of(keys, NM_COUNTS);
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(a->profile, sql, &rows, a->err);

	if (!status) {
		nm_annotate_bind(a, rows);
		status = nm_cube_read(&cube, &a->names, rows, a->err);
	}
	a->whole.sum = nm_cube_all_counts(&cube);
	if (!status && nm_annotate_take(&cube, ret_rows, &a->unplaced))
		status = nm_fail_memory(a->err);
	nm_rows_free(rows);
	nm_cube_done(&cube);
	return status;
}

/* Does what was requested exist? */
static int check_request(struct nm_annotation *a)
{
	const struct nm_annotate_request *r = a->request;
	struct nm_name_pattern pattern = {0};
	int status = 0;

	if (r->report.level)
		status = nm_select_level(a->profile, r->report.level, a->err);
	if (!status && r->report.process)
		status = nm_select_process(a->profile, r->report.process, a->err);
	if (!status && r->report.thread)
		status = nm_select_thread(a->profile, r->report.thread, a->err);
	if (!status && r->object)
		status = nm_match_name(a->profile, "object", r->object, "SELECT object AS name FROM objects",
				       0, &pattern, a->err);
	nm_name_pattern_done(&pattern);
	return status;
}

/* ---- columns ---- */

static int choose_columns(struct nm_annotation *a, const struct nm_style *style)
{
	enum { ROOM_FOR_OBJECT = 110 };
	const char *list = a->request->columns ? a->request->columns : "misses,share,class,waste";
	const char *sort = a->request->report.sort ? a->request->report.sort : "misses";
	char *figures = strdup(list), *object = NULL;
	unsigned index;
	int status;

	if (!figures)
		return nm_fail_memory(a->err);
	a->shows_object = !a->request->columns && (!style->width || style->width >= ROOM_FOR_OBJECT);
	for (object = figures; (object = strstr(object, "object")) != NULL; object++) {
		size_t n = strlen("object");

		if ((object != figures && object[-1] != ',') || (object[n] && object[n] != ','))
			continue;
		a->shows_object = 1; /* not a figure: it is always the last column */
		if (object == figures)
			memmove(object, object + n + (object[n] == ','), strlen(object + n) + !object[n]);
		else
			memmove(object - 1, object + n, strlen(object + n) + 1);
		break;
	}
	status = *figures || !a->shows_object
		     ? nm_sum_columns_chosen(figures, a->chosen, NM_MAX_CHOSEN, &a->chosen_count, a->err)
		     : 0;
	free(figures);
	if (!status)
		status = nm_sum_column_named(sort, &index, a->err);
	if (!status)
		a->sort = nm_sum_column_at(index);
	return status;
}

static int is_chosen(const struct nm_annotation *a, unsigned figure)
{
	for (unsigned i = 0; i < a->chosen_count; i++)
		if (a->chosen[i] == figure)
			return 1;
	return 0;
}

/* The functions' table is laid out as a report: its titles say what text shows, in the order chosen. */
static int lay_out(struct nm_annotation *a)
{
	static const struct nm_column file = {.name = "file", .kind = NM_COLUMN_TEXT};
	static const struct nm_column line = {.name = "line", .title = "line"};
	static const struct nm_column object = {.name = "object", .title = "object", .kind = NM_COLUMN_NAME};
	static const struct nm_column source = {.name = "source", .kind = NM_COLUMN_TEXT};
	static const struct nm_column function = {
	    .name = "function", .title = "function", .kind = NM_COLUMN_NAME};
	int status = nm_vec_push(&a->line_columns, file) || nm_vec_push(&a->line_columns, line) ||
		     nm_vec_push(&a->function_columns, function);

	for (unsigned i = 0; i < nm_sum_column_count() && !status; i++)
		status = nm_vec_push(&a->line_columns, nm_sum_column_layout(i));
	for (unsigned i = 0; i < a->chosen_count && !status; i++)
		status = nm_vec_push(&a->function_columns, nm_sum_column_layout(a->chosen[i]));
	for (unsigned i = 0; i < nm_sum_column_count() && !status; i++) {
		struct nm_column hidden = nm_sum_column_layout(i);

		hidden.title = NULL;
		if (!is_chosen(a, i))
			status = nm_vec_push(&a->function_columns, hidden);
	}
	if (!status)
		status = nm_vec_push(&a->line_columns, object) || nm_vec_push(&a->line_columns, source);
	return status ? nm_fail_memory(a->err) : 0;
}

/* ---- sections ---- */

/* Adds a section for what `function` (or all) has in the file that starts at rows[from]. */
static int add_section(struct nm_annotation *a, const struct nm_annotate_rows *rows, size_t from,
		       const char *function)
{
	struct nm_section section = {.file = rows->at[from].file, .function = function};

	assert(from < rows->count);
	for (size_t i = from; i < rows->count && rows->at[i].file == section.file; i++)
		if (nm_in_section(&section, &rows->at[i]))
			nm_sums_add(&section.sum, &rows->at[i].figures);
	section.weight = nm_sum_column_weight(a->sort, &section.sum);
	section.functions.columns = a->function_columns.at;
	section.functions.column_count = (unsigned)a->function_columns.count;
	section.lines.columns = a->line_columns.at;
	section.lines.column_count = (unsigned)a->line_columns.count;
	return nm_vec_push(&a->sections, section) ? nm_fail_memory(a->err) : 0;
}

static int by_section_weight(const void *left, const void *right)
{
	const struct nm_section *s = left, *y = right;
	int order;

	if (s->weight != y->weight)
		return s->weight < y->weight ? 1 : -1;
	order = strcmp(s->file, y->file);
	return order || !s->function ? order : strcmp(s->function, y->function);
}

/* Sections of the functions that the user calls `name`, as far as they lie in the file at rows[from]. */
static int add_functions_named(struct nm_annotation *a, const struct nm_annotate_rows *rows, size_t from,
			       const char *name)
{
	struct nm_map seen = {0};
	int status = 0;

	assert(from < rows->count);
	for (size_t i = from; i < rows->count && rows->at[i].file == rows->at[from].file && !status; i++) {
		const char *function = rows->at[i].function;

		if (!function || nm_map_get(&seen, (uintptr_t)function, 0) || !nm_is_function(function, name))
			continue;
		status = nm_map_put(&seen, (uintptr_t)function, 1) ? nm_fail_memory(a->err)
								   : add_section(a, rows, from, function);
	}
	nm_map_done(&seen);
	return status;
}

/* Files are sought first: a name that is both means the file. */
static int add_named(struct nm_annotation *a, const struct nm_annotate_rows *rows, const char *name)
{
	size_t before = a->sections.count;
	int status = 0;

	for (size_t i = 0; i < rows->count && !status; i = nm_next_file(rows, i))
		if (nm_is_file(rows->at[i].file, name))
			status = add_section(a, rows, i, NULL);
	for (size_t i = 0; a->sections.count == before && i < rows->count && !status;
	     i = nm_next_file(rows, i))
		status = add_functions_named(a, rows, i, name);
	if (status)
		return status;
	if (a->sections.count == before)
		return nm_fail_unnamed(a, name, "has counts",
				       "`nearmiss report lines` lists those that have");
	qsort(a->sections.at + before, a->sections.count - before, sizeof *a->sections.at, by_section_weight);
	return 0;
}

static int add_heaviest(struct nm_annotation *a, const struct nm_annotate_rows *rows)
{
	int64_t whole = nm_sum_column_weight(a->sort, &a->whole.sum);
	int status = 0;

	for (size_t i = 0; i < rows->count && !status; i = nm_next_file(rows, i))
		status = add_section(a, rows, i, NULL);
	nm_keep_heavy_sections(a, whole, by_section_weight);
	return status;
}

/* ---- all ---- */

static void free_annotation(struct nm_annotation *a)
{
	for (size_t i = 0; i < a->sections.count; i++) {
		nm_table_done(&a->sections.at[i].functions);
		nm_table_done(&a->sections.at[i].lines);
		nm_vec_free(&a->sections.at[i].numbers);
	}
	nm_vec_free(&a->sections);
	nm_vec_free(&a->line_columns);
	nm_vec_free(&a->function_columns);
	nm_strings_done(&a->pool);
	nm_cube_names_done(&a->names);
}

static int gather_sections(struct nm_annotation *a, const struct nm_annotate_rows *rows)
{
	int status = 0;

	for (size_t i = 0; i < a->request->name_count && !status; i++)
		status = add_named(a, rows, a->request->names[i]);
	if (!status && !a->request->name_count)
		status = add_heaviest(a, rows);
	for (size_t i = 0; i < a->sections.count && !status; i++)
		status = nm_section_fill(a, &a->sections.at[i], rows);
	return status;
}

static int gather_lines(struct nm_annotation *a)
{
	const struct nm_annotate_rows *given = a->request->rows;
	struct nm_annotate_rows rows = {0};
	int status = lay_out(a);

	if (!status && !given)
		status = read_rows(a, &rows);
	if (!status)
		status = gather_sections(a, given ? given : &rows);
	nm_vec_free(&rows);
	return status;
}

/* What is a line of the level, where some were prefetched. */
static int read_unit(struct nm_annotation *a)
{
	struct nm_levels levels = {.count = 0};
	int status = nm_levels_load(&levels, a->profile, NULL, a->err);
	const struct nm_level *level = status ? NULL : nm_levels_named(&levels, a->level);

	a->whole.unit = level ? level->unit : 0;
	nm_levels_done(&levels);
	return status;
}

static int gather_annotation(struct nm_annotation *a, const struct nm_style *style)
{
	int status = choose_columns(a, style);

	if (a->request->rows)
		a->whole = a->request->whole;
	else if (!status)
		status = nm_read_number(
		    a, "SELECT sum(instructions) FROM processes WHERE ?1 IS NULL OR process = ?1",
		    a->request->report.process, &a->whole.instructions);
	if (!status && !a->request->rows)
		status = read_unit(a);
	if (status)
		return status;
	return a->request->assembly ? nm_asm_gather(a) : gather_lines(a);
}

int nm_annotate_run(struct nm_profile *profile, const struct nm_annotate_request *request,
		    const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_annotation a = {.profile = profile, .request = request, .err = err};
	char *level = NULL;
	int status = nm_select_counts(profile, err);

	assert(request && style);
	if (!status)
		status = check_request(&a);
	if (!status)
		status =
		    nm_profile_show_part(profile, &request->report.part,
					 request->assembly ? NM_SHOW_INNERMOST : request->report.frame, err);
	if (!status && !request->report.level)
		status = nm_select_first_level(profile, &level, err);
	a.level = level ? level : request->report.level;
	if (!status)
		status = gather_annotation(&a, style);
	if (!status && nm_annotation_show(&a, style, out))
		status = nm_fail_memory(err);
	free_annotation(&a);
	free(level);
	return status;
}
