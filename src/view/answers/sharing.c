/* SPDX-License-Identifier: MIT
 *
 * sharing.c - contention between cores, as in `nearmiss sharing`.
 */
#include "sharing.h"

#include <string.h>

#include "view_json.h"

static nm_view_report show_sharing;
static int show_sharing(struct nm_profile *profile, const void *request, const struct nm_style *style,
			FILE *out, struct nm_error *err)
{
	return nm_sharing_run(profile, request, style, out, err);
}

static int read_by(const struct nm_request *request, enum nm_sharing_by *ret_by, struct nm_error *err)
{
	static const char *const names[] = {"line", "object", "field", "function", "thread", "core"};
	const char *by = nm_request_text(request, "by");

	*ret_by = NM_SHARING_BY_LINE;
	for (unsigned i = 0; by && i < sizeof names / sizeof *names; i++)
		if (!strcmp(by, names[i])) {
			*ret_by = (enum nm_sharing_by)i;
			return 0;
		}
	return by ? nm_fail(err, NM_EINVAL, "by must be line, object, field, function, thread or core") : 0;
}

/* A profile without contention gives no rows, and a note with the reason. */
int nm_view_sharing(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err)
{
	struct nm_profile *profile = of->profile;
	struct nm_sharing_request what = {.level = nm_request_text(request, "level")};
	json_t *document = NULL, *rows;
	int status = read_by(request, &what.by, err);

	if (!status)
		status = nm_view_part(request, 40, &what.offset, &what.limit, err);
	if (status)
		return status;
	status = nm_view_run(show_sharing, profile, &what, &document, err);
	if (status && status != NM_ENOENT)
		return status;
	rows = json_object_get(document, "rows");
	*ret_answer = json_pack("{so so}", "rows", rows ? json_incref(rows) : json_array(), "note",
				status ? nm_view_text(err->text) : json_null());
	json_decref(document);
	return 0;
}
