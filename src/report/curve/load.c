/* SPDX-License-Identifier: MIT
 *
 * load.c - curves from the view `curve` of a profile.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve_priv.h"

static const char sql[] =
    "SELECT process, coalesce(name, '?'), method, policy, size, miss_ratio, low, high, refs, samples, cold_ratio "
    "FROM curve WHERE scope = ?1 AND (?2 IS NULL OR process = ?2) AND (?3 IS NULL OR name GLOB ?3) "
    "AND (?4 IS NULL OR method = ?4 OR method GLOB ?4 || '@*') AND miss_ratio IS NOT NULL "
    "ORDER BY method <> 'exact', method, process, name, size";

enum column { PROCESS, NAME, METHOD, POLICY, SIZE, RATIO, LOW, HIGH, REFERENCES, SAMPLES, COLD };

struct nm_curve_point nm_curve_at(const struct nm_curve *c, double bytes)
{
	const struct nm_curve_point *p = c->points.at;
	size_t low = 0, high = c->points.count; /* the first point beyond bytes */
	double part;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (p[mid].bytes <= bytes)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return c->exact ? (struct nm_curve_point){bytes, 1, 1, 1} : p[0];
	if (c->exact || low == c->points.count)
		return p[low - 1];
	p += low - 1;
	part = log(bytes / p[0].bytes) / log(p[1].bytes / p[0].bytes);
	return (struct nm_curve_point){bytes, p[0].ratio + part * (p[1].ratio - p[0].ratio),
				       p[0].low + part * (p[1].low - p[0].low),
				       p[0].high + part * (p[1].high - p[0].high)};
}

static int is_of(const struct nm_curve *c, const struct nm_rows *rows)
{
	return !strcmp(c->process, nm_rows_text(rows, PROCESS)) &&
	       !strcmp(c->name, nm_rows_text(rows, NAME)) && !strcmp(c->method, nm_rows_text(rows, METHOD));
}

static const char *keep_column(struct nm_curves *curves, const struct nm_rows *rows, enum column column)
{
	const char *text = nm_rows_text(rows, column);

	return nm_intern(&curves->pool, text ? text : "?");
}

static int begin_curve(struct nm_curves *curves, const struct nm_curve_source *source,
		       const struct nm_rows *rows)
{
	struct nm_curve c = {.source = source->label,
			     .process = keep_column(curves, rows, PROCESS),
			     .name = keep_column(curves, rows, NAME),
			     .method = keep_column(curves, rows, METHOD),
			     .policy = keep_column(curves, rows, POLICY),
			     .references = nm_rows_bounded(rows, REFERENCES),
			     .samples = nm_rows_bounded(rows, SAMPLES),
			     .cold_ratio = nm_rows_real(rows, COLD)};

	if (!c.process || !c.name || !c.method || !c.policy)
		return NM_ENOMEM;
	c.exact = !strcmp(c.method, "exact");
	c.simulated = !strcmp(c.method, "simulated");
	return nm_vec_push(&curves->list, c);
}

static int add_row(struct nm_curves *curves, size_t first, const struct nm_curve_source *source,
		   const struct nm_rows *rows)
{
	struct nm_curve_point p = {nm_rows_real(rows, SIZE), nm_rows_real(rows, RATIO),
				   nm_rows_real(rows, LOW), nm_rows_real(rows, HIGH)};

	if ((curves->list.count == first || !is_of(&curves->list.at[curves->list.count - 1], rows)) &&
	    begin_curve(curves, source, rows))
		return NM_ENOMEM;
	return p.bytes > 0 ? nm_vec_push(&curves->list.at[curves->list.count - 1].points, p) : 0;
}

int nm_curves_load(struct nm_curves *curves, const struct nm_curve_source *source,
		   const struct nm_curve_request *request, const char *scope, struct nm_error *err)
{
	const size_t first = curves->list.count;
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(source->profile, sql, &rows, err), more = 0;

	if (!status) {
		nm_rows_bind_text(rows, 1, scope);
		nm_rows_bind_text(rows, 2, request->process);
		nm_rows_bind_text(rows, 3, request->only);
		nm_rows_bind_text(rows, 4, request->method);
		while (!status && (more = nm_rows_next(rows, err)) > 0)
			if (add_row(curves, first, source, rows))
				status = nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return status ? status : more;
}

void nm_curves_done(struct nm_curves *curves)
{
	for (size_t i = 0; i < curves->list.count; i++)
		nm_vec_free(&curves->list.at[i].points);
	nm_vec_free(&curves->list);
	nm_vec_free(&curves->knees);
	nm_vec_free(&curves->notes);
	nm_strings_done(&curves->pool);
}
