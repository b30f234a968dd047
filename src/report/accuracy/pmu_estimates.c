/* SPDX-License-Identifier: MIT
 *
 * pmu_estimates.c - reads estimates and truth; see pmu_estimates.h.
 */
#include "pmu_estimates.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selection.h"

/* Of the time an interrupt takes: measured by Buck (section 3.3.3), at one cycle an instruction. */
static const double interrupt_cycles = 8800;

/* ---- samplers ------------------------------------------------------------------------------------ */

static const char samplers_sql[] =
    "WITH m AS (SELECT sum(read_misses + write_misses) AS n FROM counts WHERE (?1 IS NULL OR process = ?1) AND "
    "level = (SELECT level FROM pmu_samplers LIMIT 1)), "
    "i AS (SELECT sum(instructions) AS n FROM processes WHERE (?1 IS NULL OR process = ?1)) "
    "SELECT number, level, sampler, rule, period, sum(interrupts), "
    "CASE WHEN handler THEN 100.0 * (sum(program_misses) + sum(handler_misses) - (SELECT n FROM m)) / "
    "max(1, (SELECT n FROM m)) ELSE -1 END, 100.0 * sum(interrupts) / max(1, (SELECT n FROM i)) "
    "FROM pmu_samplers WHERE (?1 IS NULL OR process = ?1) GROUP BY number ORDER BY number";

static int take_sampler(struct nm_estimates *e, const struct nm_rows *row, struct nm_error *err)
{
	struct nm_estimated_sampler *s = &e->samplers[e->sampler_count];
	const char *level = nm_rows_text(row, 1);

	if (e->sampler_count == NM_PMU_SAMPLERS || !level || nm_rows_integer(row, 0) != e->sampler_count + 1)
		return nm_fail(err, NM_EFORMAT, "the profile's samplers are damaged");
	if (!e->level && !(e->level = strdup(level)))
		return nm_fail_memory(err);
	s->name = nm_rows_text(row, 2) ? nm_intern(&e->pool, nm_rows_text(row, 2)) : NULL;
	s->rule = nm_rows_text(row, 3) ? nm_intern(&e->pool, nm_rows_text(row, 3)) : NULL;
	if (!s->name || !s->rule)
		return nm_fail_memory(err);
	s->period = (uint64_t)nm_rows_bounded(row, 4);
	s->interrupts = (uint64_t)nm_rows_bounded(row, 5);
	s->extra_misses = nm_rows_real(row, 6);
	s->overhead = nm_rows_real(row, 7) * interrupt_cycles;
	e->sampler_count++;
	return 0;
}

/* ---- parts --------------------------------------------------------------------------------------- */

/* The columns victim, object, file, line, function of the truth, and of samples. */
static const struct {
	const char *truth, *samples, *view, *figure, *which;
} queries[] = {
    [NM_ACCURACY_OBJECTS] = {"NULL, object, NULL, NULL, NULL", "NULL, object, NULL, NULL, NULL", "counts",
			     "loads", ""},
    [NM_ACCURACY_LINES] = {"NULL, NULL, file, line, function", "NULL, NULL, file, line, function", "counts",
			   "loads", ""},
    [NM_ACCURACY_PAIRS] = {"victim, evictor, NULL, NULL, NULL", "victim, object, NULL, NULL, NULL",
			   "evictions", "count", " AND sampler GLOB 'miss@*' AND victim IS NOT NULL"},
    [NM_ACCURACY_PAIR_LINES] = {"victim, evictor, file, line, function",
				"victim, object, file, line, function", "evictions", "count",
				" AND sampler GLOB 'miss@*' AND victim IS NOT NULL"},
};

/* Sampler 0 is the truth, so a part's truth comes first. ?1: the level, ?2: the process or NULL. */
static char *parts_sql(enum nm_accuracy_by by)
{
	static const char where[] = "WHERE level = ?1 AND (?2 IS NULL OR process = ?2)";
	char *sql;

	assert((unsigned)by < sizeof queries / sizeof *queries);
	return asprintf(&sql,
			"WITH u(v, o, f, l, n, s, c) AS (SELECT %s, 0, %s FROM %s %s UNION ALL "
			"SELECT %s, number, count FROM pmu_samples %s%s) "
			"SELECT v, o, f, l, n, s, sum(c) FROM u GROUP BY v, o, f, l, n, s HAVING sum(c) > 0 "
			"ORDER BY v, o, f, l, n, s",
			queries[by].truth, queries[by].figure, queries[by].view, where, queries[by].samples,
			where, queries[by].which) < 0
		   ? NULL
		   : sql;
}

