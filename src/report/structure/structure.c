/* SPDX-License-Identifier: MIT
 *
 * structure.c - see structure.h: the query of the fields, and which form they are shown in.
 *
 * Counts of fields come from `field_counts`, by their names; where two fields of a structure have the same name, as
 * in a class and its base, neither has counts. A structure is told apart by its name and size.
 *
 * A field's *use*: each element is cleared and set once, so two stores to each of its words (8 bytes) do not count.
 * Beyond these, a field that is written often has a store in 10 references, one that is mostly read at most one in
 * 100. A field with fewer than 8 sampled accesses has no use, one with none is "not seen".
 */
#include "structure.h"

#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "memstream.h"
#include "text.h"

static const struct nm_column layout[] = {
    {.name = "type", .title = "structure", .kind = NM_COLUMN_NAME},
    {.name = "structure", .title = "of bytes", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "offset", .title = "offset", .kind = NM_COLUMN_NUMBER},
    {.name = "bytes", .title = "size", .kind = NM_COLUMN_NUMBER},
    {.name = "field", .title = "field", .kind = NM_COLUMN_TEXT},
    {.name = "field_type", .title = "type", .kind = NM_COLUMN_NAME, .drop_order = 5},
    {.name = "loads", .title = "loads", .kind = NM_COLUMN_NUMBER},
    {.name = "stores", .title = "stores", .kind = NM_COLUMN_NUMBER},
};
static const struct nm_column uses[] = {
    {.name = "coherence", .title = "coherence", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "threads", .title = "threads", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "use", .title = "use", .kind = NM_COLUMN_TEXT, .drop_order = 2},
};

/* ---- the query ---- */

/* l: rows of `fields`, without what only a damaged profile has; e: the elements of each structure. */
static void write_fields(const struct nm_selection *of, FILE *sql)
{
	fputs(
	    "WITH l AS MATERIALIZED (SELECT process, object, type, structure, offset, bytes, field, field_type, "
	    "sampled, count(*) OVER (PARTITION BY process, object, type, structure, field) AS namesakes "
	    "FROM fields WHERE type IS NOT NULL AND field <> '' AND (?2 IS NULL OR process = ?2) AND structure BETWEEN 1 AND 1 << 46 "
	    "AND offset BETWEEN 0 AND structure AND bytes BETWEEN 1 AND 1 << 46",
	    sql);
	if (of->object.pattern)
		fprintf(sql, " AND object %s ?4", of->object.operator_);
	if (of->structure.pattern)
		fprintf(sql, " AND " NM_STRUCTURE_NAME("type") " %s ?7", of->structure.operator_);
	fputs("), e AS MATERIALIZED (SELECT l.type AS type, l.structure AS structure, "
	      "sum(o.bytes) / l.structure AS elements FROM (SELECT DISTINCT process, object, type, structure "
	      "FROM l) l CROSS JOIN objects o ON o.process = l.process AND o.object = l.object "
	      "GROUP BY l.type, l.structure), ",
	      sql);
}

static void write_sum(const char *level, const char *count, const char *name, FILE *sql)
{
	fputs(", sum((level = ", sql);
	nm_sql_text(level, sql);
	fprintf(sql, ") * (%s)) AS %s", count, name);
}

/* b: counts by object, field and thread; c: by object and field; h: threads by field. */
static void write_counts(const struct nm_structures *s, const struct nm_selection *of, FILE *sql)
{
	char name[16];

	fputs("b AS MATERIALIZED (SELECT process, object, type, field, thread", sql);
	for (unsigned i = 0; i < s->level_count; i++) {
		snprintf(name, sizeof name, "m%u", i);
		write_sum(s->levels[i].level, "read_misses + write_misses", name, sql);
	}
	write_sum(s->levels[0].level, "reads", "loads", sql);
	write_sum(s->levels[0].level, "writes", "stores", sql);
	write_sum(s->levels[0].level, "coherence", "coherence", sql);
	fputs(" FROM field_counts WHERE field IS NOT NULL AND (?2 IS NULL OR process = ?2) AND "
	      "(?3 = 0 OR thread = ?3)",
	      sql);
	if (of->object.pattern)
		fprintf(sql, " AND object %s ?4", of->object.operator_);
	if (of->function.pattern)
		fprintf(sql, " AND function %s ?5", of->function.operator_);
	if (of->file.pattern)
		fprintf(sql, " AND file %s ?6", of->file.operator_);
	fputs(
	    " GROUP BY process, object, type, field, thread), c AS MATERIALIZED (SELECT process, object, type, field",
	    sql);
	for (unsigned i = 0; i < s->level_count; i++)
		fprintf(sql, ", sum(m%u) AS m%u", i, i);
	fputs(", sum(loads) AS loads, sum(stores) AS stores, sum(coherence) AS coherence FROM b "
	      "GROUP BY process, object, type, field), h AS MATERIALIZED (SELECT type, field, "
	      "count(DISTINCT process || ' ' || thread) AS threads FROM b WHERE loads + stores > 0 "
	      "GROUP BY type, field), ",
	      sql);
}

