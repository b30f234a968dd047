/* SPDX-License-Identifier: MIT */
#include "curve.h"

#include <assert.h>
#include <string.h>

#include "curve_priv.h"
#include "name_match.h"
#include "selection.h"

static const char *const scopes[] = {"total", "object", "function", "line", "thread", "field", NULL};

static int check_scope(const char *scope, struct nm_error *err)
{
	for (size_t i = 0; scopes[i]; i++)
		if (!strcmp(scopes[i], scope))
			return 0;
	return nm_fail_unknown("scope", scope, scopes, err);
}

/* Whether the profiles have curves of the whole; 0 too if they cannot be read. */
static int has_total(const struct nm_curve_source *sources, size_t count, const struct nm_curve_request *r)
{
	struct nm_curves curves = {0};
	struct nm_error ignored;
	int found = 0;

	for (size_t i = 0; i < count && !found; i++)
		found = !nm_curves_load(&curves, &sources[i], r, "total", &ignored) && curves.list.count;
	nm_curves_done(&curves);
	return found;
}

static int nothing_fits(const struct nm_curve_source *sources, size_t count, const struct nm_curve_request *r,
			struct nm_error *err)
{
	if (r->only)
		return nm_fail(err, NM_EINVAL, "no curve by %s fits \"%s\"", r->by, r->only);
	if (r->method)
		return nm_fail(err, NM_EINVAL, "no curves by %s were found by the method \"%s\"", r->by,
			       r->method);
	if (nm_profile_has_samples(sources[0].profile, NULL) > 0)
		return nm_fail(
		    err, NM_EINVAL,
		    "a processor's samples give no curves: they say nothing of other sizes of caches");
	if (!has_total(sources, count, r))
		return nm_fail(
		    err, NM_EINVAL,
		    "there are no curves: record with --distances, --sample or --estimate; if that was "
		    "done, no reference was counted or sampled");
	if (!strcmp(r->by, "field"))
		return nm_fail(err, NM_EINVAL, "estimated curves are not by field: record with --distances");
	return nm_fail(err, NM_EINVAL,
		       "there are no curves by %s: none has enough samples; choose a higher rate, or record "
		       "with --distances",
		       r->by);
}

int nm_curve_run(const struct nm_curve_source *sources, size_t count, const struct nm_curve_request *request,
		 enum nm_curve_format format, const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_curves curves = {0};
	int status = check_scope(request->by, err);

	assert(count > 0);
	assert(!request->offset || format == NM_CURVE_JSON);
	for (size_t i = 0; i < count && !status; i++)
		status = nm_curves_load(&curves, &sources[i], request, request->by, err);
	if (!status && !curves.list.count)
		status = nothing_fits(sources, count, request, err);
	if (!status)
		status = nm_curves_choose(&curves, request, err);
	if (!status)
		status = nm_knees_make(&curves, sources, count, request, err);
	if (!status && nm_curve_notes(&curves))
		status = nm_fail_memory(err);
	if (!status) {
		switch (format) {
		case NM_CURVE_TEXT: status = nm_curves_text(&curves, request, style, out); break;
		case NM_CURVE_SVG: status = nm_curves_svg(&curves, request, out); break;
		case NM_CURVE_CSV: status = nm_curves_csv(&curves, request, out); break;
		case NM_CURVE_JSON: status = nm_curves_json(&curves, request, out); break;
		}
		if (status)
			status = nm_fail_memory(err);
	}
	nm_curves_done(&curves);
	return status;
}
