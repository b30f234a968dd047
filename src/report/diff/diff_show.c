/* SPDX-License-Identifier: MIT
 *
 * diff_show.c - a comparison as text, CSV, JSON, or Markdown for a pull request.
 *
 * Profiles are called A, B, ... in the order of the command. All layouts have the same rows; columns are
 * those of a table (table.h), so that text fits a width.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "diff_priv.h"
#include "memstream.h"

enum { MOST_COLUMNS = NM_DIFF_KEYS + 4 + (NM_DIFF_METRICS + 1) * NM_DIFF_SIDES + 2 * NM_DIFF_METRICS };

struct show {
	const struct nm_diff *diff;
	struct nm_table table;
	struct nm_column columns[MOST_COLUMNS];
	size_t shown;                /* rows */
	char *quotes[NM_DIFF_SIDES]; /* of the sides after the first (quote.c) */
};

/* ---- columns ------------------------------------------------------------------------------------ */

static struct nm_column *put_column(struct show *s, struct nm_column column)
{
	struct nm_column *to = &s->columns[s->table.column_count++];

	*to = column;
	return to;
}

static const char *put_labelled(struct show *s, const char *format, const char *name, unsigned side)
{
	char text[64];

	snprintf(text, sizeof text, format, name, 'a' + (int)side);
	return nm_intern(&s->table.pool, text);
}

static const char *put_titled(struct show *s, const char *name, unsigned side)
{
	char text[64];

	snprintf(text, sizeof text, "%s %c", name, 'A' + (int)side);
	return nm_intern(&s->table.pool, text);
}

static const char *put_changed(struct show *s, const char *name, const char *format)
{
	char text[64];

	snprintf(text, sizeof text, format, name);
	return nm_intern(&s->table.pool, text);
}

unsigned nm_diff_key_columns(const char *has, struct nm_column *to)
{
	static const unsigned order[] = {NM_DIFF_PROCESS, NM_DIFF_LEVEL,    NM_DIFF_OBJECT,
					 NM_DIFF_TYPE,    NM_DIFF_FIELD,    NM_DIFF_FILE,
					 NM_DIFF_LINE,    NM_DIFF_FUNCTION, NM_DIFF_CLASS};
	unsigned count = 0;

	for (unsigned i = 0; i < NM_DIFF_KEYS; i++) {
		const unsigned key = order[i];
		const int in_place = has[NM_DIFF_LINE] &&
				     (key == NM_DIFF_FILE || key == NM_DIFF_LINE || key == NM_DIFF_FUNCTION);

		if (!has[key])
			continue;
		if (key == NM_DIFF_FILE && has[NM_DIFF_LINE])
			to[count++] = (struct nm_column){.name = "where",
							 .title = "line",
							 .kind = NM_COLUMN_LOCATION,
							 .compose = nm_compose_location};
		to[count++] = (struct nm_column){.name = nm_diff_key_names[key],
						 .title = in_place ? NULL : nm_diff_key_names[key],
						 .kind = key == NM_DIFF_LINE ? NM_COLUMN_PLAIN
							 : key == NM_DIFF_LEVEL || key == NM_DIFF_CLASS
							     ? NM_COLUMN_TEXT
							     : NM_COLUMN_NAME};
	}
	return count;
}

static void put_keys(struct show *s)
{
	s->table.column_count = nm_diff_key_columns(s->diff->has, s->columns);
	s->table.keys = s->table.column_count;
	put_column(
	    s, (struct nm_column){.name = "before", .title = "was", .kind = NM_COLUMN_NAME, .drop_order = 7});
}

static void put_metric(struct show *s, enum nm_diff_metric metric, unsigned drop_sides, unsigned drop_change)
{
	const char *name = nm_diff_metric_names[metric];

	assert(metric < NM_DIFF_METRICS);
	for (unsigned side = 0; side < s->diff->count; side++)
		put_column(s, (struct nm_column){.name = put_labelled(s, "%s_%c", name, side),
						 .title = put_titled(s, name, side),
						 .kind = NM_COLUMN_NUMBER,
						 .hidden = drop_sides > 9,
						 .drop_order = drop_sides});
	put_column(s, (struct nm_column){
			  .name = put_changed(s, name, "%s_change"),
			  .title = metric == NM_DIFF_MISSES ? "change" : put_changed(s, name, "%s change"),
			  .kind = NM_COLUMN_RIGHT,
			  .hidden = drop_change > 9,
			  .drop_order = drop_change});
	if (metric == NM_DIFF_MISSES)
		put_column(
		    s, (struct nm_column){.name = "change_percent", .title = "%", .kind = NM_COLUMN_RIGHT});
}

