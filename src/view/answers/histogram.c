/* SPDX-License-Identifier: MIT
 *
 * histogram.c - how counts are spread: over the sets of a cache, over lines of memory, over reuse distances.
 *
 * Neighbours are put together into at most `bins` bins of the same number of places.
 */
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "selection.h"

/* Each yields rows (at, values...) in the order of `at`, one for each place; ?1 is the level. */
static const struct histogram {
	const char *of, *unit, *view, *without; /* without: what is missing in profiles that lack it */
	const char *range;                      /* first and last place; NULL: as the rows say */
	const char *sql;
} histograms[] = {
    {"set", "set", "sets", "counts of sets: record with --sets",
     "SELECT 0, max(sets) - 1 FROM levels WHERE level = ?1",
     "SELECT cache_set, sum(loads) AS loads, sum(evictions) AS evictions, sum(prefetches) AS prefetches FROM sets "
     "WHERE level = ?1 GROUP BY 1 ORDER BY 1"},
    {"memory_line", "address", "events", "events by address: record with --events", NULL,
     "SELECT address, sum((event = 'hit') * count) AS hits, sum((event = 'miss') * count) AS misses, "
     "sum((event = 'load') * count) AS loads, sum((event IN ('replace', 'invalidate')) * count) AS evictions "
     "FROM events WHERE level = ?1 AND address IS NOT NULL GROUP BY 1 ORDER BY 1"},
};

/* Distances have bins of their own, on a logarithmic scale. */
static const char distances_sql[] =
    "SELECT low AS \"from\", high AS \"to\", sum(count) AS \"references\" FROM distances WHERE unit = ?1 "
    "GROUP BY low, high ORDER BY low IS NULL, low LIMIT 2048";

static int read_range(struct nm_profile *profile, const char *sql, const char *level, int64_t *ret_low,
		      int64_t *ret_high, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, sql, &rows, err);

	if (!status)
		nm_rows_bind_text(rows, 1, level);
	if (!status && (status = nm_rows_next(rows, err)) > 0) {
		*ret_low = nm_rows_bounded(rows, 0);
		*ret_high = nm_rows_bounded(rows, 1);
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

static json_t *empty_bin(int64_t from, int64_t to, const struct nm_rows *rows)
{
	json_t *values = json_object();

	for (unsigned i = 1; i < nm_rows_columns(rows); i++)
		json_object_set_new(values, nm_rows_name(rows, i), json_integer(0));
	return json_pack("{sI sI so}", "from", (json_int_t)from, "to", (json_int_t)to, "values", values);
}

static void add_row(json_t *bin, const struct nm_rows *rows)
{
	json_t *values = json_object_get(bin, "values");

	for (unsigned i = 1; i < nm_rows_columns(rows); i++) {
		json_t *value = json_object_get(values, nm_rows_name(rows, i));

		json_integer_set(value, json_integer_value(value) + nm_rows_bounded(rows, i));
	}
}

/* Bins of the places low to high, which rows outside of them do not have. */
static int read_bins(struct nm_rows *rows, int64_t low, int64_t high, int64_t most, json_t *bins,
		     struct nm_error *err)
{
	const uint64_t places = (uint64_t)high - (uint64_t)low + 1;
	const uint64_t width = places / (uint64_t)most + (places % (uint64_t)most != 0);
	int status;

	for (uint64_t at = 0; at < places; at += width) {
		const uint64_t end = width < places - at ? at + width : places;

		json_array_append_new(bins, empty_bin(low + (int64_t)at, low + (int64_t)end - 1, rows));
	}
	while ((status = nm_rows_next(rows, err)) > 0) {
		const int64_t at = nm_rows_bounded(rows, 0);

		if (at >= low && at <= high)
			add_row(json_array_get(bins, ((uint64_t)at - (uint64_t)low) / width), rows);
	}
	return status;
}

static int of_places(const struct histogram *h, struct nm_profile *profile, const struct nm_request *request,
		     const char *level, int64_t most, json_t *answer, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char range[700];
	int64_t low = 0, high = -1;
	int status = nm_profile_has_rows(profile, h->view, err);

	if (status <= 0)
		return status ? status : nm_fail(err, NM_EINVAL, "the profile has no %s", h->without);
	snprintf(range, sizeof range, "SELECT min(address), max(address) FROM (%s)", h->sql);
	status = read_range(profile, h->range ? h->range : range, level, &low, &high, err);
	if (!status)
		status = nm_request_number(request, "from", low, high, low, &low, err);
	if (!status)
		status = nm_request_number(request, "to", low, high, high, &high, err);
	if (!status)
		status = nm_profile_query(profile, h->sql, &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, level);
		status =
		    high >= low ? read_bins(rows, low, high, most, json_object_get(answer, "bins"), err) : 0;
	}
	nm_rows_free(rows);
	return status;
}

static int of_distances(struct nm_profile *profile, const char *unit, json_t *answer, struct nm_error *err)
{
	json_t *rows = NULL, *row;
	size_t i;
	int status = nm_profile_has_rows(profile, "distances", err);

	if (status <= 0)
		return status
			   ? status
			   : nm_fail(err, NM_EINVAL, "the profile has no distances: record with --distances");
	status = nm_view_select(profile, distances_sql, (const char *[]){unit}, 1, &rows, err);
	json_array_foreach(rows, i, row) json_array_append_new(
	    json_object_get(answer, "bins"),
	    json_pack("{sO sO s{sO}}", "from", json_object_get(row, "from"), "to", json_object_get(row, "to"),
		      "values", "references", json_object_get(row, "references")));
	json_decref(rows);
	return status;
}

int nm_view_histogram(const struct nm_view_profile *shown, const struct nm_request *request,
		      json_t **ret_answer, struct nm_error *err)
{
	struct nm_profile *profile = shown->profile;
	const char *of = nm_request_text(request, "of");
	char *level = NULL;
	int64_t most = 0;
	int status = nm_view_level(profile, request, &level, err);

	of = of ? of : "set";
	if (!status)
		status = nm_request_number(request, "bins", 1, NM_VIEW_BINS, 256, &most, err);
	if (status) {
		free(level);
		return status;
	}
	*ret_answer = json_pack("{ss ss s[]}", "of", of, "level", level, "bins");
	if (!strcmp(of, "reuse") || !strcmp(of, "stack")) {
		const char *unit = strcmp(of, "reuse") ? "lines" : "references";

		json_object_set_new(*ret_answer, "unit", json_string(unit));
		status = of_distances(profile, unit, *ret_answer, err);
	} else {
		unsigned i = 0;

		while (i < 2 && strcmp(of, histograms[i].of))
			i++;
		if (i == 2)
			status = nm_fail(err, NM_EINVAL, "of must be set, memory_line, reuse or stack");
		else {
			json_object_set_new(*ret_answer, "unit", json_string(histograms[i].unit));
			status = of_places(&histograms[i], profile, request, level, most, *ret_answer, err);
		}
	}
	free(level);
	return status;
}
