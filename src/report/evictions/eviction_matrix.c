/* SPDX-License-Identifier: MIT
 *
 * eviction_matrix.c - the eviction matrix: evicting objects by evicted objects.
 *
 * As in Buck's dissertation, a row is an evictor, a column a victim, and a cell the percentage of the
 * victim's evictions that the row's object caused, so that a column (with the last row, all other objects)
 * adds up to 100 %. Objects that evict their own lines are on the diagonal, marked by a star: tiling may
 * help. A large cell elsewhere suggests keeping two objects apart. Names are long and columns narrow, so the
 * title of a column is the number of its row, or the name if that is short.
 *
 * CSV and JSON have the same pairs, one in a row, with counts; the other objects together are an evictor
 * without a name.
 */
#include <stdlib.h>
#include <string.h>

#include "evictions_priv.h"

enum { SHORT_NAME = 8 }; /* columns: such a name heads its column */

/* s: lines by evictor and victim; b: what each object took and lost; top: the objects that are shown. One
 * statement, so that `evictions`, the largest of views, is read once; `part` says what a row is. */
static const char query[] =
    "WITH s AS MATERIALIZED (SELECT coalesce(CAST(evictor AS TEXT), '?') AS evictor, "
    "coalesce(CAST(victim AS TEXT), '?') AS victim, sum(count) AS count, sum(prefetches) AS prefetches "
    "FROM evictions WHERE level = ?1 AND (?2 IS NULL OR process = ?2) GROUP BY 1, 2), "
    "b AS MATERIALIZED (SELECT object, sum(took) AS took, sum(lost) AS lost, sum(self) AS self FROM "
    "(SELECT evictor AS object, count AS took, 0 AS lost, (evictor = victim) * count AS self "
    "FROM s UNION ALL SELECT victim, 0, count, 0 FROM s) GROUP BY object), "
    "top AS MATERIALIZED (SELECT object, took, lost, row_number() OVER (ORDER BY %s DESC, object) AS rank "
    "FROM b ORDER BY rank LIMIT %lld) "
    "SELECT 0 AS part, 0 AS r, 0 AS q, coalesce(sum(took), 0) AS x, coalesce(sum(self), 0) AS y, "
    "count(*) AS z, (SELECT count(*) FROM top) AS w, (SELECT sum(prefetches) FROM s), NULL, NULL FROM b "
    "UNION ALL SELECT 1, rank, 0, object, took, lost, NULL, NULL, NULL, NULL FROM top "
    "UNION ALL SELECT 2, v.rank, coalesce(e.rank, 1 << 40), e.object, s.victim, sum(s.count), "
    "100.0 * sum(s.count) / (SELECT sum(count) FROM s), 100.0 * sum(s.count) / v.lost, "
    "100.0 * sum(s.count) / nullif(e.took, 0), sum(s.prefetches) "
    "FROM s JOIN top v ON v.object = s.victim LEFT JOIN top e ON e.object = s.evictor "
    "GROUP BY v.rank, e.rank ORDER BY part, r, q";

enum { KEYS = 3 }; /* part, r and q */

static const struct nm_column query_columns[] = {
    {.name = "part"}, {.name = "r"}, {.name = "q"}, {.name = "x"}, {.name = "y"},
    {.name = "z"},    {.name = "w"}, {.name = "u"}, {.name = "t"}, {.name = "s"}};

static const struct nm_column top_columns[] = {{.name = "object"}, {.name = "took"}, {.name = "lost"}};
static const struct nm_column total_columns[] = {
    {.name = "lines"}, {.name = "self"}, {.name = "objects"}, {.name = "shown"}, {.name = "prefetches"}};
static const struct nm_column pair_columns[] = {
    {.name = "evictor"},         {.name = "victim"},           {.name = "count"},     {.name = "share"},
    {.name = "share_of_victim"}, {.name = "share_of_evictor"}, {.name = "prefetches"}};
enum { QUERY = 10, TOTAL = 5, TOP = 3, PAIR = 7 };

struct matrix {
	struct nm_table all;               /* the query's rows; owns their texts */
	struct nm_table total, top, pairs; /* parts of them */
	struct nm_table shown;             /* as text */
	struct nm_column *columns;
	double *share; /* row by row, of the victim's evictions; the last row is all others */
	size_t n;      /* objects */
};

