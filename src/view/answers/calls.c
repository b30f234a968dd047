/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include "selection.h"

enum { PROCESS, CONTEXT, FUNCTION, FILE_NAME, LINE, KEYS };

static int damaged(struct nm_error *err)
{
	return nm_fail(err, NM_EFORMAT, "the profile is damaged: a call chain has no beginning");
}

/* Contexts of a process follow each other from 0, which is no call, and callers come first. */
static int take_call(struct nm_recorded_calls *calls, const nm_key *keys, struct nm_rows *rows,
		     struct nm_error *err)
{
	const int64_t context = nm_rows_integer(rows, CONTEXT), by = nm_rows_integer(rows, KEYS);
	struct nm_recorded_call call = {.by = NM_NO_CALL,
					.function = keys[FUNCTION],
					.file = keys[FILE_NAME],
					.line = keys[LINE],
					.by_library = nm_rows_integer(rows, KEYS + 1) != 0};
	uint64_t first;

	if (context == 0 && nm_map_put(&calls->first, keys[PROCESS], calls->at.count))
		return nm_fail_memory(err);
	first = nm_map_get(&calls->first, keys[PROCESS], UINT64_MAX);
	if (first == UINT64_MAX || first + (uint64_t)context != calls->at.count || by < 0 ||
	    (context && by >= context) || calls->at.count == NM_NO_CALL)
		return damaged(err);
	if (context && by) {
		call.by = (uint32_t)(first + (uint64_t)by);
		call.depth = calls->at.at[call.by].depth + 1;
	}
	return nm_vec_push(&calls->at, call) ? nm_fail_memory(err) : 0;
}

int nm_calls_load(struct nm_recorded_calls *calls, const struct nm_view_profile *of, const char *level,
		  struct nm_error *err)
{
	const struct nm_cube named =
	    nm_cube_of((const char *const[]){"process", "context", "function", "file", "line", NULL}, 1);
	struct nm_rows *rows = NULL;
	nm_key keys[KEYS];
	int status = nm_profile_has_rows(of->profile, "contexts", err);

	if (status <= 0)
		return status ? status
			      : nm_fail(err, NM_EINVAL,
					"this profile has no call chains: record --callgraph counts by them");
	status =
	    nm_profile_query(of->profile,
			     "SELECT process, context, function, file, line, parent, library FROM contexts "
			     "WHERE level = ?1 ORDER BY process, context",
			     &rows, err);
	if (!status)
		nm_rows_bind_text(rows, 1, level);
	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = nm_cube_read_keys(&named, &of->facts->names, rows, keys)
			     ? nm_fail_memory(err)
			     : take_call(calls, keys, rows, err);
	nm_rows_free(rows);
	return status;
}

void nm_calls_done(struct nm_recorded_calls *calls)
{
	nm_vec_free(&calls->at);
	nm_map_done(&calls->first);
}

uint32_t nm_calls_of_row(const struct nm_recorded_calls *calls, const struct nm_cube *facts, size_t row)
{
	const nm_key *keys = nm_cube_keys(facts, row);
	const nm_key context = keys[nm_cube_key(facts, "context")];
	const uint64_t first = nm_map_get(&calls->first, keys[nm_cube_key(facts, "process")], UINT64_MAX);
	uint32_t call, user;

	if (first == UINT64_MAX || context < 2 || first + context - 1 >= calls->at.count)
		return NM_NO_CALL;
	call = user = (uint32_t)(first + context - 1);
	while (user != NM_NO_CALL && calls->at.at[user].by_library)
		user = calls->at.at[user].by;
	if (user == NM_NO_CALL || calls->at.at[user].file != keys[nm_cube_key(facts, "user_file")] ||
	    calls->at.at[user].line != keys[nm_cube_key(facts, "user_line")])
		return call;
	return calls->at.at[user].by;
}
