/* SPDX-License-Identifier: MIT */
#include "figures.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memstream.h"

enum { COLUMNS = 64 };

static const char *range(struct nm_table *table, size_t row, const char *low, const char *high)
{
	const int64_t least = nm_table_named(table, row, low)->integer,
		      most = nm_table_named(table, row, high)->integer;
	char *text = NULL;
	char low_text[NM_GROUPED_ROOM], high_text[NM_GROUPED_ROOM];

	nm_format_grouped(least, low_text);
	nm_format_grouped(most, high_text);
	if (most <= least)
		return nm_table_keep(table, strdup(low_text));
	return nm_table_keep(table, asprintf(&text, "%s..%s", low_text, high_text) < 0 ? NULL : text);
}

/* The table of figures, by name. */
struct figure {
	struct nm_column column;
	const char *sql;               /* an aggregate over the rows of a key */
	const char *min, *max, *range; /* names of further columns */
	const char *(*compose_range)(struct nm_table *table, size_t row);
};

#define RANGE(name)                                                            \
	static const char *range_of_##name(struct nm_table *table, size_t row) \
	{                                                                      \
		return range(table, row, #name "_min", #name "_max");          \
	}
RANGE(reads)
RANGE(writes)
RANGE(misses)
RANGE(false_misses)
RANGE(true_misses)
RANGE(invalidations)
RANGE(interventions)
RANGE(writebacks)
RANGE(upgrades)
RANGE(lines)
RANGE(threads)

#define FIGURE(name_, title_, sql_, ...)                                                            \
	{                                                                                           \
		.column = {.name = #name_, .title = title_, .kind = NM_COLUMN_NUMBER, __VA_ARGS__}, \
		.sql = sql_, .min = #name_ "_min", .max = #name_ "_max", .range = #name_ "_range",  \
		.compose_range = range_of_##name_                                                   \
	}
static const struct figure figures[NM_FIGURES] = {
    [NM_FIGURE_READS] = FIGURE(reads, "reads", "sum(reads)"),
    [NM_FIGURE_WRITES] = FIGURE(writes, "writes", "sum(writes)"),
    [NM_FIGURE_COHERENCE] = FIGURE(misses, "coherence", "sum(misses)"),
    [NM_FIGURE_MISSES] = FIGURE(misses, "misses", "sum(misses)"),
    [NM_FIGURE_FALSE] = FIGURE(false_misses, "false", "sum(false_misses)"),
    [NM_FIGURE_TRUE] = FIGURE(true_misses, "true", "sum(misses - false_misses)"),
    [NM_FIGURE_TAKES] = FIGURE(invalidations, "takes", "sum(invalidations)"),
    [NM_FIGURE_TAKEN] = FIGURE(invalidations, "taken", "sum(invalidations)"),
    [NM_FIGURE_INTERVENTIONS] = FIGURE(interventions, "handed over", "sum(interventions)"),
    [NM_FIGURE_WRITEBACKS] = FIGURE(writebacks, "written back", "sum(writebacks)"),
    [NM_FIGURE_UPGRADES] = FIGURE(upgrades, "upgrades", "sum(upgrades)"),
    [NM_FIGURE_LINES] = FIGURE(lines, "lines", "count(DISTINCT block)", .drop_order = 2),
    [NM_FIGURE_THREADS] = FIGURE(threads, "threads", "count(DISTINCT thread)"),
};

/* A report under construction. */
struct made {
	struct nm_column columns[COLUMNS];
	unsigned count;
};

static void put_column(struct made *m, struct nm_column column)
{
	assert(m->count < COLUMNS);
	m->columns[m->count++] = column;
}

static void put_all(struct made *m, const struct nm_column *columns, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_column(m, columns[i]);
}

/* With `ranges`, text shows the ranges instead of the figures. */
static void put_figures(struct made *m, const struct nm_figure_table *t, int ranges)
{
	for (unsigned i = 0; i < t->figure_count; i++) {
		const struct figure *f = &figures[t->figures[i]];
		struct nm_column column = f->column;

		if (ranges) {
			column.name = f->range;
			column.kind = NM_COLUMN_RIGHT;
			column.compose = f->compose_range;
			put_column(m, column);
			column = f->column;
			column.title = NULL;
		}
		put_column(m, column);
	}
}

static void put_columns(struct made *m, const struct nm_figure_table *t, int ranges)
{
	put_all(m, t->processes, t->process_count);
	put_all(m, t->keys, t->key_count);
	put_figures(m, t, ranges);
	put_all(m, t->behind, t->behind_count);
	put_all(m, t->facts, t->fact_count);
	for (unsigned i = 0; ranges && i < t->figure_count; i++) {
		put_column(m,
			   (struct nm_column){.name = figures[t->figures[i]].min, .kind = NM_COLUMN_NUMBER});
		put_column(m,
			   (struct nm_column){.name = figures[t->figures[i]].max, .kind = NM_COLUMN_NUMBER});
	}
}

/* Writes the columns that the query returns, each followed by `end`. */
static void list_columns(const struct nm_column *columns, unsigned count, const char *end, FILE *sql)
{
	for (unsigned i = 0; i < count; i++)
		if (!columns[i].compose)
			fprintf(sql, "%s%s", columns[i].name, end);
}

static void list_keys(const struct nm_figure_table *t, FILE *sql)
{
	list_columns(t->processes, t->process_count, ", ", sql);
	list_columns(t->keys, t->key_count, ", ", sql);
	list_columns(t->behind, t->behind_count, ", ", sql);
}

static void list_facts(const struct nm_figure_table *t, FILE *sql)
{
	for (unsigned i = 0; i < t->fact_count; i++)
		fprintf(sql, "max(%s) AS %s, ", t->facts[i].name, t->facts[i].name);
}

/* Sums by key, and by order of the threads if there are several. */
static void write_sums(const struct nm_figure_table *t, const char *more, int ranges, FILE *sql)
{
	fputs("SELECT ", sql);
	list_keys(t, sql);
	for (unsigned i = 0; i < t->figure_count; i++)
		fprintf(sql, "%s AS %s, ", figures[t->figures[i]].sql, figures[t->figures[i]].column.name);
	list_facts(t, sql);
	fprintf(sql, "%s FROM %s%s WHERE level = ?1 AND (?2 IS NULL OR %s)", ranges ? "schedule" : "0",
		ranges ? "schedule_" : "", t->view, t->of_process ? t->of_process : "process = ?2");
	if (t->where)
		fprintf(sql, " AND %s", t->where);
	if (more)
		fprintf(sql, " AND %s", more);
	fputs(" GROUP BY ", sql);
	list_keys(t, sql);
	fputs(ranges ? "schedule" : "NULL", sql);
}

/* Sums of the first order, and the bounds of all. */
static void write_ranges(const struct nm_figure_table *t, const char *more, int64_t schedules, FILE *sql)
{
	fputs("SELECT ", sql);
	list_keys(t, sql);
	for (unsigned i = 0; i < t->figure_count; i++) {
		const char *name = figures[t->figures[i]].column.name;

		fprintf(sql,
			"sum((schedule = 0) * %s) AS %s, (count(*) = %" PRId64
			") * min(%s) AS %s_min, max(%s) AS %s_max, ",
			name, name, schedules, name, name, name, name);
	}
	list_facts(t, sql);
	fputs("0 FROM (", sql);
	write_sums(t, more, 1, sql);
	fputs(") GROUP BY ", sql);
	list_keys(t, sql);
	fputs("NULL", sql);
}

/* Malloc'ed, or NULL. */
static char *write_query(const struct made *m, const struct nm_figure_table *t, const char *more,
			 int64_t schedules)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	fputs("SELECT ", sql);
	list_columns(m->columns, m->count, ", ", sql);
	fputs("0 FROM (", sql);
	if (schedules > 1)
		write_ranges(t, more, schedules, sql);
	else
		write_sums(t, more, 0, sql);
	fprintf(sql, ")%s%s", t->having ? " WHERE " : "", t->having ? t->having : "");
	return nm_memstream_close(sql, &text) ? NULL : text;
}

/* Rows of several processes may be equal in all else. Malloc'ed, or NULL. */
static char *write_ties(const struct nm_figure_table *t)
{
	char *text = NULL;
	FILE *ties = nm_memstream_open(&text, NULL);

	if (!ties)
		return NULL;
	fputs(t->ties, ties);
	for (unsigned i = 0; i < t->process_count; i++)
		fprintf(ties, ", %s", t->processes[i].name);
	return nm_memstream_close(ties, &text) ? NULL : text;
}

/* A number of the profile, or a negative error. */
static int64_t query_number(struct nm_profile *profile, const char *sql, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int64_t number = nm_profile_query(profile, sql, &rows, err);

	if (!number)
		number = nm_rows_next(rows, err);
	if (number > 0)
		number = nm_rows_integer(rows, 0);
	nm_rows_free(rows);
	return number;
}

int nm_figures_fill(const struct nm_figure_table *table, struct nm_profile *profile,
		    const struct nm_selection *selection, const char *more, struct nm_report_table *filled,
		    struct nm_error *err)
{
	const int64_t schedules =
	    query_number(profile, "SELECT count(DISTINCT schedule) FROM schedules", err);
	const int64_t one_machine =
	    query_number(profile, "SELECT count(*) FROM info WHERE key = 'one_machine'", err);
	struct nm_figure_table chosen = *table, *t = &chosen;
	struct nm_report report = {.name = t->name, .sort = t->sort};
	struct made m = {.count = 0};
	char *sql, *ties;
	int status;

	if (schedules < 0 || one_machine < 0)
		return schedules < 0 ? (int)schedules : (int)one_machine;
	if (!one_machine)
		t->process_count = 0;
	put_columns(&m, t, schedules > 1);
	sql = write_query(&m, t, more, schedules);
	report.ties = ties = write_ties(t);
	report.columns = m.columns;
	report.column_count = m.count;
	report.sql = sql;
	status = sql && ties ? nm_report_fill(&report, profile, selection, filled, err) : nm_fail_memory(err);
	free(ties);
	free(sql);
	return status;
}