static int is_same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static int is_same_part(const struct nm_estimated_part *p, const struct nm_rows *row)
{
	return is_same_text(p->victim, nm_rows_text(row, 0)) &&
	       is_same_text(p->object, nm_rows_text(row, 1)) && is_same_text(p->file, nm_rows_text(row, 2)) &&
	       p->line == nm_rows_integer(row, 3) && is_same_text(p->function, nm_rows_text(row, 4));
}

static int keep_text(struct nm_estimates *e, const char *text, const char **ret)
{
	*ret = text ? nm_intern(&e->pool, text) : NULL;
	return text && !*ret ? NM_ENOMEM : 0;
}

static int add_part(struct nm_estimates *e, const struct nm_rows *row)
{
	struct nm_estimated_part part = {.line = nm_rows_integer(row, 3)};
	const struct nm_estimated_part *last = e->parts.count ? &e->parts.at[e->parts.count - 1] : NULL;

	if (keep_text(e, nm_rows_text(row, 0), &part.victim) ||
	    keep_text(e, nm_rows_text(row, 1), &part.object) ||
	    keep_text(e, nm_rows_text(row, 2), &part.file) ||
	    keep_text(e, nm_rows_text(row, 4), &part.function))
		return NM_ENOMEM;
	if ((!last || !is_same_text(last->victim, part.victim)) &&
	    nm_vec_push(&e->groups, (struct nm_estimated_group){.truth = 0}))
		return NM_ENOMEM;
	part.group = (uint32_t)e->groups.count - 1;
	return nm_vec_push(&e->parts, part);
}

static int take_part(struct nm_estimates *e, const struct nm_rows *row, struct nm_error *err)
{
	const int64_t sampler = nm_rows_integer(row, 5);
	const uint64_t count = (uint64_t)nm_rows_bounded(row, 6);
	struct nm_estimated_part *part;

	if (sampler < 0 || sampler > (int64_t)e->sampler_count)
		return nm_fail(err, NM_EFORMAT, "the profile's samples are damaged");
	if ((!e->parts.count || !is_same_part(&e->parts.at[e->parts.count - 1], row)) && add_part(e, row))
		return nm_fail_memory(err);
	part = &e->parts.at[e->parts.count - 1];
	if (sampler) {
		part->samples[sampler - 1] += count;
		e->groups.at[part->group].samples[sampler - 1] += count;
	} else {
		part->truth += count;
		e->groups.at[part->group].truth += count;
		e->truth += count;
	}
	return 0;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static int each_row(struct nm_rows *rows, struct nm_estimates *e,
		    int (*take)(struct nm_estimates *, const struct nm_rows *, struct nm_error *),
		    struct nm_error *err)
{
	int status;

	while ((status = nm_rows_next(rows, err)) > 0) {
		status = take(e, rows, err);
		if (status)
			break;
	}
	nm_rows_free(rows);
	return status;
}

int nm_estimates_read(struct nm_profile *profile, enum nm_accuracy_by by, const char *process,
		      struct nm_estimates *e, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char *sql = NULL;
	int status = nm_profile_has_rows(profile, "pmu_samplers", err);

	if (status <= 0)
		return status ? status
			      : nm_fail(err, NM_EINVAL,
					"no PMU was simulated: record with --pmu miss@1000, or run nearmiss "
					"accuracy -- PROGRAM");
	status = nm_profile_query(profile, samplers_sql, &rows, err);
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, process);
	status = each_row(rows, e, take_sampler, err);
	if (!status && !(sql = parts_sql(by)))
		status = nm_fail_memory(err);
	if (!status)
		status = nm_profile_query(profile, sql, &rows, err);
	free(sql);
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, e->level);
	nm_rows_bind_text(rows, 2, process);
	return each_row(rows, e, take_part, err);
}

void nm_estimates_done(struct nm_estimates *e)
{
	free(e->level);
	nm_vec_free(&e->parts);
	nm_vec_free(&e->groups);
	nm_strings_done(&e->pool);
}
