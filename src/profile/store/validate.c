/* SPDX-License-Identifier: MIT
 *
 * validate.c - what holds of a profile that is complete, before it is committed: for tests, and in builds with
 * checks. Rows refer to rows that are there, and the sums of the run are those of its processes. Each rule searches for
 * a row that breaks it.
 */
#include <stdio.h>

#include "profile_priv.h"

static const char *const rules[] = {
    "SELECT 1 FROM site WHERE function NOT IN (SELECT id FROM text) OR file NOT IN (SELECT id FROM text)",
    "SELECT 1 FROM site WHERE base > id OR user NOT IN (SELECT id FROM site)",
    "SELECT 1 FROM place WHERE process NOT IN (SELECT id FROM process) OR site NOT IN (SELECT id FROM site)",
    "SELECT 1 FROM place WHERE object <> 0 AND object NOT IN (SELECT id FROM text)",
    "SELECT 1 FROM object WHERE process NOT IN (SELECT id FROM process) OR name NOT IN (SELECT id FROM text)",
    "SELECT 1 FROM level WHERE process NOT IN (SELECT id FROM process)",
    "SELECT 1 FROM cell WHERE level NOT IN (SELECT id FROM level) OR place NOT IN (SELECT id FROM place)",
    "SELECT 1 FROM eviction WHERE victim NOT IN (SELECT id FROM place)",
    "SELECT 1 FROM eviction WHERE evictor NOT IN (SELECT id FROM place) OR prefetches > count",
};

/* Whether a query finds no row. */
static int finds_none(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *query = NULL;
	int status = sqlite3_prepare_v2(db, sql, -1, &query, NULL);

	status = status ? status : sqlite3_step(query);
	sqlite3_finalize(query);
	return status == SQLITE_DONE;
}

int nm_profile_writer_is_valid(struct nm_profile_writer *writer)
{
	const struct nm_profile_sums *sums = nm_profile_writer_sums(writer);
	sqlite3 *db = nm_profile_writer_db(writer);
	char sql[300];

	for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!finds_none(db, rules[i]))
			return 0;
	snprintf(
	    sql, sizeof sql,
	    "SELECT 1 FROM (SELECT count(*) AS n, total(instructions) AS i, total(refs) AS r, "
	    "total(lost_words) AS l FROM process) WHERE n <> %llu OR i <> %llu OR r <> %llu OR l <> %llu",
	    (unsigned long long)sums->processes, (unsigned long long)sums->instructions,
	    (unsigned long long)sums->references, (unsigned long long)sums->lost_words);
	return finds_none(db, sql);
}
