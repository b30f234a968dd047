/* SPDX-License-Identifier: MIT
 *
 * lines.c - fills a section with its functions, and its lines with the text around them.
 */
#include <stdlib.h>
#include <string.h>

#include "annotate_priv.h"
#include "files.h"
#include "map.h"
#include "text.h"

/* One line of a section. */
struct line {
	int64_t number;
	struct nm_metric_sums figures;
	const char *object; /* with the greatest weight; NULL if all is 0 */
	int64_t weight, object_weight;
};
struct lines nm_vec(struct line);

/* ---- tables ---- */

struct nm_value nm_annotate_text(const char *text)
{
	return (struct nm_value){.type = text ? NM_VALUE_TEXT : NM_VALUE_NULL, .text = text};
}

struct nm_value nm_annotate_figure(const struct nm_annotation *a, const char *name,
				   const struct nm_metric_sums *figures)
{
	for (unsigned i = 0; figures && i < nm_sum_column_count(); i++)
		if (!strcmp(nm_sum_column_at(i)->name, name))
			return nm_sum_column_value(nm_sum_column_at(i), figures, &a->whole);
	return (struct nm_value){.type = NM_VALUE_NULL};
}

const char *nm_annotate_clean(struct nm_annotation *a, const char *text)
{
	size_t column = 0, n = 0;
	char *flat, *clean;
	const char *kept;

	for (const char *t = text; *t; t++)
		n += *t == '\t';
	flat = malloc(strlen(text) + 8 * n + 1);
	if (!flat)
		return NULL;
	for (n = 0; *text; text++) {
		int blanks = *text == '\t' ? 8 - (int)(column % 8) : 0;

		column += blanks ? (size_t)blanks : ((unsigned char)*text & 0xc0) != 0x80;
		if (!blanks)
			flat[n++] = *text;
		while (blanks--)
			flat[n++] = ' ';
	}
	flat[n] = '\0';
	clean = nm_utf8_clean(flat);
	kept = clean ? nm_intern(&a->pool, clean) : NULL;
	free(clean);
	free(flat);
	return kept;
}

static int add_line(struct nm_annotation *a, struct nm_section *section, const struct nm_source *source,
		    int64_t number, const struct line *line)
{
	const char *text = nm_source_line(source, number), *shown = text ? nm_annotate_clean(a, text) : NULL;
	struct nm_table *table = &section->lines;

	if ((text && !shown) || nm_vec_reserve(&table->values, table->column_count) ||
	    nm_vec_push(&section->numbers, number))
		return nm_fail_memory(a->err);
	for (unsigned i = 0; i < table->column_count; i++)
		table->values.at[table->values.count + i] =
		    nm_annotate_figure(a, table->columns[i].name, line ? &line->figures : NULL);
	table->values.at[table->values.count + NM_LINE_FILE] = nm_annotate_text(section->file);
	if (number)
		table->values.at[table->values.count + NM_LINE_NUMBER] =
		    (struct nm_value){.type = NM_VALUE_INTEGER, .integer = number};
	table->values.at[table->values.count + nm_line_object()] =
	    nm_annotate_text(line ? line->object : NULL);
	table->values.at[table->values.count + nm_line_source()] = nm_annotate_text(shown);
	table->values.count += table->column_count;
	table->row_count++;
	return 0;
}

static const struct line *line_at(const struct lines *lines, int64_t number)
{
	size_t low = 0, end = lines->count;

	while (low < end) {
		size_t middle = low + (end - low) / 2;

		if (lines->at[middle].number < number)
			low = middle + 1;
		else
			end = middle;
	}
	return low < lines->count && lines->at[low].number == number ? &lines->at[low] : NULL;
}

static int add_range(struct nm_annotation *a, struct nm_section *section, const struct nm_source *source,
		     const struct lines *lines, int64_t from, int64_t to)
{
	int status = 0;

	for (int64_t n = from; n <= to && !status; n++)
		status = add_line(a, section, source, n, line_at(lines, n));
	return status;
}

/* The lines within reach of heavy ones, or all. Without a source there is nothing around a line. */
static int add_lines(struct nm_annotation *a, struct nm_section *section, const struct nm_source *source,
		     const struct lines *lines)
{
	int64_t reach = a->request->context, last = 0, end = (int64_t)source->line_count;
	int status = 0;

	if (reach < 0) {
		status = add_range(a, section, source, lines, 1, end);
		last = end;
	}
	for (size_t i = 0; i < lines->count && !status; i++) {
		int64_t heart = lines->at[i].number, from = heart, to = heart;

		if (reach >= 0 && !nm_is_heavy(a, lines->at[i].weight, section->weight))
			continue;
		if (heart <= end && reach > 0) {
			from = heart > reach ? heart - reach : 1;
			to = heart < end - reach ? heart + reach : end;
		}
		status = add_range(a, section, source, lines, from > last ? from : last + 1, to);
		last = to > last ? to : last;
	}
	return status;
}