static int take_row(struct matrix *m, size_t row)
{
	struct nm_table *parts[] = {&m->total, &m->top, &m->pairs};
	struct nm_table *to = parts[nm_table_at(&m->all, row, 0)->integer];
	unsigned i;

	if (nm_vec_reserve(&to->values, to->column_count))
		return NM_ENOMEM;
	for (i = 0; i < to->column_count; i++)
		nm_vec_push(&to->values, *nm_table_at(&m->all, row, KEYS + i));
	to->row_count++;
	return 0;
}

static int fill_matrix(struct matrix *m, struct nm_profile *profile, const struct nm_selection *selection,
		       struct nm_error *err)
{
	const char *sort = selection->request.sort ? selection->request.sort : "lost";
	struct nm_rows *rows = NULL;
	char *sql = NULL;
	size_t row;
	int status;

	m->all.columns = query_columns;
	m->all.column_count = QUERY;
	m->total.columns = total_columns;
	m->total.column_count = TOTAL;
	m->top.columns = top_columns;
	m->top.column_count = TOP;
	m->pairs.columns = pair_columns;
	m->pairs.column_count = PAIR;
	if (asprintf(&sql, query, sort,
		     selection->request.limit ? (long long)selection->request.limit : -1LL) < 0)
		return nm_fail_memory(err);
	status = nm_profile_query(profile, sql, &rows, err);
	free(sql);
	if (!status) {
		nm_rows_bind_text(rows, 1, selection->request.level);
		nm_rows_bind_text(rows, 2, selection->request.process);
		status = nm_table_fill(&m->all, rows, err);
	}
	nm_rows_free(rows);
	for (row = 0; !status && row < m->all.row_count; row++)
		status = take_row(m, row) ? nm_fail_memory(err) : 0;
	m->n = m->top.row_count;
	return status;
}

/* ---- as text -------------------------------------------------------------------------------------- */

static size_t find_object(const struct matrix *m, const char *object)
{
	size_t i = 0;

	while (object && i < m->n && strcmp(nm_table_at(&m->top, i, 0)->text, object))
		i++;
	return object ? i : m->n;
}

static void take_shares(struct matrix *m)
{
	size_t row;

	for (row = 0; row < m->pairs.row_count; row++) {
		size_t victim = find_object(m, nm_table_at(&m->pairs, row, 1)->text);

		m->share[find_object(m, nm_table_at(&m->pairs, row, 0)->text) * m->n + victim] =
		    nm_table_at(&m->pairs, row, 4)->real;
	}
}

static const char *print_cell(struct matrix *m, size_t i)
{
	char text[24];

	snprintf(text, sizeof text, "#%zu", i + 1);
	return nm_intern(&m->shown.pool, text);
}

static int lay_columns(struct matrix *m)
{
	static const struct nm_column first[] = {
	    {.name = "number", .title = "", .kind = NM_COLUMN_RIGHT},
	    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
	    {.name = "took", .title = "evicted", .kind = NM_COLUMN_NUMBER},
	    {.name = "lost", .title = "lost", .kind = NM_COLUMN_NUMBER},
	};
	enum { FIRST = sizeof first / sizeof *first };
	size_t i;

	m->columns = calloc(FIRST + m->n, sizeof *m->columns);
	if (!m->columns)
		return NM_ENOMEM;
	memcpy(m->columns, first, sizeof first);
	for (i = 0; i < m->n; i++) {
		const char *name = nm_table_at(&m->top, i, 0)->text;

		if (nm_utf8_width(name) > SHORT_NAME)
			name = print_cell(m, i);
		m->columns[FIRST + i] = (struct nm_column){
		    .name = "share", .title = name, .kind = NM_COLUMN_RIGHT, .drop_order = (unsigned)i + 1};
		if (!name)
			return NM_ENOMEM;
	}
	m->shown.columns = m->columns;
	m->shown.column_count = (unsigned)(FIRST + m->n);
	return 0;
}

static struct nm_value text_value(const char *text)
{
	return (struct nm_value){.type = NM_VALUE_TEXT, .text = text};
}

static struct nm_value count_value(int64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = n};
}

/* "60.3", "*60.3" on the diagonal, nothing for nothing. */
static struct nm_value share_value(struct matrix *m, size_t row, size_t column)
{
	double share = m->share[row * m->n + column];
	char text[24] = "";

