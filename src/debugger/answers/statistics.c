/* SPDX-License-Identifier: MIT
 *
 * statistics.c - sums up to a position and over an interval, for the whole run or by object, reference, set
 * or line of memory; and the density of misses over the run.
 *
 * misses + reuses = references: a reuse is a reference that hits.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"

enum { MOST_ROWS = 1000, MOST_BINS = 2048 };

/* Sums up to two positions. */
struct interval {
	unsigned level;
	uint64_t from, to;
	struct nm_sums *before, *until; /* by key */
	size_t count;
};

static int read_interval(const struct nm_question *q, int by_set, struct interval *ret, struct nm_error *err)
{
	struct nm_debugger *d = q->debugger;
	const int64_t total = (int64_t)nm_debugger_total(d);
	int64_t from, to;
	int status = nm_question_level(q, &ret->level, err);

	if (!status)
		status = nm_question_number(q, "from", 0, &from, err);
	if (!status)
		status = nm_question_number(q, "to", (int64_t)nm_debugger_position(d), &to, err);
	if (!status && (from < 0 || from > to || to > total))
		status = nm_fail(err, NM_EINVAL, "positions must go up from 0 to the last reference");
	if (status)
		return status;
	ret->from = (uint64_t)from;
	ret->to = (uint64_t)to;
	status = nm_debugger_sums(d, ret->from, ret->level, by_set, &ret->before, &ret->count, err);
	return status ? status
		      : nm_debugger_sums(d, ret->to, ret->level, by_set, &ret->until, &ret->count, err);
}

static void add_sums(struct nm_sums *to, const struct nm_sums *more)
{
	to->references += more->references;
	to->misses += more->misses;
	to->evictions += more->evictions;
	for (unsigned k = 0; k < NM_CLASSES; k++)
		to->of_class[k] += more->of_class[k];
}

/* ---- rows ---- */

/* Sums of one row: up to `to`, and up to `from`. */
struct row {
	json_t *name;
	uint32_t number;
	struct nm_sums until, before;
};

struct rows {
	struct row *at;
	size_t count;
};

static json_t *row_json(const struct row *r)
{
	const uint64_t references = r->until.references, misses = r->until.misses,
		       new_references = references - r->before.references,
		       new_misses = misses - r->before.misses;

	return json_pack(
	    "[O, I, I, I, f, I, I, I, I, I, I, I, I, f]", r->name, (json_int_t)references, (json_int_t)misses,
	    (json_int_t)(references - misses), references ? (double)misses / (double)references : 0.0,
	    (json_int_t)r->until.of_class[NM_CLASS_COLD], (json_int_t)r->until.of_class[NM_CLASS_CAPACITY],
	    (json_int_t)r->until.of_class[NM_CLASS_CONFLICT],
	    (json_int_t)r->until.of_class[NM_CLASS_COHERENCE], (json_int_t)r->until.evictions,
	    (json_int_t)new_references, (json_int_t)new_misses, (json_int_t)(new_references - new_misses),
	    new_references ? (double)new_misses / (double)new_references : 0.0);
}

static json_t *columns_json(const char *key)
{
	return json_pack("[s, s, s, s, s, s, s, s, s, s, s, s, s, s]", key, "references", "misses", "reuses",
			 "ratio", "cold", "capacity", "conflict", "coherence", "evictions",
			 "interval_references", "interval_misses", "interval_reuses", "interval_ratio");
}

static int by_misses(const void *left, const void *right)
{
	const struct row *r = left, *b = right;

	if (r->until.misses != b->until.misses)
		return r->until.misses < b->until.misses ? 1 : -1;
	if (r->until.references != b->until.references)
		return r->until.references < b->until.references ? 1 : -1;
	return (r->number > b->number) - (r->number < b->number);
}

/* Rows with the most misses first, and one row for the rest. */
static json_t *rows_json(struct rows *rows, const char *key, int ordered)
{
	struct row rest = {.name = json_string("(rest)")};
	json_t *list = json_array(), *answer;

	if (!ordered)
		qsort(rows->at, rows->count, sizeof *rows->at, by_misses);
	for (size_t i = 0; i < rows->count; i++) {
		if (i < MOST_ROWS || ordered) {
			json_array_append_new(list, row_json(&rows->at[i]));
		} else {
			add_sums(&rest.until, &rows->at[i].until);
			add_sums(&rest.before, &rows->at[i].before);
		}
	}
	answer =
	    json_pack("{s:o, s:o, s:I, s:o}", "columns", columns_json(key), "rows", list, "total_rows",
		      (json_int_t)rows->count, "rest", rest.until.references ? row_json(&rest) : json_null());
	json_decref(rest.name);
	return answer;
}

static void free_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		json_decref(rows->at[i].name);
	free(rows->at);
}

/* ---- groupings ---- */

enum by { BY_TOTAL, BY_OBJECT, BY_REFERENCE, BY_SET, BY_LINE, BYS };
static const char *const by_names[BYS] = {"total", "object", "reference", "set", "line"};

static json_t *site_name(const struct nm_debugger *d, uint32_t attr)
{
	const struct nm_debug_site *s = &d->checkpoints->program.sites.at[attr];

	assert(attr < d->checkpoints->program.sites.count);
	return json_pack("{s:o, s:o, s:I, s:o, s:I}", "function", nm_text_json(s->function), "file",
			 nm_text_json(s->file), "line", (json_int_t)s->line, "object",
			 nm_text_json(nm_debug_object_name(&d->checkpoints->program, s->object)), "thread",
			 (json_int_t)s->thread);
}

