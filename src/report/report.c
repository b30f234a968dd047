/* SPDX-License-Identifier: MIT
 *
 * report.c - checks a request against the profile, and prints the report that it names.
 */
#include "report.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "report_priv.h"
#include "samples_report.h"
#include "selection.h"
#include "structure.h"
#include "text.h"

/* ---- the request --------------------------------------------------------------------------------- */

static int choose_names(struct nm_profile *profile, struct nm_selection *selection, struct nm_error *err)
{
	const struct nm_report_request *r = &selection->request;
	int status = nm_match_name(profile, "object", r->object, "SELECT object AS name FROM objects", 0,
				   &selection->object, err);

	if (!status)
		status = nm_match_name(profile, "function", r->function,
				       "SELECT DISTINCT function AS name FROM counts", 0,
				       &selection->function, err);
	if (!status)
		status = nm_match_name(profile, "file", r->file, "SELECT DISTINCT file AS name FROM counts",
				       1, &selection->file, err);
	if (!status && r->structure)
		status = nm_match_name(profile, "structure",
				       r->structure + (strncmp(r->structure, "struct ", 7) ? 0 : 7),
				       "SELECT DISTINCT " NM_STRUCTURE_NAME("type") " AS name FROM fields", 0,
				       &selection->structure, err);
	return status;
}

/* Stores whether something was found. A negative `found` is a code, and returned; else 0. */
static int note_found(int found, int *ret_there)
{
	*ret_there = found > 0;
	return found < 0 ? found : 0;
}

/* The phase by its name. */
static int choose_phase(struct nm_profile *profile, struct nm_selection *selection, struct nm_error *err)
{
	struct nm_report_request *r = &selection->request;
	char *name;
	int status = nm_select_phase(profile, r->part.phase, r->process, &name, err);

	if (status)
		return status;
	r->part.phase = nm_intern(&selection->levels.pool, name);
	free(name);
	return r->part.phase ? 0 : nm_fail_memory(err);
}

/* Views name the frames that were chosen from here on. */
static int choose_frame(struct nm_profile *profile, struct nm_selection *selection, struct nm_error *err)
{
	enum nm_shown_frame frame = selection->request.frame;
	int status = nm_profile_show_part(profile, &selection->request.part, frame, err), by_call = 0;

	selection->has_inner = frame != NM_SHOW_INNERMOST;
	if (!status && frame == NM_SHOW_USER)
		status = note_found(nm_profile_has_contexts(profile, err), &by_call);
	selection->has_cells = !by_call;
	return status;
}

/* The level whose misses memory serves, unless it is the one that is reported on. */
static int find_last(struct nm_selection *selection)
{
	const struct nm_level *asked = nm_levels_named(&selection->levels, selection->request.level);
	const struct nm_level *last = asked ? nm_levels_last(&selection->levels, asked) : NULL;
	char title[64];

	if (!last || last == asked || last->side == NM_LEVEL_CODE)
		return 0;
	snprintf(title, sizeof title, "%s misses", last->name);
	selection->last = last;
	selection->last_title = nm_intern(&selection->levels.pool, title);
	return selection->last_title ? 0 : NM_ENOMEM;
}

/* The levels of each machine that take data; of one that the user named, those with its name behind that of the
 * machine. */
static int choose_machines(struct nm_selection *selection, struct nm_error *err)
{
	const struct nm_levels *levels = &selection->levels;
	const char *level = selection->request.level, *slash = strrchr(level, '/');
	unsigned machines = 0;
	char text[80];

	for (unsigned i = 0; i < levels->count; i++) {
		const struct nm_level *l = &levels->at[i];
		const char *own = strrchr(l->name, '/');
		struct nm_level_column *to = &selection->machines[selection->machine_levels];

		machines += !i || !nm_machine_same(l->name, levels->at[i - 1].name);
		if (l->side == NM_LEVEL_CODE ||
		    (selection->one_level && strcmp(own ? own + 1 : l->name, slash ? slash + 1 : level) != 0))
			continue;
		to->level = l;
		snprintf(text, sizeof text, "%s_misses", l->name);
		to->name = nm_intern(&selection->levels.pool, text);
		snprintf(text, sizeof text, "%s misses", l->name);
		to->title = nm_intern(&selection->levels.pool, text);
		if (!to->name || !to->title)
			return nm_fail_memory(err);
		selection->machine_levels++;
	}
	return machines > 1 ? 0
			    : nm_fail(err, NM_EINVAL,
				      "the profile has one machine: record or replay with several --machine");
}

