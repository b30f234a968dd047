/* SPDX-License-Identifier: MIT
 *
 * names.c - stores each text and each (function, file, line) once.
 *
 * An id is a hash of what it stands for, not a running number: processes end in an order that depends on
 * the run, ids must not.  Two texts with one hash (one chance in 10^7 with a million texts) are told
 * apart by taking the next free id.
 */
#include <string.h>

#include "profile_priv.h"

enum { ID_BITS = 62 };

static uint64_t next_id(uint64_t id)
{
	id = (id + 1) & ((1ull << ID_BITS) - 1);
	return id ? id : 1;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = nm_mix64(hash ^ (unsigned char)*text) + 0x9e3779b97f4a7c15ull;
	return hash >> (64 - ID_BITS);
}

static int run(sqlite3_stmt *insert)
{
	int rc = sqlite3_step(insert);

	sqlite3_reset(insert);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int nm_names_text(struct nm_names *names, const char *text, sqlite3_int64 *ret_id)
{
	const char *mine;
	uint64_t id, known;

	*ret_id = 0;
	if (!text)
		return SQLITE_OK;
	mine = nm_intern(&names->pool, text);
	if (!mine)
		return SQLITE_NOMEM;
	for (id = next_id(hash_text(text)); (known = nm_map_get(&names->texts, id, 0)) != 0; id = next_id(id))
		if (known == (uintptr_t)mine)
			break;
	*ret_id = (sqlite3_int64)id;
	if (known)
		return SQLITE_OK;
	if (nm_map_put(&names->texts, id, (uintptr_t)mine))
		return SQLITE_NOMEM;
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
	int rc = nm_names_text(names, site->function, &entry.function);
	uint64_t id, at;

	if (!rc)
		rc = nm_names_text(names, site->file, &entry.file);
	if (rc)
		return rc;
	id = nm_mix64((uint64_t)entry.function ^ nm_mix64((uint64_t)entry.file ^ nm_mix64(entry.line)));
	for (id = next_id(id >> (64 - ID_BITS));
	     (at = nm_map_get(&names->sites, id, UINT64_MAX)) != UINT64_MAX; id = next_id(id))
		if (same_site(&names->entries.at[at], &entry))
			break;
	*ret_id = (sqlite3_int64)id;
	if (at != UINT64_MAX)
		return SQLITE_OK;
	if (nm_map_put(&names->sites, id, names->entries.count) || nm_vec_push(&names->entries, entry))
		return SQLITE_NOMEM;
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
	nm_map_done(&names->texts);
	nm_map_done(&names->sites);
	nm_vec_free(&names->entries);
	memset(names, 0, sizeof *names);
}
