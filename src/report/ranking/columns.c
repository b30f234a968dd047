/* SPDX-License-Identifier: MIT
 *
 * columns.c - the columns that every ranked report has, and how they come from sums over `counts`.
 *
 * The sums have the names of the columns of `counts` (c.NAME); t holds the totals of the selection, misses
 * and cycles, and p instructions. Percentages are shares of the selection's misses, MPKI is per 1000
 * instructions of the selected processes (of all their threads). Classes are shares of the lines filled.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "columns.h"

/* ---- cells that text makes of several columns ------------------------------------------------ */

/* "file:line (function)", as far as known; of code without a source its
 * function and module. */
static const char *compose_place(struct nm_table *table, const char *function, const char *file, int64_t line,
				 const char *module)
{
	const char *head = file       ? nm_table_file_name(table, file)
			   : function ? function
			   : module   ? module
				      : "<unknown code>";
	const char *inside = file ? function : function ? module : NULL;
	char number[24] = "", *text = NULL;
	int n;

	if (file && line)
		snprintf(number, sizeof number, ":%" PRId64, line);
	n = asprintf(&text, "%s%s%s%s%s", head, number, inside ? " (" : "", inside ? inside : "",
		     inside ? ")" : "");
	return nm_table_keep(table, n < 0 ? NULL : text);
}

/* The last component of a function's name, without its arguments and those of templates; malloc'ed. */
static char *bare_name(const char *function)
{
	const char *start = function, *at = function;
	int depth = 0;

	for (; *at && (depth || *at != '(' || !strncmp(at, "(anonymous", 10)); at++) {
		if (!depth && !strncmp(at, "operator", 8)) {
			start = at;
			at += 8 + strspn(at + 8, "<>=-!+*/()[]");
			break;
		}
		depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
		if (!depth && (*at == ':' || *at == ' '))
			start = at + 1;
	}
	if (strncmp(start, "operator", 8))
		at = start + strcspn(start, "<(");
	return strndup(start, (size_t)(at - start));
}

/* A place as the columns of a row name it. */
struct named_place {
	const char *file, *function;
	int64_t line;
};

/* "outer < file:line function": with the innermost of the inlined functions, where that is another. */
static const char *with_inner(struct nm_table *table, const char *outer, struct named_place at,
			      struct named_place inner)
{
	const char *file = nm_table_file_name(table, inner.file),
		   *outer_file = nm_table_file_name(table, at.file);
	char *text = NULL, *bare;
	int n;

	if (!outer || !file || !inner.line || !outer_file ||
	    (inner.line == at.line && !strcmp(file, outer_file)))
		return outer;
	bare = bare_name(inner.function ? inner.function : "");
	n = bare ? asprintf(&text, "%s < %s:%" PRId64 " %s", outer, file, inner.line, bare) : -1;
	free(bare);
	return nm_table_keep(table, n < 0 ? NULL : text);
}

const char *nm_compose_location(struct nm_table *table, size_t row)
{
	const struct named_place at = {nm_table_named(table, row, "file")->text,
				       nm_table_find(table, row, "function")->text,
				       nm_table_named(table, row, "line")->integer};
	const struct named_place inner = {nm_table_find(table, row, "inner_file")->text,
					  nm_table_find(table, row, "inner_function")->text,
					  nm_table_find(table, row, "inner_line")->integer};

	return with_inner(
	    table,
	    compose_place(table, at.function, at.file, at.line, nm_table_find(table, row, "module")->text),
	    at, inner);
}

const char *nm_compose_victim_location(struct nm_table *table, size_t row)
{
	const struct named_place at = {nm_table_named(table, row, "victim_file")->text,
				       nm_table_named(table, row, "victim_function")->text,
				       nm_table_named(table, row, "victim_line")->integer};
	const struct named_place inner = {nm_table_find(table, row, "victim_inner_file")->text,
					  nm_table_find(table, row, "victim_inner_function")->text,
					  nm_table_find(table, row, "victim_inner_line")->integer};

	return with_inner(table, compose_place(table, at.function, at.file, at.line, NULL), at, inner);
}

const char *nm_compose_other_location(struct nm_table *table, size_t row)
{
	return compose_place(table, nm_table_named(table, row, "other_function")->text,
			     nm_table_named(table, row, "other_file")->text,
			     nm_table_named(table, row, "other_line")->integer, NULL);
}

const char *nm_compose_previous_location(struct nm_table *table, size_t row)
{
	return compose_place(table, nm_table_named(table, row, "previous_function")->text,
			     nm_table_named(table, row, "previous_file")->text,
			     nm_table_named(table, row, "previous_line")->integer, NULL);
}

const char *nm_compose_evictor(struct nm_table *table, size_t row)
{
	const char *object = nm_table_named(table, row, "evictor")->text, *at;
	char *text = NULL;

	if (!object)
		return NULL;
	at = compose_place(table, NULL, nm_table_named(table, row, "evictor_file")->text,
			   nm_table_named(table, row, "evictor_line")->integer, NULL);
	if (!at || *at == '<')
		return object;
	return nm_table_keep(table, asprintf(&text, "%s (%s)", object, at) < 0 ? NULL : text);
}

const char *nm_compose_class(struct nm_table *table, size_t row)
{
	static const char *const names[] = {"capacity", "conflict", "cold", "coherence"};
	int64_t sum = 0, most = 0, n;
	unsigned i, dominant = 0;
	char *text = NULL;

	for (i = 0; i < sizeof names / sizeof *names; i++) {
		n = nm_table_named(table, row, names[i])->integer;
		sum += n;
		if (n > most) {
			most = n;
			dominant = i;
		}
	}
	if (!sum)
		return NULL;
	n = asprintf(&text, "%s %.0f%%", names[dominant], 100.0 * (double)most / (double)sum);
	return nm_table_keep(table, n < 0 ? NULL : text);
}

/* ---- the columns ------------------------------------------------------------------------------- */

struct nm_column nm_metric_column(const struct nm_metric *m)
{
	static const enum nm_column_kind kinds[] = {
	    [NM_METRIC_COUNT] = NM_COLUMN_NUMBER,  [NM_METRIC_BYTES] = NM_COLUMN_NUMBER,
	    [NM_METRIC_PERCENT] = NM_COLUMN_REAL,  [NM_METRIC_RATIO] = NM_COLUMN_REAL,
	    [NM_METRIC_CYCLES] = NM_COLUMN_NUMBER, [NM_METRIC_TEXT] = NM_COLUMN_PLAIN};

	return (struct nm_column){.name = m->name,
				  .title = m->title,
				  .kind = kinds[m->unit],
				  .decimals = m->decimals,
				  .drop_order = m->drop_order,
				  .hidden = !(m->flags & NM_METRIC_TEXT_COLUMN),
				  .compose = m->unit == NM_METRIC_TEXT ? nm_compose_class : NULL};
}

static const struct nm_ranked_column derived[] = {
    {{.name = "cause", .title = "cause", .kind = NM_COLUMN_TEXT, .derive = nm_derive_cause}, NULL},
    {{.name = "try", .title = "try", .kind = NM_COLUMN_TEXT, .hidden = 1, .derive = nm_derive_advice}, NULL},
    {{.name = "saving", .title = "saving", .kind = NM_COLUMN_TEXT, .hidden = 1, .derive = nm_derive_saving},
     NULL},
};

const struct nm_ranked_column *nm_derived_columns(unsigned *ret_count)
{
	*ret_count = sizeof derived / sizeof *derived;
	return derived;
}
