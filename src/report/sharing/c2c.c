/* SPDX-License-Identifier: MIT
 *
 * c2c.c - contended lines in the shape of `perf c2c report --stdio`: the Shared Data Cache Line Table, the Shared
 * Cache Line Distribution Pareto, and which functions take lines from which. There are only columns whose figures are
 * known:
 *   - Load Hitm: loads of a line that another core had modified. With msi, mesi and mesif each makes that core write
 *     the line back, which is counted; with other protocols nothing tells them.
 *   - Peer Snoop: requests that another core's cache served, in whatever state it had the line.
 *   - records: all references to the line since cores contend for it; perf samples them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sharing_priv.h"

#define NUMBER(name_, title_)                                           \
	{                                                               \
		.name = name_, .title = title_, .kind = NM_COLUMN_PLAIN \
	}
#define RIGHT(name_, title_)                                            \
	{                                                               \
		.name = name_, .title = title_, .kind = NM_COLUMN_RIGHT \
	}
#define NAME(name_, title_)                                            \
	{                                                              \
		.name = name_, .title = title_, .kind = NM_COLUMN_NAME \
	}

static const char *compose_source(struct nm_table *table, size_t row)
{
	const char *file = nm_table_file_name(table, nm_table_named(table, row, "file")->text);
	char *text = NULL;

	if (!file)
		return NULL;
	if (asprintf(&text, "%s:%" PRId64, file, nm_table_named(table, row, "line")->integer) < 0)
		text = NULL;
	return nm_table_keep(table, text);
}

/* ---- the queries ---- */

/* t: touches of each line; c: what cores take of it; n: the lines, the most contended first. */
#define LINES                                                                                             \
	"WITH t AS MATERIALIZED (SELECT process, block, sum(reads) AS loads, sum(writes) AS stores, "     \
	"sum(misses) AS misses, sum(false_misses) AS false_misses, group_concat(DISTINCT object) AS "     \
	"objects FROM sharing WHERE level = ?1 AND (?2 IS NULL OR " NM_TOUCHED_BY_PROCESS                 \
	") GROUP BY 1, 2), "                                                                              \
	"c AS MATERIALIZED (SELECT process, block, sum(writebacks) AS hitm, sum(interventions) AS peer "  \
	"FROM contenders WHERE level = ?1 AND block IS NOT NULL GROUP BY 1, 2), "                         \
	"n AS MATERIALIZED (SELECT t.*, coalesce(hitm, 0) AS hitm, coalesce(peer, 0) AS peer, "           \
	"sum(hitm) OVER () AS hitms, sum(peer) OVER () AS peers, row_number() OVER (ORDER BY "            \
	"coalesce(hitm, 0) DESC, coalesce(peer, 0) DESC, misses DESC, t.process, t.block) - 1 AS number " \
	"FROM t LEFT JOIN c ON c.process = t.process AND c.block = t.block "                              \
	"WHERE misses > 0 OR hitm > 0 OR peer > 0) "

static const struct nm_column line_columns[] = {
    NUMBER("number", "|Index"),
    RIGHT("address", "Cacheline|Address"),
    RIGHT("hitm_share", "Tot|Hitm"),
    RIGHT("peer_share", "Tot|Peer"),
    NUMBER("hitm", "Load|Hitm"),
    NUMBER("peer", "Peer|Snoop"),
    NUMBER("records", "Total|records"),
    NUMBER("loads", "Total|Loads"),
    NUMBER("stores", "Total|Stores"),
    NUMBER("misses", "Coherence|misses"),
    NUMBER("false_misses", "False|sharing"),
    NAME("objects", "|Object"),
};
static const char line_sql[] =
    LINES "SELECT number, printf('0x%x', block) AS address, "
	  "printf('%.2f%%', 100.0 * hitm / max(1, hitms)) AS hitm_share, "
	  "printf('%.2f%%', 100.0 * peer / max(1, peers)) AS peer_share, hitm, peer, "
	  "loads + stores AS records, loads, stores, misses, false_misses, objects FROM n";