static void put_columns(struct show *s)
{
	const int classes = s->diff->has[NM_DIFF_CLASS];

	put_keys(s);
	put_metric(s, NM_DIFF_MISSES, s->diff->count > 2 ? 0 : 6, 0);
	put_metric(s, NM_DIFF_CYCLES, 10, classes ? 10 : 5);
	put_metric(s, NM_DIFF_REFERENCES, 10, 10);
	put_metric(s, NM_DIFF_LOADS, 10, 10);
	s->table.columns = s->columns;
}

/* ---- rows --------------------------------------------------------------------------------------- */

static struct nm_value text_value(struct nm_table *table, const char *text)
{
	char *clean = text ? nm_utf8_clean(text) : NULL;

	return text ? (struct nm_value){.type = NM_VALUE_TEXT, .text = nm_table_keep(table, clean)}
		    : (struct nm_value){.type = NM_VALUE_NULL};
}

static struct nm_value count_value(int64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = n, .real = (double)n};
}

struct nm_value nm_diff_key_value(struct nm_table *table, const struct nm_diff_names *names, unsigned key)
{
	assert(key < NM_DIFF_KEYS);
	if (key != NM_DIFF_LINE)
		return text_value(table, names->text[key]);
	return names->line ? count_value(names->line) : (struct nm_value){.type = NM_VALUE_NULL};
}

/* What the first profile that has the row calls it, where that differs. */
static struct nm_value before_value(struct show *s, const struct nm_diff_row *row)
{
	const struct nm_diff_names *now = nm_diff_row_names(row, s->diff->count),
				   *was = nm_diff_row_before(row);
	const char *has = s->diff->has, *file = was->text[NM_DIFF_FILE];
	struct nm_value value = {.type = NM_VALUE_NULL};
	char *text;

	if (has[NM_DIFF_LINE] && (was->line != now->line || file != now->text[NM_DIFF_FILE] ||
				  was->text[NM_DIFF_FUNCTION] != now->text[NM_DIFF_FUNCTION])) {
		if (asprintf(&text, "%s:%lld",
			     nm_table_file_name(&s->table, file) ? nm_table_file_name(&s->table, file) : "?",
			     (long long)was->line) < 0)
			text = NULL;
		value = text_value(&s->table, text ? text : "");
		free(text);
	} else if (has[NM_DIFF_OBJECT] && was->text[NM_DIFF_OBJECT] != now->text[NM_DIFF_OBJECT]) {
		value = text_value(&s->table, was->text[NM_DIFF_OBJECT]);
	} else if (has[NM_DIFF_FUNCTION] && was->text[NM_DIFF_FUNCTION] != now->text[NM_DIFF_FUNCTION]) {
		value = text_value(&s->table, was->text[NM_DIFF_FUNCTION]);
	}
	return value;
}

/* Text groups digits and has a sign; other layouts have numbers. */
static struct nm_value change_value(struct show *s, int64_t change)
{
	char *text = NULL;
	FILE *out;

	if (s->diff->request->layout != NM_DIFF_TEXT && s->diff->request->layout != NM_DIFF_MARKDOWN)
		return count_value(change);
	out = nm_memstream_open(&text, NULL);
	if (!out)
		return (struct nm_value){.type = NM_VALUE_TEXT};
	fputs(change > 0 ? "+" : "", out);
	nm_print_grouped(change, out);
	if (nm_memstream_close(out, &text))
		text = NULL;
	return (struct nm_value){.type = NM_VALUE_TEXT, .text = nm_table_keep(&s->table, text)};
}

static struct nm_value percent_value(struct show *s, int64_t before, int64_t after)
{
	char text[NM_DIFF_PERCENT_ROOM];

	if (s->diff->request->layout == NM_DIFF_TEXT || s->diff->request->layout == NM_DIFF_MARKDOWN)
		return text_value(&s->table, nm_diff_percent(before, after, text));
	return before ? (struct nm_value){.type = NM_VALUE_REAL,
					  .real = 100 * (double)(after - before) / (double)before}
		      : (struct nm_value){.type = NM_VALUE_NULL};
}

static void fill_metric(struct show *s, const struct nm_diff_row *row, enum nm_diff_metric metric,
			struct nm_value **to)
{
	const unsigned last = s->diff->count - 1;

