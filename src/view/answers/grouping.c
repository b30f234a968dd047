/* SPDX-License-Identifier: MIT */
#include "grouping.h"

#include <stdlib.h>
#include <string.h>

#include "name_match.h"
#include "selection.h"
#include "sums.h"

const char *const nm_grouping_names[] = {"object",  "function", "file",  "line", "thread",
					 "process", "type",     "field", NULL};

/* ---- the request ---- */

static int has_key(const struct nm_grouping *g, const char *key)
{
	for (unsigned i = 0; i < g->count; i++)
		if (!strcmp(g->keys[i], key))
			return 1;
	return 0;
}

static int has_fields(const struct nm_grouping *g)
{
	return g->type || g->field || has_key(g, "type") || has_key(g, "field");
}

static int add_key(struct nm_grouping *g, const char *name, struct nm_error *err)
{
	unsigned k = 0;

	while (nm_grouping_names[k] && strcmp(nm_grouping_names[k], name))
		k++;
	if (!nm_grouping_names[k])
		return nm_fail_unknown("key", name, nm_grouping_names, err);
	if (!nm_grouping_has_key(name, g->input))
		return nm_fail(err, NM_EINVAL, "a merged profile does not count its inputs by %s", name);
	if (has_key(g, name))
		return 0;
	if (!strcmp(name, "line") && !has_key(g, "file")) { /* a line number needs its file */
		int status = add_key(g, "file", err);

		if (status)
			return status;
	}
	if (g->count == NM_GROUPING_KEYS)
		return nm_fail(err, NM_EINVAL, "at most %d keys", NM_GROUPING_KEYS);
	g->keys[g->count++] = nm_grouping_names[k];
	return 0;
}

int nm_grouping_make(struct nm_grouping *g, const struct nm_view_profile *of,
		     const struct nm_request *request, const char *otherwise, struct nm_error *err)
{
	const char *list = nm_request_text(request, "by");
	char name[24];
	int status = nm_view_input(of->profile, request, &g->input, err);

	for (list = list ? list : otherwise; !status; list++) {
		size_t n = strcspn(list, ",");

		snprintf(name, sizeof name, "%.*s", (int)n, list);
		status = add_key(g, name, err);
		list += n;
		if (!*list)
			break;
	}
	g->is_mine = nm_view_is_mine(request);
	g->type = nm_request_text(request, "type");
	g->field = nm_request_text(request, "field");
	if (!status && (g->type || g->field) && g->input)
		return nm_fail(err, NM_EINVAL, "a merged profile does not count its inputs by field");
	if (!status && g->is_mine && g->input)
		return nm_fail(err, NM_EINVAL, "a merged profile does not hold by input whose code it is");
	return status ? status : nm_view_level(of->profile, request, &g->level, err);
}

void nm_grouping_done(struct nm_grouping *g)
{
	nm_cube_done(&g->rows);
	free(g->level);
}

int nm_grouping_has(const struct nm_metric *metric, const char *input)
{
	static const char *const of_input[] = {"misses", "share", "mpki", "loads"};

	for (unsigned i = 0; input && i < sizeof of_input / sizeof *of_input; i++)
		if (!strcmp(of_input[i], metric->name))
			return 1;
	return !input && (metric->flags & NM_METRIC_ANNOTATED) && metric->unit != NM_METRIC_TEXT;
}

int nm_grouping_has_key(const char *key, const char *input)
{
	return !input || (strcmp(key, "thread") && strcmp(key, "type") && strcmp(key, "field"));
}

int nm_grouping_metric(const struct nm_grouping *g, const struct nm_request *request, const char *name,
		       const char *otherwise, const struct nm_metric **ret_metric, struct nm_error *err)
{
	const char *typed = nm_request_text(request, name);
	const struct nm_metric *metric = nm_metric_named(typed ? typed : otherwise);

	if (!metric || !nm_grouping_has(metric, NULL))
		return nm_fail(err, NM_EINVAL, "no metric \"%.80s\"", typed);
	if (!nm_grouping_has(metric, g->input))
		return nm_fail(err, NM_EINVAL, "a merged profile does not hold the %s of its inputs",
			       metric->name);
	*ret_metric = metric;
	return 0;
}

/* ---- sums ---- */

/* The conditions of the parameters; returns how many. */
static unsigned conditions(const struct nm_grouping *g, const struct nm_view_profile *of,
			   const struct nm_cube *facts, struct nm_cube_condition *ret)
{
	unsigned n = 0;

	if (g->is_mine)
		ret[n++] = (struct nm_cube_condition){nm_cube_key(facts, "library"), 0};
	if (g->type)
		ret[n++] = (struct nm_cube_condition){nm_cube_key(facts, "type"),
						      nm_key_find(&of->facts->names, g->type)};
	if (g->field)
		ret[n++] = (struct nm_cube_condition){nm_cube_key(facts, "field"),
						      nm_key_find(&of->facts->names, g->field)};
	return n;
}

int nm_grouping_sum(struct nm_grouping *g, const struct nm_view_profile *of, struct nm_error *err)
{
	const struct nm_cube *facts;
	struct nm_cube_condition only[3];
	unsigned by[NM_GROUPING_KEYS];
	int status = has_fields(g) ? nm_fact_store_get(of->facts, of->profile, NM_FACTS_FIELDS, g->level,
						       NULL, &facts, err)
				   : nm_view_counts(of, g->level, g->input, &facts, err);

	if (!status)
		status = nm_view_total(of->profile, g->level, g->input, &g->total, err);
	if (status)
		return status;
	for (unsigned k = 0; k < g->count; k++)
		by[k] = nm_cube_key(facts, g->keys[k]);
	if (nm_cube_group(&g->rows, facts, by, g->count, only, conditions(g, of, facts, only)))
		return nm_fail_memory(err);
	g->total.sum = nm_cube_all_counts(&g->rows);
	return 0;
}

/* ---- order ---- */

/* A metric of a row; NAN where it has no value. */
static double value_of(const struct nm_grouping *g, size_t row, const struct nm_metric *metric)
{
	const struct nm_metric_sums sums = nm_cube_counts(&g->rows, row);

	const struct nm_metric_row values = nm_metric_row_of(&sums, g->total.unit);

	return nm_metric_value(metric, &values, &g->total);
}

struct by_key {
	const struct nm_cube *rows;
	unsigned key;
	int ascending;
};

static int by_key(const void *a, const void *b, void *self)
{
	const struct by_key *by = self;
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const nm_key left = nm_cube_keys(by->rows, x)[by->key], right = nm_cube_keys(by->rows, y)[by->key];
	const int order = nm_key_compare(left, right, by->rows->numbers >> by->key & 1);

	if (!order)
		return nm_cube_compare(by->rows, x, y);
	return !left || !right ? (left ? -1 : 1) : by->ascending ? order : -order;
}

int nm_grouping_sort(const struct nm_grouping *g, const struct nm_grouping_order *order, size_t *rows,
		     size_t count)
{
	struct by_key by = {&g->rows, order->key, order->ascending};
	struct nm_ranked *ranked;

	if (!order->metric) {
		qsort_r(rows, count, sizeof *rows, by_key, &by);
		return 0;
	}
	ranked = malloc((count + 1) * sizeof *ranked);
	if (!ranked)
		return NM_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const double value = value_of(g, rows[i], order->metric);

		ranked[i] = (struct nm_ranked){order->ascending ? -value : value, rows[i]};
	}
	nm_cube_rank(&g->rows, ranked, count);
	for (size_t i = 0; i < count; i++)
		rows[i] = ranked[i].row;
	free(ranked);
	return 0;
}