/* Of each line a row with its figures, then its bytes by the code that touches them, in percent of these. */
static const struct nm_column place_columns[] = {
    RIGHT("number", "|Num"),
    RIGHT("hitm_share", "Load|Hitm"),
    RIGHT("peer_share", "Peer|Snoop"),
    RIGHT("store_share", "Store|Refs"),
    RIGHT("place", "Data address|Offset"),
    NUMBER("records", "Total|records"),
    RIGHT("cores", "cpu|cnt"),
    NAME("symbol", "|Symbol"),
    NAME("object", "|Object"),
    NAME("field", "|Field"),
    {.name = "source", .title = "|Source:Line", .kind = NM_COLUMN_NAME, .compose = compose_source},
    {.name = "file"},
    {.name = "line"},
    {.name = "is_line"},
};
static const char place_sql[] = LINES
    ", p AS MATERIALIZED (SELECT process, block, offset, function, file, line, object, max(field) AS field, "
    "sum(reads + writes) AS records, sum(writes) AS stores, count(DISTINCT core) AS cores FROM sharing "
    "WHERE level = ?1 GROUP BY 1, 2, 3, 4, 5, 6, 7), "
    "k AS MATERIALIZED (SELECT process, block, offset, function, file, line, object, sum(writebacks) AS hitm, "
    "sum(interventions) AS peer FROM contenders WHERE level = ?1 AND block IS NOT NULL "
    "GROUP BY 1, 2, 3, 4, 5, 6, 7), "
    "r AS (SELECT number, 1 AS is_line, number AS shown, hitm AS hitm_share, peer AS peer_share, "
    "stores AS store_share, printf('0x%x', block) AS place, 0 AS offset, loads + stores AS records, '' AS cores, "
    "'' AS symbol, '' AS object, '' AS field, NULL AS file, NULL AS line FROM n "
    "UNION ALL SELECT number, 0, '', printf('%.2f%%', 100.0 * coalesce(k.hitm, 0) / max(1, n.hitm)), "
    "printf('%.2f%%', 100.0 * coalesce(k.peer, 0) / max(1, n.peer)), "
    "printf('%.2f%%', 100.0 * p.stores / max(1, n.stores)), printf('0x%x', p.offset), p.offset, p.records, p.cores, "
    "coalesce(p.function, '?'), p.object, coalesce(p.field, ''), p.file, p.line "
    "FROM n CROSS JOIN p ON p.process = n.process AND p.block = n.block LEFT JOIN k ON "
    "k.process = p.process AND k.block = p.block AND k.offset = p.offset AND k.function IS p.function AND "
    "k.file IS p.file AND k.line IS p.line AND k.object IS p.object) "
    "SELECT shown, hitm_share, peer_share, store_share, place, records, cores, symbol, object, field, file, "
    "line, is_line FROM r";

/* Which functions take lines from which. */
static const struct nm_column function_columns[] = {
    RIGHT("hitm_share", "Tot|Hitm"),
    RIGHT("peer_share", "Tot|Peer"),
    NUMBER("hitm", "Load|Hitm"),
    NUMBER("peer", "Peer|Snoop"),
    NUMBER("invalidations", "Copies|taken"),
    NAME("symbol", "|Symbol"),
    NAME("victim_symbol", "|Takes from"),
    NAME("object", "|Object"),
};
static const char function_sql[] =
    "WITH f AS MATERIALIZED (SELECT coalesce(function, '?') AS symbol, coalesce(victim_function, '?') AS "
    "victim_symbol, object, sum(writebacks) AS hitm, sum(interventions) AS peer, "
    "sum(invalidations) AS invalidations FROM contenders WHERE level = ?1 AND "
    "(?2 IS NULL OR " NM_DONE_BY_PROCESS ") AND block IS NOT NULL GROUP BY 1, 2, 3) "
    "SELECT printf('%.2f%%', 100.0 * hitm / max(1, sum(hitm) OVER ())) AS hitm_share, "
    "printf('%.2f%%', 100.0 * peer / max(1, sum(peer) OVER ())) AS peer_share, hitm, peer, invalidations, "
    "symbol, victim_symbol, object FROM f WHERE hitm + peer + invalidations > 0";

/* ---- the tables ---- */

