/* SPDX-License-Identifier: MIT
 *
 * load.c - reads facts from the views of a profile.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "facts_priv.h"
#include "memstream.h"
#include "utf8.h"

/* The keys of each kind, which are columns of its view, the rest of the query (?1 is the level), and the keys
 * that only views with the frames of the user's code have. */
static const struct {
	const char *keys[NM_FACT_KEYS + 1];
	const char *from;
	const char *inner[7];
} kinds[] = {
    [NM_FACTS_COUNTS] = {.keys = {"object", "function", "file", "line", "thread", "process"},
			 .from = "counts WHERE level = ?1"},
    [NM_FACTS_FIELDS] = {.keys = {"object", "function", "file", "line", "thread", "process", "type", "field"},
			 .from = "field_counts WHERE level = ?1 AND field IS NOT NULL"},
    [NM_FACTS_EVICTIONS] = {.keys = {"evictor", "file", "line", "function", "victim", "victim_file",
				     "victim_line", "victim_function"},
			    .from = "evictions WHERE level = ?1",
			    .inner = {"inner_file", "inner_line", "inner_function", "victim_inner_file",
				      "victim_inner_line", "victim_inner_function"}},
};

static const char *const counts[] = {
#define NM_COUNT(name) #name,
#include "counts.def"
#undef NM_COUNT
};

int nm_fact_is_number(const char *name) { return !strcmp(name, "thread") || !fnmatch("*line", name, 0); }

/* ---- names ---- */

void nm_fact_names_done(struct nm_fact_names *names)
{
	nm_strings_done(&names->pool);
	nm_map_done(&names->clean);
}

/* The text as it is shown, interned; NULL: no memory. */
static const char *shown(struct nm_fact_names *names, const char *text)
{
	const char *stored = nm_intern(&names->pool, text), *kept;
	char *clean;

	if (!stored)
		return NULL;
	kept = (const char *)nm_map_get(&names->clean, (uintptr_t)stored, 0);
	if (kept)
		return kept;
	clean = nm_utf8_clean(stored);
	kept = clean ? nm_intern(&names->pool, clean) : NULL;
	free(clean);
	return kept && !nm_map_put(&names->clean, (uintptr_t)stored, (uintptr_t)kept) &&
		       !nm_map_put(&names->clean, (uintptr_t)kept, (uintptr_t)kept)
		   ? kept
		   : NULL;
}

nm_fact nm_fact_find(struct nm_fact_names *names, const char *text)
{
	const char *stored = nm_intern(&names->pool, text);

	return stored && nm_map_get(&names->clean, (uintptr_t)stored, 0) ? (nm_fact)stored : NM_FACT_UNKNOWN;
}

/* ---- rows ---- */

/* A line or thread as a key; larger values occur in damaged profiles only. */
static nm_fact number(const struct nm_rows *rows, unsigned column)
{
	const int64_t value = nm_rows_integer(rows, column);

	return nm_rows_type(rows, column) == NM_VALUE_NULL || value < 0 || value > INT32_MAX
		   ? 0
		   : (nm_fact)value + 1;
}

static int add_row(struct nm_facts *facts, struct nm_fact_names *names, const struct nm_rows *rows)
{
	nm_fact *keys;
	int64_t *sums;

	if (nm_facts_reserve(facts, facts->row_count + 1))
		return NM_ENOMEM;
	keys = facts->keys + facts->row_count * facts->key_count;
	sums = facts->sums + facts->row_count * facts->sum_count;
	for (unsigned k = 0; k < facts->key_count; k++) {
		const char *text = facts->numbers >> k & 1 ? NULL : nm_rows_text(rows, k);

		keys[k] = facts->numbers >> k & 1 ? number(rows, k) : text ? (nm_fact)shown(names, text) : 0;
		if (text && !keys[k])
			return NM_ENOMEM;
	}
	for (unsigned s = 0; s < facts->sum_count; s++)
		sums[s] = nm_rows_bounded(rows, facts->key_count + s);
	facts->row_count++;
	return 0;
}

static void add_key(struct nm_facts *facts, const char *key, FILE *sql)
{
	fprintf(sql, "%s%s", facts->key_count ? ", " : "SELECT ", key);
	facts->numbers |= (unsigned)nm_fact_is_number(key) << facts->key_count;
	facts->names[facts->key_count++] = key;
}

/* Empty facts of a kind, and the query for their rows, malloc'ed; NULL: no memory. */
static char *prepare(struct nm_facts *facts, enum nm_fact_kind kind, int has_inner)
{
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	*facts =
	    (struct nm_facts){.sum_count = kind == NM_FACTS_EVICTIONS ? 1 : sizeof counts / sizeof *counts};
	for (const char *const *key = kinds[kind].keys; *key; key++)
		add_key(facts, *key, sql);
	for (const char *const *key = kinds[kind].inner; has_inner && *key; key++)
		add_key(facts, *key, sql);
	for (unsigned s = 0; s < facts->sum_count; s++)
		fprintf(sql, ", %s", kind == NM_FACTS_EVICTIONS ? "count" : counts[s]);
	fprintf(sql, " FROM %s", kinds[kind].from);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

int nm_facts_load(struct nm_facts *ret_facts, struct nm_fact_names *names, struct nm_profile *profile,
		  enum nm_fact_kind kind, const char *level, struct nm_error *err)
{
	struct nm_facts facts;
	struct nm_rows *rows = NULL;
	int has_inner =
	    nm_profile_has_row(profile, "SELECT 1 FROM temp.sqlite_schema WHERE name = 'evictions'", err);
	char *sql = has_inner < 0 ? NULL : prepare(&facts, kind, has_inner);
	int status = has_inner < 0 ? has_inner
		     : sql         ? nm_profile_query(profile, sql, &rows, err)
				   : nm_fail_memory(err);

	free(sql);
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, level);
	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = add_row(&facts, names, rows) ? nm_fail_memory(err) : 0;
	nm_rows_free(rows);
	if (status)
		nm_facts_done(&facts);
	*ret_facts = facts;
	return status;
}