/* g: counts by structure and field; s: the structures, those with the most misses first. */
static void write_structures(const struct nm_structures *s, FILE *sql)
{
	static const char *const counts[] = {"loads", "stores", "coherence"};

	fputs("g AS MATERIALIZED (SELECT l.type AS type, l.structure AS structure, l.offset AS offset, "
	      "max(l.bytes) AS bytes, l.field AS field, max(l.field_type) AS field_type, "
	      "sum(l.sampled) AS sampled, max(l.namesakes) > 1 AS twice",
	      sql);
	for (unsigned i = 0; i < s->level_count; i++)
		fprintf(sql, ", iif(max(l.namesakes) > 1, NULL, coalesce(sum(c.m%u), 0)) AS m%u", i, i);
	for (unsigned i = 0; i < COUNT_OF(counts); i++)
		fprintf(sql, ", iif(max(l.namesakes) > 1, NULL, coalesce(sum(c.%s), 0)) AS %s", counts[i],
			counts[i]);
	fputs(" FROM l LEFT JOIN c ON c.process = l.process AND c.object = l.object AND c.type = l.type AND "
	      "c.field = l.field GROUP BY l.type, l.structure, l.offset, l.field), "
	      "s AS MATERIALIZED (SELECT type, structure, row_number() OVER (ORDER BY ",
	      sql);
	fprintf(
	    sql,
	    "sum(m%u) DESC, sum(loads + stores) DESC, type, structure) AS place FROM g GROUP BY type, structure) ",
	    s->asked);
}

static void write_rows(const struct nm_structures *s, int64_t limit, FILE *sql)
{
	fputs(
	    "SELECT g.type AS type, g.structure AS structure, offset, bytes, g.field AS field, field_type, loads, "
	    "stores, ",
	    sql);
	for (unsigned i = 0; i < s->level_count; i++)
		fprintf(sql, "m%u AS \"%s\", ", i, s->levels[i].misses);
	fputs("coherence, iif(twice, NULL, coalesce(threads, 0)) AS threads, "
	      "CASE WHEN sampled = 0 AND loads + stores = 0 THEN 'not seen' WHEN sampled < 8 THEN NULL "
	      "WHEN 10 * (stores - 2 * elements * ((bytes + 7) / 8)) >= loads + stores THEN '" NM_USE_WRITTEN
	      "' "
	      "WHEN 100 * (stores - 2 * elements * ((bytes + 7) / 8)) <= loads + stores AND loads > stores "
	      "THEN '" NM_USE_READ "' END AS use "
	      "FROM s CROSS JOIN g ON g.type = s.type AND g.structure = s.structure "
	      "LEFT JOIN e ON e.type = g.type AND e.structure = g.structure "
	      "LEFT JOIN h ON h.type = g.type AND h.field = g.field",
	      sql);
	if (limit > 0)
		fprintf(sql, " WHERE s.place <= %lld", (long long)limit);
}

/* Malloc'ed, or NULL. */
static char *write_query(const struct nm_structures *s, const struct nm_selection *of)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	write_fields(of, sql);
	write_counts(s, of, sql);
	write_structures(s, sql);
	write_rows(s, of->request.limit, sql);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

/* ---- the rows ---- */

/* The levels of the machine that is reported on, as columns. 0 or NM_ENOMEM. */
static int take_levels(struct nm_structures *s, struct nm_selection *of)
{
	const struct nm_levels *levels = &of->levels;
	char name[80], title[80];

	for (unsigned i = 0; i < levels->count; i++) {
		const struct nm_level *level = &levels->at[i];
		struct nm_structure_level *to = &s->levels[s->level_count];

		if (level->side == NM_LEVEL_CODE || !nm_machine_same(level->name, of->request.level))
			continue;
		snprintf(name, sizeof name, "%s_misses", level->name);
		snprintf(title, sizeof title, "%s misses", level->name);
		*to = (struct nm_structure_level){level->name, nm_intern(&of->levels.pool, name),
						  nm_intern(&of->levels.pool, title)};
		if (!to->misses || !to->title)
			return NM_ENOMEM;
		if (!strcmp(level->name, of->request.level))
			s->asked = s->level_count;
		if (!s->level_count++)
			s->line_size = level->line_size;
	}
	return 0;
}

/* "./solver 512 on zen3". */
static int name_recording(struct nm_structures *s, struct nm_profile *profile, struct nm_selection *of,
			  struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    "SELECT coalesce((SELECT command FROM processes WHERE process = ?1), (SELECT value FROM info WHERE "
	    "key = 'command'), '?') || ' on ' || coalesce((SELECT value FROM info WHERE key = 'machine'), '?')",
	    &rows, err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, of->request.process);
	status = nm_rows_next(rows, err);
	if (status > 0) {
		s->recorded = nm_intern(&of->levels.pool, nm_rows_text(rows, 0));
		status = s->recorded ? 0 : nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return status;
}

