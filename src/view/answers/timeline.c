/* SPDX-License-Identifier: MIT
 *
 * timeline.c - the timeline of a process, as in `nearmiss timeline`: its intervals, and its objects or lines.
 */
#include "timeline_report.h"

#include "view_json.h"

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
