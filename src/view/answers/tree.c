/* SPDX-License-Identifier: MIT
 *
 * tree.c - a metric by one key, and within it by a second: the areas of a tree map.
 *
 * The largest nodes are shown; what is left out of a node is its child "rest", so that children add up to it.
 */
#include <stdlib.h>
#include <string.h>

#include "grouping.h"
#include "memstream.h"

struct tree_request {
	struct nm_grouping by;
	const struct nm_metric *metric;
	int64_t nodes;
};

static int read_request(struct tree_request *r, struct nm_profile *profile, const struct nm_request *request,
			struct nm_error *err)
{
	int status = nm_grouping_make(&r->by, profile, request, "object,function", err);

	if (!status)
		status = nm_grouping_metric(request, "metric", "misses", &r->metric, err);
	if (!status && (r->metric->real || !strcmp(r->metric->name, "share")))
		status = nm_fail(err, NM_EINVAL, "%s cannot be added up", r->metric->name);
	if (!status)
		status = nm_request_number(request, "nodes", 1, NM_VIEW_NODES, 400, &r->nodes, err);
	return status;
}

/* The total (part 0), the first keys (1) and the rows of all keys (2), each of the last two by size. */
static void write_statement(const struct tree_request *r, FILE *sql)
{
	const char *first = r->by.keys[0], *value = r->metric->sql;

	nm_grouping_write(&r->by, sql);
	fprintf(
	    sql,
	    ", v AS MATERIALIZED (SELECT c.*, %s AS value FROM c), k AS MATERIALIZED (SELECT %s AS first, "
	    "sum(value) AS value FROM v GROUP BY 1 HAVING sum(value) > 0 ORDER BY 2 DESC, 1 LIMIT %lld) "
	    "SELECT 0, sum(value), NULL",
	    value, first, (long long)r->nodes);
	for (unsigned i = 1; i < r->by.count; i++)
		fputs(", NULL", sql);
	fputs(" FROM v UNION ALL SELECT 1, value, first", sql);
	for (unsigned i = 1; i < r->by.count; i++)
		fputs(", NULL", sql);
	fprintf(sql, " FROM k UNION ALL SELECT * FROM (SELECT 2, v.value, v.%s", first);
	for (unsigned i = 1; i < r->by.count; i++)
		fprintf(sql, ", v.%s", r->by.keys[i]);
	fprintf(sql, " FROM v JOIN k ON k.first IS v.%s WHERE v.value > 0 ORDER BY v.value DESC", first);
	for (unsigned i = 0; i < r->by.count; i++)
		fprintf(sql, ", v.%s", r->by.keys[i]);
	fprintf(sql, " LIMIT %lld)", (long long)r->nodes);
}

static json_t *node(json_t *name, int64_t value)
{
	return json_pack("{so sI}", "name", name, "value", (json_int_t)value);
}

/* Gives the node the child that stands for all that is not among its children. */
static void add_rest(json_t *parent)
{
	json_t *children = json_object_get(parent, "children"), *child, *rest;
	int64_t left = json_integer_value(json_object_get(parent, "value"));
	size_t i;

	json_array_foreach(children, i, child) left -= json_integer_value(json_object_get(child, "value"));
	if (left <= 0)
		return;
	rest = node(json_string("rest"), left);
	json_object_set_new(rest, "rest", json_true());
	json_array_append_new(children, rest);
}

/* The keys behind the first, as one name: "file:line". */
static json_t *name_of_child(const struct nm_rows *rows, const struct nm_grouping *by)
{
	char *name = NULL;
	size_t bytes;
	FILE *out = open_memstream(&name, &bytes);
	json_t *json;

	if (!out)
		return NULL;
	for (unsigned i = 1; i < by->count; i++) {
		const char *text = nm_rows_text(rows, 2 + i);

		fprintf(out, "%s%s",
			i == 1                         ? ""
			: !strcmp(by->keys[i], "line") ? ":"
						       : " ",
			text ? text : "?");
	}
	if (nm_memstream_close(out, &name))
		return NULL;
	json = nm_view_text(name);
	free(name);
	return json;
}

static json_t *name_of_parent(const struct nm_rows *rows)
{
	const char *text = nm_rows_text(rows, 2);

	return nm_view_text(text ? text : "?");
}

static json_t *parent_named(json_t *root, const json_t *name)
{
	json_t *child;
	size_t i;

	json_array_foreach(json_object_get(root, "children"), i,
			   child) if (json_equal(json_object_get(child, "name"), name)) return child;
	return NULL;
}

static int read_nodes(struct nm_rows *rows, const struct tree_request *r, json_t *root, struct nm_error *err)
{
	json_t *children = json_object_get(root, "children"), *child;
	size_t i;
	int status;

	while ((status = nm_rows_next(rows, err)) > 0) {
		const int64_t value = nm_rows_bounded(rows, 1);
		json_t *name = name_of_parent(rows), *parent;

		switch (nm_rows_integer(rows, 0)) {
		case 0: json_object_set_new(root, "value", json_integer(value)); break;
		case 1:
			child = node(json_incref(name), value);
			if (r->by.count > 1)
				json_object_set_new(child, "children", json_array());
			json_array_append_new(children, child);
			break;
		default:
			parent = r->by.count > 1 ? parent_named(root, name) : NULL;
			if (parent)
				json_array_append_new(json_object_get(parent, "children"),
						      node(name_of_child(rows, &r->by), value));
		}
		json_decref(name);
	}
	json_array_foreach(children, i, child) if (r->by.count > 1) add_rest(child);
	add_rest(root);
	return status;
}

int nm_view_tree(struct nm_profile *profile, const struct nm_request *request, json_t **ret_answer,
		 struct nm_error *err)
{
	struct tree_request r = {.nodes = 0};
	struct nm_rows *rows = NULL;
	char *text = NULL;
	size_t bytes;
	FILE *sql = open_memstream(&text, &bytes);
	int status = sql ? read_request(&r, profile, request, err) : nm_fail_memory(err);

	if (!status)
		write_statement(&r, sql);
	if (sql && nm_memstream_close(sql, &text) && !status)
		status = nm_fail_memory(err);
	if (!status)
		status = nm_profile_query(profile, text, &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, r.by.level);
		*ret_answer = json_pack("{ss ss si s[]}", "name", "total", "metric", r.metric->name, "value",
					0, "children");
		status = read_nodes(rows, &r, *ret_answer, err);
	}
	nm_rows_free(rows);
	nm_grouping_done(&r.by);
	free(text);
	return status;
}
