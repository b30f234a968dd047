/* SPDX-License-Identifier: MIT
 *
 * evictions.c - which objects evict which, as a matrix, and the lines of code of a pair.
 */
#include <stdlib.h>
#include <string.h>

#include "vector.h"
#include "view_json.h"

static const char nameless[] = "?"; /* name of an object without a name */

static int load_facts(const struct nm_view_profile *of, const struct nm_request *request, char **ret_level,
		      const struct nm_cube **ret_facts, struct nm_error *err)
{
	int status = nm_view_level(of->profile, request, ret_level, err);

	return status ? status
		      : nm_fact_store_get(of->facts, of->profile, NM_FACTS_EVICTIONS, *ret_level, NULL,
					  ret_facts, err);
}

/* ---- the matrix ---- */

struct object {
	nm_key name;
	int64_t count; /* of evictions in which it is evictor or victim */
};
struct objects {
	struct nm_vec(struct object) at;
	struct nm_map number_of; /* name -> place in `at` */
};

static void free_objects(struct objects *objects)
{
	nm_vec_free(&objects->at);
	nm_map_done(&objects->number_of);
}

static int add_object(struct objects *objects, nm_key name, int64_t count)
{
	uint64_t n = nm_map_get(&objects->number_of, name, UINT64_MAX);

	if (n == UINT64_MAX) {
		n = objects->at.count;
		if (nm_vec_push(&objects->at, (struct object){name, 0}) ||
		    nm_map_put(&objects->number_of, name, n))
			return NM_ENOMEM;
	}
	objects->at.at[n].count = nm_sum_bounded(objects->at.at[n].count, count);
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct object *o = a, *y = b;

	return o->count != y->count ? (o->count < y->count ? 1 : -1) : nm_key_compare(o->name, y->name, 0);
}

/* The `top` objects with the most evictions in pairs of evictor and victim. */
static int find_objects(struct objects *objects, const struct nm_cube *pairs, size_t top)
{
	int status = 0;

	for (size_t row = 0; !status && row < pairs->row_count; row++) {
		const nm_key *keys = nm_cube_keys(pairs, row);
		const int64_t count = *nm_cube_sums(pairs, row);

		status = add_object(objects, keys[1], count);
		if (!status && keys[0] != keys[1])
			status = add_object(objects, keys[0], count);
	}
	nm_map_done(&objects->number_of);
	if (objects->at.count)
		qsort(objects->at.at, objects->at.count, sizeof *objects->at.at, by_count);
	if (objects->at.count > top)
		objects->at.count = top;
	for (size_t n = 0; !status && n < objects->at.count; n++)
		status = nm_map_put(&objects->number_of, objects->at.at[n].name, n);
	return status;
}

static json_t *names_of(const struct objects *objects)
{
	json_t *names = json_array();

	for (size_t n = 0; n < objects->at.count; n++) {
		const nm_key name = objects->at.at[n].name;

		json_array_append_new(names, json_string(name ? nm_key_text(name) : nameless));
	}
	return names;
}

static json_t *rows_of(const int64_t *counts, size_t n)
{
	json_t *matrix = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *row = json_array();

		for (size_t j = 0; j < n; j++)
			json_array_append_new(row, json_integer((json_int_t)counts[i * n + j]));
		json_array_append_new(matrix, row);
	}
	return matrix;
}

/* NULL: no memory. */
static json_t *matrix_of(const struct nm_cube *pairs, const struct objects *objects)
{
	const size_t n = objects->at.count;
	int64_t *counts = calloc(n * n + 1, sizeof *counts), total = 0, shown = 0;
	json_t *matrix;

	if (!counts)
		return NULL;
	for (size_t row = 0; row < pairs->row_count; row++) {
		const nm_key *keys = nm_cube_keys(pairs, row);
		const uint64_t evictor = nm_map_get(&objects->number_of, keys[0], n);
		const uint64_t victim = nm_map_get(&objects->number_of, keys[1], n);
		const int64_t count = *nm_cube_sums(pairs, row);

		total = nm_sum_bounded(total, count);
		if (evictor == n || victim == n)
			continue;
		shown = nm_sum_bounded(shown, count);
		counts[evictor * n + victim] = count;
	}
	matrix = json_pack("{so so sI sI}", "objects", names_of(objects), "matrix", rows_of(counts, n),
			   "total", (json_int_t)total, "rest", (json_int_t)(total - shown));
	free(counts);
	return matrix;
}

