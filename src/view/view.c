/* SPDX-License-Identifier: MIT
 *
 * view.c - see view.h: opens profiles, and finds the function that answers a path.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inlined.h"
#include "memstream.h"
#include "table.h"
#include "view_priv.h"

int nm_view_open(struct nm_view **ret_view, const char *const *paths, size_t count, struct nm_error *err)
{
	struct nm_view *view;
	int status = 0;

	if (count > NM_VIEW_PROFILES)
		return nm_fail(err, NM_EINVAL, "at most %d profiles can be viewed at once", NM_VIEW_PROFILES);
	view = calloc(1, sizeof *view);
	if (!view)
		return nm_fail_memory(err);
	for (size_t i = 0; !status && i < count; i++) {
		view->profiles[i].path = paths[i];
		view->profiles[i].facts = &view->facts;
		status = nm_profile_open(&view->profiles[i].profile, paths[i], err);
		view->count += !status;
		if (!status)
			status = nm_profile_show_frame(view->profiles[i].profile, NM_SHOW_USER, err);
	}
	if (status)
		nm_view_close(view);
	else
		*ret_view = view;
	return status;
}

void nm_view_close(struct nm_view *view)
{
	for (unsigned i = 0; view && i < view->count; i++)
		nm_profile_close(view->profiles[i].profile);
	if (view) {
		nm_fact_store_done(&view->facts);
		nm_view_cache_done(&view->cache);
		nm_tabs_done(&view->tabs);
		nm_prediction_done(&view->prediction);
	}
	free(view);
}

void nm_view_set_search(struct nm_view *view, const struct nm_source_search *search)
{
	view->search = search;
	for (unsigned i = 0; i < view->count; i++)
		view->profiles[i].search = search;
}

void nm_view_set_debugger(struct nm_view *view, struct nm_debugger *debugger) { view->tabs.first = debugger; }

void nm_view_set_predictor(struct nm_view *view, const char *program, const char *trace)
{
	view->program = program;
	view->trace = trace;
}

void nm_view_set_progress(struct nm_view *view, nm_view_progress *progress) { view->progress = progress; }

static int is_of_debugger(const char *path)
{
	return !strncmp(path, NM_VIEW_DEBUGGER_PATH, strlen(NM_VIEW_DEBUGGER_PATH));
}

int nm_view_takes_changes(const char *path)
{
	return is_of_debugger(path) || !strcmp(path, NM_VIEW_PREDICTION_PATH);
}

uint64_t nm_view_written(const struct nm_view *view) { return view->written; }

static int no_such_path(const struct nm_request *request, struct nm_error *err)
{
	return nm_fail(err, NM_ENOENT, "there is no %.200s", request->path);
}

/* The NAME in the path "/api/p/N/NAME", and the profile N; or NULL. */
static const char *of_profile(const struct nm_view *view, const char *path,
			      const struct nm_view_profile **ret_profile)
{
	static const char lead[] = "/api/p/";
	const size_t n = sizeof lead - 1;

	if (strncmp(path, lead, n) || path[n] < '0' || (unsigned)(path[n] - '0') >= view->count ||
	    path[n + 1] != '/')
		return NULL;
	*ret_profile = &view->profiles[path[n] - '0'];
	return path + n + 2;
}

static int find_answer(struct nm_view *view, const struct nm_request *request, json_t **ret_answer,
		       struct nm_error *err)
{
	const struct nm_view_profile *profile = NULL;
	const char *name = of_profile(view, request->path, &profile);
	const struct nm_view_route *route = nm_view_routes;

	if (strcmp(request->method, "GET"))
		return nm_fail(err, NM_EINVAL, "%.200s can only be read", request->path);
	if (!strcmp(request->path, "/api/session"))
		return nm_view_session(view, ret_answer, err);
	if (!strcmp(request->path, "/api/compare"))
		return nm_view_compare(view, request, ret_answer, err);
	while (name && route->name && strcmp(route->name, name))
		route++;
	if (!name || !route->name)
		return no_such_path(request, err);
	if (!route->by_input && nm_request_text(request, "input"))
		return nm_fail(err, NM_EINVAL, "%s: a merged profile holds only the sum of its inputs", name);
	return route->answer(profile, request, ret_answer, err);
}

/* Makes the answer, malloc'ed. */
static int make_answer(struct nm_view *view, const struct nm_request *request, char **ret_text,
		       size_t *ret_bytes, struct nm_error *err)
{
	json_t *answer = NULL;
	int status = find_answer(view, request, &answer, err);

	if (!status) {
		*ret_text = answer ? json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
		*ret_bytes = *ret_text ? strlen(*ret_text) : 0;
		status = *ret_text ? 0 : nm_fail_memory(err);
	}
	json_decref(answer);
	return status;
}

static char *key_of(const struct nm_request *request)
{
	char *key = NULL;
	FILE *out = nm_memstream_open(&key, NULL);

	if (!out)
		return NULL;
	nm_request_write_key(request, out);
	return nm_memstream_close(out, &key) ? NULL : key;
}

int nm_view_answer(struct nm_view *view, const struct nm_request *request, FILE *out, struct nm_error *err)
{
	char *key, *made = NULL;
	size_t bytes;
	const char *kept;
	int status = 0;

	if (!strcmp(request->path, NM_VIEW_PREDICTION_PATH))
		return nm_view_prediction(view, request, out, err);
	if (is_of_debugger(request->path))
		return nm_view_debugger_answer(view, request, out, err);
	key = key_of(request);
	if (!key)
		return nm_fail_memory(err);
	kept = nm_view_cache_find(&view->cache, key, &bytes);
	if (!kept)
		status = make_answer(view, request, &made, &bytes, err);
	if (!status)
		fwrite(kept ? kept : made, 1, bytes, out);
	if (made && bytes <= NM_CACHED_BYTES) {
		nm_view_cache_keep(&view->cache, key, made, bytes);
		return 0;
	}
	free(made);
	free(key);
	return status;
}

/* Makes an answer only to fill the caches of answers and of facts. */
static void ask_answer(struct nm_view *view, unsigned profile, const char *name)
{
	char path[40];
	const struct nm_request request = {.method = "GET", .path = path, .body = ""};
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);

	snprintf(path, sizeof path, "/api/p/%u/%s", profile, name);
	if (out) {
		nm_view_answer(view, &request, out, NULL);
		fclose(out);
	}
	free(text);
}

int nm_view_prepare(struct nm_view *view)
{
	static const char *const names[] = {"overview", "sources", "evictions"};
	enum { STEPS = sizeof names / sizeof *names };

	for (int is_done = 0; !is_done && view->prepared < STEPS * view->count; view->prepared++) {
		const unsigned profile = view->prepared / STEPS, step = view->prepared % STEPS;

		/* Facts of more profiles would displace those of the first. */
		is_done = step == 0 || profile < NM_STORED_FACTS / 2;
		if (is_done)
			ask_answer(view, profile, names[step]);
	}
	return view->prepared < STEPS * view->count;
}

void nm_view_write_error(const char *text, FILE *out)
{
	fputs("{\"error\":", out);
	nm_json_text(text, out);
	fputs("}\n", out);
}