/* The row that the sums of an attribution key are added to. */
static size_t row_of(const struct nm_debugger *d, enum by by, size_t attr)
{
	const struct nm_debug_site *site = &d->checkpoints->program.sites.at[attr];

	assert(attr < d->checkpoints->program.sites.count);
	return by == BY_TOTAL ? 0
	       : by == BY_OBJECT
		   ? (site->object == NM_NO_OBJECT ? d->checkpoints->program.objects.count : site->object)
		   : site->row;
}

static json_t *name_of(const struct nm_debugger *d, enum by by, size_t row)
{
	return by == BY_TOTAL    ? json_string("total")
	       : by == BY_OBJECT ? nm_text_json(nm_debug_object_name(&d->checkpoints->program, (uint32_t)row))
	       : by == BY_SET    ? json_integer((json_int_t)row)
				 : site_name(d, (uint32_t)row);
}

static int make_rows(const struct nm_debugger *d, enum by by, const struct interval *i, struct rows *ret)
{
	const size_t room = by == BY_TOTAL    ? 1
			    : by == BY_OBJECT ? d->checkpoints->program.objects.count + 1
					      : i->count;
	struct row *rows = calloc(room + 1, sizeof *rows);

	if (!rows)
		return NM_ENOMEM;
	for (size_t k = 0; k < i->count; k++) {
		struct row *r = &rows[by == BY_SET ? k : row_of(d, by, k)];

		add_sums(&r->until, &i->until[k]);
		add_sums(&r->before, &i->before[k]);
	}
	ret->at = rows;
	for (size_t k = 0; k < room; k++) {
		if (!rows[k].until.references && !rows[k].until.evictions && by != BY_SET && by != BY_TOTAL)
			continue;
		rows[ret->count] = rows[k];
		rows[ret->count].number = (uint32_t)k;
		rows[ret->count++].name = name_of(d, by, k);
	}
	return 0;
}

/* ---- lines of memory: counted in another run over the interval ---- */

static int by_line(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	struct interval i = {.before = NULL};
	struct nm_line_sum *lines = NULL;
	struct rows rows = {0};
	size_t count = 0;
	int status = read_interval(q, 0, &i, err);

	if (!status)
		status = nm_debugger_lines(q->debugger, i.from, i.to, i.level, &lines, &count, err);
	rows.at = status ? NULL : calloc(count + 1, sizeof *rows.at);
	if (!status && !rows.at)
		status = nm_fail_memory(err);
	for (size_t k = 0; k < count && !status; k++) {
		rows.at[k] =
		    (struct row){.number = (uint32_t)k,
				 .until = {.references = lines[k].references, .misses = lines[k].misses}};
		rows.at[k].name = json_pack("{s:I, s:o}", "address", (json_int_t)lines[k].line, "object",
					    nm_object_json(q->debugger, lines[k].attr));
		rows.count++;
	}
	if (!status)
		*ret = rows_json(&rows, "line", 0);
	free_rows(&rows);
	free(lines);
	free(i.before);
	free(i.until);
	return status;
}

int nm_answer_statistics(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	const char *word = nm_question_text(q, "by");
	struct interval i = {.before = NULL};
	struct rows rows = {0};
	enum by by = BY_TOTAL;
	int status;

	while (word && by < BYS && strcmp(by_names[by], word) != 0)
		by++;
	if (by == BYS)
		return nm_fail(err, NM_EINVAL, "\"by\" is total, object, reference, line or set");
	if (by == BY_LINE)
		return by_line(q, ret, err);
	status = read_interval(q, by == BY_SET, &i, err);
	if (!status && make_rows(q->debugger, by, &i, &rows))
		status = nm_fail_memory(err);
	if (!status)
		*ret = rows_json(&rows, by_names[by], by == BY_SET);
	free_rows(&rows);
	free(i.before);
	free(i.until);
	return status;
}

/* ---- the strip ---- */

/* Merges bins of the record, whose width is the finest resolution. */
int nm_answer_strip(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	const struct nm_debugger *d = q->debugger;
	const struct nm_shared_record *r = &d->checkpoints->record;
	const uint64_t total = nm_debugger_total(d);
	json_t *list = json_array();
	int64_t from, to, bins;
	int status = nm_question_number(q, "from", 0, &from, err);

	if (!status)
		status = nm_question_number(q, "to", (int64_t)total, &to, err);
	if (!status)
		status = nm_question_number(q, "bins", 512, &bins, err);
	if (!status && (from < 0 || to > (int64_t)total || from >= to || bins < 1 || bins > MOST_BINS))
		status = nm_fail(err, NM_EINVAL, "positions must go up, and \"bins\" goes to %d", MOST_BINS);
	if (status) {
		json_decref(list);
		return status;
	}
	const uint64_t bin_size = 1ull << r->bin_shift, first = (uint64_t)from / bin_size,
		       last = ((uint64_t)to + bin_size - 1) / bin_size,
		       step = (last - first + (uint64_t)bins - 1) / (uint64_t)bins;
	for (uint64_t bin = first; bin < last; bin += step) {
		const uint64_t next = bin + step < last ? bin + step : last, begin = bin * bin_size,
			       end = next * bin_size < total ? next * bin_size : total;

		json_array_append_new(
		    list, json_pack("{s:I, s:I, s:I, s:I}", "from", (json_int_t)begin, "to", (json_int_t)end,
				    "references", (json_int_t)(end - begin), "misses",
				    (json_int_t)(nm_record_misses(r, next) - nm_record_misses(r, bin))));
	}
	*ret = json_pack("{s:o}", "bins", list);
	return 0;
}
