/* SPDX-License-Identifier: MIT
 *
 * export.c - checks a request against the profile and the format, and writes the export, whole or in parts.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "export_priv.h"
#include "selection.h"
#include "text.h"

static int add_level(struct nm_export *e, const char *level, struct nm_error *err)
{
	for (size_t i = 0; i < e->levels.count; i++)
		if (e->levels.at[i] == level)
			return 0;
	return nm_vec_push(&e->levels, level) ? nm_fail_memory(err) : 0;
}

static int all_levels(struct nm_export *e, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status =
	    nm_profile_query(e->profile, "SELECT DISTINCT level FROM levels ORDER BY position", &rows, err);

	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const char *name = nm_rows_text(rows, 0), *level = nm_intern(&e->pool, name ? name : "?");

		status = level ? add_level(e, level, err) : nm_fail_memory(err);
	}
	nm_rows_free(rows);
	if (!status && !e->levels.count && !(e->exporter->flags & NM_EXPORTER_WHOLE))
		status = nm_fail(err, NM_EFORMAT, "the profile has no process: nothing was recorded");
	return status;
}

static int first_level(struct nm_export *e, struct nm_error *err)
{
	char *level = NULL;
	const char *name;
	int status = nm_select_first_level(e->profile, &level, err);

	if (status)
		return status;
	name = nm_intern(&e->pool, level);
	free(level);
	return name ? add_level(e, name, err) : nm_fail_memory(err);
}

static int choose_levels(struct nm_export *e, const char *list, struct nm_error *err)
{
	int status = 0;

	if (!list)
		return e->exporter->flags & NM_EXPORTER_ALL_LEVELS ? all_levels(e, err) : first_level(e, err);
	while (list && !status) {
		size_t n = strcspn(list, ",");
		const char *level = nm_intern_n(&e->pool, list, n);

		status = level ? nm_select_level(e->profile, level, err) : nm_fail_memory(err);
		if (!status)
			status = add_level(e, level, err);
		list = list[n] ? list + n + 1 : NULL;
	}
	return status;
}

/* The threads that counted something, process by process. */
static int find_threads(struct nm_export *e, const char *process, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    e->profile,
	    "SELECT DISTINCT thread FROM counts WHERE process = ?1 AND (?2 IS NULL OR thread = "
	    "?2) ORDER BY thread",
	    &rows, err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, process);
	if (e->thread)
		nm_rows_bind_integer(rows, 2, e->thread);
	while ((status = nm_rows_next(rows, err)) > 0)
		if (nm_vec_push(&e->parts, (struct nm_export_part){process, nm_rows_integer(rows, 0)})) {
			status = nm_fail_memory(err);
			break;
		}
	nm_rows_free(rows);
	return status;
}

static int find_parts(struct nm_export *e, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    e->profile, "SELECT process FROM processes WHERE ?1 IS NULL OR process = ?1", &rows, err);

	if (status)
		return status;
	if (e->process)
		nm_rows_bind_text(rows, 1, e->process);
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const char *name = nm_rows_text(rows, 0), *process = nm_intern(&e->pool, name ? name : "?");

		status = process ? find_threads(e, process, err) : nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return status;
}

/* What the format does not take. */
static int check_format(const struct nm_export *e, const struct nm_export_request *request,
			struct nm_error *err)
{
	const struct nm_exporter *exporter = e->exporter;

	if (request->events && exporter->flags & NM_EXPORTER_WHOLE)
		return nm_fail(err, NM_EINVAL, "%s always writes all events: leave out --event",
			       exporter->name);
	if ((request->part.region || request->part.phase) && exporter->flags & NM_EXPORTER_WHOLE)
		return nm_fail(
		    err, NM_EINVAL,
		    "%s always writes the whole run, with regions and phases as columns: leave out "
		    "--region and --phase",
		    exporter->name);
	if (request->objects && !(exporter->flags & NM_EXPORTER_OBJECTS))
		return nm_fail(err, NM_EINVAL, "%s always shows objects: leave out --objects",
			       exporter->name);
	if (exporter->flags & NM_EXPORTER_ONE_EVENT && e->events.count > 1)
		return nm_fail(err, NM_EINVAL, "%s takes one level and one event", exporter->name);
	return 0;
}

