/* SPDX-License-Identifier: MIT */
#include "ranked_rows.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memstream.h"
#include "pairs.h"

/* Keys of a row that have some names, in the order of the names. */
struct key_list {
	unsigned at[3], count;
};

struct rows {
	const struct nm_ranked_request *request;
	const struct nm_selection *selection;
	struct nm_profile *profile;
	int by_number;               /* keys of `charged` are site and name, or name */
	struct nm_level_cube own;    /* what is read here; else the selection has read it */
	struct nm_charged charged;   /* by the keys */
	struct nm_cube touched;      /* by level, process and object, where these are keys; sums as charged */
	struct nm_cube instructions; /* by those of process, region and phase that are keys */
	struct nm_metric_total totals[NM_REPORT_LEVELS]; /* of all rows */
	unsigned level_key;                              /* its number, or key_count: there is one level */
	struct key_list touched_by, instructions_by;
	struct nm_vec(struct nm_ranked) order; /* what becomes rows of the table */
	uint64_t metrics;                      /* bit i: the table has metric i */
};

/* ---- sums ----------------------------------------------------------------------------------------- */

static unsigned key_named(const struct nm_ranked_request *r, const char *name)
{
	unsigned k = 0;

	while (k < r->key_count && strcmp(r->keys[k].name, name))
		k++;
	return k;
}

static int has_key(const struct nm_ranked_request *r, const char *name)
{
	return key_named(r, name) < r->key_count;
}

/* By numbers: of the pairs that the selection has read, or of those that are read here. */
static int charge_pairs(struct rows *rows, struct nm_error *err)
{
	static const unsigned by[] = {NM_PAIR_SITE, NM_PAIR_NAME};
	const int by_line = rows->request->key_count > 1;
	const struct nm_cube_condition shown = nm_pairs_shown();
	const struct nm_level_cube *pairs = rows->selection->pairs;
	int status = 0;

	if (!pairs) {
		status = nm_pairs_load(&rows->own, rows->profile, rows->selection, by_line, err);
		pairs = &rows->own;
	}
	if (!status &&
	    nm_charge(&rows->charged, pairs, rows->selection, rows->selection->request.level,
		      by_line ? by : by + 1, by_line ? 2 : 1, &shown, rows->selection->leaves_apart))
		status = nm_fail_memory(err);
	return status;
}

static char *condition_of(const struct nm_ranked_request *r)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	fputs("1", sql);
	if (r->selection->leaves_apart)
		fprintf(sql, " AND NOT (%s)", nm_apart_expression);
	if (r->needs_fields)
		fputs(" AND counts.field IS NOT NULL", sql);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

static int charge_keys(struct rows *rows, struct nm_error *err)
{
	const struct nm_ranked_request *r = rows->request;
	const char *level =
	    has_key(r, "level") && !r->selection->one_level ? NULL : r->selection->request.level;
	struct nm_level_key keys[NM_CUBE_KEYS];
	unsigned by[NM_CUBE_KEYS], count = 0;
	char *condition = condition_of(r);
	const struct nm_level_cube_request request = {.selection = r->selection,
						      .level = level,
						      .keys = keys,
						      .key_count = r->key_count - has_key(r, "level"),
						      .view = r->of_fields ? "field_counts" : "counts",
						      .condition = condition,
						      .has_types = r->has_types};
	int status;

	for (unsigned k = 0; k < r->key_count; k++) {
		const int is_level = !strcmp(r->keys[k].name, "level");

		by[k] = is_level ? NM_CUBE_LEVEL : NM_CUBE_ASKED + count;
		if (!is_level)
			keys[count++] = r->keys[k];
	}
	status =
	    condition ? nm_level_cube_load(&rows->own, rows->profile, &request, err) : nm_fail_memory(err);
	free(condition);
	if (!status && nm_charge(&rows->charged, &rows->own, r->selection, level, by, r->key_count, NULL, 0))
		status = nm_fail_memory(err);
	return status;
}

static int is_there(const struct rows *rows, size_t row)
{
	return nm_cube_sums(&rows->charged.cube, row)[NM_CHARGED_OWN] > 0;
}

