/* SPDX-License-Identifier: MIT
 *
 * compare.c - answers that are reports as JSON: differences, sharing, curves, timelines.
 */
#include <string.h>

#include "curve.h"
#include "diff.h"
#include "selection.h"
#include "sharing.h"
#include "timeline_report.h"

#include "view_json.h"

struct comparison {
	struct nm_diff_input sides[2];
	struct nm_diff_request request;
};

static nm_view_report compare_profiles;
static int compare_profiles(struct nm_profile *profile, const void *request, const struct nm_style *style,
			    FILE *out, struct nm_error *err)
{
	const struct comparison *c = request;
	char *over;

	(void)profile;
	return nm_diff_run(c->sides, 2, &c->request, style, out, &over, err); /* without a budget */
}

static int read_side(struct comparison *c, unsigned side, const struct nm_view *view,
		     const struct nm_request *request, struct nm_error *err)
{
	int64_t number = 0;
	int status =
	    nm_request_number(request, side ? "b" : "a", 0, NM_VIEW_PROFILES - 1, side, &number, err);

	if (!status && number >= view->count)
		status = nm_fail(err, NM_ENOENT, "there is no profile %d", (int)number);
	if (!status)
		c->sides[side] =
		    (struct nm_diff_input){view->profiles[number].path, view->profiles[number].profile};
	return status;
}

int nm_view_compare(const struct nm_view *view, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err)
{
	struct comparison c = {.request = {.level = nm_request_text(request, "level"),
					   .process = nm_request_text(request, "process"),
					   .by = nm_request_text(request, "by"),
					   .sort = nm_request_text(request, "sort"),
					   .layout = NM_DIFF_JSON,
					   .frame = NM_SHOW_USER}};
	int status = nm_view_part(request, 200, &c.request.offset, &c.request.limit, err);

	for (unsigned side = 0; !status && side < 2; side++)
		status = read_side(&c, side, view, request, err);
	return status ? status : nm_view_run(compare_profiles, c.sides[0].profile, &c, ret_answer, err);
}

/* ---- sharing: contention between cores, as in `nearmiss sharing` ---- */

static nm_view_report show_sharing;
static int show_sharing(struct nm_profile *profile, const void *request, const struct nm_style *style,
			FILE *out, struct nm_error *err)
{
	return nm_sharing_run(profile, request, style, out, err);
}

static int read_by(const struct nm_request *request, enum nm_sharing_by *ret_by, struct nm_error *err)
{
	static const char *const names[] = {"line",   "object", "field",  "function",
					    "thread", "core",   "process"};
	const char *by = nm_request_text(request, "by");

	*ret_by = NM_SHARING_BY_LINE;
	for (unsigned i = 0; by && i < sizeof names / sizeof *names; i++)
		if (!strcmp(by, names[i])) {
			*ret_by = (enum nm_sharing_by)i;
			return 0;
		}
	return by ? nm_fail(err, NM_EINVAL,
			    "by must be line, object, field, function, thread, core or process")
		  : 0;
}

/* The document of a request. A profile without contention gives one without rows, with a note of the reason. */
static int answer_sharing(struct nm_profile *profile, const struct nm_sharing_request *what,
			  json_t **ret_answer, struct nm_error *err)
{
	int status = nm_view_run(show_sharing, profile, what, ret_answer, err);

	if (status && status != NM_ENOENT)
		return status;
	if (status)
		*ret_answer = json_pack("{s[]}", "rows");
	json_object_set_new(*ret_answer, "note", status ? nm_view_text(err->text) : json_null());
	return 0;
}

int nm_view_sharing(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err)
{
	struct nm_sharing_request what = {.level = nm_request_text(request, "level")};
	int status = read_by(request, &what.by, err);

	if (!status)
		status = nm_view_part(request, 40, &what.offset, &what.limit, err);
	return status ? status : answer_sharing(of->profile, &what, ret_answer, err);
}

int nm_view_sharing_lines(const struct nm_view_profile *of, const struct nm_request *request,
			  json_t **ret_answer, struct nm_error *err)
{
	struct nm_sharing_request what = {.level = nm_request_text(request, "level"), .with_repairs = 1};
	int status = nm_request_number(request, "limit", 1, 40, 6, &what.limit, err);

	return status ? status : answer_sharing(of->profile, &what, ret_answer, err);
}

/* ---- curves: miss-ratio curves, as `nearmiss curve` computes them ---- */

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

/* ---- timeline ---- */

/* The timeline of a process, as in `nearmiss timeline`: its intervals, and its objects or lines. */

static nm_view_report draw_timeline;
static int draw_timeline(struct nm_profile *profile, const void *request, const struct nm_style *style,
			 FILE *out, struct nm_error *err)
{
	return nm_timeline_run(profile, request, NM_TIMELINE_JSON, style, out, err);
}

static int read_timeline(const struct nm_view_profile *of, const struct nm_request *request,
			 json_t **ret_document, struct nm_error *err)
{
	const char *by = nm_request_text(request, "by");
	struct nm_timeline_request what = {.process = nm_request_text(request, "process"),
					   .level = nm_request_text(request, "level"),
					   .by = by ? by : "object"};
	int status = nm_request_number(request, "limit", 1, NM_VIEW_ROWS, 24, &what.limit, err);

	return status ? status : nm_view_run(draw_timeline, of->profile, &what, ret_document, err);
}

/* The intervals with what each level counted; and all processes that have a timeline. */
int nm_view_timeline(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		     struct nm_error *err)
{
	static const char *const of_rows[] = {"level", "by", "rows"};
	json_t *processes = NULL;
	int status = read_timeline(of, request, ret_answer, err);

	if (!status)
		status = nm_view_select(of->profile,
					"SELECT process FROM processes WHERE process IN (SELECT process FROM "
					"timeline) ORDER BY instructions DESC, process",
					NULL, 0, &processes, err);
	if (status)
		return status;
	json_object_set_new(*ret_answer, "processes", processes);
	for (unsigned i = 0; i < sizeof of_rows / sizeof *of_rows; i++)
		json_object_del(*ret_answer, of_rows[i]);
	return 0;
}

/* The objects or lines that miss most at a level. */
int nm_view_timeline_rows(const struct nm_view_profile *of, const struct nm_request *request,
			  json_t **ret_answer, struct nm_error *err)
{
	const int status = read_timeline(of, request, ret_answer, err);

	if (!status)
		json_object_del(*ret_answer, "intervals");
	return status;
}
