/* SPDX-License-Identifier: MIT
 *
 * columns.c - the columns that every ranked report has, and how they come from sums over `counts`.
 *
 * The sums have the names of the columns of `counts` (c.NAME); t holds the totals of the selection, misses and
 * cycles, and p instructions.  Percentages are shares of the selection's misses, MPKI is per 1000
 * instructions of the selected processes (of all their threads).  Classes are shares of the lines filled.
 */
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "columns.h"

/* ---- cells that text makes of several columns ------------------------------------------------ */

/* "file:line (function)" with the file's last component, as far as known. */
static const char *place(struct nm_table *table, const char *function, const char *file, int64_t line)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char *text = NULL;
	int n;

	if (slash)
		file = slash + 1;
	if (file && line)
		n = asprintf(&text, "%s:%lld%s%s%s", file, (long long)line, function ? " (" : "",
			     function ? function : "", function ? ")" : "");
	else
		n = asprintf(&text, "%s%s%s%s", file ? file : "?", function ? " (" : "",
			     function ? function : "", function ? ")" : "");
	return nm_table_keep(table, n < 0 ? NULL : text);
}

const char *nm_compose_location(struct nm_table *table, size_t row)
{
	return place(table, nm_table_find(table, row, "function")->text,
		     nm_table_named(table, row, "file")->text, nm_table_named(table, row, "line")->integer);
}

const char *nm_compose_victim_location(struct nm_table *table, size_t row)
{
	return place(table, nm_table_named(table, row, "victim_function")->text,
		     nm_table_named(table, row, "victim_file")->text,
		     nm_table_named(table, row, "victim_line")->integer);
}

const char *nm_compose_evictor(struct nm_table *table, size_t row)
{
	const char *object = nm_table_named(table, row, "evictor")->text, *at;
	char *text = NULL;

	if (!object)
		return NULL;
	at = place(table, NULL, nm_table_named(table, row, "evictor_file")->text,
		   nm_table_named(table, row, "evictor_line")->integer);
	if (!at || !strcmp(at, "?"))
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
};

const struct nm_ranked_column *nm_derived_columns(unsigned *ret_count)
{
	*ret_count = sizeof derived / sizeof *derived;
	return derived;
}