/* The number of the level that a row is of. */
static unsigned level_of(const struct rows *rows, size_t row)
{
	const struct nm_selection *s = rows->selection;

	if (rows->level_key < rows->request->key_count)
		return (unsigned)nm_key_number(nm_cube_keys(&rows->charged.cube, row)[rows->level_key]);
	return (unsigned)(nm_levels_named(&s->levels, s->request.level) - s->levels.at);
}

static void sum_totals(struct rows *rows)
{
	for (size_t row = 0; row < rows->charged.cube.row_count; row++) {
		const struct nm_metric_row r = nm_charged_row(&rows->charged, row);
		struct nm_metric_total *total = &rows->totals[level_of(rows, row)];

		if (!is_there(rows, row))
			continue;
		nm_sums_add(&total->sum, &r.sums);
		total->cycles = nm_sum_bounded(total->cycles, r.cycles);
	}
}

/* The list of those of three keys that a row has. */
static struct key_list list_keys(const struct nm_ranked_request *r, const char *const names[3])
{
	struct key_list list = {.count = 0};

	for (unsigned i = 0; i < 3; i++)
		if (has_key(r, names[i]))
			list.at[list.count++] = key_named(r, names[i]);
	return list;
}

static void keys_of(const struct rows *rows, size_t row, const struct key_list *list, nm_key ret_keys[3])
{
	for (unsigned k = 0; k < list->count; k++)
		ret_keys[k] = nm_cube_keys(&rows->charged.cube, row)[list->at[k]];
}

/* Each line of an object is touched for the first time once. What a file, a function or a thread is the first
 * to touch is less. */
static int sum_touched(struct rows *rows)
{
	const struct nm_selection *s = rows->selection;

	if (!has_key(rows->request, "object") || s->request.thread || s->function.pattern || s->file.pattern)
		return 0;
	return nm_cube_group(&rows->touched, &rows->charged.cube, rows->touched_by.at, rows->touched_by.count,
			     NULL, 0);
}

/* ---- instructions ----------------------------------------------------------------------------------- */

static const char *const instruction_keys[3] = {"process", "region", "phase"};

