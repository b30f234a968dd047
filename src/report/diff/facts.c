/* SPDX-License-Identifier: MIT
 *
 * facts.c - see facts.h: one query for each level.
 */
#include "facts.h"

#include <stdlib.h>
#include <string.h>

#include "memstream.h"
#include "selection.h"

const char *const nm_diff_metric_names[] = {"references", "misses", "loads", "cycles", NULL};
const char *const nm_diff_key_names[] = {"process", "level",  "class", "function", "file",
					 "line",    "object", "type",  "field",    NULL};

enum { CLASSES = 4 };
static const char *const classes[CLASSES] = {"cold", "capacity", "conflict", "coherence"};

/* Columns of the query: the keys but class, the metrics, the classes. */
enum { FIRST_METRIC = NM_DIFF_KEYS, FIRST_CLASS = FIRST_METRIC + NM_DIFF_METRICS };

static const char *column_of(unsigned key, const char *has)
{
	static const char *const always[NM_DIFF_KEYS] = {[NM_DIFF_FUNCTION] = "counts.function",
							 [NM_DIFF_FILE] = "counts.file",
							 [NM_DIFF_LINE] = "counts.line",
							 [NM_DIFF_OBJECT] = "counts.object"};

	if (always[key])
		return always[key];
	if (!has[key])
		return "NULL";
	return key == NM_DIFF_PROCESS ? "counts.process"
	       : key == NM_DIFF_TYPE  ? "o.type"
	       : key == NM_DIFF_FIELD ? "counts.field"
				      : "NULL";
}

static char *query_of(const struct nm_levels *levels, const char *level, const char *has)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	fputs("WITH " NM_LEVELS_W " AS (", sql);
	nm_levels_weights(levels, level, sql);
	fputs("), x AS MATERIALIZED (SELECT object FROM objects WHERE kind = 'code')", sql);
	if (has[NM_DIFF_TYPE])
		fputs(", o AS MATERIALIZED (SELECT process, object, type FROM objects)", sql);
	fputs(" SELECT ", sql);
	for (unsigned key = 0; key < NM_DIFF_KEYS; key++)
		fprintf(sql, "%s, ", column_of(key, has));
	fputs(
	    "sum(w.own * (reads + writes)), sum(w.own * (read_misses + write_misses)), sum(w.own * loads), CAST(",
	    sql);
	nm_levels_cycles(levels, "counts", sql);
	fputs(" AS INTEGER)", sql);
	for (unsigned c = 0; c < CLASSES; c++)
		fprintf(sql, ", sum(w.own * %s)", classes[c]);
	fprintf(sql, " FROM w CROSS JOIN %s AS counts ON counts.level = w.source",
		has[NM_DIFF_FIELD] ? "field_counts" : "counts");
	if (has[NM_DIFF_TYPE])
		fputs(" LEFT JOIN o ON o.process = counts.process AND o.object = counts.object", sql);
	fputs(
	    " WHERE (w.code IS NULL OR w.code = (counts.object IN x)) AND (?1 IS NULL OR counts.process = ?1) "
	    "GROUP BY 1",
	    sql);
	for (unsigned key = 1; key < NM_DIFF_KEYS; key++)
		fprintf(sql, ", %u", key + 1);
	fputs(" HAVING max(w.own)", sql);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

static int take_names(struct nm_diff_names *names, const struct nm_rows *rows, const char *level,
		      struct nm_strings *pool)
{
	for (unsigned key = 0; key < NM_DIFF_KEYS; key++) {
		const char *text = key == NM_DIFF_LEVEL ? level : nm_rows_text(rows, key);

		if (key == NM_DIFF_LINE || !text)
			continue;
		names->text[key] = nm_intern(pool, text);
		if (!names->text[key])
			return NM_ENOMEM;
	}
	names->line = nm_rows_bounded(rows, NM_DIFF_LINE);
	return 0;
}

/* A fact for each class that the row has misses of. */
static int push_classes(struct nm_diff_side *side, struct nm_diff_fact *fact, const struct nm_rows *rows,
			struct nm_strings *pool)
{
	for (unsigned c = 0; c < CLASSES; c++) {
		const int64_t lines = nm_rows_bounded(rows, FIRST_CLASS + c);

		memset(fact->sums, 0, sizeof fact->sums);
		fact->sums[NM_DIFF_MISSES] = fact->sums[NM_DIFF_LOADS] = lines;
		fact->own.text[NM_DIFF_CLASS] = nm_intern(pool, classes[c]);
		fact->common = fact->own;
		if (!fact->own.text[NM_DIFF_CLASS] || nm_vec_push(&side->facts, *fact))
			return NM_ENOMEM;
		fact->executed = 0;
	}
	return 0;
}