int nm_selection_make(struct nm_profile *profile, const struct nm_report_request *request,
		      struct nm_selection *selection, struct nm_error *err)
{
	char *first = NULL;
	int status = 0;

	selection->request = *request;
	selection->one_level = request->level != NULL;
	if (request->level)
		status = nm_select_level(profile, request->level, err);
	if (!status && request->process)
		status = nm_select_process(profile, request->process, err);
	if (!status && request->thread)
		status = nm_select_thread(profile, request->thread, err);
	if (!status && !request->level)
		status = nm_select_first_level(profile, &first, err);
	if (!status && request->part.phase)
		status = choose_phase(profile, selection, err);
	if (!status)
		status = nm_levels_load(&selection->levels, profile, request->latency, err);
	if (!status)
		status = choose_frame(profile, selection, err);
	if (!status)
		status = choose_names(profile, selection, err);
	if (!status)
		status = note_found(nm_profile_has_regions(profile, err), &selection->has_regions);
	if (!status)
		status = note_found(nm_profile_is_by_phase(profile, err), &selection->is_by_phase);
	selection->has_repeated =
	    !request->part.region && !request->part.phase; /* of these it is not known */
	if (!status) {
		selection->request.level = nm_intern(&selection->levels.pool, first ? first : request->level);
		selection->levels.asked = selection->request.level;
		if (selection->request.level &&
		    !nm_machine_same(selection->request.level, selection->levels.at[0].name))
			selection->levels.has_covered = 0;
		if (!selection->request.level || find_last(selection))
			status = nm_fail_memory(err);
	}
	if (!status && request->machines)
		status = choose_machines(selection, err);
	free(first);
	return status;
}

void nm_selection_done(struct nm_selection *selection)
{
	nm_levels_done(&selection->levels);
	nm_name_pattern_done(&selection->object);
	nm_name_pattern_done(&selection->function);
	nm_name_pattern_done(&selection->file);
	nm_name_pattern_done(&selection->structure);
}

static int name_fits(const struct nm_report *report, struct nm_profile *profile,
		     const struct nm_report_request *r, struct nm_error *err)
{
	int status = report->needs_contexts ? nm_profile_has_contexts(profile, err) : 1;

	if (status <= 0)
		return status ? status
			      : nm_fail(err, NM_EINVAL,
					"the profile has no call chains: record with --callgraph");
	status = report->view ? nm_profile_has(profile, report->view, err) : 1;
	if (status > 0 && report->view)
		status = nm_profile_has_rows(profile, report->view, err);
	if (status <= 0)
		return status ? status : nm_fail(err, NM_EINVAL, "the profile has no %s", report->without);
	if (report->columns && r->thread)
		return nm_fail(err, NM_EINVAL, "the report \"%s\" does not take --thread", report->name);
	if (r->machines && (report->columns || report->is_summary || report->is_structure))
		return nm_fail(err, NM_EINVAL, "the report \"%s\" does not take --machines", report->name);
	if (report->columns && (r->object || r->function || r->file))
		return nm_fail(err, NM_EINVAL, "the report \"%s\" does not take --%s", report->name,
			       r->object     ? "object"
			       : r->function ? "function"
					     : "file");
	return 0;
}

/* The processes of a sweep's file are its tasks: of each the counts of levels are known, and their sum says nothing. */
static int shows_sweep(const struct nm_report *report, const struct nm_report_request *r)
{
	return report == nm_report_named("tasks") || (report == nm_report_named("levels") && r->process);
}

