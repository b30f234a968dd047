/* SPDX-License-Identifier: MIT
 *
 * session.c - the open profiles and the debugger.
 */
#include <stdlib.h>

#include "selection.h"
#include "view_json.h"

/* What not every profile holds, and pages need (web/src/needs.ts): a view with such rows. */
static const struct {
	const char *name, *view, *where;
} holdings[] = {
    {"counts", "counts", "1"},
    {"contexts", "contexts", "1"},
    {"curves", "curve", "1"},
    {"distances", "distances", "1"},
    {"evictions", "evictions", "1"},
    {"events", "events", "address IS NOT NULL"},
    {"fields", "fields", "type IS NOT NULL"},
    {"sets", "sets", "1"},
    {"sharing", "levels", "protocol IS NOT NULL"},
    {"timeline", "timeline", "1"},
};

static int list_holdings(struct nm_profile *profile, json_t *list, struct nm_error *err)
{
	for (unsigned i = 0; i < sizeof holdings / sizeof *holdings; i++) {
		char sql[120];
		int has = nm_profile_has(profile, holdings[i].view, err);

		snprintf(sql, sizeof sql, "SELECT 1 FROM %s WHERE %s LIMIT 1", holdings[i].view,
			 holdings[i].where);
		if (has > 0)
			has = nm_profile_has_row(profile, sql, err);
		if (has < 0)
			return has;
		if (has)
			json_array_append_new(list, json_string(holdings[i].name));
	}
	return 0;
}

static int add_profile(const struct nm_view *view, unsigned number, json_t *list, struct nm_error *err)
{
	const struct nm_view_profile *profile = &view->profiles[number];
	char *trace = NULL;
	struct nm_rows *rows = NULL;
	json_t *object = json_pack("{si ss ss ss ss s[]}", "n", (int)number, "command", "", "machine", "",
				   "date", "", "merged", "", "holds");
	int status = nm_profile_query(
	    profile->profile,
	    "SELECT 'date', strftime('%Y-%m-%dT%H:%M:%SZ', CAST(value AS INTEGER), 'unixepoch') "
	    "FROM info WHERE key = 'recorded_at' "
	    "UNION ALL SELECT key, value FROM info WHERE key IN ('command', 'machine', 'merged', 'references', 'collector')",
	    &rows, err);

	json_object_set_new(object, "file", nm_view_text(profile->path));
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		json_object_set_new(object, nm_rows_text(rows, 0), nm_view_text(nm_rows_text(rows, 1)));
		status = 0;
	}
	nm_rows_free(rows);
	if (!status)
		status = list_holdings(profile->profile, json_object_get(object, "holds"), err);
	if (!status)
		status = nm_view_trace(view, number, &trace, err);
	json_object_set_new(object, "trace", nm_view_text(trace));
	free(trace);
	json_array_append_new(list, object);
	return status;
}

int nm_view_session(const struct nm_view *view, json_t **ret_answer, struct nm_error *err)
{
	json_t *profiles = json_array(), *debugger = NULL;
	int status = 0;

	for (unsigned i = 0; !status && i < view->count; i++)
		status = add_profile(view, i, profiles, err);
	if (!status)
		status = nm_view_debugger_session(view, &debugger, err);
	*ret_answer =
	    json_pack("{ss so so*}", "version", NM_VERSION, "profiles", profiles, "debugger", debugger);
	return status;
}
