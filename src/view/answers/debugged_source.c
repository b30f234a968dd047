/* SPDX-License-Identifier: MIT
 *
 * debugged_source.c - source text around a line that the debugger's program names.
 *
 * A trace from elsewhere must not choose which of the user's files are shown: one that was found by its path alone lies
 * below the working directory, or is what an open profile says was recorded.
 */
#include <string.h>

#include "debug_program.h"
#include "files.h"
#include "source.h"
#include "view_json.h"

/* Whether references of the program are made in this file. */
static int has_file(const struct nm_debug_program *program, const char *file)
{
	for (size_t i = 0; i < program->sites.count; i++)
		if (program->sites.at[i].file && !strcmp(program->sites.at[i].file, file))
			return 1;
	return 0;
}

/* Whether an open profile was recorded with this text; 1, 0 or a code. */
static int is_recorded(const struct nm_view *view, const char *file, const struct nm_source *source,
		       struct nm_error *err)
{
	int status = 0;

	for (unsigned i = 0; i < view->count && !status; i++) {
		struct nm_stored_source known = {.text = NULL};

		status = nm_profile_source(view->profiles[i].profile, file, &known, err);
		if (status > 0)
			status =
			    !strcmp(known.digest, source->digest) || !strcmp(known.compiled, source->digest);
		free(known.text);
	}
	return status;
}

/* The text; NM_ENOENT: none that may be shown. */
static int find_source(const struct nm_view *view, const struct nm_debug_program *program, const char *file,
		       struct nm_source *ret_source, struct nm_error *err)
{
	static const struct nm_source_search nowhere;
	const struct nm_source_search *search = view->search ? view->search : &nowhere;
	int status = nm_source_find(ret_source, file, search, 0);

	if (status != NM_ENOENT)
		return status;
	status = nm_source_find(ret_source, file, &nowhere, 1);
	if (status || program->nest || nm_is_below(ret_source->path, "."))
		return status;
	status = is_recorded(view, file, ret_source, err);
	if (status <= 0)
		nm_source_done(ret_source);
	return status > 0 ? 0 : status ? status : NM_ENOENT;
}

static json_t *lines_of(const struct nm_source *source, int64_t from, int64_t count)
{
	json_t *lines = json_array();
	const char *text;

	for (int64_t n = from; n < from + count && (text = nm_source_line(source, n)); n++)
		json_array_append_new(lines, nm_view_text(text));
	return lines;
}

int nm_view_debugged_source(const struct nm_view *view, const struct nm_debug_program *program,
			    const struct nm_request *request, json_t **ret_answer, struct nm_error *err)
{
	const char *file = nm_request_text(request, "file");
	struct nm_source source = {.text = NULL};
	int64_t from = 0, count = 0;
	int status = nm_request_number(request, "from", 1, INT32_MAX, 1, &from, err);

	if (!status)
		status = nm_request_number(request, "limit", 1, NM_VIEW_ROWS, 200, &count, err);
	if (status)
		return status;
	if (!file || !has_file(program, file))
		return nm_fail(err, NM_ENOENT, "no reference is made in such a file");
	status = find_source(view, program, file, &source, err);
	if (status == NM_ENOENT)
		return nm_fail(
		    err, NM_ENOENT,
		    "the source was not found below the working directory: say where it is with --source-dir");
	if (!status)
		*ret_answer = json_pack("{ss sI so}", "file", file, "from", (json_int_t)from, "lines",
					lines_of(&source, from, count));
	nm_source_done(&source);
	return status == NM_ENOMEM ? nm_fail_memory(err) : status;
}
