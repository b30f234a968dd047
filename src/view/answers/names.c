/* SPDX-License-Identifier: MIT
 *
 * names.c - what the search of the pages finds by name: objects, functions, files, types and fields, those that miss
 * most first.
 */
#include <stdlib.h>
#include <string.h>

#include "view_json.h"

/* What is found, and the facts and keys that name it: a field stands behind its type. */
static const struct kind {
	const char *name;
	enum nm_fact_kind facts;
	const char *keys[2];
} kinds[] = {
    {"object", NM_FACTS_COUNTS, {"object"}},       {"function", NM_FACTS_COUNTS, {"function"}},
    {"file", NM_FACTS_COUNTS, {"file"}},           {"type", NM_FACTS_FIELDS, {"type"}},
    {"field", NM_FACTS_FIELDS, {"field", "type"}},
};

static json_t *json_of_name(const struct kind *kind, const struct nm_cube *rows, size_t row)
{
	const nm_key *keys = nm_cube_keys(rows, row);

	return json_pack("{ss so sI so}", "kind", kind->name, "name", nm_view_key(keys[0], 0), "misses",
			 (json_int_t)nm_cube_misses(rows, row), "of",
			 kind->keys[1] ? nm_view_key(keys[1], 0) : json_null());
}

/* Appends the first `limit` names that contain the filter (NULL: all). 0 or NM_ENOMEM. */
static int append_names(json_t *list, const struct kind *kind, const struct nm_cube *rows, const char *filter,
			int64_t limit)
{
	struct nm_ranked *order = malloc((rows->row_count + 1) * sizeof *order);
	size_t count = 0;

	if (!order)
		return NM_ENOMEM;
	for (size_t row = 0; row < rows->row_count; row++) {
		const nm_key name = *nm_cube_keys(rows, row);

		if (name && (!filter || strcasestr(nm_key_text(name), filter)))
			order[count++] = (struct nm_ranked){(double)nm_cube_misses(rows, row), row};
	}
	nm_cube_rank(rows, order, count);
	for (size_t i = 0; i < count && i < (size_t)limit; i++)
		json_array_append_new(list, json_of_name(kind, rows, order[i].row));
	free(order);
	return 0;
}

static int add_kind(json_t *list, const struct nm_view_profile *of, const struct kind *kind,
		    const char *level, const char *filter, int64_t limit, struct nm_error *err)
{
	const struct nm_cube *facts;
	struct nm_cube rows = {.key_count = 0};
	unsigned by[2], count = kind->keys[1] ? 2 : 1;
	int status = nm_fact_store_get(of->facts, of->profile, kind->facts, level, NULL, &facts, err);

	for (unsigned k = 0; !status && k < count; k++)
		by[k] = nm_cube_key(facts, kind->keys[k]);
	if (!status && (nm_cube_group(&rows, facts, by, count, NULL, 0) ||
			append_names(list, kind, &rows, filter, limit)))
		status = nm_fail_memory(err);
	nm_cube_done(&rows);
	return status;
}

int nm_view_names(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		  struct nm_error *err)
{
	const char *filter = nm_request_text(request, "filter");
	char *level = NULL;
	int64_t limit = 0;
	int status = nm_request_number(request, "limit", 1, 200, 12, &limit, err);

	if (!status)
		status = nm_view_level(of->profile, request, &level, err);
	*ret_answer = json_array();
	for (unsigned k = 0; !status && k < sizeof kinds / sizeof *kinds; k++)
		status = add_kind(*ret_answer, of, &kinds[k], level, filter, limit, err);
	free(level);
	return status;
}
