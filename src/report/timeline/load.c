/* SPDX-License-Identifier: MIT
 *
 * load.c - the timeline of a process, from the views `timeline`, `timeline_objects` and `timeline_lines`.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "name_match.h"
#include "selection.h"
#include "timeline_priv.h"

const char *const nm_timeline_figures[NM_TIMELINE_FIGURES] = {
    "reads", "writes", "read_misses", "write_misses", "cold", "capacity", "conflict", "coherence", "loads"};

enum { READ_MISSES = 2, WRITE_MISSES = 3 };

static const char *keep_column(struct nm_process_timeline *t, const struct nm_rows *rows, unsigned column)
{
	const char *text = nm_rows_text(rows, column);

	return text ? nm_intern(&t->pool, text) : NULL;
}

/* ---- the process and the level ---- */

static int choose_process(struct nm_process_timeline *t, struct nm_profile *profile, const char *wanted,
			  struct nm_error *err)
{
	static const char sql[] =
	    "SELECT process, instructions FROM processes WHERE process IN (SELECT process FROM timeline) "
	    "ORDER BY process IS NOT ?1, instructions DESC, process";
	struct nm_rows *rows;
	char *others = NULL;
	int status = wanted ? nm_select_process(profile, wanted, err) : 0, more = 0;

	if (!status)
		status = nm_profile_query(profile, sql, &rows, err);
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, wanted);
	while ((more = nm_rows_next(rows, err)) > 0) {
		char *joined;

		if (!t->process) {
			t->process = keep_column(t, rows, 0);
			t->instructions = nm_rows_bounded(rows, 1);
			continue;
		}
		if (asprintf(&joined, "%s%s%s", others ? others : "", others ? ", " : "",
			     nm_rows_text(rows, 0)) < 0)
			break;
		free(others);
		others = joined;
	}
	nm_rows_free(rows);
	t->others = others ? nm_intern(&t->pool, others) : NULL;
	free(others);
	return more < 0 ? more : 0;
}

static int choose_level(struct nm_process_timeline *t, struct nm_profile *profile, const char *wanted,
			struct nm_error *err)
{
	char *first = NULL;
	int status =
	    wanted ? nm_select_level(profile, wanted, err) : nm_select_first_level(profile, &first, err);

	if (!status)
		t->level = nm_intern(&t->pool, wanted ? wanted : first);
	free(first);
	return status || t->level ? status : nm_fail_memory(err);
}

/* ---- levels ---- */

static int begin_row(struct nm_timeline_row *row, const struct nm_process_timeline *t, int has_cells)
{
	const size_t room = t->intervals.count + 1;

	row->misses = calloc(room, sizeof *row->misses);
	row->cells = has_cells ? calloc(room, sizeof *row->cells) : NULL;
	return row->misses && (row->cells || !has_cells) ? 0 : NM_ENOMEM;
}

static int load_intervals(struct nm_process_timeline *t, struct nm_profile *profile, struct nm_error *err)
{
	static const char sql[] = "SELECT DISTINCT interval, begin, instructions, working_set FROM timeline "
				  "WHERE process = ?1 ORDER BY interval";
	struct nm_rows *rows;
	int status = nm_profile_query(profile, sql, &rows, err), more;

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, t->process);
	while ((more = nm_rows_next(rows, err)) > 0 && !status)
		if (nm_vec_push(&t->intervals, (struct nm_timeline_interval){nm_rows_bounded(rows, 1),
									     nm_rows_bounded(rows, 2),
									     nm_rows_bounded(rows, 3)}))
			status = nm_fail_memory(err);
	nm_rows_free(rows);
	return more < 0 ? more : status;
}

static int is_interval(const struct nm_process_timeline *t, int64_t interval)
{
	return interval >= 0 && (size_t)interval < t->intervals.count;
}

