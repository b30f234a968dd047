/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "eviction_facts.h"
#include "memstream.h"

/* The keys of each kind, which are columns of its view, and the rest of the query (?1 is the level, ?2 the input). Of
 * evictions, which have a reader of their own, also the keys that there are only with the frames of the user's code. */
static const struct {
	const char *keys[NM_CUBE_KEYS + 1];
	const char *from;
	const char *inner[7];
} kinds[] = {
    [NM_FACTS_COUNTS] = {.keys = {"object", "function", "file", "line", "thread", "process", "library"},
			 .from = "counts WHERE level = ?1"},
    [NM_FACTS_FIELDS] = {.keys = {"object", "function", "file", "line", "thread", "process", "type", "field",
				  "library"},
			 .from = "field_counts WHERE level = ?1 AND field IS NOT NULL"},
    [NM_FACTS_EVICTIONS] = {.keys = {"evictor", "file", "line", "function", "victim", "victim_file",
				     "victim_line", "victim_function", "library"},
			    .inner = {"inner_file", "inner_line", "inner_function", "victim_inner_file",
				      "victim_inner_line", "victim_inner_function"}},
    [NM_FACTS_CHAINS] = {.keys = {"object", "user_file", "user_line", "process", "context", "library"},
			 .from = "main.context_counts WHERE level = ?1"},
    [NM_FACTS_INPUT] = {.keys = {"object", "function", "file", "line", "process"},
			.from = "input_counts WHERE level = ?1 AND input = ?2"},
};

static const char *const counts[] = {
#define NM_COUNT(name) #name,
#include "counts.def"
#undef NM_COUNT
};

/* The column of a view for the sum s. */
static const char *column_of(enum nm_fact_kind kind, unsigned s)
{
	if (kind == NM_FACTS_CHAINS)
		return "read_misses + write_misses";
	if (kind != NM_FACTS_INPUT || !strcmp(counts[s], "loads"))
		return counts[s];
	return strcmp(counts[s], "read_misses") ? "0" : "misses";
}

static struct nm_cube empty_cube(enum nm_fact_kind kind, int has_inner)
{
	const char *keys[NM_CUBE_KEYS + 1];
	unsigned n = 0;

	for (const char *const *key = kinds[kind].keys; *key; key++)
		keys[n++] = *key;
	for (const char *const *key = kinds[kind].inner; has_inner && *key; key++)
		keys[n++] = *key;
	keys[n] = NULL;
	return nm_cube_of(keys, kind == NM_FACTS_EVICTIONS || kind == NM_FACTS_CHAINS ? 1 : NM_COUNTS);
}

/* The query for the rows of a cube, malloc'ed; NULL: no memory. */
static char *query_of(const struct nm_cube *cube, enum nm_fact_kind kind)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	for (unsigned k = 0; k < cube->key_count; k++)
		fprintf(sql, "%s%s", k ? ", " : "SELECT ", cube->names[k]);
	for (unsigned s = 0; s < cube->sum_count; s++)
		fprintf(sql, ", %s", column_of(kind, s));
	fprintf(sql, " FROM %s", kinds[kind].from);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

static int load_evictions(struct nm_cube *cube, struct nm_cube_names *names, struct nm_profile *profile,
			  const char *level, struct nm_error *err)
{
	const int has_inner =
	    nm_profile_has_row(profile, "SELECT 1 FROM temp.sqlite_schema WHERE name = 'evictions'", err);

	if (has_inner < 0)
		return has_inner;
	*cube = empty_cube(NM_FACTS_EVICTIONS, has_inner);
	return nm_eviction_facts_read(cube, names, profile, has_inner, level, err);
}

static int load_cube(struct nm_cube *cube, struct nm_cube_names *names, struct nm_profile *profile,
		     enum nm_fact_kind kind, const char *level, const char *input, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char *sql;
	int status;

	if (kind == NM_FACTS_EVICTIONS)
		return load_evictions(cube, names, profile, level, err);
	*cube = empty_cube(kind, 0);
	sql = query_of(cube, kind);
	status = sql ? nm_profile_query(profile, sql, &rows, err) : nm_fail_memory(err);
	free(sql);
	if (!status) {
		nm_rows_bind_text(rows, 1, level);
		if (input)
			nm_rows_bind_text(rows, 2, input);
		status = nm_cube_read(cube, names, rows, err);
	}
	nm_rows_free(rows);
	return status;
}

static void clear_facts(struct nm_stored_facts *stored)
{
	nm_cube_done(&stored->facts);
	free(stored->level);
	free(stored->input);
	*stored = (struct nm_stored_facts){.profile = NULL};
}

int nm_fact_store_get(struct nm_fact_store *store, struct nm_profile *profile, enum nm_fact_kind kind,
		      const char *level, const char *input, const struct nm_cube **ret_facts,
		      struct nm_error *err)
{
	struct nm_stored_facts *oldest = &store->at[0];
	int status;

	assert(!input == (kind != NM_FACTS_INPUT));
	for (unsigned i = 0; i < NM_STORED_FACTS; i++) {
		struct nm_stored_facts *stored = &store->at[i];

		if (stored->profile == profile && stored->kind == kind && !strcmp(stored->level, level) &&
		    (!input || !strcmp(stored->input, input))) {
			stored->used = ++store->clock;
			*ret_facts = &stored->facts;
			return 0;
		}
		if (stored->used < oldest->used)
			oldest = stored;
	}
	clear_facts(oldest);
	status = load_cube(&oldest->facts, &store->names, profile, kind, level, input, err);
	oldest->level = status ? NULL : strdup(level);
	oldest->input = status || !input ? NULL : strdup(input);
	if (!status && (!oldest->level || (input && !oldest->input)))
		status = nm_fail_memory(err);
	if (status) {
		clear_facts(oldest);
		return status;
	}
	oldest->profile = profile;
	oldest->kind = kind;
	oldest->used = ++store->clock;
	*ret_facts = &oldest->facts;
	return 0;
}

void nm_fact_store_done(struct nm_fact_store *store)
{
	for (unsigned i = 0; i < NM_STORED_FACTS; i++)
		clear_facts(&store->at[i]);
	nm_cube_names_done(&store->names);
}