int nm_view_evictions(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		      struct nm_error *err)
{
	const struct nm_cube *facts;
	struct nm_cube pairs = {.key_count = 0};
	struct objects objects = {0};
	char *level = NULL;
	int64_t top = 0;
	int status = load_facts(of, request, &level, &facts, err);

	if (!status)
		status = nm_request_number(request, "top", 1, 200, 40, &top, err);
	if (!status) {
		const unsigned by[] = {nm_cube_key(facts, "evictor"), nm_cube_key(facts, "victim")};

		const struct nm_cube_condition mine = {.key = nm_cube_key(facts, "library")};

		if (nm_cube_group(&pairs, facts, by, 2, &mine, (unsigned)nm_view_is_mine(request)) ||
		    find_objects(&objects, &pairs, (size_t)top) ||
		    !(*ret_answer = matrix_of(&pairs, &objects)))
			status = nm_fail_memory(err);
		else
			json_object_set_new(*ret_answer, "level", json_string(level));
	}
	free_objects(&objects);
	nm_cube_done(&pairs);
	free(level);
	return status;
}

/* ---- the lines of a pair ---- */

/* Adds the condition that a parameter names an object, if it does. */
static unsigned add_condition(struct nm_cube_condition *to, const struct nm_view_profile *of,
			      const struct nm_request *request, const struct nm_cube *facts, const char *name)
{
	const char *object = nm_request_text(request, name);

	if (!object)
		return 0;
	to->key = nm_cube_key(facts, name);
	to->value = strcmp(object, nameless) ? nm_key_find(&of->facts->names, object) : 0;
	return 1;
}

/* A page of the lines, each with its share of all, and the evictions of the others. NULL: no memory. */
static json_t *json_of_lines(const struct nm_cube *lines, int64_t offset, int64_t limit)
{
	struct nm_ranked *order = malloc((lines->row_count + 1) * sizeof *order);
	json_t *rows = order ? json_array() : NULL;
	double total = 0, rest;

	if (!order)
		return NULL;
	for (size_t row = 0; row < lines->row_count; row++) {
		order[row] = (struct nm_ranked){(double)*nm_cube_sums(lines, row), row};
		total += order[row].value;
	}
	nm_cube_rank(lines, order, lines->row_count);
	rest = total;
	for (size_t i = (size_t)offset; i < lines->row_count && i < (size_t)(offset + limit); i++) {
		json_t *json = nm_view_keys(lines, order[i].row);

		json_object_set_new(json, "count", json_integer((json_int_t)order[i].value));
		json_object_set_new(json, "share", nm_view_real(100 * order[i].value / total));
		json_array_append_new(rows, json);
		rest -= order[i].value;
	}
	free(order);
	return json_pack("{so sI sI}", "rows", rows, "total_rows", (json_int_t)lines->row_count, "rest",
			 (json_int_t)rest);
}

int nm_view_eviction_lines(const struct nm_view_profile *of, const struct nm_request *request,
			   json_t **ret_answer, struct nm_error *err)
{
	struct nm_cube_condition of_pair[3];
	unsigned keys[NM_CUBE_KEYS], key_count = 0;
	const struct nm_cube *facts;
	struct nm_cube lines = {.key_count = 0};
	int64_t offset = 0, limit = 0;
	char *level = NULL;
	unsigned count;
	int status = load_facts(of, request, &level, &facts, err);

	if (!status)
		status = nm_view_part(request, 200, &offset, &limit, err);
	if (!status) {
		count = add_condition(of_pair, of, request, facts, "evictor");
		count += add_condition(of_pair + count, of, request, facts, "victim");
		if (nm_view_is_mine(request))
			of_pair[count++] = (struct nm_cube_condition){.key = nm_cube_key(facts, "library")};
		for (unsigned key = 0; key < facts->key_count; key++)
			if (key != nm_cube_key(facts, "library"))
				keys[key_count++] = key;
		if (nm_cube_group(&lines, facts, keys, key_count, of_pair, count) ||
		    !(*ret_answer = json_of_lines(&lines, offset, limit)))
			status = nm_fail_memory(err);
		else
			json_object_set_new(*ret_answer, "level", json_string(level));
	}
	nm_cube_done(&lines);
	free(level);
	return status;
}