	for (unsigned side = 0; side <= last; side++)
		*(*to)++ = count_value(row->sums[side][metric]);
	*(*to)++ = change_value(s, nm_diff_change(row, s->diff->count, metric));
	if (metric == NM_DIFF_MISSES)
		*(*to)++ = percent_value(s, row->sums[0][metric], row->sums[last][metric]);
}

static int fill_row(struct show *s, const struct nm_diff_row *row)
{
	static const enum nm_diff_metric metrics[] = {NM_DIFF_MISSES, NM_DIFF_CYCLES, NM_DIFF_REFERENCES,
						      NM_DIFF_LOADS};
	const struct nm_diff_names *names = nm_diff_row_names(row, s->diff->count);
	struct nm_table *t = &s->table;
	struct nm_value *to, *from;

	if (nm_vec_reserve(&t->values, t->column_count))
		return NM_ENOMEM;
	from = to = &t->values.at[t->values.count];
	for (unsigned i = 0; i < t->keys; i++) {
		unsigned key = 0;

		while (key < NM_DIFF_KEYS && strcmp(t->columns[i].name, nm_diff_key_names[key]))
			key++;
		*to++ = key < NM_DIFF_KEYS ? nm_diff_key_value(t, names, key)
					   : (struct nm_value){.type = NM_VALUE_NULL};
	}
	*to++ = before_value(s, row);
	for (unsigned m = 0; m < sizeof metrics / sizeof *metrics; m++)
		fill_metric(s, row, metrics[m], &to);
	assert(to == from + t->column_count);
	t->values.count += t->column_count;
	t->row_count++;
	for (; from < to; from++)
		if (from->type == NM_VALUE_TEXT && !from->text)
			return NM_ENOMEM;
	return 0;
}

static int fill_table(struct show *s)
{
	const struct nm_diff_rows *rows = &s->diff->rows;
	const size_t limit = (size_t)s->diff->request->limit, offset = (size_t)s->diff->request->offset,
		     first = offset < rows->at.count ? offset : rows->at.count, rest = rows->at.count - first;
	int names = 0;

	put_columns(s);
	for (unsigned i = 0; i < s->table.column_count; i++)
		if (!s->columns[i].name)
			return NM_ENOMEM;
	s->shown = limit && limit < rest ? limit : rest;
	for (size_t i = 0; i < s->shown; i++)
		if (fill_row(s, &rows->at.at[first + i]))
			return NM_ENOMEM;
	for (size_t i = 0; i < s->shown; i++)
		names |= nm_table_named(&s->table, i, "before")->type == NM_VALUE_TEXT;
	s->columns[s->table.keys].hidden = !names;
	return 0;
}

/* ---- text --------------------------------------------------------------------------------------- */

static int same_machine(const struct nm_diff *diff)
{
	for (unsigned i = 1; i < diff->count; i++)
		if (diff->sides[i].machine != diff->sides[0].machine)
			return 0;
	return 1;
}

/* Says of hermetic recordings why their counts may differ though the program does not. */
static void print_pinned(const struct nm_diff *diff, FILE *out)
{
	unsigned hermetic = 0, same = 0;

	for (unsigned i = 0; i < diff->count; i++) {
		hermetic += *diff->sides[i].pinned != '\0';
		same += diff->sides[i].pinned == diff->sides[0].pinned;
	}
	if (!hermetic)
		return;
	fputs("hermetic    ", out);
	if (same == diff->count)
		fputs("all, with the same values pinned\n", out);
	else if (hermetic == diff->count)
		fputs("all, but with different values pinned: see the keys hermetic_* of view info\n", out);
	else {
		for (unsigned i = 0; i < diff->count; i++)
			if (*diff->sides[i].pinned)
				fprintf(out, "%c ", 'A' + (int)i);
		fputs("only: clocks, random numbers and environment may differ\n", out);
	}
}

static int print_sides(const struct nm_diff *diff, unsigned width, FILE *out)
{
	const int same = same_machine(diff);
	size_t widest = 0;
	char lead[16];
	int status = 0;

	for (unsigned i = 0; i < diff->count; i++)
		if (strlen(diff->sides[i].path) > widest)
			widest = strlen(diff->sides[i].path);
	for (unsigned i = 0; i < diff->count; i++) {
		const struct nm_diff_side *side = &diff->sides[i];

		snprintf(lead, sizeof lead, "%c           ", 'A' + (int)i);
		status |= nm_print_sentence(lead, width, out, "%-*s  %s%s%s", (int)widest, side->path,
					    side->command, same ? "" : "  on ", same ? "" : side->machine);
	}
	if (same && *diff->sides[0].machine)
		nm_print_wrapped("machine     ", diff->sides[0].machine, width, out);
	print_pinned(diff, out);
	return status;
}

