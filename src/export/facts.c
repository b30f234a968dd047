/* SPDX-License-Identifier: MIT
 *
 * facts.c - the view counts with the levels side by side: one row for each line of a function, and one
 * value for each event. A cube adds up; it holds the rows of what is written now.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export_priv.h"
#include "memstream.h"

/* What distinguishes facts, in the order that sorts them; `by`: only where this is asked for. */
enum key { PROCESS, THREAD, CONTEXT, MODULE, FILE_NAME, FUNCTION, LINE, ADDRESS, OBJECT, KEYS };

static const struct {
	const char *name;
	unsigned by;
} key_columns[KEYS] = {
    [PROCESS] = {"process", NM_BY_PROCESS | NM_BY_CHAIN},
    [THREAD] = {"thread", NM_BY_THREAD},
    [CONTEXT] = {"context", NM_BY_CHAIN},
    [MODULE] = {"module", NM_BY_INSTRUCTION},
    [FILE_NAME] = {"file", 0},
    [FUNCTION] = {"function", 0},
    [LINE] = {"line", 0},
    [ADDRESS] = {"address", NM_BY_INSTRUCTION},
    [OBJECT] = {"object", NM_BY_OBJECT},
};

enum { LEVEL = KEYS, COUNTS }; /* columns of the query behind the keys */

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

	assert(select && order);
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

/* The level and all counts, behind the keys that are asked for. */
static int query_rows(struct nm_export *e, unsigned by, struct nm_rows **ret_rows, struct nm_error *err)
{
	char *select = NULL;
	FILE *sql = nm_memstream_open(&select, NULL);
	int status;

	if (!sql)
		return nm_fail_memory(err);
	for (unsigned k = 0; k < KEYS; k++)
		fprintf(sql, "%s%s", k ? ", " : "SELECT ",
			key_columns[k].by && !(by & key_columns[k].by) ? "NULL" : key_columns[k].name);
	fputs(", level"
#define NM_COUNT(name) ", " #name
#include "counts.def"
#undef NM_COUNT
	      " FROM ",
	      sql);
	fputs(by & NM_BY_CHAIN ? "context_counts" : by & NM_BY_INSTRUCTION ? "instructions" : "counts", sql);
	status =
	    nm_memstream_close(sql, &select)
		? nm_fail_memory(err)
		: nm_facts_query(e, select, NM_BY_PROCESS | NM_BY_THREAD | NM_BY_LEVEL, "", ret_rows, err);
	free(select);
	return status;
}

/* What a row says of each event: nothing of those of other levels. */
static void take_values(const struct nm_rows *rows, const struct nm_export_event *events, size_t count,
			int64_t *values)
{
	const struct nm_metric_sums counts = nm_sums_of_row(rows, COUNTS);
	const char *level = nm_rows_text(rows, LEVEL);
	int is_of_level = 0;

	for (size_t i = 0; i < count; i++) {
		if (!i || events[i].level != events[i - 1].level)
			is_of_level = level && !strcmp(level, events[i].level);
		values[i] = is_of_level ? nm_event_value(&events[i], &counts) : 0;
	}
}

static int add_rows(struct nm_export_facts *facts, struct nm_rows *rows, const struct nm_export_event *events,
		    struct nm_error *err)
{
	int status;

	while ((status = nm_rows_next(rows, err)) > 0) {
		nm_key keys[KEYS];

		take_values(rows, events, facts->cube.sum_count, facts->fact.values);
		if (nm_cube_read_keys(&facts->cube, &facts->names, rows, keys) ||
		    nm_cube_add(&facts->cube, keys, facts->fact.values))
			return nm_fail_memory(err);
	}
	return status;
}

int nm_facts_open(struct nm_export_facts *facts, struct nm_export *e, unsigned by,
		  const struct nm_export_event *events, size_t count, struct nm_error *err)
{
	const char *names[KEYS + 1] = {NULL};
	struct nm_rows *rows = NULL;
	int status;

	assert(count > 0);
	if (!e->chains.count)
		by &= ~(unsigned)NM_BY_CHAIN;
	for (unsigned k = 0; k < KEYS; k++)
		names[k] = key_columns[k].name;
	*facts = (struct nm_export_facts){.x = e, .by = by, .cube = nm_cube_of(names, (unsigned)count)};
	facts->fact.values = calloc(count, sizeof *facts->fact.values);
	status = facts->fact.values ? query_rows(e, by, &rows, err) : nm_fail_memory(err);
	if (!status)
		status = add_rows(facts, rows, events, err);
	nm_rows_free(rows);
	facts->order = status ? NULL : nm_cube_order(&facts->cube);
	return status || facts->order ? status : nm_fail_memory(err);
}

/* A text that no row of a sound profile lacks, if it is asked for. */
static int take_text(struct nm_export_facts *facts, unsigned by, nm_key key, const char **ret_text)
{
	return nm_export_text(facts->x, !key && facts->by & by ? "<unknown>" : nm_key_text(key), ret_text);
}

static int64_t number_of(nm_key key) { return key ? nm_key_number(key) : 0; }

static int take_keys(struct nm_export_facts *facts, const nm_key *keys)
{
	struct nm_fact *fact = &facts->fact;

	fact->thread = number_of(keys[THREAD]);
	fact->line = number_of(keys[LINE]);
	fact->address = number_of(keys[ADDRESS]);
	return take_text(facts, key_columns[PROCESS].by, keys[PROCESS], &fact->process) ||
	       take_text(facts, 0, keys[FILE_NAME], &fact->file) ||
	       take_text(facts, 0, keys[FUNCTION], &fact->function) ||
	       take_text(facts, 0, keys[MODULE], &fact->module) ||
	       take_text(facts, NM_BY_OBJECT, keys[OBJECT], &fact->object);
}

static int find_chain(struct nm_export_facts *facts, int64_t context, struct nm_error *err)
{
	struct nm_export *e = facts->x;
	size_t first = nm_map_get(&e->first_chain, (uintptr_t)facts->fact.process, 0);
	size_t at = first - 1 + (size_t)context;

	if (!first || at >= e->chains.count)
		return nm_fail(err, NM_EFORMAT, "the profile is damaged: it has counts of no call chain");
	facts->fact.chain = &e->chains.at[at];
	if (!(facts->by & NM_BY_PROCESS))
		facts->fact.process = NULL;
	return 1;
}

int nm_facts_next(struct nm_export_facts *facts, struct nm_error *err)
{
	const size_t bytes = facts->cube.sum_count * sizeof *facts->fact.values;

	while (facts->next < facts->cube.row_count) {
		const size_t row = facts->order[facts->next++];
		const nm_key *keys = nm_cube_keys(&facts->cube, row);
		int64_t any = 0;

		memcpy(facts->fact.values, nm_cube_sums(&facts->cube, row), bytes);
		for (size_t i = 0; i < facts->cube.sum_count; i++)
			any |= facts->fact.values[i];
		if (!any)
			continue;
		if (take_keys(facts, keys))
			return nm_fail_memory(err);
		return facts->by & NM_BY_CHAIN ? find_chain(facts, number_of(keys[CONTEXT]), err) : 1;
	}
	return 0;
}

void nm_facts_close(struct nm_export_facts *facts)
{
	nm_cube_done(&facts->cube);
	nm_cube_names_done(&facts->names);
	free(facts->order);
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