static int take_row(struct nm_diff_side *side, const struct nm_rows *rows, const char *level, const char *has,
		    struct nm_strings *pool)
{
	const int is_asked = !strcmp(level, side->selection.request.level);
	struct nm_diff_fact fact = {.executed = 0};

	if (take_names(&fact.own, rows, has[NM_DIFF_LEVEL] ? level : NULL, pool))
		return NM_ENOMEM;
	for (unsigned m = 0; m < NM_DIFF_METRICS; m++) {
		fact.sums[m] = nm_rows_bounded(rows, FIRST_METRIC + m);
		if (is_asked)
			side->totals[m] += fact.sums[m];
	}
	fact.executed = is_asked ? fact.sums[NM_DIFF_REFERENCES] : 0;
	if (has[NM_DIFF_CLASS])
		return push_classes(side, &fact, rows, pool);
	fact.common = fact.own;
	return nm_vec_push(&side->facts, fact);
}

static int load_level(struct nm_diff_side *side, const char *level, const char *has, struct nm_strings *pool,
		      struct nm_error *err)
{
	char *sql = query_of(&side->selection.levels, level, has);
	struct nm_rows *rows = NULL;
	int status = sql ? nm_profile_query(side->profile, sql, &rows, err) : nm_fail_memory(err);

	free(sql);
	if (!status)
		nm_rows_bind_text(rows, 1, side->selection.request.process);
	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = take_row(side, rows, level, has, pool) ? nm_fail_memory(err) : 0;
	nm_rows_free(rows);
	return status;
}

/* What was run, on which machine, with what pinned. */
static int load_run(struct nm_diff_side *side, struct nm_strings *pool, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    side->profile,
	    "SELECT (SELECT command FROM processes ORDER BY path LIMIT 1), "
	    "coalesce((SELECT value FROM info WHERE key = 'machine_spec'), ''), "
	    "(SELECT sum(instructions) FROM processes WHERE ?1 IS NULL OR process = ?1), "
	    "coalesce((SELECT group_concat(key || '=' || value, ';') FROM (SELECT key, value FROM info "
	    "WHERE key LIKE 'hermetic!_%' ESCAPE '!' AND key != 'hermetic_unpinned' ORDER BY key)), '')",
	    &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, side->selection.request.process);
		status = nm_rows_next(rows, err);
	}
	if (status > 0) {
		side->command = nm_intern(pool, nm_rows_text(rows, 0) ? nm_rows_text(rows, 0) : "");
		side->machine = nm_intern(pool, nm_rows_text(rows, 1));
		side->instructions = nm_rows_bounded(rows, 2);
		side->pinned = nm_intern(pool, nm_rows_text(rows, 3));
		status = side->command && side->machine && side->pinned ? 0 : nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return status;
}

static int load_misses(struct nm_diff_side *side, struct nm_error *err)
{
	const struct nm_levels *levels = &side->selection.levels;
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(side->profile,
				      "SELECT level, sum(read_misses + write_misses) FROM levels "
				      "WHERE ?1 IS NULL OR process = ?1 GROUP BY level",
				      &rows, err);

	if (!status)
		nm_rows_bind_text(rows, 1, side->selection.request.process);
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const char *name = nm_rows_text(rows, 0);

		for (unsigned i = 0; name && i < levels->count; i++)
			if (!strcmp(levels->at[i].name, name))
				side->misses[i] = nm_rows_bounded(rows, 1);
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

int nm_diff_side_load(struct nm_diff_side *side, const struct nm_diff_request *request, const char *has,
		      struct nm_strings *pool, struct nm_error *err)
{
	const struct nm_report_request r = {.level = request->level,
					    .process = request->process,
					    .frame = request->frame,
					    .part = request->part};
	const struct nm_levels *levels = &side->selection.levels;
	int status = nm_select_counts(side->profile, err);

	if (!status)
		status = nm_selection_make(side->profile, &r, &side->selection, err);
	if (!status)
		status = load_run(side, pool, err);
	if (!status)
		status = load_misses(side, err);
	for (unsigned i = 0; !status && i < levels->count; i++)
		if (has[NM_DIFF_LEVEL] ? !request->level || !strcmp(request->level, levels->at[i].name)
				       : !strcmp(side->selection.request.level, levels->at[i].name))
			status = load_level(side, levels->at[i].name, has, pool, err);
	return status;
}

void nm_diff_side_done(struct nm_diff_side *side)
{
	nm_vec_free(&side->facts);
	nm_selection_done(&side->selection);
}
