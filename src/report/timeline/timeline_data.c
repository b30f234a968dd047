/* SPDX-License-Identifier: MIT
 *
 * timeline_data.c - a timeline as CSV (the rows of the view) and JSON (also with its objects or lines).
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "table.h"
#include "timeline_priv.h"

int nm_timeline_csv(const struct nm_process_timeline *t, struct nm_profile *profile, FILE *out,
		    struct nm_error *err)
{
	const struct nm_style style = {.format = NM_FORMAT_CSV};
	char *sql = NULL;
	size_t size;
	FILE *f = open_memstream(&sql, &size);
	int status;

	if (!f)
		return nm_fail_memory(err);
	fputs("SELECT * FROM timeline WHERE process = ", f);
	nm_sql_text(t->process, f);
	status = fclose(f) ? nm_fail_memory(err) : nm_report_query(profile, sql, &style, out, err);
	free(sql);
	return status;
}

static int json_text(const char *key, const char *text, const char *end, FILE *out)
{
	fprintf(out, "\"%s\":", key);
	if (!text)
		fputs("null", out);
	else if (nm_json_text(text, out))
		return NM_ENOMEM;
	fputs(end, out);
	return 0;
}

static int json_cell(const struct nm_timeline_row *level, size_t interval, FILE *out)
{
	const struct nm_timeline_cell *c = &level->cells[interval];
	int status = json_text("level", level->name, "", out);

	for (unsigned k = 0; k < NM_TIMELINE_FIGURES; k++)
		fprintf(out, ",\"%s\":%" PRId64, nm_timeline_figures[k], c->figures[k]);
	fputc(',', out);
	status |= json_text("object", c->object, ",", out) | json_text("function", c->function, ",", out) |
		  json_text("file", c->file, ",", out);
	if (c->line)
		fprintf(out, "\"line\":%" PRId64, c->line);
	else
		fputs("\"line\":null", out);
	return status;
}

static int json_interval(const struct nm_process_timeline *t, size_t i, FILE *out)
{
	const struct nm_timeline_interval *interval = &t->intervals.at[i];
	int status = 0;

	assert(i < t->intervals.count);
	fprintf(out,
		"{\"begin\":%" PRId64 ",\"instructions\":%" PRId64 ",\"working_set\":%" PRId64
		",\"levels\":[",
		interval->begin, interval->instructions, interval->working_set);
	for (size_t k = 0; k < t->levels.count; k++) {
		fputs(k ? ",\n{" : "\n{", out);
		status |= json_cell(&t->levels.at[k], i, out);
		fputc('}', out);
	}
	fputs("]}", out);
	return status;
}

static int json_part(const struct nm_process_timeline *t, const struct nm_timeline_row *row, FILE *out)
{
	fputc('{', out);
	if (json_text("name", row->name, ",\"misses\":[", out))
		return NM_ENOMEM;
	for (size_t i = 0; i < t->intervals.count; i++)
		fprintf(out, "%s%" PRId64, i ? "," : "", row->misses[i]);
	fputs("]}", out);
	return 0;
}

static int json_stretch(const struct nm_timeline_stretch *s, const char *before, FILE *out)
{
	fprintf(out,
		"%s{\"phase\":%" PRId64 ",\"interval\":%" PRId64 ",\"intervals\":%" PRId64
		",\"begin\":%" PRId64 ",\"instructions\":%" PRId64 ",",
		before, s->phase, s->interval, s->intervals, s->begin, s->instructions);
	return json_text("name", s->name, "}", out);
}

int nm_timeline_json(const struct nm_process_timeline *t, const struct nm_timeline_request *request,
		     FILE *out)
{
	int status;

	nm_json_begin("timeline", out);
	fputc(',', out);
	status = json_text("process", t->process, ",", out);
	fprintf(out, "\"instructions\":%" PRId64 ",\"intervals\":[", t->instructions);
	for (size_t i = 0; i < t->intervals.count && !status; i++) {
		fputs(i ? ",\n" : "\n", out);
		status = json_interval(t, i, out);
	}
	fputs("],\n\"phases\":[", out);
	for (size_t i = 0; i < t->stretches.count && !status; i++)
		status = json_stretch(&t->stretches.at[i], i ? ",\n" : "\n", out);
	fputs("],\n", out);
	status |= json_text("level", t->level, ",", out) | json_text("by", request->by, ",\"rows\":[", out);
	for (size_t i = 0; i < t->parts.count && !status; i++) {
		fputs(i ? ",\n" : "\n", out);
		status = json_part(t, &t->parts.at[i], out);
	}
	fputs("]}\n", out);
	return status ? NM_ENOMEM : 0;
}