/* ---- sections ---- */

/* Rows are in the order of lines and objects. */
static int sum_lines(struct nm_annotation *a, const struct nm_section *section,
		     const struct nm_annotate_rows *rows, size_t from, struct lines *ret_lines)
{
	struct line *line = NULL;
	const char *object = NULL;
	int64_t weight = 0; /* of the object in the line */

	for (size_t i = from; i < rows->count && rows->at[i].file == section->file; i++) {
		const struct nm_annotate_row *row = &rows->at[i];

		if (!nm_in_section(section, row))
			continue;
		if (!line || line->number != row->line) {
			if (nm_vec_push(ret_lines, (struct line){.number = row->line}))
				return nm_fail_memory(a->err);
			line = &ret_lines->at[ret_lines->count - 1];
			weight = 0;
			object = NULL;
		}
		weight = row->object == object ? weight : 0;
		object = row->object;
		weight += nm_sum_column_weight(a->sort, &row->figures);
		if (weight > line->object_weight) {
			line->object = object;
			line->object_weight = weight;
		}
		nm_sums_add(&line->figures, &row->figures);
		line->weight = nm_sum_column_weight(a->sort, &line->figures);
	}
	return 0;
}

struct function {
	const char *name;
	struct nm_metric_sums figures;
	int64_t weight;
};

static int by_weight(const void *left, const void *right)
{
	const struct function *f = left, *y = right;

	if (f->weight != y->weight)
		return f->weight < y->weight ? 1 : -1;
	return f->name && y->name ? strcmp(f->name, y->name) : (f->name == NULL) - (y->name == NULL);
}

static int add_functions(struct nm_annotation *a, struct nm_section *section, const struct function *list,
			 size_t count)
{
	struct nm_table *table = &section->functions;

	for (size_t i = 0; i < count && nm_is_heavy(a, list[i].weight, section->weight); i++) {
		if (nm_vec_reserve(&table->values, table->column_count))
			return nm_fail_memory(a->err);
		table->values.at[table->values.count++] = nm_annotate_text(list[i].name);
		for (unsigned c = 1; c < table->column_count; c++)
			table->values.at[table->values.count++] =
			    nm_annotate_figure(a, table->columns[c].name, &list[i].figures);
		table->row_count++;
	}
	return 0;
}

static int sum_functions(struct nm_annotation *a, struct nm_section *section,
			 const struct nm_annotate_rows *rows, size_t from)
{
	struct nm_vec(struct function) list = {0};
	struct nm_map index = {0};
	int status = 0;

	for (size_t i = from; i < rows->count && rows->at[i].file == section->file && !status; i++) {
		const struct nm_annotate_row *row = &rows->at[i];
		uint64_t at = nm_map_get(&index, (uintptr_t)row->function, UINT64_MAX);

		if (!nm_in_section(section, row))
			continue;
		if (at == UINT64_MAX) {
			at = list.count;
			if (nm_vec_push(&list, (struct function){.name = row->function}) ||
			    nm_map_put(&index, (uintptr_t)row->function, at)) {
				status = nm_fail_memory(a->err);
				break;
			}
		}
		nm_sums_add(&list.at[at].figures, &row->figures);
		list.at[at].weight = nm_sum_column_weight(a->sort, &list.at[at].figures);
	}
	if (list.count)
		qsort(list.at, list.count, sizeof *list.at, by_weight);
	if (!status)
		status = add_functions(a, section, list.at, list.count);
	nm_vec_free(&list);
	nm_map_done(&index);
	return status;
}

/* ---- sources ---- */

static int note_source(struct nm_annotation *a, struct nm_section *section, char *text)
{
	section->note = text ? nm_annotate_clean(a, text) : NULL;
	free(text);
	return section->note ? 0 : nm_fail_memory(a->err);
}