static const struct c2c_table {
	const char *title;
	const struct nm_column *columns;
	unsigned column_count;
	const char *sql, *ties;
} tables[] = {
    {"Shared Data Cache Line Table", line_columns, NM_COLUMNS_IN(line_columns), line_sql, "number"},
    {"Shared Cache Line Distribution Pareto", place_columns, NM_COLUMNS_IN(place_columns), place_sql,
     "r.number, is_line DESC, r.offset, records DESC, file, line, symbol, object"},
    {"Functions", function_columns, NM_COLUMNS_IN(function_columns), function_sql,
     "hitm DESC, peer DESC, invalidations DESC, symbol, victim_symbol, object"},
};
enum {
	TABLES = sizeof tables / sizeof *tables,
	MOST_COLUMNS = 16,
	NAME_WIDTH = 40,
	FUNCTIONS = 20,
	RULE = 49,
	GROUP_RULE = 61
};

/* A table as text: its cells row by row, malloc'ed, and the widths of its columns; 0: not shown. */
struct printed {
	struct nm_table *table;
	char **cells;
	int widths[MOST_COLUMNS];
	int blanks; /* that are due before the next text */
	const char *ellipsis;
	FILE *out;
};

static void free_cells(struct printed *p)
{
	for (size_t i = 0; p->cells && i < p->table->row_count * p->table->column_count; i++)
		free(p->cells[i]);
	free(p->cells);
}

/* The rows of a title: "Load|Hitm" has two. *ret_lower: the second. Returns the length of the first. */
static int split_title(const struct nm_column *column, const char **ret_lower)
{
	const size_t n = strcspn(column->title, "|");

	*ret_lower = column->title + n + 1;
	return (int)n;
}

/* Malloc'ed, or NULL. */
static char *make_cell(const struct printed *p, size_t row, unsigned column)
{
	char *text = nm_table_format(p->table, row, column), *shorter = NULL;

	if (!text || p->table->columns[column].kind != NM_COLUMN_NAME)
		return text;
	shorter = nm_shorten_name(text, NAME_WIDTH, p->ellipsis);
	free(text);
	return shorter;
}

/* 0 or NM_ENOMEM. */
static int make_cells(struct printed *p)
{
	const unsigned columns = p->table->column_count;

	p->cells = calloc(p->table->row_count * columns + 1, sizeof *p->cells);
	if (!p->cells)
		return NM_ENOMEM;
	for (unsigned i = 0; i < columns; i++) {
		const struct nm_column *c = &p->table->columns[i];
		const char *lower;

		if (!c->title || c->hidden)
			continue;
		p->widths[i] = split_title(c, &lower);
		if ((int)strlen(lower) > p->widths[i])
			p->widths[i] = (int)strlen(lower);
		for (size_t row = 0; row < p->table->row_count; row++) {
			char *cell = make_cell(p, row, i);

			if (!cell)
				return NM_ENOMEM;
			p->cells[row * columns + i] = cell;
			if ((int)nm_utf8_width(cell) > p->widths[i])
				p->widths[i] = (int)nm_utf8_width(cell);
		}
	}
	return 0;
}

/* text: of `bytes` bytes, which take `shown` columns. Names are aligned left. */
static void print_cell(struct printed *p, unsigned column, const char *text, int bytes, int shown)
{
	const int pad = p->widths[column] > shown ? p->widths[column] - shown : 0;
	const int is_name = p->table->columns[column].kind == NM_COLUMN_NAME;

	p->blanks += 2 + (is_name ? 0 : pad);
	if (bytes) {
		fprintf(p->out, "%*s%.*s", p->blanks, "", bytes, text);
		p->blanks = 0;
	}
	p->blanks += is_name ? pad : 0;
}

/* Lines have no blanks at their ends. */
static void end_line(struct printed *p)
{
	fputs("\n", p->out);
	p->blanks = 0;
}

static void print_row(struct printed *p, size_t row)
{
	for (unsigned i = 0; i < p->table->column_count; i++) {
		const char *cell = p->cells[row * p->table->column_count + i];

		if (p->widths[i])
			print_cell(p, i, cell, (int)strlen(cell), (int)nm_utf8_width(cell));
	}
	end_line(p);
}

static void print_rule(const char *of, int count, FILE *out)
{
	while (count--)
		fputs(of, out);
	fputs("\n", out);
}

