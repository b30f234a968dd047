/* SPDX-License-Identifier: MIT
 *
 * predictions.c - the trace that a profile's run can be replayed from, and the prediction that a page starts,
 * watches and cancels.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "prediction.h"
#include "view_json.h"

static const char *const states[] = {[NM_PREDICTION_NONE] = "none",
				     [NM_PREDICTION_RUNS] = "running",
				     [NM_PREDICTION_DONE] = "done",
				     [NM_PREDICTION_FAILED] = "failed",
				     [NM_PREDICTION_CANCELLED] = "cancelled"};

/* A fact of the recording, malloc'ed; NULL: it has none. */
static int find_info(struct nm_profile *profile, const char *key, char **ret_value, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, "SELECT value FROM info WHERE key = ?1", &rows, err);

	*ret_value = NULL;
	if (!status)
		nm_rows_bind_text(rows, 1, key);
	if (!status && (status = nm_rows_next(rows, err)) > 0) {
		*ret_value = strdup(nm_rows_text(rows, 0));
		status = *ret_value ? 0 : nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return status;
}

static int is_there(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISREG(about.st_mode);
}

int nm_view_trace(const struct nm_view *view, unsigned profile, char **ret_trace, struct nm_error *err)
{
	static const char *const keys[] = {"trace", "source"}; /* of a recording, of a replay */
	int status = 0;

	*ret_trace = NULL;
	if (!profile && view->trace) {
		*ret_trace = strdup(view->trace);
		return *ret_trace ? 0 : nm_fail_memory(err);
	}
	for (unsigned i = 0; !status && !*ret_trace && i < sizeof keys / sizeof *keys; i++) {
		status = find_info(view->profiles[profile].profile, keys[i], ret_trace, err);
		if (*ret_trace && !is_there(*ret_trace)) {
			free(*ret_trace);
			*ret_trace = NULL;
		}
	}
	return status;
}

/* ---- requests ---- */

static int take_body(const struct nm_view *view, const struct nm_request *request, unsigned *ret_profile,
		     json_t **ret_body, struct nm_error *err)
{
	json_t *body = json_loads(request->body, 0, NULL);
	const char *candidate = json_string_value(json_object_get(body, "candidate"));
	const json_int_t profile = json_integer_value(json_object_get(body, "profile"));

	if (candidate && profile >= 0 && profile < (json_int_t)view->count) {
		*ret_profile = (unsigned)profile;
		*ret_body = body;
		return 0;
	}
	json_decref(body);
	return nm_fail(err, NM_EINVAL, "a prediction needs \"candidate\", a text, and \"profile\", a number");
}

static int start(struct nm_view *view, const struct nm_request *request, struct nm_error *err)
{
	struct nm_prediction_request asked = {.program = view->program};
	char *trace = NULL, *cache = NULL;
	json_t *body = NULL;
	int status = take_body(view, request, &asked.profile, &body, err);

	if (!status)
		status = nm_view_trace(view, asked.profile, &trace, err);
	if (!status && (!trace || !view->program))
		status = nm_fail(err, NM_EINVAL, "there is no trace of this run");
	if (!status)
		status = find_info(view->profiles[asked.profile].profile, "machine_spec", &cache, err);
	if (!status && !cache)
		status = nm_fail(err, NM_EINVAL, "this profile has no machine");
	if (!status) {
		asked.trace = trace;
		asked.cache = cache;
		asked.candidate = json_string_value(json_object_get(body, "candidate"));
		status = nm_prediction_start(&view->prediction, &asked, err);
	}
	json_decref(body);
	free(trace);
	free(cache);
	return status;
}

/* ---- the answer ---- */

/* The command's rows, each of a candidate ("A" is the program as it is) and a level. */
static int add_levels(const struct nm_prediction *p, json_t *answer, struct nm_error *err)
{
	json_t *document, *rows;
	char *text;
	int status = nm_prediction_output(p, &text, err);

	if (status)
		return status;
	document = json_loads(text, 0, NULL);
	rows = json_object_get(document, "rows");
	status = rows ? 0 : nm_fail(err, NM_EFORMAT, "nearmiss whatif gave no rows");
	if (rows)
		json_object_set(answer, "rows", rows);
	json_decref(document);
	free(text);
	return status;
}

/* Why the process failed, or what it warned of. */
static int add_messages(const struct nm_prediction *p, json_t *answer, struct nm_error *err)
{
	uint64_t references;
	char *text;
	int status = nm_prediction_messages(p, &text, &references, err);

	if (status)
		return status;
	if (p->ended_by) {
		free(text);
		if (asprintf(&text, "nearmiss whatif was ended by signal %d", p->ended_by) < 0)
			return nm_fail_memory(err);
	}
	json_object_set_new(answer, "references", json_integer((json_int_t)references));
	json_object_set_new(answer, "messages", nm_view_text(text));
	free(text);
	return 0;
}

static int describe(const struct nm_prediction *p, json_t **ret_answer, struct nm_error *err)
{
	json_t *answer = json_pack("{ss}", "state", states[p->state]);
	int status = 0;

	if (p->state != NM_PREDICTION_NONE) {
		json_object_set_new(answer, "profile", json_integer(p->profile));
		json_object_set_new(answer, "candidate", nm_view_text(p->candidate));
		status = add_messages(p, answer, err);
	}
	if (!status && p->state == NM_PREDICTION_DONE)
		status = add_levels(p, answer, err);
	if (status)
		json_decref(answer);
	else
		*ret_answer = answer;
	return status;
}

int nm_view_prediction(struct nm_view *view, const struct nm_request *request, FILE *out,
		       struct nm_error *err)
{
	json_t *answer = NULL;
	int status = 0;

	if (!strcmp(request->method, "POST"))
		status = start(view, request, err);
	else if (!strcmp(request->method, "DELETE"))
		nm_prediction_cancel(&view->prediction);
	nm_prediction_look(&view->prediction);
	if (!status)
		status = describe(&view->prediction, &answer, err);
	if (!status && json_dumpf(answer, out, JSON_COMPACT | JSON_REAL_PRECISION(10)))
		status = nm_fail_memory(err);
	json_decref(answer);
	return status;
}
