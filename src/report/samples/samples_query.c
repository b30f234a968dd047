/* SPDX-License-Identifier: MIT
 *
 * samples_query.c - the query of a ranked report of samples: the view `samples` summed by any keys.
 *
 * Rows with the key `band` are histograms, of what takes longest first.
 *
 *     s     the samples of the request's selection that access memory, or whose event says nothing of that
 *     n     by keys and latency: how many samples took so long, or less
 *     p     by keys: the latency that 95 % of the samples do not exceed, by the ends of their bins
 *     t     totals
 *     g     sums by keys
 */
#include <math.h>
#include <stdlib.h>

#include "memstream.h"
#include "samples_report.h"

enum { PROCESS, THREAD, EVENT, FUNCTION, SOURCE, LINE, OBJECT, TYPE, FIELD, SERVED, BAND, KEYS };

/* Latencies of one power of two. */
#define BELOW(cycles) " WHEN latency_low < 2 * " #cycles " THEN " #cycles
#define BELOW_4(a, b, c, d) BELOW(a) BELOW(b) BELOW(c) BELOW(d)

static const struct {
	const char *name, *title;
	enum nm_column_kind kind;
	const char *sql; /* of the view's columns; NULL: it is one */
} keys[KEYS] = {[PROCESS] = {"process", "process", NM_COLUMN_PLAIN, NULL},
		[THREAD] = {"thread", "thread", NM_COLUMN_PLAIN, NULL},
		[EVENT] = {"event", "event", NM_COLUMN_NAME, NULL},
		[FUNCTION] = {"function", "function", NM_COLUMN_NAME, NULL},
		[SOURCE] = {"file", "file", NM_COLUMN_NAME, NULL},
		[LINE] = {"line", "line", NM_COLUMN_PLAIN, NULL},
		[OBJECT] = {"object", "object", NM_COLUMN_NAME, NULL},
		[TYPE] = {"type", "type", NM_COLUMN_NAME, NULL},
		[FIELD] = {"field", "field", NM_COLUMN_NAME, "type || '.' || field"},
		[SERVED] = {"served", "data came from", NM_COLUMN_TEXT, NM_SERVED_SQL},
		[BAND] = {"band", "cycles from", NM_COLUMN_PLAIN,
			  "CASE WHEN latency_low IS NULL THEN NULL" BELOW_4(1, 2, 4, 8)
			      BELOW_4(16, 32, 64, 128) BELOW_4(256, 512, 1024, 2048)
				  BELOW_4(4096, 8192, 16384, 32768) " ELSE 65536 END"}};

struct chosen_keys {
	unsigned at[KEYS], count;
	int has[KEYS];
};

/* ---- keys --------------------------------------------------------------------------------------- */

static void take_key(struct chosen_keys *k, unsigned key)
{
	if (!k->has[key])
		k->at[k->count++] = key;
	k->has[key] = 1;
}

static int take_keys(struct chosen_keys *k, const char *list, struct nm_error *err)
{
	const char *words[KEYS + 1] = {NULL};
	char typed[40];
	unsigned key;

	for (key = 0; key < KEYS; key++)
		words[key] = keys[key].name;
	for (;; list++) {
		const size_t n = strcspn(list, ",");

		snprintf(typed, sizeof typed, "%.*s", (int)n, list);
		for (key = 0; key < KEYS && strcmp(typed, keys[key].name); key++)
			;
		if (key == KEYS)
			return nm_fail_unknown("key of samples", typed, words, err);
		if (key == LINE) /* a number means nothing without its file */
			take_key(k, SOURCE);
		take_key(k, key);
		list += n;
		if (!*list)
			return 0;
	}
}

static void put_keys(struct nm_query *query, const struct chosen_keys *k)
{
	static const struct nm_column where = {
	    .name = "where", .title = "line", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location};

	for (unsigned i = 0; i < k->count; i++) {
		const unsigned key = k->at[i];

		if (k->has[LINE] && key == SOURCE)
			query->columns[query->count++] = where;
		query->columns[query->count++] = (struct nm_column){
		    .name = keys[key].name,
		    .title = keys[key].title,
		    .kind = keys[key].kind,
		    .drop_order = key == SOURCE && i ? 8 : 0,
		    .hidden = k->has[LINE] && (key == LINE || key == SOURCE || key == FUNCTION)};
	}
	query->keys = query->count;
}

/* ---- figures ------------------------------------------------------------------------------------ */