static void print_head(struct printed *p, const char *title)
{
	static const char dots[] = "................................................................";

	print_rule("=", RULE, p->out);
	fprintf(p->out, "%*s%s\n", (RULE - (int)strlen(title)) / 2, "", title);
	print_rule("=", RULE, p->out);
	fputs("#\n", p->out);
	for (int part = 0; part < 3; part++) {
		fputs("#", p->out);
		for (unsigned i = 0; i < p->table->column_count; i++) {
			const char *lower;
			int n = p->widths[i] ? split_title(&p->table->columns[i], &lower) : 0;

			if (!p->widths[i])
				continue;
			if (part == 0)
				print_cell(p, i, p->table->columns[i].title, n, n);
			else if (part == 1)
				print_cell(p, i, lower, (int)strlen(lower), (int)strlen(lower));
			else
				print_cell(p, i, dots, p->widths[i], p->widths[i]);
		}
		end_line(p);
	}
	fputs("#\n", p->out);
}

/* Rows of lines have rules around them. */
static void print_rows(struct printed *p)
{
	const int has_groups = nm_table_has(p->table, "is_line");

	for (size_t row = 0; row < p->table->row_count; row++) {
		const int is_line = has_groups && nm_table_named(p->table, row, "is_line")->integer;

		if (is_line) {
			fputs("  ", p->out);
			print_rule("-", GROUP_RULE, p->out);
		}
		fputs(" ", p->out);
		print_row(p, row);
		if (is_line) {
			fputs("  ", p->out);
			print_rule("-", GROUP_RULE, p->out);
		}
	}
	fputs("\n", p->out);
}

/* has_hitm: whether the columns of loads that hit modified lines are shown. */
static int show_c2c_table(const struct c2c_table *t, struct nm_profile *profile,
			  const struct nm_selection *of, int has_hitm, const struct nm_style *style,
			  FILE *out, struct nm_error *err)
{
	struct nm_column columns[MOST_COLUMNS];
	struct nm_report report = {.name = "c2c",
				   .columns = columns,
				   .column_count = t->column_count,
				   .sql = t->sql,
				   .ties = t->ties};
	struct nm_report_table filled = {.table = {0}};
	struct nm_selection all = *of;
	struct printed p = {.table = &filled.table, .ellipsis = style->ellipsis, .out = out};
	char *sql = NULL;
	int status;

	memcpy(columns, t->columns, t->column_count * sizeof *columns);
	for (unsigned i = 0; i < t->column_count; i++)
		columns[i].hidden = !has_hitm && !strncmp(columns[i].name, "hitm", 4);
	all.request.limit = t->columns == function_columns ? FUNCTIONS : 0;
	if (of->request.limit && t->columns != function_columns) {
		if (asprintf(&sql, "%s WHERE number < %" PRId64, t->sql, of->request.limit) < 0)
			return nm_fail_memory(err);
		report.sql = sql;
	}
	status = nm_report_fill(&report, profile, &all, &filled, err);
	if (!status && make_cells(&p))
		status = nm_fail_memory(err);
	if (!status) {
		print_head(&p, t->title);
		print_rows(&p);
	}
	free_cells(&p);
	nm_report_table_done(&filled);
	free(sql);
	return status;
}

/* 1, 0 or a code. */
static int counts_hitm(struct nm_profile *profile, const struct nm_selection *of, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile, "SELECT max(protocol IN ('msi', 'mesi', 'mesif')) FROM levels WHERE level = ?1", &rows,
	    err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, of->request.level);
	status = nm_rows_next(rows, err);
	if (status > 0)
		status = nm_rows_integer(rows, 0) > 0;
	nm_rows_free(rows);
	return status;
}

int nm_sharing_c2c(struct nm_profile *profile, const struct nm_selection *selection,
		   const struct nm_style *style, FILE *out, struct nm_error *err)
{
	const int has_hitm = counts_hitm(profile, selection, err);
	int status = has_hitm < 0 ? has_hitm : 0;

	for (unsigned i = 0; i < TABLES && !status; i++)
		status = show_c2c_table(&tables[i], profile, selection, has_hitm, style, out, err);
	return status;
}
