/* SPDX-License-Identifier: MIT
 *
 * agreement_show.c - where a model and a machine disagree, as text, CSV, JSON or Markdown: rows by the difference of
 * the shares.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agreement.h"
#include "columns.h"
#include "diff_priv.h"
#include "memstream.h"
#include "samples_report.h"

enum {
	MOST_COLUMNS = NM_DIFF_KEYS + 10,
	CHANCE = 20 /* of so many rows that agree, one is taken for one that does not */
};

struct outlier {
	const struct nm_diff_row *row;
	double model, machine, low, high; /* parts of the totals */
};

struct show {
	struct nm_agreement *a;
	struct nm_table table;
	struct nm_column columns[MOST_COLUMNS];
	struct nm_vec(struct outlier) outliers;
	double disagreeing; /* samples of these rows */
};

static int by_difference(const void *a, const void *b)
{
	const struct outlier *o = a, *y = b;
	const double p = fabs(o->machine - o->model), q = fabs(y->machine - y->model);

	return p != q ? (p < q) - (p > q) : (o->row > y->row) - (o->row < y->row);
}

static int list_outliers(struct show *s)
{
	const struct nm_agreement *a = s->a;

	for (size_t i = 0; i < a->rows.at.count; i++) {
		const struct nm_diff_row *row = &a->rows.at.at[i];
		const double samples = (double)row->sums[NM_MACHINE][NM_MACHINE_SAMPLES];
		struct outlier o = {.row = row,
				    .model = (double)row->sums[NM_MODEL][NM_MODEL_COUNT] / a->model,
				    .machine = samples / a->samples};

		nm_samples_interval(samples, a->samples, &o.low, &o.high);
		if (o.low <= o.model && o.model <= o.high)
			continue;
		s->disagreeing += samples;
		if (nm_vec_push(&s->outliers, o))
			return NM_ENOMEM;
	}
	if (s->outliers.count)
		qsort(s->outliers.at, s->outliers.count, sizeof *s->outliers.at, by_difference);
	return 0;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static void put_column(struct show *s, struct nm_column column)
{
	s->columns[s->table.column_count++] = column;
}

static void put_columns(struct show *s)
{
	s->table.column_count = nm_diff_key_columns(s->a->has, s->columns);
	s->table.keys = s->table.column_count;
	put_column(
	    s, (struct nm_column){.name = "model", .title = "model", .kind = NM_COLUMN_NUMBER, .hidden = 1});
	put_column(s, (struct nm_column){
			  .name = "model_share", .title = "model %", .kind = NM_COLUMN_REAL, .decimals = 1});
	put_column(s, (struct nm_column){
			  .name = "samples", .title = "samples", .kind = NM_COLUMN_NUMBER, .drop_order = 3});
	put_column(s,
		   (struct nm_column){
		       .name = "machine_share", .title = "machine %", .kind = NM_COLUMN_REAL, .decimals = 1});
	put_column(s, (struct nm_column){
			  .name = "interval", .title = "95 %", .kind = NM_COLUMN_RIGHT, .drop_order = 1});
	put_column(s, (struct nm_column){.name = "difference",
					 .title = "points",
					 .kind = NM_COLUMN_REAL,
					 .decimals = 1,
					 .drop_order = 4});
	put_column(s, (struct nm_column){.name = "reason", .title = "reason", .kind = NM_COLUMN_TEXT});
	put_column(s, (struct nm_column){
			  .name = "evidence", .title = "evidence", .kind = NM_COLUMN_TEXT, .drop_order = 9});
	s->table.columns = s->columns;
}

/* Takes over the text. */
static struct nm_value text_value(struct show *s, char *text)
{
	return (struct nm_value){.type = NM_VALUE_TEXT, .text = nm_table_keep(&s->table, text)};
}

static struct nm_value integer_value(int64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = n, .real = (double)n};
}

static struct nm_value percent_value(double part)
{
	return (struct nm_value){.type = NM_VALUE_REAL, .real = 100 * part};
}

