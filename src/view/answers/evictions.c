/* SPDX-License-Identifier: MIT
 *
 * evictions.c - which objects evict which, as a matrix, and the lines of code of a pair.
 */
#include "evictions.h"

#include <stdlib.h>
#include <string.h>

#include "answers.h"

/* Lines that each of the first objects lost to each of them: the sums of a victim's other evictors are rest.
 * */
static const char pairs_sql[] =
    "WITH s AS MATERIALIZED (SELECT coalesce(evictor, '?') AS evictor, coalesce(victim, '?') AS victim, sum(count) AS "
    "count FROM evictions WHERE level = ?1 GROUP BY 1, 2), "
    "o AS (SELECT object FROM (SELECT victim AS object, count FROM s UNION ALL SELECT evictor, count FROM s WHERE "
    "evictor <> victim) GROUP BY object ORDER BY sum(count) DESC, object LIMIT %d) "
    "SELECT evictor, victim, count FROM s WHERE evictor IN o AND victim IN o "
    "UNION ALL SELECT NULL, NULL, (SELECT coalesce(sum(count), 0) FROM s) ";

/* The place of a name in a list, which gets it if it is new. */
static size_t position(json_t *names, json_t *numbers, const char *name)
{
	json_t *number = json_object_get(numbers, name);
	const size_t next = json_array_size(names);

	if (number)
		return (size_t)json_integer_value(number);
	json_array_append_new(names, json_string(name));
	json_object_set_new(numbers, name, json_integer((json_int_t)next));
	return next;
}

/* An empty matrix of so many objects. */
static json_t *zeros(size_t n)
{
	json_t *matrix = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *row = json_array();

		for (size_t j = 0; j < n; j++)
			json_array_append_new(row, json_integer(0));
		json_array_append_new(matrix, row);
	}
	return matrix;
}

static json_t *matrix_of(const json_t *pairs)
{
	json_t *names = json_array(), *numbers = json_object(), *matrix, *pair;
	json_int_t total = 0, shown = 0;
	size_t i;

	json_array_foreach(pairs, i, pair) if (json_is_string(json_object_get(pair, "victim")))
	    position(names, numbers, json_string_value(json_object_get(pair, "victim")));
	json_array_foreach(pairs, i, pair) if (json_is_string(json_object_get(pair, "evictor")))
	    position(names, numbers, json_string_value(json_object_get(pair, "evictor")));
	matrix = zeros(json_array_size(names));
	json_array_foreach(pairs, i, pair)
	{
		json_t *evictor = json_object_get(pair, "evictor"), *count = json_object_get(pair, "count");

		if (!json_is_string(evictor)) {
			total = json_integer_value(count);
			continue;
		}
		shown += json_integer_value(count);
		json_array_set(json_array_get(matrix, position(names, numbers, json_string_value(evictor))),
			       position(names, numbers, json_string_value(json_object_get(pair, "victim"))),
			       count);
	}
	json_decref(numbers);
	return json_pack("{so so sI sI}", "objects", names, "matrix", matrix, "total", total, "rest",
			 total - shown);
}

int nm_view_evictions(struct nm_profile *profile, const struct nm_request *request, json_t **ret_answer,
		      struct nm_error *err)
{
	char *level = NULL, sql[sizeof pairs_sql + 20];
	json_t *pairs = NULL;
	int64_t top = 0;
	int status = nm_view_level(profile, request, &level, err);

	if (!status)
		status = nm_request_number(request, "top", 1, 200, 40, &top, err);
	snprintf(sql, sizeof sql, pairs_sql, (int)top);
	if (!status)
		status = nm_view_select(profile, sql, (const char *[]){level}, 1, &pairs, err);
	if (!status) {
		*ret_answer = matrix_of(pairs);
		json_object_set_new(*ret_answer, "level", json_string(level));
	}
	json_decref(pairs);
	free(level);
	return status;
}

int nm_view_eviction_lines(struct nm_profile *profile, const struct nm_request *request, json_t **ret_answer,
			   struct nm_error *err)
{
	static const char sql[] =
	    "WITH s AS MATERIALIZED (SELECT evictor, file, line, function, victim, victim_file, victim_line, "
	    "victim_function, sum(count) AS count FROM evictions WHERE level = ?1 AND (?2 IS NULL OR "
	    "coalesce(evictor, '?') = ?2) AND (?3 IS NULL OR coalesce(victim, '?') = ?3) GROUP BY 1, 2, 3, 4, 5, 6, 7, 8) "
	    "SELECT *, 100.0 * count / (SELECT sum(count) FROM s) AS share FROM s "
	    "ORDER BY count DESC, 1, 2, 3, 5, 6, 7 LIMIT 200";
	char *level = NULL;
	json_t *rows = NULL;
	int status = nm_view_level(profile, request, &level, err);

	if (!status)
		status = nm_view_select(profile, sql,
					(const char *[]){level, nm_request_text(request, "evictor"),
							 nm_request_text(request, "victim")},
					3, &rows, err);
	if (!status)
		*ret_answer = json_pack("{ss so}", "level", level, "rows", rows);
	free(level);
	return status;
}