static int fill(struct nm_structures *s, struct nm_profile *profile, struct nm_selection *of,
		struct nm_error *err)
{
	struct nm_column columns[COUNT_OF(layout) + NM_REPORT_LEVELS + COUNT_OF(uses)];
	struct nm_report report = {.name = "struct", .columns = columns, .ties = "s.place, offset, g.field"};
	struct nm_selection chosen = *of;
	char *sql;
	int status;

	memcpy(columns, layout, sizeof layout);
	report.column_count = COUNT_OF(layout);
	for (unsigned i = 0; i < s->level_count; i++)
		columns[report.column_count++] = (struct nm_column){
		    .name = s->levels[i].misses, .title = s->levels[i].title, .kind = NM_COLUMN_NUMBER};
	memcpy(columns + report.column_count, uses, sizeof uses);
	report.column_count += COUNT_OF(uses);
	sql = write_query(s, of);
	if (!sql)
		return nm_fail_memory(err);
	report.sql = sql;
	chosen.request.limit = 0; /* it counts structures */
	status = nm_report_fill(&report, profile, &chosen, &s->filled, err);
	free(sql);
	return status;
}

int64_t nm_structure_number(const struct nm_structure *structure, size_t row, const char *column)
{
	const struct nm_value *v = nm_table_named(&structure->all->filled.table, row, column);

	return v->type == NM_VALUE_INTEGER ? v->integer : -1;
}

char *nm_structure_declaration(const struct nm_structure *structure, size_t row, unsigned width)
{
	const struct nm_table *t = &structure->all->filled.table;
	const enum nm_declaration_style style = nm_declaration_style(NULL, structure->name);
	const char *name = nm_table_named(t, row, "field")->text;
	const char *type = nm_table_named(t, row, "field_type")->text, *at;
	char *text = NULL, *padded = NULL;
	FILE *out = nm_memstream_open(&text, NULL);
	size_t n;

	if (!out)
		return NULL;
	nm_declare(style, type ? type : "union", name, out);
	if (nm_memstream_close(out, &text))
		return NULL;
	at = style == NM_DECLARE_C ? strstr(text, " (*") : NULL; /* a function */
	if (!at && style == NM_DECLARE_C)
		for (const char *next = text; (next = strstr(next, name)); next++)
			at = next;
	for (n = at ? (size_t)(at - text) : 0; n && text[n - 1] == ' ';)
		n--;
	if (asprintf(&padded, "%-*.*s%s%s", n ? (int)width : 0, (int)n, text, n ? " " : "",
		     text + n + strspn(text + n, " ")) < 0)
		padded = NULL;
	free(text);
	return padded;
}

/* ---- cards ---- */

static int show_cards(const struct nm_structures *s, enum nm_card card, FILE *out)
{
	const struct nm_table *t = &s->filled.table;
	int status = 0;

	for (size_t first = 0, end; first < t->row_count && !status; first = end) {
		const struct nm_value *type = nm_table_named(t, first, "type");
		struct nm_structure one = {.all = s, .first = first, .name = type->text};

		one.bytes = nm_structure_number(&one, first, "structure");
		for (end = first + 1; end < t->row_count; end++)
			if (strcmp(nm_table_named(t, end, "type")->text, type->text) != 0 ||
			    nm_structure_number(&one, end, "structure") != one.bytes)
				break;
		one.end = end;
		if (first)
			fputs("\n", out);
		status = card == NM_CARD_PAHOLE ? nm_structure_pahole(&one, out)
						: nm_structure_data_type(&one, out);
	}
	return status;
}

int nm_structure_run(struct nm_profile *profile, struct nm_selection *selection, const struct nm_style *style,
		     FILE *out, struct nm_error *err)
{
	const enum nm_card card = selection->request.card;
	struct nm_structures s = {.level_count = 0};
	int status = 0;

	if (card &&
	    (style->format != NM_FORMAT_TEXT || selection->request.sort || selection->request.columns))
		return nm_fail(
		    err, NM_EINVAL,
		    "--%s is text, in the order of memory: it does not go with --format, --sort or "
		    "--columns",
		    card == NM_CARD_PAHOLE ? "pahole" : "data-type");
	if (take_levels(&s, selection))
		return nm_fail_memory(err);
	if (!s.level_count || s.line_size < 1)
		return nm_fail(err, NM_EINVAL, "no level of this machine takes data");
	status = name_recording(&s, profile, selection, err);
	if (!status)
		status = fill(&s, profile, selection, err);
	if (!status && card)
		status = show_cards(&s, card, out) ? nm_fail_memory(err) : 0;
	else if (!status)
		status = nm_table_show(&s.filled.table, "struct", selection->request.level, style, out, err);
	nm_report_table_done(&s.filled);
	return status;
}