static void set_keys(struct show *s, const struct nm_diff_row *row)
{
	const struct nm_diff_names *names = nm_diff_row_names(row, NM_AGREEMENT_SIDES);

	for (unsigned key = 0; key < NM_DIFF_KEYS; key++)
		if (s->a->has[key])
			nm_table_set(&s->table, nm_diff_key_names[key],
				     nm_diff_key_value(&s->table, names, key));
}

static int add_row(struct show *s, const struct outlier *o, struct nm_error *err)
{
	struct nm_reason reason;
	char *interval = NULL;
	int status = nm_agreement_reason(s->a, o->row, &reason, err);

	if (status)
		return status;
	if (nm_table_append(&s->table)) {
		free(reason.evidence);
		return nm_fail_memory(err);
	}
	set_keys(s, o->row);
	if (asprintf(&interval, "%.1f - %.1f", 100 * o->low, 100 * o->high) < 0)
		interval = NULL;
	nm_table_set(&s->table, "model", integer_value(o->row->sums[NM_MODEL][NM_MODEL_COUNT]));
	nm_table_set(&s->table, "model_share", percent_value(o->model));
	nm_table_set(&s->table, "samples", integer_value(o->row->sums[NM_MACHINE][NM_MACHINE_SAMPLES]));
	nm_table_set(&s->table, "machine_share", percent_value(o->machine));
	nm_table_set(&s->table, "interval", text_value(s, interval));
	nm_table_set(&s->table, "difference", percent_value(o->machine - o->model));
	if (reason.word) {
		nm_table_set(&s->table, "reason",
			     (struct nm_value){.type = NM_VALUE_TEXT, .text = reason.word});
		nm_table_set(&s->table, "evidence", text_value(s, reason.evidence));
	}
	return s->table.is_exhausted ? nm_fail_memory(err) : 0;
}

static int fill_table(struct show *s, struct nm_error *err)
{
	const size_t first = (size_t)s->a->request->offset, limit = (size_t)s->a->request->limit;
	int status = 0;

	put_columns(s);
	for (size_t i = first; i < s->outliers.count && !status && (!limit || i - first < limit); i++)
		status = add_row(s, &s->outliers.at[i], err);
	return status;
}

/* ---- the text ----------------------------------------------------------------------------------- */

/* "misses of L1d", "cold misses of tlb/L1, first touches of pages", "cycles that misses cost (estimated)". */
static void print_compared(const struct nm_agreement *a, FILE *out)
{
	switch (a->compared) {
	case NM_COMPARED_MISSES:
		fprintf(out, "%s of %s with accesses that it did not serve",
			a->loads_only ? "load misses" : "misses", a->level);
		break;
	case NM_COMPARED_TOUCHES:
		fprintf(out, "cold misses of %s with page faults: first touches of pages", a->level);
		break;
	case NM_COMPARED_TIME:
		fputs("cycles that misses cost (estimated) with time, by their shares", out);
		break;
	}
}

/* "model and machine agree on 12 of 15 rows; the other 3 have 41.0 % of 6,713 samples; ...". */
static void print_verdict(const struct show *s, FILE *out)
{
	const size_t all = s->a->rows.at.count, others = s->outliers.count;

	fprintf(out, "model and machine agree on %zu of %zu rows", all - others, all);
	if (others)
		fprintf(out, "; the other %zu %s %.1f %% of ", others, others == 1 ? "has" : "have",
			100 * s->disagreeing / s->a->samples);
	else
		fputs(", by ", out);
	nm_print_grouped((int64_t)s->a->samples, out);
	fputs(" samples", out);
	if (others)
		fprintf(out, "; of rows that do agree, one in %d is among these by chance", CHANCE);
}

static void print_side(const char *lead, const struct nm_diff_side *side, const char *on, unsigned width,
		       FILE *out)
{
	char *text = NULL;
	FILE *line = nm_memstream_open(&text, NULL);

	if (!line)
		return;
	fprintf(line, "%s  %s%s%s", side->path, side->command, *on ? "  on " : "", on);
	if (!nm_memstream_close(line, &text))
		nm_print_wrapped(lead, text, width, out);
	free(text);
}

