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

#define RAW(name_)                                                                                    \
	{                                                                                             \
		{.name = #name_, .title = #name_, .kind = NM_COLUMN_NUMBER, .hidden = 1}, "c." #name_ \
	}

static const struct nm_ranked_column columns[] = {
    {{.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER, .hidden = 1},
     "c.reads + c.writes"},
    {{.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER}, "c.misses"},
    {{.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
     "100.0 * c.misses / nullif(t.misses, 0)"},
    {{.name = "mpki", .title = "MPKI", .kind = NM_COLUMN_REAL, .decimals = 2, .drop_order = 3},
     "1000.0 * c.misses / nullif(p.instructions, 0)"},
    {{.name = "miss_ratio", .title = "ratio %", .kind = NM_COLUMN_REAL, .decimals = 2, .drop_order = 7},
     "100.0 * c.misses / nullif(c.reads + c.writes, 0)"},
    {{.name = "class", .title = "class", .compose = nm_compose_class, .drop_order = 4}, NULL},
    RAW(cold),
    RAW(capacity),
    RAW(conflict),
    RAW(coherence),
    RAW(loads),
    {{.name = "reuse", .title = "reuse", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 6},
     "1.0 * c.reuse / nullif(c.lines, 0)"},
    {{.name = "waste", .title = "waste %", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 2},
     "100.0 - 100.0 * c.used_bytes / nullif(c.loaded_bytes, 0)"},
    {{.name = "use_by_access",
      .title = "use % by access",
      .kind = NM_COLUMN_REAL,
      .decimals = 1,
      .hidden = 1},
     "100.0 * c.weighted_bytes * c.lines / nullif(1.0 * c.reuse * c.loaded_bytes, 0)"},
    {{.name = "cycles", .title = "cycles", .kind = NM_COLUMN_NUMBER, .drop_order = 5}, "c.cycles"},
    {{.name = "cycles_share", .title = "cycles %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "100.0 * c.cycles / nullif(t.cycles, 0)"},
    {{.name = "cycles_per_miss", .title = "cycles/miss", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "1.0 * c.cycles / nullif(c.misses, 0)"},
    {{.name = "misses_per_reuse",
      .title = "misses/reuse",
      .kind = NM_COLUMN_REAL,
      .decimals = 1,
      .hidden = 1},
     "1.0 * c.misses * c.lines / nullif(c.reuse, 0)"},
    {{.name = "misses_by_waste", .title = "misses*waste", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "c.misses * (1.0 - 1.0 * c.used_bytes / nullif(c.loaded_bytes, 0))"},
    {{.name = "wasted_bytes", .title = "wasted bytes", .kind = NM_COLUMN_NUMBER, .hidden = 1},
     "c.loaded_bytes - c.used_bytes"},
    RAW(reads),
    RAW(writes),
    RAW(read_misses),
    RAW(write_misses),
    RAW(used_bytes),
    RAW(loaded_bytes),
    RAW(evictions),
    RAW(writebacks),
    RAW(weighted_bytes),
    {{.name = "cause", .title = "cause", .kind = NM_COLUMN_TEXT, .derive = nm_derive_cause}, NULL},
    {{.name = "try", .title = "try", .kind = NM_COLUMN_TEXT, .hidden = 1, .derive = nm_derive_advice}, NULL},
};

const struct nm_ranked_column *nm_ranked_columns(unsigned *ret_count)
{
	*ret_count = sizeof columns / sizeof *columns;
	return columns;
}
