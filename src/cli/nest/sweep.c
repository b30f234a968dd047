/* SPDX-License-Identifier: MIT
 *
 * sweep.c - nearmiss nest --sweep: misses of each array or reference for each value of a parameter or a base
 * address.
 *
 * Each value is a separate run with cold caches. References of warm-up loops are not counted. In text the
 * last column is a plot that runs down the rows: each letter is an array, at its share of the largest count.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "message.h"
#include "nest/nest_commands.h"
#include "oracle.h"
#include "table.h"

enum { PLOT = 40, MAX_ROWS = 100000 };

struct figure {
	const char *name;           /* of the array or reference */
	unsigned line;              /* of the reference; 0 for arrays */
	const char *column, *title; /* unique */
	char letter;
};

struct sweep {
	struct nm_table table; /* first: functions that compose a column get nothing else */
	const struct nm_nest_request *request;
	struct nm_vec(struct figure) figures;
	struct nm_vec(struct nm_column) columns;
	const char **settings; /* the request's, and the one of the row */
	char *name;            /* of the parameter or array */
	struct nm_nest_range range;
	int64_t most;
	unsigned level;
	struct nm_error err;
};

/* ---- the range ---- */

/* "NAME=FROM:TO" or "NAME=FROM:TO:STEP". */
static int read_range(struct sweep *s, struct nm_nest *nest, const char *text)
{
	const size_t length = strcspn(text, "=");
	struct nm_nest_range *const r = &s->range;
	int status;

	if (!length || !text[length])
		return nm_fail_at(&s->err, text, (int)length, "--sweep takes NAME=FROM:TO[:STEP]");
	status = nm_nest_read_range(nest, text, length + 1, r, &s->err);
	if (status)
		return status;
	if (r->step <= 0 || r->to < r->from)
		return nm_fail_at(&s->err, text, (int)(length + 1), "--sweep goes up, by 1 or more");
	if (((uint64_t)r->to - (uint64_t)r->from) / (uint64_t)r->step >= MAX_ROWS)
		return nm_fail_at(&s->err, text, (int)(length + 1), "more than %d values", MAX_ROWS);
	s->name = strndup(text, length);
	return s->name ? 0 : nm_fail_memory(&s->err);
}

static int find_level(struct sweep *s, const char *name)
{
	const struct nm_machine *m = s->request->run->engine.machine;

	for (s->level = 0; s->level < m->count; s->level++)
		if (!name || !strcmp(m->levels[s->level].name, name))
			return 0;
	return nm_fail(&s->err, NM_EINVAL, "the machine has no level \"%s\"", name);
}

/* ---- figures ---- */

static int add_figure(struct sweep *s, const char *name, unsigned line)
{
	struct figure f = {.line = line, .name = nm_intern(&s->table.pool, name)};

	f.column = f.name;
	return !f.name || nm_vec_push(&s->figures, f) ? nm_fail_memory(&s->err) : 0;
}

/* References with the same name get their line, and each figure a letter: its initial if all initials
 * differ. */
static int name_figures(struct sweep *s)
{
	int initials = 1;
	char text[600];

	for (size_t i = 0; i < s->figures.count; i++) {
		struct figure *f = &s->figures.at[i];

		for (size_t k = 0; k < s->figures.count; k++) {
			const struct figure *other = &s->figures.at[k];

			initials &= k == i || f->name[0] != other->name[0];
			if (k == i || f->name != other->name || f->column != f->name)
				continue;
			snprintf(text, sizeof text, "%.500s:%u", f->name, f->line);
			f->column = nm_intern(&s->table.pool, text);
		}
		if (!f->column)
			return nm_fail_memory(&s->err);
	}
	for (size_t i = 0; i < s->figures.count; i++) {
		struct figure *f = &s->figures.at[i];

		f->letter = initials ? f->name[0] : "abcdefghijklmnopqrstuvwxyz"[i % 26];
		snprintf(text, sizeof text, "%c: %.500s", f->letter, f->column);
		f->title = initials ? f->column : nm_intern(&s->table.pool, text);
		if (!f->title)
			return nm_fail_memory(&s->err);
	}
	return 0;
}

static int find_figures(struct sweep *s, const struct nm_nest *nest, int by_reference)
{
	struct nm_nest_reference_info r;
	struct nm_nest_array_info a;
	int status = 0;

	for (size_t i = 0; !status && by_reference && nm_nest_reference_at(nest, i, &r); i++)
		status = add_figure(s, r.name, r.line);
	for (size_t i = 0; !status && !by_reference && nm_nest_array_at(nest, i, &a); i++)
		status = add_figure(s, a.name, 0);
	return status ? status : name_figures(s);
}

/* ---- one row ---- */

