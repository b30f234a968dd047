/* SPDX-License-Identifier: MIT
 *
 * ranking.c - builds the query of a ranked report: `counts` summed by any keys, and what else is known of each row.
 *
 * The query takes the rows and their metrics from the table that ranked_rows.h makes, and joins them with a chain of
 * common table expressions:
 *
 *     c     the rows, with the texts of pairs that are known by numbers
 *     a     those pairs' places
 *     d     if object is a key: its description
 *     e     if object, line and function are keys: the evictor that replaced most lines of the pair
 *     s     the same keys: the stride that most accesses of the pair follow
 *     v, k, q, u  the same keys: the order of loads (walk_columns.c)
 *     g, h, i, y  fields (field_columns.c)
 *     m     if line is a key and names the user's code: the innermost frame with most of its misses
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memstream.h"
#include "pairs.h"
#include "ranked_rows.h"
#include "report_priv.h"
#include "selection.h"

enum { PROCESS, THREAD, CORE, REGION, PHASE, LEVEL, FUNCTION, SOURCE, LINE, OBJECT, TYPE, FIELD, KEYS };

static const struct {
	const char *name, *from;
} keys[KEYS] = {
    [PROCESS] = {"process", "counts.process"},
    [THREAD] = {"thread", "counts.thread"},
    [CORE] = {"core", "coalesce((SELECT threads.core FROM threads WHERE threads.process = counts.process AND "
		      "threads.thread = counts.thread), 0)"},
    [REGION] = {"region", "counts.region"},
    [PHASE] = {"phase", "counts.phase"},
    [LEVEL] = {"level", NULL},
    [FUNCTION] = {"function", "counts.function"},
    [SOURCE] = {"file", "counts.file"},
    [LINE] = {"line", "counts.line"},
    [OBJECT] = {"object", "counts.object"},
    [TYPE] = {"type", "o.type"},
    [FIELD] = {"field", "counts.field"}};

struct query_builder {
	struct nm_query *query;
	const struct nm_report *report;
	const struct nm_selection *selection;
	unsigned order[KEYS + 1], count; /* keys as requested */
	unsigned requested_count;        /* those behind it only serve to find the cause */
	int has[KEYS];
	unsigned selected;   /* columns of the query so far */
	FILE *select, *ties; /* the result's columns; the keys among them */
	const char *rank;    /* the metric that ranks the rows, if the first are wanted; else NULL */
	int by_number;       /* pairs are known by numbers in NM_RANKED */
};

/* ---- keys --------------------------------------------------------------------------------------- */

static void take_key(struct query_builder *b, unsigned key)
{
	if (b->has[key])
		return;
	b->has[key] = 1;
	b->order[b->count++] = key;
}

/* Where field is a key, the type is that which has the field. */
static const char *from_of(const struct query_builder *b, unsigned key)
{
	return key == TYPE && b->has[FIELD] ? "coalesce(counts.type, o.type)" : keys[key].from;
}

static int take_keys(struct query_builder *b, const char *list, struct nm_error *err)
{
	const char *words[KEYS + 1] = {NULL};
	char typed[40];
	unsigned k;

	for (k = 0; k < KEYS; k++)
		words[k] = keys[k].name;
	for (;; list++) {
		size_t n = strcspn(list, ",");

		snprintf(typed, sizeof typed, "%.*s", (int)n, list);
		for (k = 0; k < KEYS && strcmp(typed, keys[k].name); k++)
			;
		if (k == KEYS)
			return nm_fail_unknown("key", typed, words, err);
		if (k == LINE) /* a number means nothing without its file */
			take_key(b, SOURCE);
		take_key(b, k);
		list += n;
		if (!*list)
			return 0;
	}
}

/* ---- the result's columns ----------------------------------------------------------------------- */

/* sql: NULL for what is made from other columns. */
static void put_column(struct query_builder *b, const struct nm_column *column, const char *sql)
{
	struct nm_column *to = &b->query->columns[b->query->count++];

	assert(b->query->count <= NM_QUERY_COLUMNS);
	*to = *column;
	if (nm_is_listed(b->report->shown, to->name))
		to->hidden = 0;
	if (sql)
		fprintf(b->select, "%s%s AS \"%s\"", b->selected++ ? ", " : "", sql, column->name);
}