int nm_export_open(struct nm_export **ret_export, const struct nm_exporter *exporter,
		   struct nm_profile *profile, const struct nm_export_request *request, struct nm_error *err)
{
	struct nm_export *x = calloc(1, sizeof *x);
	int status = 0;

	if (!x)
		return nm_fail_memory(err);
	x->exporter = exporter;
	x->profile = profile;
	x->process = request->process;
	x->thread = request->thread;
	x->objects = request->objects;
	status = nm_select_counts(profile, err);
	if (!status && x->process)
		status = nm_select_process(profile, x->process, err);
	if (!status && x->thread)
		status = nm_select_thread(profile, x->thread, err);
	if (!status && !(exporter->flags & NM_EXPORTER_WHOLE))
		status = nm_profile_show_part(profile, &request->part, request->frame, err);
	if (!status)
		status = choose_levels(x, request->levels, err);
	if (!status)
		status = nm_events_choose(x, request->events ? request->events : exporter->events, err);
	if (!status)
		status = check_format(x, request, err);
	if (!status)
		status = find_parts(x, err);
	if (!status && !(exporter->flags & NM_EXPORTER_WHOLE))
		status = nm_chains_load(x, err);
	if (status)
		nm_export_close(x);
	else
		*ret_export = x;
	return status;
}

void nm_export_close(struct nm_export *e)
{
	if (!e)
		return;
	nm_vec_free(&e->levels);
	nm_vec_free(&e->events);
	nm_vec_free(&e->parts);
	nm_vec_free(&e->chains);
	nm_map_done(&e->first_chain);
	nm_strings_done(&e->pool);
	free(e);
}

unsigned nm_export_parts(const struct nm_export *x) { return (unsigned)x->parts.count; }

int nm_export_write(struct nm_export *e, unsigned part, FILE *out, struct nm_error *err)
{
	const char *process = e->process;
	int64_t thread = e->thread;
	int status;

	assert(out);
	if (part) {
		e->process = e->parts.at[part - 1].process;
		e->thread = e->parts.at[part - 1].thread;
	}
	e->part = part;
	status = e->exporter->write(e, out, err);
	e->process = process;
	e->thread = thread;
	return status;
}

/* ---- exporters: the table of exporters ---- */

extern const struct nm_exporter nm_exporter_callgrind, nm_exporter_csv, nm_exporter_firefox,
    nm_exporter_folded, nm_exporter_json, nm_exporter_pprof, nm_exporter_speedscope;

static const struct nm_exporter *const exporters[] = {
    &nm_exporter_callgrind, &nm_exporter_csv,   &nm_exporter_firefox,    &nm_exporter_folded,
    &nm_exporter_json,      &nm_exporter_pprof, &nm_exporter_speedscope,
};

const struct nm_exporter *nm_exporter_at(unsigned i)
{
	return i < sizeof exporters / sizeof *exporters ? exporters[i] : NULL;
}

const struct nm_exporter *nm_exporter_named(const char *name)
{
	for (unsigned i = 0; nm_exporter_at(i); i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}

const char *nm_exporter_name(const struct nm_exporter *exporter) { return exporter->name; }
const char *nm_exporter_summary(const struct nm_exporter *exporter) { return exporter->summary; }

int nm_exporter_is_binary(const struct nm_exporter *exporter)
{
	return !!(exporter->flags & NM_EXPORTER_BINARY);
}

/* ---- texts: the names of an export, and their numbers ---- */

int nm_export_text(struct nm_export *e, const char *text, const char **ret_text)
{
	char *clean;

	if (!text) {
		*ret_text = NULL;
		return 0;
	}
	clean = nm_utf8_clean(text);
	*ret_text = clean ? nm_intern(&e->pool, clean) : NULL;
	free(clean);
	return *ret_text ? 0 : NM_ENOMEM;
}

int nm_export_id(struct nm_map *ids, const char *text, uint64_t *ret_id, int *ret_new)
{
	uint64_t id = nm_map_get(ids, (uintptr_t)text, 0);

	*ret_new = !id;
	*ret_id = id ? id : ids->count + 1;
	return id ? 0 : nm_map_put(ids, (uintptr_t)text, *ret_id);
}