static int add_cell(struct nm_process_timeline *t, const struct nm_rows *rows)
{
	const char *name = keep_column(t, rows, 0);
	const int64_t interval = nm_rows_integer(rows, 1);
	struct nm_timeline_row *row = t->levels.count ? &t->levels.at[t->levels.count - 1] : NULL;
	struct nm_timeline_cell *cell;

	if (!name || !is_interval(t, interval))
		return name ? 0 : NM_ENOMEM;
	if (!row || row->name != name) {
		if (nm_vec_push(&t->levels, (struct nm_timeline_row){.name = name}))
			return NM_ENOMEM;
		row = &t->levels.at[t->levels.count - 1];
		if (begin_row(row, t, 1))
			return NM_ENOMEM;
	}
	cell = &row->cells[interval];
	for (unsigned k = 0; k < NM_TIMELINE_FIGURES; k++)
		cell->figures[k] = nm_rows_bounded(rows, 2 + k);
	cell->object = keep_column(t, rows, 2 + NM_TIMELINE_FIGURES);
	cell->function = keep_column(t, rows, 3 + NM_TIMELINE_FIGURES);
	cell->file = keep_column(t, rows, 4 + NM_TIMELINE_FIGURES);
	cell->line = nm_rows_bounded(rows, 5 + NM_TIMELINE_FIGURES);
	row->misses[interval] = cell->figures[READ_MISSES] + cell->figures[WRITE_MISSES];
	row->total += row->misses[interval];
	return 0;
}

static int load_levels(struct nm_process_timeline *t, struct nm_profile *profile, struct nm_error *err)
{
	static const char sql[] =
	    "SELECT t.level, t.interval, t.reads, t.writes, t.read_misses, t.write_misses, t.cold, t.capacity, "
	    "t.conflict, t.coherence, t.loads, t.object, t.function, t.file, t.line FROM timeline t "
	    "JOIN levels l ON l.process = t.process AND l.level = t.level WHERE t.process = ?1 "
	    "ORDER BY l.position, t.interval";
	struct nm_rows *rows;
	int status = nm_profile_query(profile, sql, &rows, err), more;

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, t->process);
	while ((more = nm_rows_next(rows, err)) > 0 && !status)
		if (add_cell(t, rows))
			status = nm_fail_memory(err);
	nm_rows_free(rows);
	return more < 0 ? more : status;
}

/* ---- phases ---- */

static int load_stretches(struct nm_process_timeline *t, struct nm_profile *profile, struct nm_error *err)
{
	static const char sql[] = "SELECT name, phase, interval, intervals, begin, instructions FROM phases "
				  "WHERE process = ?1 ORDER BY interval";
	struct nm_rows *rows;
	int status = nm_profile_query(profile, sql, &rows, err), more;

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, t->process);
	while ((more = nm_rows_next(rows, err)) > 0 && !status) {
		const struct nm_timeline_stretch stretch = {
		    nm_rows_bounded(rows, 1), nm_rows_bounded(rows, 2), nm_rows_bounded(rows, 3),
		    nm_rows_bounded(rows, 4), nm_rows_bounded(rows, 5), keep_column(t, rows, 0)};

		if (!stretch.name || nm_vec_push(&t->stretches, stretch))
			status = nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return more < 0 ? more : status;
}

/* Whether an interval is of the phase that was asked for. */
static int is_asked(const struct nm_process_timeline *t, const char *phase, int64_t interval)
{
	for (size_t i = 0; i < t->stretches.count; i++) {
		const struct nm_timeline_stretch *s = &t->stretches.at[i];

		if (s->interval <= interval && interval < s->interval + s->intervals)
			return !strcmp(s->name, phase);
	}
	return 0;
}

/* The phase by its name. */
static int choose_phase(struct nm_process_timeline *t, struct nm_profile *profile,
			struct nm_timeline_request *request, struct nm_error *err)
{
	char *name;
	int status = nm_find_phase(profile, request->phase, t->process, &name, err);

	if (status)
		return status;
	request->phase = nm_intern(&t->pool, name);
	free(name);
	return request->phase ? 0 : nm_fail_memory(err);
}

/* ---- objects or lines ---- */

static struct nm_timeline_row *part_named(struct nm_process_timeline *t, const char *name)
{
	for (size_t i = 0; i < t->parts.count; i++)
		if (t->parts.at[i].name == name)
			return &t->parts.at[i];
	if (nm_vec_push(&t->parts, (struct nm_timeline_row){.name = name}) ||
	    begin_row(&t->parts.at[t->parts.count - 1], t, 0))
		return NULL;
	return &t->parts.at[t->parts.count - 1];
}