/* ---- showing it ---------------------------------------------------------------------------------- */

/* Behind the rows of text: what they come to. */
static void print_total(const struct nm_table *table, FILE *out)
{
	int64_t misses = 0;
	double share = 0;

	for (size_t row = 0; row < table->row_count; row++) {
		misses += nm_table_named(table, row, "misses")->integer;
		share += nm_table_named(table, row, "share")->real;
	}
	fprintf(out, "\ntotal of %zu rows: ", table->row_count);
	nm_print_grouped(misses, out);
	fprintf(out, " misses, %.1f %%\n", share);
}

int nm_report_run(const struct nm_report *report, struct nm_profile *profile,
		  const struct nm_report_request *request, const struct nm_style *style, FILE *out,
		  struct nm_error *err)
{
	struct nm_selection selection = {.one_level = 0};
	struct nm_report_table filled = {.table = {0}};
	int sampled = report->is_summary ? nm_profile_is_sampled(profile, err) : 0, status;
	int has_samples = nm_profile_has_samples(profile, err);
	const int is_sweep = nm_profile_has(profile, "tasks", err);

	assert(report && request && style);
	if (has_samples)
		return has_samples < 0 ? has_samples
				       : nm_samples_report(report, profile, request, style, out, err);
	if (sampled)
		return sampled < 0 ? sampled : nm_sampled_summary_run(profile, request, style, out, err);
	if (is_sweep > 0 && report->is_summary && !request->process)
		report = nm_report_named("tasks");
	status = is_sweep < 0                               ? is_sweep
		 : is_sweep && shows_sweep(report, request) ? 0
							    : nm_select_counts(profile, err);
	if (!status)
		status = name_fits(report, profile, request, err);
	if (!status)
		status = nm_selection_make(profile, request, &selection, err);
	if (!status && report->is_summary) {
		status = nm_summary_run(profile, &selection, style, out, err);
	} else if (!status && report->is_structure) {
		status = nm_structure_run(profile, &selection, style, out, err);
	} else if (!status) {
		status = nm_report_fill(report, profile, &selection, &filled, err);
		if (!status)
			status = nm_table_show(&filled.table, request->by ? request->by : report->name,
					       report->all_levels ? NULL : selection.request.level, style,
					       out, err);
		if (!status && report->has_total && style->format == NM_FORMAT_TEXT)
			print_total(&filled.table, out);
	}
	nm_report_table_done(&filled);
	nm_selection_done(&selection);
	return status;
}

/* A column's name for a terminal, which views of the profile may have chosen. */
static const char *clean_name(struct nm_table *table, const char *name)
{
	char *clean = nm_utf8_clean(name);
	const char *kept = clean ? nm_intern(&table->pool, clean) : NULL;

	free(clean);
	return kept;
}

int nm_report_query(struct nm_profile *profile, const char *sql, const struct nm_style *style, FILE *out,
		    struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	struct nm_table table = {.is_query = 1};
	struct nm_column *columns = NULL;
	unsigned i;
	int status;

	assert(sql && style);
	nm_profile_let_run(profile); /* the user wrote the query, and can stop it */
	status = nm_profile_query(profile, sql, &rows, err);

	if (status)
		return status;
	table.column_count = nm_rows_columns(rows);
	table.columns = columns = calloc(table.column_count + 1, sizeof *columns);
	if (!columns)
		status = nm_fail_memory(err);
	for (i = 0; !status && i < table.column_count; i++) {
		columns[i].name = nm_intern(&table.pool, nm_rows_name(rows, i));
		columns[i].title = clean_name(&table, nm_rows_name(rows, i));
		if (!columns[i].name || !columns[i].title)
			status = nm_fail_memory(err);
	}
	if (!status)
		status = nm_table_fill(&table, rows, err);
	if (!status)
		status = nm_table_show(&table, "query", NULL, style, out, err);
	nm_rows_free(rows);
	nm_table_done(&table);
	free(columns);
	return status;
}
