/* SPDX-License-Identifier: MIT
 *
 * names.c - stores each text and each (function, file, line) once, and numbers them in order of appearance.
 * Results arrive in the order of the process tree, so the numbers are the same in every run.
 */
#include <assert.h>
#include <string.h>

#include "profile_priv.h"

static int run_insert(sqlite3_stmt *insert)
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
	return run_insert(names->insert_text);
}

static void bind_id(sqlite3_stmt *insert, int column, sqlite3_int64 id)
{
	if (id)
		sqlite3_bind_int64(insert, column, id);
	else
		sqlite3_bind_null(insert, column);
}

static int same_site(const struct nm_site_names *n, const struct nm_site_names *s)
{
	return n->function == s->function && n->file == s->file && n->line == s->line && n->user == s->user &&
	       n->inlined == s->inlined && n->module == s->module && n->is_library == s->is_library;
}

static uint64_t site_hash(const struct nm_site_names *s)
{
	uint64_t key = nm_mix64((uint64_t)s->file ^ nm_mix64(s->line ^ nm_mix64((uint64_t)s->inlined)));

	return nm_mix64((uint64_t)s->function ^ key ^
			nm_mix64((uint64_t)s->module ^ (uint64_t)s->user << 32));
}

static int put_site(struct nm_names *names, const struct nm_site_names *entry, sqlite3_int64 *ret_id)
{
	const uint64_t hash = site_hash(entry);
	uint32_t number;

	for (size_t at = 0; nm_hash_index_next(&names->sites, hash, &at, &number);) {
		*ret_id = (sqlite3_int64)number + 1;
		if (same_site(&names->entries.at[number], entry))
			return SQLITE_OK;
	}
	number = (uint32_t)names->entries.count;
	if (nm_vec_push(&names->entries, *entry) || nm_hash_index_add(&names->sites, hash, number))
		return SQLITE_NOMEM;
	*ret_id = (sqlite3_int64)number + 1;
	sqlite3_bind_int64(names->insert_site, 1, *ret_id);
	bind_id(names->insert_site, 2, entry->function);
	bind_id(names->insert_site, 3, entry->file);
	bind_id(names->insert_site, 4, entry->line);
	sqlite3_bind_int64(names->insert_site, 5, entry->base ? entry->base : *ret_id);
	sqlite3_bind_int64(names->insert_site, 6, entry->user ? entry->user : *ret_id);
	bind_id(names->insert_site, 7, entry->is_library);
	bind_id(names->insert_site, 8, entry->inlined);
	bind_id(names->insert_site, 9, entry->module);
	return run_insert(names->insert_site);
}

/* The texts of a site without inlined calls. The module distinguishes code without a source. */
static int look_up_texts(struct nm_names *names, const char *function, const char *file, const char *module,
			 struct nm_site_names *entry)
{
	int status = nm_names_text(names, function, &entry->function);

	if (!status)
		status = nm_names_text(names, file, &entry->file);
	return status || file ? status : nm_names_text(names, module, &entry->module);
}

int nm_names_site(struct nm_names *names, const struct nm_result_site *site, sqlite3_int64 *ret_id)
{
	struct nm_site_names entry = {.line = site->line}, user = {.line = site->user_line};
	sqlite3_int64 base = 0;
	int status = look_up_texts(names, site->function, site->file, site->module, &entry);

	assert(names->insert_site);
	if (!status)
		status = put_site(names, &entry, &base);
	*ret_id = base;
	if (status || (!site->inlined && !site->is_library))
		return status;
	entry.base = entry.user = base;
	entry.is_library = site->is_library;
	status = nm_names_text(names, site->inlined, &entry.inlined);
	if (!status && !site->is_library)
		status = look_up_texts(names, site->user_function, site->user_file, site->user_module, &user);
	if (!status && !site->is_library)
		status = put_site(names, &user, &entry.user);
	return status ? status : put_site(names, &entry, ret_id);
}

sqlite3_int64 nm_names_user(const struct nm_names *names, sqlite3_int64 site)
{
	const sqlite3_int64 user = names->entries.at[site - 1].user;

	assert(site > 0 && (size_t)site <= names->entries.count);
	return user ? user : site;
}

void nm_names_done(struct nm_names *names)
{
	sqlite3_finalize(names->insert_text);
	sqlite3_finalize(names->insert_site);
	nm_strings_done(&names->pool);
	nm_map_done(&names->ids);
	nm_vec_free(&names->texts);
	nm_hash_index_done(&names->sites);
	nm_vec_free(&names->entries);
	memset(names, 0, sizeof *names);
}
