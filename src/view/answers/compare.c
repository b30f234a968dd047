/* SPDX-License-Identifier: MIT
 *
 * compare.c - what changed between two profiles, as in `nearmiss diff`.
 */
#include "diff.h"

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