/* Index of a level of the first profile in another, or NM_REPORT_LEVELS. */
static unsigned level_in(const struct nm_diff_side *side, const char *name)
{
	unsigned i = 0;

	while (i < side->selection.levels.count && strcmp(side->selection.levels.at[i].name, name))
		i++;
	return i < side->selection.levels.count ? i : NM_REPORT_LEVELS;
}

enum { TOTAL_COLUMNS = NM_DIFF_SIDES + 3 };

/* Instructions (name NULL), or misses of a level that all profiles have. */
static int push_total(struct show *s, struct nm_table *t, const char *name)
{
	const struct nm_diff *diff = s->diff;
	int64_t first = 0, last = 0;

	for (unsigned side = 0; side < diff->count; side++)
		if (name && level_in(&diff->sides[side], name) == NM_REPORT_LEVELS)
			return 0;
	if (nm_vec_reserve(&t->values, t->column_count))
		return NM_ENOMEM;
	nm_vec_push(&t->values, text_value(&s->table, name ? name : "instructions"));
	for (unsigned side = 0; side < diff->count; side++) {
		const struct nm_diff_side *from = &diff->sides[side];

		last = name ? from->misses[level_in(from, name)] : from->instructions;
		first = side ? first : last;
		nm_vec_push(&t->values, count_value(last));
	}
	nm_vec_push(&t->values, change_value(s, last - first));
	nm_vec_push(&t->values, percent_value(s, first, last));
	t->row_count++;
	return 0;
}

static int fill_totals(struct show *s, struct nm_column *columns, struct nm_table *t)
{
	const struct nm_levels *levels = &s->diff->sides[0].selection.levels;
	unsigned n = 0;
	int status = 0;

	columns[n++] = (struct nm_column){.name = "level", .title = "level", .kind = NM_COLUMN_TEXT};
	for (unsigned side = 0; side < s->diff->count; side++)
		columns[n++] = (struct nm_column){
		    .name = "misses", .title = put_titled(s, "misses", side), .kind = NM_COLUMN_NUMBER};
	columns[n++] = (struct nm_column){.name = "change", .title = "change", .kind = NM_COLUMN_RIGHT};
	columns[n++] = (struct nm_column){.name = "percent", .title = "%", .kind = NM_COLUMN_RIGHT};
	t->columns = columns;
	t->column_count = n;
	for (unsigned i = 0; i < levels->count && !status; i++)
		status = push_total(s, t, levels->at[i].name);
	return status ? status : push_total(s, t, NULL);
}

static int as_text(struct show *s, const char *verdict, const struct nm_style *style, FILE *out)
{
	const struct nm_diff_rows *rows = &s->diff->rows;
	struct nm_column columns[TOTAL_COLUMNS];
	struct nm_table totals = {.row_count = 0};
	int status = fill_totals(s, columns, &totals);

	nm_print_wrapped("verdict     ", verdict, style->width, out);
	status = status ? status : print_sides(s->diff, style->width, out);
	fputc('\n', out);
	if (!status)
		status = nm_table_text(&totals, style, out);
	nm_table_done(&totals);
	if (!status && s->shown) {
		fprintf(out, "\nChanges, %s\n", s->diff->sides[0].selection.request.level);
		status = nm_table_text(&s->table, style, out);
	}
	if (s->shown < rows->at.count)
		fprintf(out, "\nand %zu more (--limit 0 shows them); %zu did not change\n",
			rows->at.count - s->shown, rows->unchanged);
	for (unsigned side = 1; side < s->diff->count; side++) {
		fputc('\n', out);
		nm_print_wrapped(side > 1 ? "            " : "to quote    ", s->quotes[side], style->width,
				 out);
	}
	return status;
}

/* ---- Markdown ----------------------------------------------------------------------------------- */