/* What there is to say against a source, malloc'ed (*ret_text NULL: nothing). */
static int judge_source(struct nm_annotation *a, const struct nm_source *source,
			const struct nm_stored_source *known, const struct lines *lines, char **ret_text)
{
	int64_t recorded = -1, end = (int64_t)source->line_count;
	size_t beyond = 0;
	const char *text = NULL;
	int status = 0;

	*ret_text = NULL;
	while (beyond < lines->count && lines->at[lines->count - 1 - beyond].number > end)
		beyond++;
	if (beyond) {
		status = asprintf(
		    ret_text,
		    "%zu line%s with figures beyond its end (line %lld): it is not the source that was compiled",
		    beyond, beyond == 1 ? "" : "s", (long long)end);
		return status < 0 ? nm_fail_memory(a->err) : 0;
	}
	if (!*known->digest)
		status = nm_read_number(a, "SELECT CAST(value AS INTEGER) FROM info WHERE key = ?1",
					"recorded_at", &recorded);
	if (*known->compiled && strcmp(known->compiled, source->digest))
		text =
		    "it is not what was compiled (its MD5 is another): figures may stand beside wrong lines";
	else if (*known->compiled)
		text = NULL;
	else if (*known->digest && strcmp(known->digest, source->digest))
		text =
		    "it is not what it was when the program was recorded: figures may stand beside wrong lines";
	else if (known->is_newer)
		text =
		    "it was changed after the program had been built: figures may stand beside wrong lines";
	else if (recorded > 0 && source->modified > recorded)
		text = "it was changed after the recording: figures may stand beside wrong lines";
	if (text && !status && !(*ret_text = strdup(text)))
		status = nm_fail_memory(a->err);
	return status;
}

/* A profile from elsewhere must not choose which of the user's files are shown: a file that was found by its
 * path alone lies below the working directory, or is what the profile says was recorded. */
static int may_show(const struct nm_source *source, const struct nm_stored_source *known)
{
	return (*known->digest && !strcmp(known->digest, source->digest)) ||
	       (*known->compiled && !strcmp(known->compiled, source->digest)) ||
	       nm_is_below(source->path, ".");
}

/* The path as the profile has it, malloc'ed, of one that was cleaned for terminals: characters that they must
 * not get, such as tabs in names of folders, were replaced. NULL: it has none. 0 or a code. */
static int uncleaned_path(struct nm_annotation *a, const char *file, char **ret_path)
{
	struct nm_rows *rows = NULL;
	int status, more = 0;

	*ret_path = NULL;
	if (!strstr(file, "\xef\xbf\xbd"))
		return 0;
	status = nm_profile_query(a->profile, "SELECT DISTINCT file FROM sources", &rows, a->err);
	while (!status && !*ret_path && (more = nm_rows_next(rows, a->err)) > 0) {
		const char *path = nm_rows_text(rows, 0);
		char *clean = path ? nm_utf8_clean(path) : NULL;

		if (clean && !strcmp(clean, file) && !(*ret_path = strdup(path)))
			status = nm_fail_memory(a->err);
		free(clean);
	}
	nm_rows_free(rows);
	return status ? status : more < 0 ? more : 0;
}

int nm_annotate_source(struct nm_annotation *a, const char *file, struct nm_stored_source *known,
		       struct nm_source *ret_source)
{
	char *raw;
	int status = uncleaned_path(a, file, &raw);

	file = raw ? raw : file;
	if (!status)
		status = nm_profile_source(a->profile, file, known, a->err);
	if (status < 0) {
		free(raw);
		return status;
	}
	status = nm_source_find(ret_source, file, &a->request->search, 0);
	if (status == NM_ENOENT && known->text) {
		status = nm_source_take(ret_source, "in the profile", known->text, known->bytes);
		known->text = NULL;
	} else if (status == NM_ENOENT) {
		status = nm_source_find(ret_source, file, &a->request->search, 1);
		if (!status && !may_show(ret_source, known)) {
			nm_source_done(ret_source);
			status = NM_EACCES;
		}
	}
	free(raw);
	return status == NM_ENOMEM ? nm_fail_memory(a->err) : status;
}

int nm_section_fill(struct nm_annotation *a, struct nm_section *section, const struct nm_annotate_rows *rows)
{
	struct nm_stored_source known = {.text = NULL};
	struct nm_source source = {0};
	struct lines lines = {0};
	char *text = NULL;
	size_t from = 0;
	int status;

	while (rows->at[from].file != section->file)
		from = nm_next_file(rows, from);
	status = section->function ? 0 : sum_functions(a, section, rows, from);
	if (!status)
		status = sum_lines(a, section, rows, from, &lines);
	if (status)
		goto out;
	status = nm_annotate_source(a, section->file, &known, &source);
	if (status == NM_ENOENT) {
		status = note_source(
		    a, section,
		    strdup("its source was not found: say where it is with --source-dir or --map"));
	} else if (status == NM_EACCES) {
		status = note_source(
		    a, section,
		    strdup("its source has changed since and lies outside the working directory: show it "
			   "with --source-dir or --map"));
	} else if (!status) {
		section->source = nm_annotate_clean(a, source.path);
		status = section->source ? judge_source(a, &source, &known, &lines, &text)
					 : nm_fail_memory(a->err);
		if (!status && text)
			status = note_source(a, section, text);
	}
	if (!status)
		status = add_lines(a, section, &source, &lines);
out:
	free(known.text);
	nm_source_done(&source);
	nm_vec_free(&lines);
	return status;
}
