/* SPDX-License-Identifier: MIT
 *
 * move.c - steps, jumps and runs; each returns the new state.
 */
#include <string.h>

#include "answers.h"

enum { LIMIT_MS = 1000, MOST_LIMIT_MS = 10000 };

static int go_to_position(struct nm_debugger *d, uint64_t position, json_t **ret, struct nm_error *err)
{
	const char *end = position >= nm_debugger_total(d) ? "end" : position ? NULL : "start";
	int status = nm_debugger_go(d, position, err);

	return status ? status : nm_state_json(d, end, 0, ret, err);
}

int nm_answer_step(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	const int64_t at = (int64_t)nm_debugger_position(q->debugger),
		      total = (int64_t)nm_debugger_total(q->debugger);
	int64_t count;
	int status = nm_question_number(q, "count", 1, &count, err);

	if (status)
		return status;
	if (count < -at)
		count = -at;
	if (count > total - at)
		count = total - at;
	return go_to_position(q->debugger, (uint64_t)(at + count), ret, err);
}

int nm_answer_goto(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	int64_t position;
	int status = nm_question_number(q, "position", -1, &position, err);

	if (!status && position < 0)
		status =
		    nm_fail(err, NM_EINVAL, "\"position\" must be a number from 0 to the last reference");
	return status ? status : go_to_position(q->debugger, (uint64_t)position, ret, err);
}

/* Writes an object's name as a string of an expression. */
static int quote_name(const char *name, char *text, size_t room, const char *format, struct nm_error *err)
{
	const char mark = strchr(name, '"') ? '\'' : '"';
	char quoted[NM_EXPRESSION_ROOM];

	if (strchr(name, mark) || strlen(name) + 3 > sizeof quoted)
		return nm_fail(err, NM_EINVAL, "this name cannot be written in a condition");
	snprintf(quoted, sizeof quoted, "%c%s%c", mark, name, mark);
	snprintf(text, room, "%s == %s", format, quoted);
	return 0;
}

/* *ret_until: the expression that stops the run; NULL: breakpoints. */
static int read_until(const struct nm_question *q, char text[2 * NM_EXPRESSION_ROOM], const char **ret_until,
		      struct nm_error *err)
{
	const char *until = nm_question_text(q, "until"), *object = nm_question_text(q, "object");
	int64_t set;
	int status = nm_question_number(q, "set", -1, &set, err);

	*ret_until = text;
	if (status)
		return status;
	if (!until || !strcmp(until, "breakpoint")) {
		*ret_until = NULL;
	} else if (!strcmp(until, "miss")) {
		strcpy(text, "miss");
	} else if (!strcmp(until, "eviction") && object) {
		return quote_name(object, text, 2 * NM_EXPRESSION_ROOM, "evicted", err);
	} else if (!strcmp(until, "eviction")) {
		strcpy(text, "evicted == evicted"); /* true if there is an evicted line */
	} else if (!strcmp(until, "visit") && set >= 0) {
		snprintf(text, 2 * NM_EXPRESSION_ROOM, "set == %lld", (long long)set);
	} else if (!strcmp(until, "visit") && object) {
		return quote_name(object, text, 2 * NM_EXPRESSION_ROOM, "object", err);
	} else if (!strcmp(until, "condition") && nm_question_text(q, "condition")) {
		*ret_until = nm_question_text(q, "condition");
	} else {
		return nm_fail(
		    err, NM_EINVAL,
		    "\"until\" is miss, breakpoint, eviction, visit (with set or object) or condition");
	}
	return 0;
}

int nm_answer_run(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	static const char *const names[] = {"end", "match", "limit"};
	struct nm_debugger_run run = {.backwards = json_is_true(json_object_get(q->body, "backwards"))};
	char text[2 * NM_EXPRESSION_ROOM];
	enum nm_stopped stopped;
	int64_t limit;
	uint32_t id;
	int status = nm_question_level(q, &run.level, err);

	if (!status)
		status = read_until(q, text, &run.until, err);
	if (!status)
		status = nm_question_number(q, "limit_ms", LIMIT_MS, &limit, err);
	if (status)
		return status;
	run.limit_ms = limit < 1 ? 1 : limit > MOST_LIMIT_MS ? MOST_LIMIT_MS : (unsigned)limit;
	status = nm_debugger_run(q->debugger, &run, &stopped, &id, err);
	if (status)
		return status;
	return nm_state_json(q->debugger,
			     stopped == NM_STOPPED_MATCH && !run.until    ? "breakpoint"
			     : stopped == NM_STOPPED_END && run.backwards ? "start"
									  : names[stopped],
			     id, ret, err);
}
