/* SPDX-License-Identifier: MIT
 *
 * debugging.c - the debugger of the view, which makes its own answers.
 */
#include "debugger.h"
#include "view_json.h"

#include <string.h>

static const char *query_parameter(void *self, const char *name) { return nm_request_text(self, name); }

static int answer_request(struct nm_debugger *debugger, const struct nm_request *request, FILE *out,
			  struct nm_error *err)
{
	const struct nm_debugger_request asked = {.method = request->method,
						  .path = request->path + strlen(NM_VIEW_DEBUGGER_PATH),
						  .parameter = query_parameter,
						  .self = (void *)request,
						  .body = request->body_bytes ? request->body : NULL};

	return nm_debugger_answer(debugger, &asked, out, err);
}

static int answer_source(const struct nm_view *view, const struct nm_debugger *debugger,
			 const struct nm_request *request, FILE *out, struct nm_error *err)
{
	json_t *answer = NULL;
	const int status =
	    nm_view_debugged_source(view, nm_debugger_program(debugger), request, &answer, err);

	if (!status)
		json_dumpf(answer, out, JSON_COMPACT);
	json_decref(answer);
	return status;
}

int nm_view_debugger_answer(struct nm_view *view, const struct nm_request *request, FILE *out,
			    struct nm_error *err)
{
	struct nm_debugger *debugger;
	int status = nm_tabs_find(&view->tabs, nm_request_text(request, "tab"), &debugger, err);

	if (!status && !debugger)
		status = nm_fail(err, NM_ENOENT, "no loop nest or trace was opened to be debugged");
	if (status)
		return status;
	if (!strcmp(request->path, NM_VIEW_DEBUGGER_PATH "source") && !strcmp(request->method, "GET"))
		return answer_source(view, debugger, request, out, err);
	return answer_request(debugger, request, out, err);
}

static nm_view_report ask_session;
static int ask_session(struct nm_profile *profile, const void *view, const struct nm_style *style, FILE *out,
		       struct nm_error *err)
{
	const struct nm_request request = {
	    .method = "GET", .path = NM_VIEW_DEBUGGER_PATH "session", .body = ""};

	(void)profile, (void)style;
	return answer_request(((const struct nm_view *)view)->tabs.first, &request, out, err);
}

int nm_view_debugger_session(const struct nm_view *view, json_t **ret_session, struct nm_error *err)
{
	if (view->tabs.first)
		return nm_view_run(ask_session, NULL, view, ret_session, err);
	*ret_session = json_null();
	return 0;
}
