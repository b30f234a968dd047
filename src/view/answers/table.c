/* SPDX-License-Identifier: MIT
 *
 * table.c - a page of counts by any keys, sorted and filtered, with the sums of all rows and of the rows
 * not on the page.
 */
#include <stdlib.h>
#include <string.h>

#include "grouping.h"
#include "sums.h"

struct table_request {
	struct nm_grouping by;
	struct nm_grouping_order order;
	const char *filter;
	int64_t offset, limit;
	int64_t least; /* percent of the misses of all kept rows, below which one is only summed */
};

static int read_request(struct table_request *r, const struct nm_view_profile *of,
			const struct nm_request *request, struct nm_error *err)
{
	const char *sort = nm_request_text(request, "sort"), *order = nm_request_text(request, "order");
	int status = nm_grouping_make(&r->by, of, request, "object", err), by_key = 0;

	for (unsigned i = 0; sort && i < r->by.count; i++)
		if (!strcmp(sort, r->by.keys[i])) {
			r->order.key = i;
			by_key = 1;
		}
	if (!status && !by_key)
		status = nm_grouping_metric(&r->by, request, "sort", "misses", &r->order.metric, err);
	if (!status && order && strcmp(order, "asc") && strcmp(order, "desc"))
		status = nm_fail(err, NM_EINVAL, "order must be asc or desc");
	r->order.ascending = order ? !strcmp(order, "asc") : by_key;
	r->filter = nm_request_text(request, "filter");
	if (!status)
		status = nm_view_part(request, 200, &r->offset, &r->limit, err);
	return status ? status : nm_request_number(request, "least", 0, 100, 0, &r->least, err);
}

/* ---- the filter ---- */

/* Whether a text contains the filter; `known` caches the results. -1: no memory. */
static int text_contains(const char *text, const char *filter, struct nm_map *known)
{
	uint64_t contains = nm_map_get(known, (uintptr_t)text, 2);

	if (contains < 2)
		return (int)contains;
	contains = strcasestr(text, filter) != NULL;
	return nm_map_put(known, (uintptr_t)text, contains) ? -1 : (int)contains;
}

static int row_contains(const struct nm_cube *rows, size_t row, const char *filter, struct nm_map *known)
{
	const nm_key *keys = nm_cube_keys(rows, row);
	char number[24];
	int contains = 0;

	for (unsigned k = 0; k < rows->key_count && !contains; k++) {
		if (!keys[k])
			continue;
		if (rows->numbers >> k & 1) {
			snprintf(number, sizeof number, "%lld", (long long)nm_key_number(keys[k]));
			contains = strstr(number, filter) != NULL;
		} else {
			contains = text_contains(nm_key_text(keys[k]), filter, known);
		}
	}
	return contains;
}

/* The numbers of the rows that the filter keeps; malloc'ed. NULL: no memory. */
static size_t *kept_rows(const struct nm_cube *rows, const char *filter, size_t *ret_count)
{
	size_t *kept = malloc((rows->row_count + 1) * sizeof *kept), count = 0;
	struct nm_map known = {0};
	int contains = 1;

	for (size_t row = 0; kept && row < rows->row_count; row++) {
		if (filter)
			contains = row_contains(rows, row, filter, &known);
		if (contains > 0)
			kept[count++] = row;
		if (contains < 0) {
			free(kept);
			kept = NULL;
		}
	}
	nm_map_done(&known);
	*ret_count = count;
	return kept;
}

/* Moves rows below the least share behind the others. Returns how many others there are: all, if none is large. */
static size_t move_small_back(const struct table_request *r, size_t *kept, size_t count)
{
	const struct nm_cube *rows = &r->by.rows;
	size_t *small = malloc((count + 1) * sizeof *small), large = 0, left = 0;
	int64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all = nm_sum_bounded(all, nm_cube_misses(rows, kept[i]));
	for (size_t i = 0; small && i < count; i++) {
		if ((double)nm_cube_misses(rows, kept[i]) * 100 < (double)r->least * (double)all)
			small[left++] = kept[i];
		else
			kept[large++] = kept[i];
	}
	for (size_t i = 0; i < left; i++)
		kept[large + i] = small[i];
	free(small);
	return large ? large : count;
}

/* ---- rows as JSON ---- */

static void append_figures(json_t *row, const struct nm_grouping *by, const struct nm_metric_sums *sums)
{
	const struct nm_metric_row values = nm_metric_row_of(sums, by->total.unit);
	const struct nm_metric *m;

	for (unsigned i = 0; (m = nm_metric_at(i)); i++)
		if (nm_grouping_has(m, by->input))
			json_array_append_new(row, m->real ? nm_view_real(m->real(&values, &by->total))
							   : json_integer(nm_metric_number(m, &values)));
}

/* keys NULL: a sum of other rows, without keys. */
static json_t *json_of_row(const struct nm_grouping *by, const nm_key *keys,
			   const struct nm_metric_sums *sums)
{
	json_t *row = json_array();

	for (unsigned k = 0; k < by->count; k++)
		json_array_append_new(row, nm_view_key(keys ? keys[k] : 0, by->rows.numbers >> k & 1));
	append_figures(row, by, sums);
	return row;
}

static json_t *columns_of(const struct nm_grouping *by)
{
	json_t *columns = json_array();
	const struct nm_metric *m;

	for (unsigned i = 0; i < by->count; i++)
		json_array_append_new(columns, nm_grouping_column(by->keys[i]));
	for (unsigned i = 0; (m = nm_metric_at(i)); i++)
		if (nm_grouping_has(m, by->input))
			json_array_append_new(columns, nm_view_metric(m));
	return columns;
}

/* The requested part of the first `large` of the kept rows, which are sorted, and the sums of all and of the others. */
static json_t *json_of_page(const struct table_request *r, const size_t *kept, size_t large, size_t count)
{
	json_t *page = json_array();
	struct nm_metric_sums all = {0}, rest = {0};

	for (size_t i = 0; i < count; i++) {
		const struct nm_metric_sums sums = nm_cube_counts(&r->by.rows, kept[i]);
		const int is_shown =
		    i < large && i >= (size_t)r->offset && i - (size_t)r->offset < (size_t)r->limit;

		nm_sums_add(&all, &sums);
		if (is_shown)
			json_array_append_new(page,
					      json_of_row(&r->by, nm_cube_keys(&r->by.rows, kept[i]), &sums));
		else
			nm_sums_add(&rest, &sums);
	}
	return json_pack("{ss so so sI sI so so}", "level", r->by.level, "columns", columns_of(&r->by),
			 "rows", page, "total_rows", (json_int_t)large, "small", (json_int_t)(count - large),
			 "sums", json_of_row(&r->by, NULL, &all), "rest", json_of_row(&r->by, NULL, &rest));
}

int nm_view_table(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		  struct nm_error *err)
{
	struct table_request r = {.filter = NULL};
	size_t *kept = NULL, count = 0;
	int status = read_request(&r, of, request, err);

	if (!status)
		status = nm_grouping_sum(&r.by, of, err);
	if (!status) {
		kept = kept_rows(&r.by.rows, r.filter, &count);
		if (!kept || nm_grouping_sort(&r.by, &r.order, kept, count))
			status = nm_fail_memory(err);
	}
	if (!status)
		*ret_answer = json_of_page(&r, kept, move_small_back(&r, kept, count), count);
	free(kept);
	nm_grouping_done(&r.by);
	return status;
}