void nm_markdown_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (strchr("|\\`*_<>[]", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

int nm_markdown_table(struct nm_table *t, FILE *out)
{
	for (unsigned line = 0; line < 2; line++) {
		for (unsigned i = 0; i < t->column_count; i++) {
			const struct nm_column *c = &t->columns[i];
			const int is_name = c->kind == NM_COLUMN_NAME || c->kind == NM_COLUMN_LOCATION ||
					    c->kind == NM_COLUMN_TEXT;

			if (c->title && !c->hidden)
				fprintf(out, "| %s ", line ? is_name ? "---" : "--:" : c->title);
		}
		fputs("|\n", out);
	}
	for (size_t row = 0; row < t->row_count; row++) {
		for (unsigned i = 0; i < t->column_count; i++) {
			char *text;

			if (!t->columns[i].title || t->columns[i].hidden)
				continue;
			text = nm_table_format(t, row, i);
			if (!text)
				return NM_ENOMEM;
			fputs("| ", out);
			nm_markdown_text(text, out);
			fputc(' ', out);
			free(text);
		}
		fputs("|\n", out);
	}
	return 0;
}

static int as_markdown(struct show *s, const char *verdict, FILE *out)
{
	struct nm_column columns[TOTAL_COLUMNS];
	struct nm_table totals = {.row_count = 0};
	int status = fill_totals(s, columns, &totals);

	fputs("**nearmiss**: ", out);
	nm_markdown_text(verdict, out);
	fputs(".\n\n", out);
	if (!status)
		status = nm_markdown_table(&totals, out);
	nm_table_done(&totals);
	if (s->shown) {
		fputc('\n', out);
		status = status ? status : nm_markdown_table(&s->table, out);
	}
	for (unsigned i = 0; i < s->diff->count; i++) {
		fprintf(out, "%s%c: ", i ? "; " : "\n", 'A' + (int)i);
		nm_markdown_text(s->diff->sides[i].command, out);
		fputs(" on ", out);
		nm_markdown_text(s->diff->sides[i].machine, out);
	}
	fputs(". Counts are simulated and exact for the layout of memory of each run.\n", out);
	for (unsigned side = 1; side < s->diff->count; side++) {
		fputs("\n> ", out);
		nm_markdown_text(s->quotes[side], out);
		fputc('\n', out);
	}
	return status;
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static int as_json(struct show *s, const char *verdict, FILE *out)
{
	int status = 0;

	nm_json_begin("diff", out);
	fputs(",\"level\":", out);
	status |= nm_json_text(s->diff->sides[0].selection.request.level, out);
	fputs(",\"verdict\":", out);
	status |= nm_json_text(verdict, out);
	fputs(",\n\"profiles\":[", out);
	for (unsigned i = 0; i < s->diff->count; i++) {
		const struct nm_diff_side *side = &s->diff->sides[i];

		fputs(i ? ",\n{\"path\":" : "\n{\"path\":", out);
		status |= nm_json_text(side->path, out);
		fputs(",\"command\":", out);
		status |= nm_json_text(side->command, out);
		fputs(",\"machine\":", out);
		status |= nm_json_text(side->machine, out);
		fprintf(out, ",\"instructions\":%lld", (long long)side->instructions);
		for (unsigned m = 0; m < NM_DIFF_METRICS; m++)
			fprintf(out, ",\"%s\":%lld", nm_diff_metric_names[m], (long long)side->totals[m]);
		fputc('}', out);
	}
	fputs("\n],\n\"quotes\":[", out);
	for (unsigned side = 1; side < s->diff->count; side++) {
		fputs(side > 1 ? ",\n" : "\n", out);
		status |= nm_json_text(s->quotes[side], out);
	}
	fputs("\n],\n\"rows\":", out);
	status |= nm_table_json(&s->table, out);
	fprintf(out, ",\n\"changed\":%zu,\"unchanged\":%zu}\n", s->diff->rows.at.count,
		s->diff->rows.unchanged);
	return status ? NM_ENOMEM : 0;
}

int nm_diff_show(const struct nm_diff *diff, const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct show s = {.diff = diff};
	char *verdict = NULL;
	FILE *text = nm_memstream_open(&verdict, NULL);
	int status = text ? nm_diff_verdict(diff, text) : NM_ENOMEM, code = 0;

	if (text && nm_memstream_close(text, &verdict))
		status = NM_ENOMEM;
	if (!status)
		status = fill_table(&s);
	for (unsigned side = 1; side < diff->count && !status && !code; side++)
		code = nm_diff_quote(diff, side, &s.quotes[side], err);
	if (!status && !code) {
		switch (diff->request->layout) {
		case NM_DIFF_TEXT: status = as_text(&s, verdict, style, out); break;
		case NM_DIFF_CSV: status = nm_table_csv(&s.table, out); break;
		case NM_DIFF_JSON: status = as_json(&s, verdict, out); break;
		case NM_DIFF_MARKDOWN: status = as_markdown(&s, verdict, out); break;
		}
	}
	nm_table_done(&s.table);
	free(verdict);
	for (unsigned side = 1; side < diff->count; side++)
		free(s.quotes[side]);
	return code ? code : status ? nm_fail_memory(err) : 0;
}