static int feed_engine(void *engine, const uint64_t *words, size_t count, struct nm_error *err)
{
	return nm_engine_feed(engine, words, count, err);
}

static int is_warm_up(const char *function)
{
	size_t n = strlen(function), m = strlen(NM_NEST_WARM_UP);

	return n > m && !strcmp(function + n - m, NM_NEST_WARM_UP);
}

/* Starts the row of a value. */
static int add_row(struct sweep *s, int64_t value)
{
	const size_t n = s->figures.count;
	struct nm_value *row;

	if (nm_vec_reserve(&s->table.values, n + 2))
		return nm_fail_memory(&s->err);
	row = s->table.values.at + s->table.values.count;
	memset(row, 0, (n + 2) * sizeof *row);
	for (size_t k = 0; k <= n; k++)
		row[k].type = NM_VALUE_INTEGER;
	row[0].integer = value;
	s->table.values.count += n + 2;
	s->table.row_count++;
	return 0;
}

/* Adds misses of a reference to the figures that count it. */
static void add_misses(struct sweep *s, const char *array, const char *reference, unsigned line,
		       uint64_t misses)
{
	struct nm_value *row = s->table.values.at + s->table.values.count - (s->figures.count + 2);

	for (size_t k = 0; k < s->figures.count; k++) {
		const struct figure *f = &s->figures.at[k];
		int64_t *count = &row[1 + k].integer;

		if (f->line ? f->line == line && !strcmp(f->name, reference) : !strcmp(f->name, array))
			*count += (int64_t)misses;
		s->most = *count > s->most ? *count : s->most;
	}
}

static void add_result(struct sweep *s, const struct nm_result *result)
{
	for (size_t i = 0; i < result->attr_count; i++) {
		const struct nm_result_site *site = &result->sites[result->attrs[i].site];
		const struct nm_counts *c = &result->levels[s->level].counts[i];

		if (site->function && !is_warm_up(site->function))
			add_misses(s, result->objects[result->attrs[i].object].name, site->function,
				   site->line, c->read_misses + c->write_misses);
	}
}

static void add_counted(struct sweep *s, const struct nm_nest *nest, const uint64_t *misses)
{
	struct nm_nest_reference_info r;

	for (size_t i = 0; nm_nest_reference_at(nest, i, &r); i++)
		add_misses(s, r.array, r.name, r.line, misses[i]);
}

static int run_once(struct sweep *s, struct nm_nest *nest, const struct nm_engine_options *options,
		    struct nm_result *ret_result)
{
	const char *argv[] = {s->request->path, NULL};
	struct nm_nest_sink sink = {feed_engine, NULL};
	struct nm_engine *engine = NULL;
	int status = nm_engine_new(&engine, options, &s->err);

	sink.self = engine;
	if (!status)
		status = nm_nest_run(nest, argv, &sink, &s->err);
	if (!status)
		status = nm_engine_finish(engine, ret_result, &s->err);
	nm_engine_free(engine);
	return status;
}

/* Levels with policy=opt find the next uses in passes before the one that counts. */
static int simulate_row(struct sweep *s, struct nm_nest *nest)
{
	struct nm_engine_options options = {.machine = s->request->run->engine.machine,
					    .threads = s->request->run->engine.threads};
	struct nm_result result = {0};
	int status = nm_symbols_new(&options.symbols, &s->err);

	if (!status)
		status = nm_oracle_new(&options.oracle, options.machine, &s->err);
	while (!status && !nm_oracle_ready(options.oracle)) {
		status = run_once(s, nest, &options, &result);
		nm_result_free(&result);
		nm_oracle_next_run(options.oracle);
	}
	if (!status)
		status = run_once(s, nest, &options, &result);
	if (!status)
		add_result(s, &result);
	nm_result_free(&result);
	nm_oracle_free(options.oracle);
	nm_symbols_free(options.symbols);
	return status;
}

/* Warps where that can be, else simulates. */
static int count_row(struct sweep *s, struct nm_nest *nest)
{
	struct nm_nest_misses counted;
	int status = nm_nest_count_misses(nest, s->request->run->engine.machine, s->level, &counted);

	if (status == NM_NEST_SIMULATE)
		return simulate_row(s, nest);
	if (status)
		return nm_fail_memory(&s->err);
	add_counted(s, nest, counted.misses);
	free(counted.misses);
	return 0;
}

