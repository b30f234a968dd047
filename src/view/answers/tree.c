/* SPDX-License-Identifier: MIT
 *
 * tree.c - a metric by one key, and within each value by the other keys: the areas of a tree map.
 *
 * Only the largest nodes are shown; the rest of a node is its child "rest", so that children add up to it.
 */
#include <stdlib.h>
#include <string.h>

#include "grouping.h"
#include "memstream.h"
#include "vector.h"

struct tree_request {
	struct nm_grouping by;
	const struct nm_metric *metric;
	int64_t nodes;
};

static int read_request(struct tree_request *r, const struct nm_view_profile *of,
			const struct nm_request *request, struct nm_error *err)
{
	int status = nm_grouping_make(&r->by, of, request, "object,function", err);

	if (!status)
		status = nm_grouping_metric(&r->by, request, "metric", "misses", &r->metric, err);
	if (!status && (r->metric->real || !strcmp(r->metric->name, "share")))
		status = nm_fail(err, NM_EINVAL, "%s cannot be added up", r->metric->name);
	if (!status)
		status = nm_request_number(request, "nodes", 1, NM_VIEW_NODES, 400, &r->nodes, err);
	return status;
}

/* ---- nodes ---- */

static int64_t value_of(const struct tree_request *r, const struct nm_cube *rows, size_t row)
{
	const struct nm_metric_sums sums = nm_cube_counts(rows, row);

	return nm_metric_integer(r->metric, &sums);
}

struct areas {
	const struct nm_cube *rows;
	struct nm_vec(struct nm_ranked) at; /* the largest first */
};

/* The largest rows whose value is above 0 and whose first key is one of `among`, if that is not NULL. */
static int find_largest(struct areas *areas, const struct tree_request *r, const struct nm_map *among)
{
	for (size_t row = 0; row < areas->rows->row_count; row++) {
		const struct nm_ranked area = {(double)value_of(r, areas->rows, row), row};

		if (area.value <= 0 ||
		    (among && nm_map_get(among, *nm_cube_keys(areas->rows, row), UINT64_MAX) == UINT64_MAX))
			continue;
		if (nm_vec_push(&areas->at, area))
			return NM_ENOMEM;
	}
	nm_cube_rank(areas->rows, areas->at.at, areas->at.count);
	if (areas->at.count > (size_t)r->nodes)
		areas->at.count = (size_t)r->nodes;
	return 0;
}

static json_t *tree_node(json_t *name, int64_t value)
{
	return json_pack("{so sI}", "name", name, "value", (json_int_t)value);
}

/* The keys [from, end) of a row as one name: "file:line". */
static json_t *name_of(const struct nm_cube *rows, size_t row, unsigned from, unsigned end)
{
	const nm_key *keys = nm_cube_keys(rows, row);
	char *name = NULL;
	FILE *out = nm_memstream_open(&name, NULL);
	json_t *json;

	if (!out)
		return NULL;
	for (unsigned k = from; k < end; k++) {
		if (k > from)
			fputc(strcmp(rows->names[k], "line") ? ' ' : ':', out);
		if (keys[k] && rows->numbers >> k & 1)
			fprintf(out, "%lld", (long long)nm_key_number(keys[k]));
		else
			fputs(keys[k] ? nm_key_text(keys[k]) : "?", out);
	}
	if (nm_memstream_close(out, &name))
		return NULL;
	json = json_string(name);
	free(name);
	return json;
}

/* Adds the child "rest" for the part of the node that is not in its children. */
static void add_rest(json_t *parent)
{
	json_t *children = json_object_get(parent, "children"), *child, *rest;
	int64_t left = json_integer_value(json_object_get(parent, "value"));
	size_t i;

	json_array_foreach(children, i, child) left -= json_integer_value(json_object_get(child, "value"));
	if (left <= 0)
		return;
	rest = tree_node(json_string("rest"), left);
	json_object_set_new(rest, "rest", json_true());
	json_array_append_new(children, rest);
}

/* Adds the largest parents to the root, and maps each to its index. */
static int add_parents(json_t *root, const struct tree_request *r, const struct areas *parents,
		       struct nm_map *ret_at)
{
	json_t *list = json_object_get(root, "children");
	int status = 0;

	for (size_t i = 0; !status && i < parents->at.count; i++) {
		const size_t row = parents->at.at[i].row;
		json_t *parent =
		    tree_node(name_of(parents->rows, row, 0, 1), value_of(r, parents->rows, row));

		if (r->by.count > 1)
			json_object_set_new(parent, "children", json_array());
		json_array_append_new(list, parent);
		status = nm_map_put(ret_at, *nm_cube_keys(parents->rows, row), i);
	}
	return status;
}

static void add_children(json_t *root, const struct tree_request *r, const struct areas *children,
			 const struct nm_map *parent_at)
{
	const struct nm_cube *rows = children->rows;
	json_t *list = json_object_get(root, "children"), *parent;
	size_t i;

	for (i = 0; i < children->at.count; i++) {
		const size_t row = children->at.at[i].row;

		parent = json_array_get(list, nm_map_get(parent_at, *nm_cube_keys(rows, row), 0));
		json_array_append_new(
		    json_object_get(parent, "children"),
		    tree_node(name_of(rows, row, 1, rows->key_count), value_of(r, rows, row)));
	}
	json_array_foreach(list, i, parent) add_rest(parent);
}

/* ---- the answer ---- */

static int make_tree(const struct tree_request *r, json_t *root)
{
	const struct nm_metric_sums *all = &r->by.total.sum;
	struct nm_cube firsts = {.key_count = 0};
	struct areas parents = {.rows = &firsts}, children = {.rows = &r->by.rows};
	struct nm_map parent_at = {0};
	int status = nm_cube_group(&firsts, &r->by.rows, (unsigned[]){0}, 1, NULL, 0);

	json_object_set_new(root, "value", json_integer(nm_metric_integer(r->metric, all)));
	if (!status)
		status = find_largest(&parents, r, NULL);
	if (!status)
		status = add_parents(root, r, &parents, &parent_at);
	if (!status && r->by.count > 1) {
		status = find_largest(&children, r, &parent_at);
		add_children(root, r, &children, &parent_at);
	}
	add_rest(root);
	nm_vec_free(&parents.at);
	nm_vec_free(&children.at);
	nm_map_done(&parent_at);
	nm_cube_done(&firsts);
	return status;
}

int nm_view_tree(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		 struct nm_error *err)
{
	struct tree_request r = {.nodes = 0};
	int status = read_request(&r, of, request, err);

	if (!status)
		status = nm_grouping_sum(&r.by, of, err);
	if (!status) {
		*ret_answer = json_pack("{ss ss s[]}", "name", "total", "metric", r.metric->name, "children");
		if (make_tree(&r, *ret_answer))
			status = nm_fail_memory(err);
	}
	nm_grouping_done(&r.by);
	return status;
}