void nm_samples_interval(double k, double n, double *low, double *high)
{
	const double z = 1.96, p = k / n, centre = (p + z * z / (2 * n)) / (1 + z * z / n),
		     half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);

	*low = n > 0 ? fmax(0, centre - half) : 0;
	*high = n > 0 ? fmin(1, centre + half) : 1;
}

/* "12.3 - 14.1": of the share, in percent. */
static const char *derive_interval(struct nm_table *table, size_t row)
{
	double low, high;
	char *text = NULL;

	nm_samples_interval((double)nm_table_named(table, row, "samples")->integer,
			    (double)nm_table_named(table, row, "all")->integer, &low, &high);
	if (asprintf(&text, "%.1f - %.1f", 100 * low, 100 * high) < 0)
		text = NULL;
	return nm_table_keep(table, text);
}

static const struct nm_ranked_column figures[] = {
    {{.name = "samples", .title = "samples", .kind = NM_COLUMN_NUMBER}, "g.samples"},
    {{.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
     "100.0 * g.samples / nullif(t.samples, 0)"},
    {{.name = "interval",
      .title = "95 %",
      .kind = NM_COLUMN_RIGHT,
      .drop_order = 4,
      .derive = derive_interval},
     NULL},
    {{.name = "all"}, "t.samples"},
    {{.name = "shared", .title = "shared", .kind = NM_COLUMN_NUMBER, .drop_order = 3}, "g.shared"},
    {{.name = "loads", .title = "loads", .kind = NM_COLUMN_NUMBER, .drop_order = 9}, "g.loads"},
    {{.name = "stores", .title = "stores", .kind = NM_COLUMN_NUMBER, .drop_order = 9}, "g.stores"},
    {{.name = "l1", .title = "L1", .kind = NM_COLUMN_NUMBER, .drop_order = 6}, "g.l1"},
    {{.name = "l2", .title = "L2", .kind = NM_COLUMN_NUMBER, .drop_order = 5}, "g.l2"},
    {{.name = "l3", .title = "L3", .kind = NM_COLUMN_NUMBER, .drop_order = 5}, "g.l3"},
    {{.name = "memory", .title = "memory", .kind = NM_COLUMN_NUMBER, .drop_order = 3}, "g.memory"},
    {{.name = "remote", .title = "remote", .kind = NM_COLUMN_NUMBER, .drop_order = 7}, "g.remote"},
    {{.name = "missed", .title = "missed", .kind = NM_COLUMN_NUMBER, .drop_order = 7}, "g.missed"},
    {{.name = "hitm", .title = "HITM", .kind = NM_COLUMN_NUMBER, .drop_order = 6}, "g.hitm"},
    {{.name = "tlb_misses", .title = "TLB miss", .kind = NM_COLUMN_NUMBER, .drop_order = 8}, "g.tlb_misses"},
    {{.name = "locked", .title = "locked", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "g.locked"},
    {{.name = "latency", .title = "cycles", .kind = NM_COLUMN_REAL, .drop_order = 2}, "g.mean"},
    {{.name = "latency_p95", .title = "p95", .kind = NM_COLUMN_NUMBER, .drop_order = 5}, "p.p95"},
    {{.name = "latency_share", .title = "of all %", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 3},
     "100.0 * g.latency / nullif(t.latency, 0)"},
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* ---- the query ---------------------------------------------------------------------------------- */

static const char sums[] =
    "sum(count) AS samples, sum(shared * count) AS shared, sum(coalesce(operation IN ('load', 'both'), 0) * count) AS loads, "
    "sum(coalesce(operation IN ('store', 'both'), 0) * count) AS stores, "
    "sum(coalesce(source IN ('L1', 'fill buffer'), 0) * count) AS l1, "
    "sum(coalesce(source = 'L2', 0) * count) AS l2, "
    "sum(coalesce(source IN ('L3', 'L4', 'other cache'), 0) * count) AS l3, "
    "sum(coalesce(source = 'memory', 0) * count) AS memory, "
    "sum(coalesce(source LIKE 'remote%', 0) * count) AS remote, "
    "sum(missed * count) AS missed, sum(coalesce(snoop = 'hitm', 0) * count) AS hitm, sum(coalesce(tlb = 'miss', 0) * count) AS tlb_misses, "
    "sum(locked * count) AS locked, sum(latency) AS latency, "
    "1.0 * sum(latency) / nullif(sum((latency_high IS NOT NULL) * count), 0) AS mean";

/* The keys with `before` in front of each and `between` them. */
static void list_keys(const struct chosen_keys *k, const char *before, const char *between, FILE *sql)
{
	for (unsigned i = 0; i < k->count; i++)
		fprintf(sql, "%s%s%s", i ? between : "", before, keys[k->at[i]].name);
}

static void write_samples(const struct chosen_keys *k, const struct nm_selection *s, FILE *sql)
{
	fputs("WITH s AS MATERIALIZED (SELECT ", sql);
	for (unsigned i = 0; i < k->count; i++)
		if (keys[k->at[i]].sql)
			fprintf(sql, "%s AS %s, ", keys[k->at[i]].sql, keys[k->at[i]].name);
		else
			fprintf(sql, "%s, ", keys[k->at[i]].name);
	fputs(
	    "operation, CASE WHEN NOT missed THEN served END AS source, missed, snoop, tlb, locked, shared, latency_high, count, latency FROM samples "
	    "WHERE operation IS NOT 'none' AND (?2 IS NULL OR process = ?2) AND (?3 = 0 OR thread = ?3)",
	    sql);
	if (s->object.pattern)
		fprintf(sql, " AND object %s ?4", s->object.operator_);
	if (s->function.pattern)
		fprintf(sql, " AND function %s ?5", s->function.operator_);
	if (s->file.pattern)
		fprintf(sql, " AND file %s ?6", s->file.operator_);
	fputs(")", sql);
}

static void write_percentile(const struct chosen_keys *k, FILE *sql)
{
	fputs(", n AS (SELECT ", sql);
	list_keys(k, "", ", ", sql);
	fputs(", latency_high, sum(sum(count)) OVER (PARTITION BY ", sql);
	list_keys(k, "", ", ", sql);
	fputs(" ORDER BY latency_high) AS up_to, sum(sum(count)) OVER (PARTITION BY ", sql);
	list_keys(k, "", ", ", sql);
	fputs(") AS samples FROM s WHERE latency_high IS NOT NULL GROUP BY ", sql);
	list_keys(k, "", ", ", sql);
	fputs(", latency_high), p AS (SELECT ", sql);
	list_keys(k, "", ", ", sql);
	fputs(", min(latency_high) AS p95 FROM n WHERE up_to >= 0.95 * samples GROUP BY ", sql);
	list_keys(k, "", ", ", sql);
	fputs(")", sql);
}

static void write_query(const struct chosen_keys *k, const struct nm_selection *a, FILE *sql)
{
	write_samples(k, a, sql);
	write_percentile(k, sql);
	fputs(", t AS MATERIALIZED (SELECT sum(count) AS samples, sum(latency) AS latency FROM s), "
	      "g AS MATERIALIZED (SELECT ",
	      sql);
	list_keys(k, "", ", ", sql);
	fprintf(sql, ", %s FROM s GROUP BY ", sums);
	list_keys(k, "", ", ", sql);
	fputs(") SELECT ", sql);
	list_keys(k, "g.", ", ", sql);
	for (unsigned i = 0; i < FIGURES; i++)
		if (figures[i].sql)
			fprintf(sql, ", %s AS \"%s\"", figures[i].sql, figures[i].column.name);
	fputs(" FROM g CROSS JOIN t LEFT JOIN p ON ", sql);
	for (unsigned i = 0; i < k->count; i++)
		fprintf(sql, "%sp.%s IS g.%s", i ? " AND " : "", keys[k->at[i]].name, keys[k->at[i]].name);
}

/* Histograms stay together: by the sums of their latencies. */
static void order_histograms(const struct chosen_keys *k, FILE *sql)
{
	fputs("sum(g.latency) OVER (PARTITION BY 1", sql);
	for (unsigned i = 0; i < k->count; i++)
		if (k->at[i] != BAND)
			fprintf(sql, ", g.%s", keys[k->at[i]].name);
	fputs(") DESC, ", sql);
}

int nm_samples_query_make(struct nm_query *query, const struct nm_report *report,
			  const struct nm_selection *selection, struct nm_error *err)
{
	struct chosen_keys k = {.count = 0};
	FILE *out;
	int status = take_keys(&k, report->keys ? report->keys : selection->request.by, err);

	if (status)
		return status;
	put_keys(query, &k);
	for (unsigned i = 0; i < FIGURES; i++)
		query->columns[query->count++] = figures[i].column;
	out = nm_memstream_open(&query->ties, NULL);
	if (out && k.has[BAND])
		order_histograms(&k, out);
	if (out)
		list_keys(&k, "g.", ", ", out);
	status = !out || nm_memstream_close(out, &query->ties);
	out = nm_memstream_open(&query->sql, NULL);
	if (out)
		write_query(&k, selection, out);
	status |= !out || nm_memstream_close(out, &query->sql);
	return status ? nm_fail_memory(err) : 0;
}
