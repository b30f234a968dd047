/* SPDX-License-Identifier: MIT
 *
 * facts.c - the view counts with the levels side by side: one row for each line of a function, and one
 * value for each event.
 *
 * SQLite adds up, so rows of single threads, processes or objects are never in memory here.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export_priv.h"
#include "memstream.h"

enum {
	PROCESS,
	THREAD,
	FILE_NAME,
	FUNCTION,
	LINE,
	OBJECT,
	CONTEXT,
	MODULE,
	ADDRESS,
	VALUES
}; /* columns of the query */

static void write_condition(const struct nm_export *e, unsigned by, FILE *sql)
{
	fputs(" WHERE 1", sql);
	if (e->process && by & NM_BY_PROCESS)
		fputs(" AND process = ?1", sql);
	if (e->thread && by & NM_BY_THREAD)
		fputs(" AND thread = ?2", sql);
	if (by & NM_BY_LEVEL) {
		fputs(" AND level IN (", sql);
		for (size_t i = 0; i < e->levels.count; i++) {
			if (i)
				fputs(", ", sql);
			nm_sql_text(e->levels.at[i], sql);
		}
		fputc(')', sql);
	}
}

int nm_facts_query(const struct nm_export *e, const char *select, unsigned by, const char *order,
		   struct nm_rows **ret_rows, struct nm_error *err)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);
	int status;

	if (!sql)
		return nm_fail_memory(err);
	fputs(select, sql);
	write_condition(e, by, sql);
	fputs(order, sql);
	status = nm_memstream_close(sql, &text) ? nm_fail_memory(err)
						: nm_profile_query(e->profile, text, ret_rows, err);
	free(text);
	if (!status && e->process)
		nm_rows_bind_text(*ret_rows, 1, e->process);
	if (!status && e->thread)
		nm_rows_bind_integer(*ret_rows, 2, e->thread);
	return status;
}

static void write_value(const struct nm_export_event *event, FILE *sql)
{
	fputs(", sum(CASE level WHEN ", sql);
	nm_sql_text(event->level, sql);
	if (event->derived)
		fprintf(sql, " THEN %s %c %s", event->derived->left, event->derived->sign,
			event->derived->right);
	else
		fprintf(sql, " THEN %s", event->name);
	fputs(" ELSE 0 END)", sql);
}

int nm_facts_open(struct nm_export_facts *facts, struct nm_export *e, unsigned by,
		  const struct nm_export_event *events, size_t count, struct nm_error *err)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);
	int status;

	if (!e->chains.count)
		by &= ~(unsigned)NM_BY_CHAIN;
	memset(facts, 0, sizeof *facts);
	facts->x = e;
	facts->by = by;
	facts->count = count;
	facts->fact.values = calloc(count + 1, sizeof *facts->fact.values);
	if (!sql)
		return nm_fail_memory(err);
	fprintf(sql, "SELECT %s, %s, file, function, line, %s, %s, %s",
		by & (NM_BY_PROCESS | NM_BY_CHAIN) ? "process" : "NULL", by & NM_BY_THREAD ? "thread" : "0",
		by & NM_BY_OBJECT ? "object" : "NULL", by & NM_BY_CHAIN ? "context" : "0",
		by & NM_BY_INSTRUCTION ? "module, address" : "NULL, 0");
	for (size_t i = 0; i < count; i++)
		write_value(&events[i], sql);
	fputs(by & NM_BY_CHAIN         ? " FROM context_counts"
	      : by & NM_BY_INSTRUCTION ? " FROM instructions"
				       : " FROM counts",
	      sql);
	status = nm_memstream_close(sql, &text) || !facts->fact.values ? nm_fail_memory(err) : 0;
	if (!status)
		status =
		    nm_facts_query(e, text, NM_BY_PROCESS | NM_BY_THREAD | NM_BY_LEVEL,
				   " GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 ORDER BY 1, 2, 7, 8, 3, 4, 5, 9, 6",
				   &facts->rows, err);
	free(text);
	return status;
}

/* A text that no row of a sound profile lacks. */
static int take_key(struct nm_export_facts *facts, unsigned by, unsigned column, const char **ret_text)
{
	const char *text = nm_rows_text(facts->rows, column);

	return nm_export_text(facts->x, !text && facts->by & by ? "<unknown>" : text, ret_text);
}

static int take_row(struct nm_export_facts *facts)
{
	struct nm_fact *fact = &facts->fact;
	struct nm_rows *rows = facts->rows;

	fact->thread = nm_rows_bounded(rows, THREAD);
	fact->line = nm_rows_bounded(rows, LINE);
	fact->address = nm_rows_bounded(rows, ADDRESS);
	return take_key(facts, NM_BY_PROCESS | NM_BY_CHAIN, PROCESS, &fact->process) ||
	       nm_export_text(facts->x, nm_rows_text(rows, FILE_NAME), &fact->file) ||
	       nm_export_text(facts->x, nm_rows_text(rows, FUNCTION), &fact->function) ||
	       nm_export_text(facts->x, nm_rows_text(rows, MODULE), &fact->module) ||
	       take_key(facts, NM_BY_OBJECT, OBJECT, &fact->object);
}

static int find_chain(struct nm_export_facts *facts, struct nm_error *err)
{
	struct nm_export *e = facts->x;
	size_t first = nm_map_get(&e->first_chain, (uintptr_t)facts->fact.process, 0);
	size_t at = first - 1 + (size_t)nm_rows_bounded(facts->rows, CONTEXT);

	if (!first || at >= e->chains.count)
		return nm_fail(err, NM_EFORMAT, "the profile is damaged: it has counts of no call chain");
	facts->fact.chain = &e->chains.at[at];
	if (!(facts->by & NM_BY_PROCESS))
		facts->fact.process = NULL;
	return 1;
}

int nm_facts_next(struct nm_export_facts *facts, struct nm_error *err)
{
	int status;

	while ((status = nm_rows_next(facts->rows, err)) > 0) {
		int64_t any = 0;

		for (size_t i = 0; i < facts->count; i++)
			any |= facts->fact.values[i] = nm_rows_bounded(facts->rows, VALUES + (unsigned)i);
		if (!any)
			continue;
		if (take_row(facts))
			return nm_fail_memory(err);
		return facts->by & NM_BY_CHAIN ? find_chain(facts, err) : 1;
	}
	return status;
}

void nm_facts_close(struct nm_export_facts *facts)
{
	nm_rows_free(facts->rows);
	free(facts->fact.values);
}

const char *nm_fact_function(const struct nm_fact *fact)
{
	return fact->function ? fact->function : "<unknown>";
}

int nm_fact_line(struct nm_export *e, const struct nm_fact *fact, const char **ret_line)
{
	const char *base = fact->file ? strrchr(fact->file, '/') : NULL;
	char *text = NULL;

	if (!fact->file) {
		*ret_line = "<unknown>";
		return 0;
	}
	if (asprintf(&text, "%s:%" PRId64, base ? base + 1 : fact->file, fact->line) < 0)
		return NM_ENOMEM;
	*ret_line = nm_intern(&e->pool, text);
	free(text);
	return *ret_line ? 0 : NM_ENOMEM;
}