/* Some processes have no regions. */
static char *instructions_sql(const struct rows *rows)
{
	const struct nm_ranked_request *r = rows->request;
	const int by_part = has_key(r, "region") || has_key(r, "phase");
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	fputs("SELECT ", sql);
	for (unsigned k = 0; k < rows->instructions_by.count; k++)
		fprintf(sql, "%s, ", r->keys[rows->instructions_by.at[k]].name);
	fprintf(sql, "instructions, %s FROM ",
		by_part || !rows->selection->has_repeated ? "instructions" : "instructions - repeated");
	if (by_part)
		fprintf(sql,
			"(SELECT process, region, %s AS phase, instructions FROM regions UNION ALL "
			"SELECT process, NULL, NULL, instructions FROM processes "
			"WHERE process NOT IN (SELECT process FROM regions)) ",
			has_key(r, "phase") ? "phase" : "NULL");
	else
		fputs("processes ", sql);
	fputs("WHERE ?1 IS NULL OR process = ?1", sql);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

static int read_instructions(struct rows *rows, struct nm_error *err)
{
	const char *names[4] = {NULL};
	struct nm_rows *list = NULL;
	char *sql = instructions_sql(rows);
	int status = sql ? nm_profile_query(rows->profile, sql, &list, err) : nm_fail_memory(err);

	for (unsigned k = 0; k < rows->instructions_by.count; k++)
		names[k] = rows->request->keys[rows->instructions_by.at[k]].name;
	rows->instructions = nm_cube_of(names, 2);
	if (!status) {
		nm_rows_bind_text(list, 1, rows->selection->request.process);
		/* with the names of the other keys, so that equal names are equal keys */
		status = nm_cube_read(&rows->instructions, &rows->own.names, list, err);
	}
	nm_rows_free(list);
	free(sql);
	return status;
}

/* ---- metrics ---------------------------------------------------------------------------------------- */

/* What shares and rates of a row are of. */
static int total_of(struct rows *rows, size_t row, struct nm_metric_total *ret)
{
	nm_key keys[3];
	const int64_t *sums;

	*ret = rows->totals[level_of(rows, row)];
	keys_of(rows, row, &rows->instructions_by, keys);
	sums = nm_cube_at(&rows->instructions, keys);
	if (!sums)
		return NM_ENOMEM;
	ret->instructions = sums[0];
	ret->unrepeated = sums[1];
	return 0;
}

/* Whether the machine of the profile counts it. */
static int is_counted(const struct nm_selection *s, const char *metric)
{
	if (!strcmp(metric, "covered") || !strcmp(metric, "dependent"))
		return s->levels.has_covered;
	if (!strcmp(metric, "last_misses"))
		return s->last != NULL;
	return strcmp(metric, "page_walks") != 0 || s->levels.walk > 0;
}

/* Rows that are as good as the last of the first are among them. */
static int is_behind(struct nm_ranked a, struct nm_ranked last)
{
	return isnan(a.value) ? !isnan(last.value) : a.value < last.value;
}

/* The value of the metric that ranks a row. 0 or NM_ENOMEM. */
static int value_of(struct rows *rows, size_t row, const struct nm_metric *metric, double *ret)
{
	const struct nm_metric_row values = nm_charged_row(&rows->charged, row);
	struct nm_metric_total total;

	if (total_of(rows, row, &total))
		return NM_ENOMEM;
	*ret = nm_metric_value(metric, &values, &total);
	return 0;
}

/* The rows that are there: all, or the first, which are in front. */
static int choose_rows(struct rows *rows)
{
	const struct nm_report_request *r = &rows->selection->request;
	const struct nm_metric *metric = rows->request->rank ? nm_metric_named(rows->request->rank) : NULL;
	const size_t most = (size_t)r->limit + (size_t)r->offset;
	size_t first = most;

	for (size_t row = 0; row < rows->charged.cube.row_count; row++) {
		struct nm_ranked ranked = {0, row};

		if (!is_there(rows, row))
			continue;
		if ((metric && value_of(rows, row, metric, &ranked.value)) ||
		    nm_vec_push(&rows->order, ranked))
			return NM_ENOMEM;
	}
	if (!metric)
		return 0;
	assert(most > 0);
	nm_cube_rank(&rows->charged.cube, rows->order.at, rows->order.count);
	while (first < rows->order.count && !is_behind(rows->order.at[first], rows->order.at[most - 1]))
		first++;
	if (first < rows->order.count)
		rows->order.count = first;
	return 0;
}

/* ---- the table -------------------------------------------------------------------------------------- */

/* Those that are numbers and asked for. */
static uint64_t choose_metrics(const char *list)
{
	uint64_t chosen = 0;
	const struct nm_metric *m;

	for (unsigned i = 0; (m = nm_metric_at(i)); i++) {
		assert(i < 64);
		if (m->unit != NM_METRIC_TEXT && (!list || nm_is_listed(list, m->name)))
			chosen |= UINT64_C(1) << i;
	}
	return chosen;
}

static char *columns_sql(const struct rows *rows)
{
	const struct nm_selection *s = rows->selection;
	const struct nm_metric *m;
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	for (unsigned k = 0; k < rows->charged.cube.key_count; k++)
		fprintf(sql, "\"%s\", ", rows->charged.cube.names[k]);
	for (unsigned i = 0; (m = nm_metric_at(i)); i++)
		if (rows->metrics >> i & 1)
			fprintf(sql, "\"%s\", ", m->name);
	for (unsigned i = 0; i < s->machine_levels; i++)
		fprintf(sql, "\"%s\", ", s->machines[i].name);
	fprintf(sql, "touched%s", has_key(rows->request, "level") ? "" : ", level");
	return nm_memstream_close(sql, &text) ? NULL : text;
}

static unsigned put_keys(const struct rows *rows, size_t row, struct nm_new_table *table)
{
	const struct nm_cube *cube = &rows->charged.cube;
	const nm_key *keys = nm_cube_keys(cube, row);

	for (unsigned k = 0; k < cube->key_count; k++)
		if (k == rows->level_key)
			nm_new_row_text(table, k, rows->selection->levels.at[nm_key_number(keys[k])].name);
		else if (!keys[k])
			continue;
		else if (cube->numbers >> k & 1)
			nm_new_row_integer(table, k, nm_key_number(keys[k]));
		else
			nm_new_row_text(table, k, nm_key_text(keys[k]));
	return cube->key_count;
}

/* Those without a value stay NULL. */
static int put_metrics(struct rows *rows, size_t row, unsigned column, struct nm_new_table *table)
{
	const struct nm_metric_row values = nm_charged_row(&rows->charged, row);
	struct nm_metric_total total;
	const struct nm_metric *m;

	if (total_of(rows, row, &total))
		return -1;
	for (unsigned i = 0; (m = nm_metric_at(i)); i++) {
		if (!(rows->metrics >> i & 1))
			continue;
		if (m->real)
			nm_new_row_real(table, column, m->real(&values, &total));
		else if (is_counted(rows->selection, m->name))
			nm_new_row_integer(table, column, nm_metric_number(m, &values));
		column++;
	}
	return (int)column;
}

/* The lines of the row's object, in bytes. */
static int put_touched(struct rows *rows, size_t row, unsigned column, struct nm_new_table *table)
{
	const int64_t *sums;
	struct nm_metric_sums counts;
	nm_key keys[3];
	int64_t bytes;

	if (!rows->touched.sum_count)
		return 0;
	keys_of(rows, row, &rows->touched_by, keys);
	sums = nm_cube_at(&rows->touched, keys);
	if (!sums)
		return NM_ENOMEM;
	memcpy(&counts, &sums[NM_CHARGED_COUNTS], sizeof counts);
	if (!__builtin_mul_overflow(counts.cold, rows->selection->levels.at[level_of(rows, row)].line_size,
				    &bytes)) /* but in a damaged profile */
		nm_new_row_integer(table, column, bytes);
	return 0;
}

static int put_row(struct rows *rows, size_t row, struct nm_new_table *table, struct nm_error *err)
{
	const int64_t *sums = nm_cube_sums(&rows->charged.cube, row);
	int column = put_metrics(rows, row, put_keys(rows, row, table), table);

	if (column < 0)
		return nm_fail_memory(err);
	for (unsigned i = 0; i < rows->selection->machine_levels; i++)
		nm_new_row_integer(table, (unsigned)column++, sums[NM_CHARGED_MACHINES + i]);
	if (put_touched(rows, row, (unsigned)column++, table))
		return nm_fail_memory(err);
	if (!has_key(rows->request, "level"))
		nm_new_row_text(table, (unsigned)column, rows->selection->request.level);
	return nm_new_row_add(table, err);
}

static int put_rows(struct rows *rows, struct nm_error *err)
{
	struct nm_new_table *table = NULL;
	char *columns = columns_sql(rows);
	int status = columns ? nm_profile_make_table(rows->profile, NM_RANKED, columns, &table, err)
			     : nm_fail_memory(err);

	free(columns);
	for (size_t i = 0; i < rows->order.count && !status; i++)
		status = put_row(rows, rows->order.at[i].row, table, err);
	nm_new_table_free(table);
	return status;
}

int nm_ranked_rows_make(struct nm_profile *profile, const struct nm_ranked_request *request,
			struct nm_error *err)
{
	struct rows rows = {.request = request,
			    .selection = request->selection,
			    .profile = profile,
			    .by_number = request->of_pairs && nm_pairs_have_numbers(request->selection),
			    .level_key = key_named(request, "level"),
			    .metrics = choose_metrics(request->metrics),
			    .instructions_by = list_keys(request, instruction_keys),
			    .touched_by =
				list_keys(request, (const char *const[3]){"level", "process", "object"}),
			    .own = {.names = {.are_raw = 1}}};
	int status;

	if (rows.by_number) /* the object is the last number */
		rows.touched_by = (struct key_list){.at = {request->key_count > 1}, .count = 1};
	status = rows.by_number ? charge_pairs(&rows, err) : charge_keys(&rows, err);

	if (!status)
		status = read_instructions(&rows, err);
	if (!status) {
		sum_totals(&rows);
		if (sum_touched(&rows) || choose_rows(&rows))
			status = nm_fail_memory(err);
	}
	if (!status)
		status = put_rows(&rows, err);
	nm_level_cube_done(&rows.own);
	nm_charged_done(&rows.charged);
	nm_cube_done(&rows.touched);
	nm_cube_done(&rows.instructions);
	nm_vec_free(&rows.order);
	return status;
}