static int as_text(struct show *s, const char *verdict, const char *compared, const struct nm_style *style,
		   FILE *out)
{
	const struct nm_agreement *a = s->a;
	int status = 0;

	nm_print_wrapped("verdict     ", verdict, style->width, out);
	print_side("model       ", &a->sides[NM_MODEL], a->sides[NM_MODEL].machine, style->width, out);
	print_side("machine     ", &a->sides[NM_MACHINE], a->host, style->width, out);
	nm_print_wrapped("sampled     ", a->events, style->width, out);
	nm_print_wrapped("compared    ", compared, style->width, out);
	if (s->table.row_count) {
		fputs("\nWhere they disagree\n", out);
		status = nm_table_text(&s->table, style, out);
	}
	if (s->table.row_count < s->outliers.count)
		fprintf(out, "\nand %zu more (--limit 0 shows them)\n",
			s->outliers.count - s->table.row_count);
	return status;
}

static int json_side(const char *name, const struct nm_diff_side *side, const char *on, FILE *out)
{
	int status;

	fprintf(out, ",\n\"%s\":{\"path\":", name);
	status = nm_json_text(side->path, out);
	fputs(",\"command\":", out);
	status |= nm_json_text(side->command, out);
	fputs(",\"on\":", out);
	status |= nm_json_text(on, out);
	fputc('}', out);
	return status;
}

static int as_json(struct show *s, const char *verdict, const char *compared, FILE *out)
{
	const struct nm_agreement *a = s->a;
	int status;

	nm_json_begin("agreement", out);
	fputs(",\"verdict\":", out);
	status = nm_json_text(verdict, out);
	fputs(",\"compared\":", out);
	status |= nm_json_text(compared, out);
	fputs(",\"events\":", out);
	status |= nm_json_text(a->events, out);
	status |= json_side("model", &a->sides[NM_MODEL], a->sides[NM_MODEL].machine, out);
	status |= json_side("machine", &a->sides[NM_MACHINE], a->host, out);
	fprintf(out, ",\n\"samples\":%.0f,\"agree\":%zu,\"disagree\":%zu,\n\"rows\":", a->samples,
		a->rows.at.count - s->outliers.count, s->outliers.count);
	status |= nm_table_json(&s->table, out);
	fputs("}\n", out);
	return status;
}

static int as_markdown(struct show *s, const char *verdict, const char *compared, FILE *out)
{
	fputs("**nearmiss**: ", out);
	nm_markdown_text(verdict, out);
	fputs(".\n\n", out);
	if (nm_markdown_table(&s->table, out))
		return NM_ENOMEM;
	fputs("\nCompared: ", out);
	nm_markdown_text(compared, out);
	fputs(".\n", out);
	return 0;
}

static int write_agreement(struct show *s, const char *verdict, const char *compared,
			   const struct nm_style *style, FILE *out)
{
	switch (s->a->request->layout) {
	case NM_DIFF_CSV: return nm_table_csv(&s->table, out);
	case NM_DIFF_JSON: return as_json(s, verdict, compared, out);
	case NM_DIFF_MARKDOWN: return as_markdown(s, verdict, compared, out);
	default: return as_text(s, verdict, compared, style, out);
	}
}

int nm_agreement_show(struct nm_agreement *a, const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct show s = {.a = a};
	char *verdict = NULL, *compared = NULL;
	FILE *first, *second;
	int status = list_outliers(&s) ? nm_fail_memory(err) : 0;

	first = nm_memstream_open(&verdict, NULL);
	second = nm_memstream_open(&compared, NULL);
	if (first)
		print_verdict(&s, first);
	if (second)
		print_compared(a, second);
	if (!first || nm_memstream_close(first, &verdict) || !second || nm_memstream_close(second, &compared))
		status = nm_fail_memory(err);
	if (!status)
		status = fill_table(&s, err);
	if (!status && write_agreement(&s, verdict, compared, style, out))
		status = nm_fail_memory(err);
	nm_table_done(&s.table);
	nm_vec_free(&s.outliers);
	free(verdict);
	free(compared);
	return status;
}