static int add_part(struct nm_process_timeline *t, const struct nm_rows *rows, const char *phase)
{
	const char *name = keep_column(t, rows, 0);
	const int64_t interval = nm_rows_integer(rows, 1), misses = nm_rows_bounded(rows, 2);
	struct nm_timeline_row *row = name ? part_named(t, name) : NULL;

	if (!row || !is_interval(t, interval))
		return row ? 0 : NM_ENOMEM;
	if (phase && !is_asked(t, phase, interval))
		return 0;
	row->misses[interval] += misses;
	row->total += misses;
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct nm_timeline_row *r = a, *y = b;

	if (r->total != y->total)
		return r->total < y->total ? 1 : -1;
	return strcmp(r->name, y->name);
}

static int load_parts(struct nm_process_timeline *t, struct nm_profile *profile,
		      const struct nm_timeline_request *request, struct nm_error *err)
{
	static const char objects[] = "SELECT coalesce(object, '?'), interval, read_misses + write_misses "
				      "FROM timeline_objects WHERE process = ?1 AND level = ?2";
	static const char lines[] =
	    "SELECT CASE WHEN file IS NULL THEN coalesce(function, '?') ELSE "
	    "replace(file, rtrim(file, replace(file, '/', '')), '') || ':' || line || "
	    "coalesce(' (' || function || ')', '') END, interval, read_misses + write_misses "
	    "FROM timeline_lines WHERE process = ?1 AND level = ?2";
	struct nm_rows *rows;
	int status = nm_profile_query(profile, strcmp(request->by, "line") ? objects : lines, &rows, err),
	    more;

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, t->process);
	nm_rows_bind_text(rows, 2, t->level);
	while ((more = nm_rows_next(rows, err)) > 0 && !status)
		if (add_part(t, rows, request->phase))
			status = nm_fail_memory(err);
	nm_rows_free(rows);
	if (t->parts.count)
		qsort(t->parts.at, t->parts.count, sizeof *t->parts.at, by_total);
	while (t->parts.count && ((request->limit > 0 && t->parts.count > (size_t)request->limit) ||
				  (request->phase && !t->parts.at[t->parts.count - 1].total)))
		free(t->parts.at[--t->parts.count].misses);
	return more < 0 ? more : status;
}

/* Says why there is none: NM_EINVAL, or an error. */
static int report_missing(struct nm_profile *profile, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, "SELECT 1 FROM info WHERE key = 'one_machine'", &rows, err);

	status = status ? status : nm_rows_next(rows, err);
	nm_rows_free(rows);
	return status < 0 ? status
	       : status   ? nm_fail(err, NM_EINVAL,
				    "there is no timeline: with --one-machine, the caches serve all processes, "
				      "whose instructions have no common order; record without it")
			  : nm_fail(err, NM_EINVAL, "there is no timeline: no caches were simulated");
}

int nm_timeline_load(struct nm_process_timeline *t, struct nm_profile *profile,
		     const struct nm_timeline_request *asked, struct nm_error *err)
{
	struct nm_timeline_request request = *asked;
	int status = choose_process(t, profile, request.process, err);

	assert(asked);
	if (!status && !t->process)
		return report_missing(profile, err);
	if (!status)
		status = choose_level(t, profile, request.level, err);
	if (!status)
		status = load_intervals(t, profile, err);
	if (!status)
		status = load_levels(t, profile, err);
	if (!status)
		status = load_stretches(t, profile, err);
	if (!status && request.phase)
		status = choose_phase(t, profile, &request, err);
	return status ? status : load_parts(t, profile, &request, err);
}

void nm_timeline_done(struct nm_process_timeline *t)
{
	for (size_t i = 0; i < t->levels.count; i++) {
		free(t->levels.at[i].misses);
		free(t->levels.at[i].cells);
	}
	for (size_t i = 0; i < t->parts.count; i++)
		free(t->parts.at[i].misses);
	nm_vec_free(&t->levels);
	nm_vec_free(&t->parts);
	nm_vec_free(&t->intervals);
	nm_vec_free(&t->stretches);
	nm_strings_done(&t->pool);
}
