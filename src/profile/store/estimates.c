/* SPDX-License-Identifier: MIT
 *
 * estimates.c - stores the points of estimated curves, with the names of their objects and functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_priv.h"

static const char sql[] = "INSERT OR IGNORE INTO estimate VALUES(?,?,?,?,?,?,?,?,?,?,?)";

static const char *const scopes[NM_SCOPES] = {[NM_SCOPE_TOTAL] = "total",
					      [NM_SCOPE_THREAD] = "thread",
					      [NM_SCOPE_OBJECT] = "object",
					      [NM_SCOPE_FUNCTION] = "function",
					      [NM_SCOPE_LINE] = "line"};

/* FILE:LINE, or the function if there is no source, as in the view's rows for exact curves. */
static int line_id(const struct nm_result_writer *w, const struct nm_result_site *site, sqlite3_int64 *ret)
{
	char *text;
	int status;

	if (!site->file)
		return nm_names_text(&w->store->names, site->function, ret);
	if (asprintf(&text, "%s:%u", site->file, site->line) < 0)
		return SQLITE_NOMEM;
	status = nm_names_text(&w->store->names, text, ret);
	free(text);
	return status;
}

static int name_id(const struct nm_result_writer *w, const struct nm_result_estimate *e, sqlite3_int64 *ret)
{
	switch (e->scope) {
	case NM_SCOPE_OBJECT: return nm_names_text(&w->store->names, w->result->objects[e->whose].name, ret);
	case NM_SCOPE_FUNCTION:
		return nm_names_text(&w->store->names, w->result->sites[e->whose].function, ret);
	case NM_SCOPE_LINE: return line_id(w, &w->result->sites[e->whose], ret);
	default: *ret = e->scope == NM_SCOPE_THREAD ? e->whose : 0; return SQLITE_OK;
	}
}

/* METHOD, or METHOD@RATE; never NULL. */
static const char *method_text(const struct nm_result_estimate *e, char *room, size_t size)
{
	if (!(e->rate > 0))
		return e->method;
	snprintf(room, size, "%s@%g", e->method, e->rate);
	return room;
}

static int store_point(const struct nm_result_writer *w, sqlite3_stmt *insert,
		       const struct nm_result_estimate *e)
{
	const double ratios[] = {e->miss_ratio, e->cold_ratio, e->low, e->high};
	char method[64];
	sqlite3_int64 name = 0;
	int status = name_id(w, e, &name);

	if (status)
		return status;
	sqlite3_bind_int64(insert, 1, w->process);
	sqlite3_bind_text(insert, 2, method_text(e, method, sizeof method), -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 3, e->policy, -1, SQLITE_STATIC);
	sqlite3_bind_text(insert, 4, scopes[e->scope], -1, SQLITE_STATIC);
	sqlite3_bind_int64(insert, 5, name);
	sqlite3_bind_int64(insert, 6, (sqlite3_int64)e->size);
	for (int i = 0; i < 4; i++)
		sqlite3_bind_double(insert, 7 + i, ratios[i]);
	sqlite3_bind_int64(insert, 11, (sqlite3_int64)e->samples);
	status = sqlite3_step(insert);
	sqlite3_reset(insert);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

int nm_store_estimates(const struct nm_result_writer *w)
{
	sqlite3_stmt *insert = NULL;
	int status = sqlite3_prepare_v2(w->store->db, sql, -1, &insert, NULL);

	for (size_t i = 0; i < w->result->estimate_count && !status; i++)
		status = store_point(w, insert, &w->result->estimates[i]);
	sqlite3_finalize(insert);
	return status;
}
