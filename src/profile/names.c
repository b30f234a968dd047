/* SPDX-License-Identifier: MIT
 *
 * names.c - stores each text and each (function, file, line) once, numbered as they come: rows are appended, and
 * results come in the order of the process tree, so that no number depends on the run.
 */
#include <string.h>

#include "profile_priv.h"

static int run(sqlite3_stmt *insert)
{
	int status = sqlite3_step(insert);

	sqlite3_reset(insert);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

int nm_names_text(struct nm_names *names, const char *text, sqlite3_int64 *ret_id)
{
	const char *mine;

	*ret_id = 0;
	if (!text)
		return SQLITE_OK;
	mine = nm_intern(&names->pool, text);
	if (!mine)
		return SQLITE_NOMEM;
	*ret_id = (sqlite3_int64)nm_map_get(&names->ids, (uintptr_t)mine, 0);
	if (*ret_id)
		return SQLITE_OK;
	if (nm_vec_push(&names->texts, mine) || nm_map_put(&names->ids, (uintptr_t)mine, names->texts.count))
		return SQLITE_NOMEM;
	*ret_id = (sqlite3_int64)names->texts.count;
	sqlite3_bind_int64(names->insert_text, 1, *ret_id);
	sqlite3_bind_text(names->insert_text, 2, mine, -1, SQLITE_STATIC);
	return run(names->insert_text);
}

static void bind_id(sqlite3_stmt *insert, int column, sqlite3_int64 id)
{
	if (id)
		sqlite3_bind_int64(insert, column, id);
	else
		sqlite3_bind_null(insert, column);
}

static int same_site(const struct nm_site_names *a, const struct nm_site_names *b)
{
	return a->function == b->function && a->file == b->file && a->line == b->line;
}

int nm_names_site(struct nm_names *names, const struct nm_result_site *site, sqlite3_int64 *ret_id)
{
	struct nm_site_names entry = {.line = site->line};
	int status = nm_names_text(names, site->function, &entry.function);
	uint64_t key, id;

	if (!status)
		status = nm_names_text(names, site->file, &entry.file);
	if (status)
		return status;
	key = nm_mix64((uint64_t)entry.function ^ nm_mix64((uint64_t)entry.file ^ nm_mix64(entry.line)));
	while ((id = nm_map_get(&names->sites, key, 0)) && !same_site(&names->entries.at[id - 1], &entry))
		key++;
	*ret_id = (sqlite3_int64)id;
	if (id)
		return SQLITE_OK;
	if (nm_vec_push(&names->entries, entry) || nm_map_put(&names->sites, key, names->entries.count))
		return SQLITE_NOMEM;
	*ret_id = (sqlite3_int64)names->entries.count;
	sqlite3_bind_int64(names->insert_site, 1, *ret_id);
	bind_id(names->insert_site, 2, entry.function);
	bind_id(names->insert_site, 3, entry.file);
	bind_id(names->insert_site, 4, entry.line);
	return run(names->insert_site);
}

void nm_names_done(struct nm_names *names)
{
	sqlite3_finalize(names->insert_text);
	sqlite3_finalize(names->insert_site);
	nm_strings_done(&names->pool);
	nm_map_done(&names->ids);
	nm_vec_free(&names->texts);
	nm_map_done(&names->sites);
	nm_vec_free(&names->entries);
	memset(names, 0, sizeof *names);
}