	if (share > 0)
		snprintf(text, sizeof text, "%s%.1f", row == column ? "*" : "", share);
	return text_value(nm_intern(&m->shown.pool, text));
}

/* Row n: the objects that are not shown. */
static int lay_row(struct matrix *m, size_t row)
{
	struct nm_table *t = &m->shown;
	int64_t took = 0, lost = 0;
	size_t i;

	if (nm_vec_reserve(&t->values, t->column_count))
		return NM_ENOMEM;
	for (i = 0; i < m->n; i++) {
		took += row == m->n || i == row ? nm_table_at(&m->top, i, 1)->integer : 0;
		lost += row == m->n || i == row ? nm_table_at(&m->top, i, 2)->integer : 0;
	}
	if (row == m->n) { /* every eviction has an evictor and a victim */
		took = nm_table_at(&m->total, 0, 0)->integer - took;
		lost = nm_table_at(&m->total, 0, 0)->integer - lost;
	}
	nm_vec_push(&t->values, text_value(row < m->n ? print_cell(m, row) : ""));
	nm_vec_push(&t->values, text_value(row < m->n ? nm_table_at(&m->top, row, 0)->text : "(others)"));
	nm_vec_push(&t->values, count_value(took));
	nm_vec_push(&t->values, count_value(lost));
	for (i = 0; i < m->n; i++)
		nm_vec_push(&t->values, share_value(m, row, i));
	t->row_count++;
	for (i = 0; i < t->column_count; i++) {
		const struct nm_value *value = nm_table_at(t, t->row_count - 1, (unsigned)i);

		if (value->type == NM_VALUE_TEXT && !value->text)
			return NM_ENOMEM;
	}
	return 0;
}

static int as_text(struct matrix *m, const char *level, const struct nm_style *style, FILE *out)
{
	int64_t lines = nm_table_at(&m->total, 0, 0)->integer, self = nm_table_at(&m->total, 0, 1)->integer,
		ahead = nm_table_at(&m->total, 0, 4)->integer;
	int some = nm_table_at(&m->total, 0, 2)->integer > nm_table_at(&m->total, 0, 3)->integer;
	char all[NM_GROUPED_ROOM], prefetches[48] = "";
	size_t row;

	nm_format_grouped(lines, all);
	if (!lines)
		return nm_print_sentence("", style->width, out, "%s lines were evicted from %s", all, level);
	if (ahead)
		snprintf(prefetches, sizeof prefetches, ", %.1f %% by prefetches",
			 100.0 * (double)ahead / (double)lines);
	if (nm_print_sentence("", style->width, out,
			      "%s lines were evicted from %s, %.1f %% of them by their own object (*)%s", all,
			      level, 100.0 * (double)self / (double)lines, prefetches))
		return NM_ENOMEM;
	nm_print_wrapped("", "A column shows, in percent, who evicted the lines of its object.", style->width,
			 out);
	fputc('\n', out);
	m->share = calloc((m->n + 1) * m->n, sizeof *m->share);
	if (!m->share || lay_columns(m))
		return NM_ENOMEM;
	take_shares(m);
	for (row = 0; row < m->n + (size_t)some; row++)
		if (lay_row(m, row))
			return NM_ENOMEM;
	return nm_table_text(&m->shown, style, out);
}

static int check_sort(const char *sort, struct nm_error *err)
{
	static const char *const words[] = {"lost", "took", "self", NULL};
	unsigned i;

	for (i = 0; sort && words[i]; i++)
		if (!strcmp(sort, words[i]))
			return 0;
	return sort ? nm_fail_unknown("order of the matrix", sort, words, err) : 0;
}

int nm_eviction_matrix(struct nm_profile *profile, const struct nm_selection *selection,
		       const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct matrix m = {.n = 0};
	int status = check_sort(selection->request.sort, err);

	if (!status)
		status = fill_matrix(&m, profile, selection, err);
	if (!status && style->format != NM_FORMAT_TEXT)
		status = nm_table_show(&m.pairs, "evictions", selection->request.level, style, out, err);
	else if (!status && as_text(&m, selection->request.level, style, out))
		status = nm_fail_memory(err);
	nm_table_done(&m.all);
	nm_table_done(&m.top);
	nm_table_done(&m.total);
	nm_table_done(&m.pairs);
	nm_table_done(&m.shown);
	free(m.columns);
	free(m.share);
	return status;
}