static void put_keys(struct query_builder *b)
{
	static const struct nm_column where = {
	    .name = "where", .title = "line", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location};
	char sql[40];
	unsigned i;

	for (i = 0; i < b->count; i++) {
		unsigned key = b->order[i];
		struct nm_column column = {.name = keys[key].name, .title = keys[key].name};

		if (key == REGION || key == FUNCTION || key == SOURCE || key == OBJECT || key == TYPE ||
		    key == FIELD)
			column.kind = NM_COLUMN_NAME;
		column.drop_order = key == SOURCE && i ? 8 : 0;
		column.hidden = (b->has[LINE] && (key == LINE || key == SOURCE || key == FUNCTION)) ||
				i >= b->requested_count;
		if (b->has[LINE] && key == SOURCE)
			put_column(b, &where, NULL);
		snprintf(sql, sizeof sql, "c.%s", keys[key].name);
		put_column(b, &column, sql);
		fprintf(b->ties, "%s%s", i ? ", " : "", keys[key].name);
	}
}

static void put_details(struct query_builder *b)
{
	static const struct nm_column columns[] = {
	    {.name = "kind", .title = "kind", .kind = NM_COLUMN_TEXT, .hidden = 1, .drop_order = 9},
	    {.name = "type", .title = "type", .kind = NM_COLUMN_NAME, .hidden = 1, .drop_order = 8},
	    {.name = "bytes", .title = "bytes", .kind = NM_COLUMN_NUMBER, .hidden = 1, .drop_order = 5},
	    {.name = "blocks", .title = "blocks", .kind = NM_COLUMN_NUMBER, .hidden = 1, .drop_order = 7},
	    {.name = "largest", .title = "largest", .kind = NM_COLUMN_NUMBER, .hidden = 1, .drop_order = 9},
	    {.name = "block_size",
	     .title = "block size",
	     .kind = NM_COLUMN_NUMBER,
	     .hidden = 1,
	     .drop_order = 9},
	    {.name = "allocated_at", .title = "allocated at", .kind = NM_COLUMN_TEXT, .hidden = 1},
	    {.name = "touched", .title = "touched", .kind = NM_COLUMN_NUMBER, .hidden = 1, .drop_order = 9},
	};
	char sql[40];
	unsigned i;

	for (i = 0; b->has[OBJECT] && i < sizeof columns / sizeof *columns; i++) {
		if (b->has[TYPE] && !strcmp(columns[i].name, "type"))
			continue;
		snprintf(sql, sizeof sql, "%s.%s", strcmp(columns[i].name, "touched") ? "d" : "c",
			 columns[i].name);
		put_column(b, &columns[i], sql);
	}
}

static void put_list(struct query_builder *b, const struct nm_ranked_column *columns, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_column(b, &columns[i].column, columns[i].sql);
}

static void put_figures(struct query_builder *b)
{
	const struct nm_ranked_column *derived;
	const struct nm_metric *m;
	unsigned count;

	for (unsigned i = 0; (m = nm_metric_at(i)); i++) {
		struct nm_column column = nm_metric_column(m);
		char sql[40];

		if (!strcmp(column.name, "last_misses"))
			column.title = b->selection->last_title;
		snprintf(sql, sizeof sql, "c.\"%s\"", m->name);
		put_column(b, &column, m->unit == NM_METRIC_TEXT ? NULL : sql);
	}
	derived = nm_derived_columns(&count);
	put_list(b, derived, count);
}

/* Text has them alone beside the keys. */
static void put_machines(struct query_builder *b)
{
	if (!b->selection->machine_levels)
		return;
	for (unsigned i = b->query->keys; i < b->query->count; i++)
		b->query->columns[i].hidden = 1;
	for (unsigned i = 0; i < b->selection->machine_levels; i++) {
		const struct nm_level_column *m = &b->selection->machines[i];
		const struct nm_column column = {
		    .name = m->name, .title = m->title, .kind = NM_COLUMN_NUMBER};
		char sql[80];

		snprintf(sql, sizeof sql, "c.\"%s\"", m->name);
		put_column(b, &column, sql);
	}
}

static int has_evictor(const struct query_builder *b)
{
	return b->has[OBJECT] && b->has[LINE] && b->has[FUNCTION] && !b->has[THREAD] && !b->has[CORE] &&
	       !b->has[REGION];
}

