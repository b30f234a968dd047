/* SPDX-License-Identifier: MIT
 *
 * answer.c - finds the answer to a request.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"

static const struct {
	const char *method, *path;
	nm_answer_function *answer;
} table[] = {
    {"GET", "session", nm_answer_session},
    {"GET", "state", nm_answer_state},
    {"POST", "step", nm_answer_step},
    {"POST", "goto", nm_answer_goto},
    {"POST", "run", nm_answer_run},
    {"POST", "play", nm_answer_play},
    {"GET", "grid", nm_answer_grid},
    {"GET", "memory", nm_answer_memory},
    {"GET", "evicted", nm_answer_evicted},
    {"GET", "strip", nm_answer_strip},
    {"GET", "statistics", nm_answer_statistics},
    {"GET", "breakpoints", nm_answer_breakpoints},
    {"POST", "breakpoints", nm_answer_break},
    {"DELETE", "breakpoints", nm_answer_unbreak},
    {"POST", "nest", nm_answer_nest},
};
enum { ANSWERS = sizeof table / sizeof *table };

const char *nm_question_text(const struct nm_question *q, const char *name)
{
	const json_t *value = q->body ? json_object_get(q->body, name) : NULL;

	if (value)
		return json_string_value(value);
	return q->request->parameter ? q->request->parameter(q->request->self, name) : NULL;
}

int nm_question_number(const struct nm_question *q, const char *name, int64_t otherwise, int64_t *ret,
		       struct nm_error *err)
{
	const json_t *value = q->body ? json_object_get(q->body, name) : NULL;
	const char *text;
	char *end;

	*ret = otherwise;
	if (json_is_integer(value)) {
		*ret = json_integer_value(value);
		return 0;
	}
	text = nm_question_text(q, name);
	if (!text && (!value || json_is_null(value)))
		return 0;
	errno = 0;
	*ret = text ? (int64_t)strtoll(text, &end, 0) : 0;
	return !text || end == text || *end || errno
		   ? nm_fail(err, NM_EINVAL, "\"%.40s\" must be a number", name)
		   : 0;
}

static int read_body(struct nm_question *q, struct nm_error *err)
{
	json_error_t fault;

	if (!q->request->body || !*q->request->body)
		return 0;
	q->body = json_loads(q->request->body, JSON_REJECT_DUPLICATES, &fault);
	if (!q->body)
		return nm_fail(err, NM_EINVAL, "the body is not JSON: %s", fault.text);
	return json_is_object(q->body) ? 0 : nm_fail(err, NM_EINVAL, "the body must be a JSON object");
}

int nm_debugger_answer(struct nm_debugger *debugger, const struct nm_debugger_request *request, FILE *out,
		       struct nm_error *err)
{
	struct nm_question q = {.debugger = debugger, .request = request};
	json_t *answer = NULL;
	unsigned i = 0;
	int status;

	while (i < ANSWERS &&
	       (strcmp(table[i].path, request->path) != 0 || strcmp(table[i].method, request->method) != 0))
		i++;
	if (i == ANSWERS)
		return nm_fail(err, NM_ENOENT, "the debugger has no answer of this name");
	status = nm_debugger_wake(debugger, err);
	if (!status)
		status = read_body(&q, err);
	if (!status)
		status = table[i].answer(&q, &answer, err);
	if (!status && (!answer || json_dumpf(answer, out, JSON_COMPACT | JSON_ENCODE_ANY)))
		status = nm_fail_memory(err);
	json_decref(answer);
	json_decref(q.body);
	return status;
}
