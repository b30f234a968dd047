/* SPDX-License-Identifier: MIT
 *
 * curves.c - miss-ratio curves, as `nearmiss curve` computes them.
 */
#include "curve.h"

#include "selection.h"
#include "view_json.h"

static nm_view_report draw_curves;
static int draw_curves(struct nm_profile *profile, const void *request, const struct nm_style *style,
		       FILE *out, struct nm_error *err)
{
	const struct nm_curve_source source = {.profile = profile};

	return nm_curve_run(&source, 1, request, NM_CURVE_JSON, style, out, err);
}

static json_t *reshape_curve(json_t *curve)
{
	json_t *point;
	size_t i;

	json_array_foreach(json_object_get(curve, "points"), i, point)
	{
		json_object_set(point, "ratio", json_object_get(point, "miss_ratio"));
		json_object_del(point, "miss_ratio");
	}
	return json_incref(curve);
}

/* The data caches that were simulated: [{level, size}]. */
static int add_sizes(struct nm_profile *profile, json_t *answer, struct nm_error *err)
{
	json_t *sizes = NULL;
	int status =
	    nm_view_select(profile,
			   "SELECT level, max(size) AS size FROM levels WHERE side <> 'code' AND size > 0 "
			   "GROUP BY level ORDER BY size",
			   NULL, 0, &sizes, err);

	if (!status)
		json_object_set_new(answer, "machine_sizes", sizes);
	return status;
}

int nm_view_curves(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		   struct nm_error *err)
{
	struct nm_profile *profile = of->profile;
	const char *by = nm_request_text(request, "by");
	struct nm_curve_request what = {
	    .by = by ? by : "total", .only = nm_request_text(request, "only"), .has_start = 1};
	json_t *series = json_array(), *document = NULL, *curve;
	size_t i;
	int status = nm_view_part(request, 8, &what.offset, &what.limit, err), has = 0;

	*ret_answer = json_pack("{ss so}", "by", what.by, "series", series);
	if (!status) {
		has = nm_profile_has_rows(profile, "curve", err);
		status = has < 0 ? has : 0;
	}
	if (!status && has)
		status = nm_view_run(draw_curves, profile, &what, &document, err);
	json_array_foreach(json_object_get(document, "curves"), i, curve)
	    json_array_append_new(series, reshape_curve(curve));
	json_decref(document);
	return status ? status : add_sizes(profile, *ret_answer, err);
}