static void put_evictor(struct query_builder *b)
{
	static const struct nm_column top = {.name = "top_evictor",
					     .title = "top evictor",
					     .kind = NM_COLUMN_NAME,
					     .hidden = 1,
					     .drop_order = 10,
					     .compose = nm_compose_evictor};
	static const struct {
		struct nm_column column;
		const char *sql;
	} columns[] = {
	    {{.name = "evictor", .kind = NM_COLUMN_NAME}, "e.evictor"},
	    {{.name = "evictor_file", .kind = NM_COLUMN_NAME}, "e.file"},
	    {{.name = "evictor_line"}, "e.line"},
	    {{.name = "evictor_function", .kind = NM_COLUMN_NAME}, "e.function"},
	    {{.name = "evictor_count", .kind = NM_COLUMN_NUMBER}, "e.count"},
	};
	unsigned i;

	if (!has_evictor(b))
		return;
	put_column(b, &top, NULL);
	for (i = 0; i < sizeof columns / sizeof *columns; i++)
		put_column(b, &columns[i].column, columns[i].sql);
}

static void put_stride(struct query_builder *b)
{
	static const struct nm_column stride = {
	    .name = "stride", .title = "stride", .kind = NM_COLUMN_NUMBER, .hidden = 1};
	static const struct nm_column follow = {
	    .name = "follow", .title = "follow %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1};
	static const struct nm_column halved = {
	    .name = "halved", .title = "halved %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1};

	if (!has_evictor(b))
		return;
	put_column(b, &stride, "s.stride");
	put_column(b, &follow, "100.0 * s.followed / nullif(s.sampled, 0)");
	put_column(b, &halved, "100.0 * s.halved / nullif(s.sampled, 0)");
}

/* Where the machine has prefetchers, it is known what lines of code load, too. */
static int has_walk(const struct query_builder *b)
{
	return has_evictor(b) && b->selection->levels.has_covered;
}

static void put_walk(struct query_builder *b)
{
	const struct nm_ranked_column *columns;
	unsigned count;

	columns = nm_walk_columns(&count);
	if (has_walk(b))
		put_list(b, columns, count);
}

static int has_field(const struct query_builder *b) { return b->has[OBJECT] && b->has[FIELD]; }

static void put_fields(struct query_builder *b)
{
	const struct nm_ranked_column *columns;
	unsigned count;

	columns = nm_field_columns(&count);
	if (has_field(b))
		put_list(b, columns, count);
	columns = nm_structure_columns(&count);
	if (b->has[OBJECT])
		put_list(b, columns, count);
	columns = nm_line_field_columns(&count);
	if (has_evictor(b))
		put_list(b, columns, count);
}

static int has_inner(const struct query_builder *b) { return b->has[LINE] && b->selection->has_inner; }

/* ---- the table expressions ---------------------------------------------------------------------- */

/* Pairs that have numbers get their texts; one has several places, with the same texts. */
static void write_rows(const struct query_builder *b, FILE *sql)
{
	const int by_line = b->has[LINE];

	if (!b->by_number) {
		fputs("c AS (SELECT * FROM " NM_RANKED ")", sql);
		return;
	}
	fprintf(sql,
		"a AS MATERIALIZED (SELECT * FROM places WHERE (%sname) IN (SELECT %sname FROM " NM_RANKED
		")), c AS MATERIALIZED (SELECT DISTINCT a.object AS object%s, r.* "
		"FROM a CROSS JOIN " NM_RANKED " AS r ON r.name = a.name%s)",
		by_line ? "site, " : "", by_line ? "site, " : "",
		by_line ? ", a.function AS function, a.file AS file, a.line AS line" : "",
		by_line ? " AND r.site = a.site" : "");
}

/* The keys that make up a place, for m. */
static void write_inner(const struct query_builder *b, FILE *sql)
{
	struct nm_inner_frames m = {.among_chosen = b->by_number,
				    .counts = b->has[FIELD] ? "field_counts AS counts" : "counts",
				    .of_process = b->selection->request.process != NULL};

	for (unsigned k = FUNCTION; k <= OBJECT; k++)
		if (b->has[k])
			m.keys[m.key_count++] = keys[k].name;
	nm_inner_frames_expression(&m, sql);
}

static void write_details(const struct query_builder *b, FILE *sql)
{
	const char *process = b->has[PROCESS] ? "process, " : "";
	const char *among = b->rank ? "IN (SELECT object FROM c)" : "IS NOT NULL";
	const char *places = b->by_number ? "IN (SELECT place FROM a)" : among;

	if (b->has[OBJECT])
		fprintf(sql,
			", d AS MATERIALIZED (SELECT %sobject, kind, type, sum(bytes) AS bytes, "
			"sum(blocks) AS blocks, max(largest) AS largest, "
			"sum(bytes) / nullif(sum(blocks), 0) AS block_size, allocated_at FROM objects "
			"WHERE (?2 IS NULL OR process = ?2) AND object %s GROUP BY %sobject)",
			process, among, process);
	/* max(count) makes SQLite take the other columns of its group from the row that has it. */
	if (has_evictor(b))
		fprintf(sql,
			", e AS MATERIALIZED (SELECT %slevel, victim, victim_file, victim_line, "
			"victim_function, evictor, file, line, function, max(count) AS count "
			"FROM top_evictors WHERE (?2 IS NULL OR process = ?2) AND %s%s "
			"GROUP BY %slevel, victim, victim_file, victim_line, victim_function)",
			process, b->by_number ? "victim_place " : "victim ", places, process);
	if (has_evictor(b))
		fprintf(
		    sql,
		    ", s AS MATERIALIZED (SELECT %sobject, function, file, line, stride, "
		    "max(followed) AS followed, sum(sampled) AS sampled, sum(halved) AS halved FROM sites "
		    "WHERE (?2 IS NULL OR process = ?2) AND %s%s "
		    "GROUP BY %sobject, function, file, line)",
		    process, b->by_number ? "place " : "object ", places, process);
	if (has_walk(b))
		nm_walk_expression(process, b->by_number ? "place " : "object ", places, sql);
	if (has_field(b))
		nm_field_expression(process, sql);
	if (b->has[OBJECT])
		nm_structure_expression(among, sql);
	if (has_evictor(b))
		nm_line_field_expression(among, sql);
	if (has_inner(b))
		write_inner(b, sql);
}

static void write_joins(const struct query_builder *b, FILE *sql)
{
	fputs(" FROM c", sql);
	if (b->has[OBJECT])
		fprintf(sql, " LEFT JOIN d ON d.object = c.object%s",
			b->has[PROCESS] ? " AND d.process = c.process" : "");
	if (has_evictor(b))
		fprintf(sql,
			" LEFT JOIN e ON e.level = c.level AND e.victim IS c.object AND "
			"e.victim_file IS c.file AND e.victim_line IS c.line AND "
			"e.victim_function IS c.function%s",
			b->has[PROCESS] ? " AND e.process = c.process" : "");
	if (has_evictor(b))
		fprintf(sql,
			" LEFT JOIN s ON s.object IS c.object AND s.function IS c.function AND "
			"s.file IS c.file AND s.line IS c.line%s",
			b->has[PROCESS] ? " AND s.process = c.process" : "");
	if (has_walk(b))
		nm_walk_joins(b->has[PROCESS], sql);
	if (has_field(b))
		fprintf(sql, " LEFT JOIN g ON g.object IS c.object AND g.field IS c.field%s",
			b->has[PROCESS] ? " AND g.process = c.process" : "");
	if (b->has[OBJECT])
		fputs(
		    " LEFT JOIN h ON h.object IS c.object LEFT JOIN i ON i.object IS c.object" NM_COMPONENT_JOIN,
		    sql);
	if (has_evictor(b))
		fputs(
		    " LEFT JOIN j ON j.object IS c.object AND j.function IS c.function AND j.file IS c.file AND "
		    "j.line IS c.line",
		    sql);
	if (has_inner(b)) {
		fputs(" LEFT JOIN m ON m.level = c.level", sql);
		for (unsigned k = FUNCTION; k <= OBJECT; k++)
			if (b->has[k])
				fprintf(sql, " AND m.%s IS c.%s", keys[k].name, keys[k].name);
	}
}

static char *assemble_query(const struct query_builder *b, const char *select)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	fputs("WITH ", sql);
	write_rows(b, sql);
	write_details(b, sql);
	fprintf(sql, " SELECT %s", select);
	write_joins(b, sql);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

/* Whether the keys are those of a place or of an object, and nothing is selected by its name. */
static int is_of_pairs(const struct query_builder *b)
{
	const struct nm_selection *s = b->selection;
	const int is_place = b->count == 4 && b->has[SOURCE] && b->has[LINE] && b->has[FUNCTION];

	return b->has[OBJECT] && (is_place || b->count == 1) && !s->object.pattern && !s->function.pattern &&
	       !s->file.pattern && !s->machine_levels && !b->report->needs_fields && b->rank;
}

static void list_keys(const struct query_builder *b, struct nm_level_key *ret_list)
{
	for (unsigned i = 0; i < b->count; i++) {
		const unsigned key = b->order[i];

		ret_list[i] = (struct nm_level_key){keys[key].name, from_of(b, key),
						    key == THREAD || key == CORE || key == LINE};
	}
}

/* Makes the rows, and the text of the query that takes them. */
static int make_sql(struct query_builder *b, struct nm_profile *profile, const char *select,
		    struct nm_error *err)
{
	struct nm_level_key list[KEYS];
	const struct nm_ranked_request request = {.selection = b->selection,
						  .keys = list,
						  .key_count = b->count,
						  .of_fields = b->has[FIELD],
						  .needs_fields = b->report->needs_fields,
						  .has_types = b->has[TYPE],
						  .of_pairs = is_of_pairs(b),
						  .rank = b->rank};
	int status;

	list_keys(b, list);
	b->by_number = request.of_pairs && nm_pairs_have_numbers(b->selection);
	status = nm_ranked_rows_make(profile, &request, err);
	if (status)
		return status;
	b->query->sql = assemble_query(b, select);
	return b->query->sql ? 0 : nm_fail_memory(err);
}

/* The metric that ranks the report, if its first rows are wanted. */
static const char *rank_of(const struct nm_report *report, const struct nm_selection *selection)
{
	const char *sort = nm_report_sort(report, selection);
	const struct nm_metric *metric = sort ? nm_metric_named(sort) : NULL;

	return metric && metric->unit != NM_METRIC_TEXT && selection->request.limit > 0 ? sort : NULL;
}

int nm_query_make(struct nm_query *ret_query, struct nm_profile *profile, const struct nm_report *report,
		  const struct nm_selection *selection, struct nm_error *err)
{
	struct query_builder b = {
	    .query = ret_query, .report = report, .selection = selection, .rank = rank_of(report, selection)};
	const struct nm_ranked_column *columns;
	unsigned column_count;
	char *select = NULL, *ties = NULL;
	int status = take_keys(&b, report->keys ? report->keys : selection->request.by, err);

	if (!status && b.has[REGION] && !selection->has_regions)
		status = nm_fail(err, NM_EINVAL, "%s", nm_no_regions);
	if (!status && b.has[PHASE] && !selection->is_by_phase)
		status = nm_fail(err, NM_EINVAL, "%s", nm_not_by_phase);
	if (status)
		return status;
	if (selection->machine_levels && b.has[LEVEL])
		return nm_fail(err, NM_EINVAL,
			       "--machines has the levels as columns: leave the key level out");
	b.requested_count = b.count;
	if (selection->object.pattern && selection->object.operator_[0] == '=') /* one group in any case */
		take_key(&b, OBJECT);
	b.select = nm_memstream_open(&select, NULL);
	b.ties = nm_memstream_open(&ties, NULL);
	if (b.select && b.ties) {
		put_keys(&b);
		ret_query->keys = ret_query->count;
		if (b.count == 1)
			put_details(&b);
		put_figures(&b);
		if (b.count > 1)
			put_details(&b);
		put_evictor(&b);
		put_stride(&b);
		put_walk(&b);
		put_fields(&b);
		if (has_inner(&b)) {
			columns = nm_inner_columns(&column_count);
			put_list(&b, columns, column_count);
		}
		put_machines(&b);
	}
	if (!b.select || nm_memstream_close(b.select, &select))
		status = NM_ENOMEM;
	if (!b.ties || nm_memstream_close(b.ties, &ties))
		status = NM_ENOMEM;
	ret_query->ties = ties;
	status = status ? nm_fail_memory(err) : make_sql(&b, profile, select, err);
	free(select);
	return status;
}

int nm_ranked_by(struct nm_profile *profile, const struct nm_selection *selection, const char *by,
		 const char *metrics, const char *rank, struct nm_error *err)
{
	struct query_builder b = {.selection = selection};
	struct nm_level_key list[KEYS];
	struct nm_ranked_request request = {.selection = selection,
					    .keys = list,
					    .metrics = metrics,
					    .rank = selection->request.limit > 0 ? rank : NULL};
	const int status = take_keys(&b, by, err);

	if (status)
		return status;
	list_keys(&b, list);
	request.key_count = b.count;
	return nm_ranked_rows_make(profile, &request, err);
}

void nm_query_done(struct nm_query *query)
{
	free(query->sql);
	free(query->ties);
}