static int run_value(struct sweep *s, int64_t value, int by_reference)
{
	struct nm_nest *nest;
	char *setting;
	int status;

	if (asprintf(&setting, "%s=%lld", s->name, (long long)value) < 0)
		return nm_fail_memory(&s->err);
	s->settings[s->request->setting_count] = setting;
	status = nm_nest_load(&nest, s->request->path, s->settings, &s->err);
	if (!status) {
		if (!s->table.row_count)
			status = find_figures(s, nest, by_reference);
		if (!status)
			status = add_row(s, value);
		if (!status)
			status = count_row(s, nest);
		nm_nest_free(nest);
	}
	free(setting);
	return status;
}

static int run_all(struct sweep *s, int by_reference)
{
	uint64_t rows = ((uint64_t)s->range.to - (uint64_t)s->range.from) / (uint64_t)s->range.step + 1;
	int status = 0;

	for (uint64_t i = 0; i < rows && !status; i++) {
		if (s->request->run->feedback.progress)
			fprintf(stderr, "\r\033[Knearmiss: %llu of %llu", (unsigned long long)i + 1,
				(unsigned long long)rows);
		status = run_value(s, s->range.from + (int64_t)i * s->range.step, by_reference);
	}
	if (s->request->run->feedback.progress)
		fprintf(stderr, "\r\033[K");
	return status;
}

/* ---- the table ---- */

/* Prints a letter for each figure between two bars, and a star where several meet. */
static const char *plot_figures(struct nm_table *table, size_t row)
{
	const struct sweep *s = (const struct sweep *)table;
	char line[PLOT + 4];

	memset(line, ' ', sizeof line);
	for (size_t k = 0; k < s->figures.count; k++) {
		int64_t n = nm_table_at(table, row, (unsigned)k + 1)->integer;
		char *at = line + 1 + (s->most ? (size_t)((double)n / (double)s->most * PLOT) : 0);

		*at = *at == ' ' ? s->figures.at[k].letter : '*';
	}
	line[0] = line[PLOT + 2] = '|';
	line[PLOT + 3] = '\0';
	return nm_intern(&table->pool, line);
}

static int make_columns(struct sweep *s)
{
	char title[PLOT + 40];
	int width = snprintf(title, sizeof title, "%lld", (long long)s->most);
	const char *kept;

	snprintf(title, sizeof title, "|0%*s%lld|", PLOT > width ? PLOT - width : 1, "", (long long)s->most);
	kept = nm_intern(&s->table.pool, title);
	if (!kept || nm_vec_push(&s->columns, (struct nm_column){.name = s->name, .title = s->name}))
		return nm_fail_memory(&s->err);
	for (size_t k = 0; k < s->figures.count; k++)
		if (nm_vec_push(&s->columns, (struct nm_column){.name = s->figures.at[k].column,
								.title = s->figures.at[k].title,
								.kind = NM_COLUMN_NUMBER}))
			return nm_fail_memory(&s->err);
	if (nm_vec_push(&s->columns,
			(struct nm_column){
			    .name = "plot", .title = kept, .kind = NM_COLUMN_RIGHT, .compose = plot_figures}))
		return nm_fail_memory(&s->err);
	s->table.columns = s->columns.at;
	s->table.column_count = (unsigned)s->columns.count;
	return 0;
}

static int sweep_done(struct sweep *s, int status)
{
	nm_table_done(&s->table);
	nm_vec_free(&s->figures);
	nm_vec_free(&s->columns);
	free(s->settings);
	free(s->name);
	return status;
}

int nm_nest_sweep(const struct nm_nest_request *request, const struct nm_sweep *sweep,
		  const struct nm_style *style, FILE *out)
{
	struct sweep s = {.request = request};
	struct nm_nest *nest;
	int status = nm_nest_load(&nest, request->path, request->settings, &s.err);

	if (status)
		return sweep_done(&s, nm_failed(&s.err, NM_STATUS_BAD_INPUT));
	status = read_range(&s, nest, sweep->range);
	nm_nest_free(nest);
	if (!status)
		status = find_level(&s, sweep->level);
	if (status)
		return sweep_done(&s, nm_failed(&s.err, NM_STATUS_USAGE));
	s.settings = calloc(request->setting_count + 2, sizeof *s.settings);
	if (!s.settings)
		return sweep_done(&s, nm_failed(&s.err, nm_fail_memory(&s.err)));
	for (size_t i = 0; i < request->setting_count; i++)
		s.settings[i] = request->settings[i];
	status = run_all(&s, sweep->by_reference);
	if (status)
		return sweep_done(&s, nm_failed(&s.err, NM_STATUS_BAD_INPUT));
	s.table.column_count = (unsigned)s.figures.count + 2;
	status = make_columns(&s);
	if (!status)
		status = nm_table_show(&s.table, "sweep", request->run->engine.machine->levels[s.level].name,
				       style, out, &s.err);
	return sweep_done(&s, status ? nm_failed(&s.err, NM_STATUS_FAILED) : 0);
}
