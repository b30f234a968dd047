/* SPDX-License-Identifier: MIT
 *
 * structures.c - structures with their fields in memory order: the uses and misses of each field, and the
 * fields that are used together.
 */
#include <stdlib.h>
#include <string.h>

#include "selection.h"
#include "view_json.h"

/* The types whose fields miss most; the fields of all; pairs of fields used together. */
static const char types_sql[] =
    "WITH c AS MATERIALIZED (SELECT type, sum(read_misses + write_misses) AS misses FROM field_counts WHERE level = ?1 "
    "AND type IS NOT NULL GROUP BY type) "
    "SELECT f.type AS type, max(f.structure) AS size, json_group_array(DISTINCT f.object) AS objects, "
    "coalesce(c.misses, 0) AS misses FROM fields f LEFT JOIN c ON c.type = f.type WHERE f.type IS NOT NULL "
    "GROUP BY f.type ORDER BY misses DESC, type LIMIT CAST(?2 AS INTEGER) OFFSET CAST(?3 AS INTEGER)";
static const char fields_sql[] =
    "WITH c AS MATERIALIZED (SELECT type, field, sum(reads) AS reads, sum(writes) AS writes, "
    "sum(read_misses + write_misses) AS misses FROM field_counts WHERE level = ?1 AND field IS NOT NULL GROUP BY 1, 2) "
    "SELECT f.type AS type, f.field AS name, min(f.offset) AS offset, max(f.bytes) AS size, max(f.field_type) AS field_type, "
    "sum(f.sampled) AS sampled, "
    "sum(f.residencies) AS residencies, sum(f.used) AS used, coalesce(c.reads, 0) AS reads, coalesce(c.writes, 0) AS writes, "
    "coalesce(c.misses, 0) AS misses FROM fields f LEFT JOIN c ON c.type = f.type AND c.field = f.field "
    "WHERE f.type IS NOT NULL GROUP BY f.type, f.field ORDER BY f.type, offset, name";
static const char affinity_sql[] =
    "SELECT type, field, other, iif(sum(visits), 1.0 * sum(both) / sum(visits), "
    "1.0 * sum(together) / sum(together + apart)) AS share FROM affinity WHERE type IS NOT NULL GROUP BY 1, 2, 3 "
    "HAVING share > 0";

static json_t *find_structure(json_t *structures, const json_t *type)
{
	json_t *structure;
	size_t i;

	json_array_foreach(structures, i, structure) if (json_equal(json_object_get(structure, "type"),
								    type)) return structure;
	return NULL;
}

/* A query cannot return lists: it returns the objects as JSON. */
static void prepare_structure(json_t *structure)
{
	json_t *objects = json_loads(json_string_value(json_object_get(structure, "objects")), 0, NULL);

	json_object_set_new(structure, "objects", objects ? objects : json_array());
	json_object_set_new(structure, "fields", json_array());
}

static void add_fields(json_t *structures, json_t *fields)
{
	json_t *field, *structure;
	size_t i;

	json_array_foreach(fields, i, field)
	{
		structure = find_structure(structures, json_object_get(field, "type"));
		json_object_del(field, "type");
		if (structure)
			json_array_append(json_object_get(structure, "fields"), field);
	}
}

static size_t field_number(const json_t *structure, const json_t *name)
{
	json_t *field;
	size_t i;

	json_array_foreach(json_object_get(structure, "fields"), i,
			   field) if (json_equal(json_object_get(field, "name"), name)) return i;
	return SIZE_MAX;
}

/* affinity[i][j]: of the visits that use field i or j, the share that uses both; where no visit was seen, of
 * the residencies of lines with both. */
static void add_affinity(json_t *structures, const json_t *pairs)
{
	json_t *structure, *pair;
	size_t i, j, n;

	json_array_foreach(structures, i, structure)
	{
		json_t *matrix = json_array();

		n = json_array_size(json_object_get(structure, "fields"));
		for (j = 0; j < n; j++) {
			json_t *row = json_array();

			for (size_t k = 0; k < n; k++)
				json_array_append_new(row, json_integer(j == k));
			json_array_append_new(matrix, row);
		}
		json_object_set_new(structure, "affinity", matrix);
	}
	json_array_foreach(pairs, i, pair)
	{
		json_t *share = json_object_get(pair, "share"), *matrix;

		structure = find_structure(structures, json_object_get(pair, "type"));
		matrix = json_object_get(structure, "affinity");
		j = field_number(structure, json_object_get(pair, "field"));
		n = field_number(structure, json_object_get(pair, "other"));
		if (!structure || j == SIZE_MAX || n == SIZE_MAX)
			continue;
		json_array_set(json_array_get(matrix, j), n, share);
		json_array_set(json_array_get(matrix, n), j, share);
	}
}

int nm_view_structures(const struct nm_view_profile *of, const struct nm_request *request,
		       json_t **ret_answer, struct nm_error *err)
{
	struct nm_profile *profile = of->profile;
	json_t *fields = NULL, *pairs = NULL, *structure;
	char *level = NULL, most[24], left_out[24];
	int64_t offset, limit;
	size_t i;
	int status = nm_view_part(request, 40, &offset, &limit, err);

	if (!status)
		status = nm_view_level(profile, request, &level, err);
	if (status)
		return status;
	snprintf(most, sizeof most, "%lld", (long long)limit);
	snprintf(left_out, sizeof left_out, "%lld", (long long)offset);
	status =
	    nm_view_select(profile, types_sql, (const char *[]){level, most, left_out}, 3, ret_answer, err);
	if (!status)
		json_array_foreach(*ret_answer, i, structure) prepare_structure(structure);
	if (!status)
		status = nm_view_select(profile, fields_sql, (const char *[]){level}, 1, &fields, err);
	if (!status)
		status = nm_view_select(profile, affinity_sql, NULL, 0, &pairs, err);
	if (!status) {
		add_fields(*ret_answer, fields);
		add_affinity(*ret_answer, pairs);
		json_array_foreach(*ret_answer, i, structure) if (!status) status =
		    nm_view_add_members(structure, err);
	}
	json_decref(fields);
	json_decref(pairs);
	free(level);
	return status;
}
