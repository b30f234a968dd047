/* SPDX-License-Identifier: MIT
 *
 * breakpoints.c - breakpoints from requests: a kind with its parameters is converted to an expression, to
 * which a condition may be added.
 */
#include <string.h>

#include "answers.h"

/* A parameter of a kind: a number or text of the body. */
struct field {
	const char *name;
	int is_text, is_optional;
	const char *format; /* of its part of the expression, for printf, with the value */
};

enum { FIELDS = 5 };
static const struct kind {
	const char *name;
	const char *always; /* part of the expression without a value, or NULL */
	struct field field[FIELDS];
} kinds[] = {
    {"reference", NULL, {{"position", 0, 1, "position == %lld"}, {"reference", 1, 1, "function == %s"}}},
    {"line", NULL, {{"line", 0, 0, "line == %lld"}, {"file", 1, 1, "file == %s"}}},
    {"object", NULL, {{"object", 1, 0, "object == %s"}}},
    {"section",
     NULL,
     {{"object", 1, 1, "object == %s"},
      {"from", 0, 1, "element >= %lld"},
      {"to", 0, 1, "element <= %lld"},
      {"address_from", 0, 1, "address >= %lld"},
      {"address_to", 0, 1, "address <= %lld"}}},
    {"cache",
     NULL,
     {{"set_from", 0, 0, "set >= %lld"}, {"set_to", 0, 0, "set <= %lld"}, {"way", 0, 1, "way == %lld"}}},
    {"loops", NULL, {{NULL, 0, 0, NULL}}},
    {"evicts", "evicted == evicted", {{"evictor", 1, 1, "object == %s"}, {"victim", 1, 1, "evicted == %s"}}},
    {"conflict", "class == conflict", {{"object", 1, 1, "object == %s"}}},
    {"false_sharing", "false_sharing", {{"object", 1, 1, "object == %s"}}},
    {"condition", NULL, {{NULL, 0, 0, NULL}}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct expression {
	char *text; /* [NM_EXPRESSION_ROOM] */
	size_t length;
};

static int append_part(struct expression *e, const char *part, struct nm_error *err)
{
	const int n = snprintf(e->text + e->length, NM_EXPRESSION_ROOM - e->length, "%s%s",
			       e->length ? " && " : "", part);

	if (n < 0 || (size_t)n >= NM_EXPRESSION_ROOM - e->length)
		return nm_fail(err, NM_EINVAL, "the condition is too long");
	e->length += (size_t)n;
	return 0;
}

static int append_field(const struct nm_question *q, const struct field *f, struct expression *e,
			struct nm_error *err)
{
	const json_t *value = json_object_get(q->body, f->name);
	char quoted[NM_EXPRESSION_ROOM], part[2 * NM_EXPRESSION_ROOM];
	const char *text = json_string_value(value);

	if (!value || json_is_null(value))
		return f->is_optional ? 0 : nm_fail(err, NM_EINVAL, "\"%s\" is missing", f->name);
	if (f->is_text ? !text : !json_is_integer(value))
		return nm_fail(err, NM_EINVAL, "\"%s\" must be %s", f->name,
			       f->is_text ? "text" : "a number");
	if (f->is_text) {
		const char mark = strchr(text, '"') ? '\'' : '"';

		if (strchr(text, mark) || strlen(text) + 3 > sizeof quoted)
			return nm_fail(err, NM_EINVAL, "this name cannot be written in a condition");
		snprintf(quoted, sizeof quoted, "%c%s%c", mark, text, mark);
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (f->is_text)
		snprintf(part, sizeof part, f->format, quoted);
	else
		snprintf(part, sizeof part, f->format, (long long)json_integer_value(value));
#pragma GCC diagnostic pop
	return append_part(e, part, err);
}

/* {"loops": {"i": 3, "j": 7}} */
static int append_loops(const struct nm_question *q, struct expression *e, struct nm_error *err)
{
	json_t *loops = json_object_get(q->body, "loops"), *value;
	char part[NM_EXPRESSION_ROOM];
	const char *name;
	int status = json_object_size(loops) ? 0 : nm_fail(err, NM_EINVAL, "\"loops\" is missing");

	json_object_foreach(loops, name, value)
	{
		snprintf(part, sizeof part, "%.60s == %lld", name, (long long)json_integer_value(value));
		if (!status)
			status = json_is_integer(value)
				     ? append_part(e, part, err)
				     : nm_fail(err, NM_EINVAL, "an index must be a number");
	}
	return status;
}

static int read_expression(const struct nm_question *q, const struct kind *kind, struct expression *e,
			   struct nm_error *err)
{
	const char *condition = json_string_value(json_object_get(q->body, "condition"));
	char part[NM_EXPRESSION_ROOM];
	int status = kind->always ? append_part(e, kind->always, err) : 0;

	for (unsigned i = 0; i < FIELDS && kind->field[i].name && !status; i++)
		status = append_field(q, &kind->field[i], e, err);
	if (!status && !strcmp(kind->name, "loops"))
		status = append_loops(q, e, err);
	if (!status && condition && *condition) {
		if (strlen(condition) + 3 > sizeof part)
			return nm_fail(err, NM_EINVAL, "the condition is too long");
		snprintf(part, sizeof part, "%s%s%s", e->length ? "(" : "", condition, e->length ? ")" : "");
		status = append_part(e, part, err);
	}
	if (!status && !e->length)
		status = nm_fail(err, NM_EINVAL, "a breakpoint needs something to stop at");
	return status;
}

static json_t *breakpoint_json(const struct nm_debugger *d, const struct nm_breakpoint *b)
{
	return json_pack("{s:I, s:s, s:s, s:I, s:s, s:b, s:I, s:I}", "id", (json_int_t)b->id, "kind", b->kind,
			 "expression", b->expression, "cache",
			 (json_int_t)nm_cache_of_level(&d->checkpoints->machine, b->level), "level",
			 nm_short_level(&d->checkpoints->machine, b->level), "enabled", b->enabled, "skip",
			 (json_int_t)b->skip, "hits", (json_int_t)b->hits);
}

int nm_answer_breakpoints(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	json_t *list = json_array();
	const struct nm_breakpoint *b;

	(void)err;
	for (unsigned i = 0; (b = nm_debugger_breakpoint(q->debugger, i)); i++)
		json_array_append_new(list, breakpoint_json(q->debugger, b));
	*ret = json_pack("{s:o}", "breakpoints", list);
	return 0;
}

/* {"id": N, "enabled": ...} changes one. */
static int change_breakpoint(const struct nm_question *q, int64_t id, json_t **ret, struct nm_error *err)
{
	const json_t *enabled = json_object_get(q->body, "enabled");
	struct nm_breakpoint *b;

	for (unsigned i = 0; (b = nm_debugger_breakpoint(q->debugger, i)); i++)
		if (b->id == id) {
			b->enabled = enabled ? json_is_true(enabled) : b->enabled;
			return nm_answer_breakpoints(q, ret, err);
		}
	return nm_fail(err, NM_EINVAL, "there is no such breakpoint");
}

int nm_answer_break(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	const char *word = json_string_value(json_object_get(q->body, "kind"));
	struct nm_breakpoint b = {.enabled = !json_is_false(json_object_get(q->body, "enabled"))};
	struct expression e = {b.expression, 0};
	int64_t id, skip;
	unsigned kind = 0, level;
	uint32_t made;
	int status = nm_question_number(q, "id", 0, &id, err);

	if (!status && id)
		return change_breakpoint(q, id, ret, err);
	while (word && kind < KINDS && strcmp(kinds[kind].name, word) != 0)
		kind++;
	if (!word || kind == KINDS)
		return nm_fail(err, NM_EINVAL, "there is no such kind of breakpoint");
	snprintf(b.kind, sizeof b.kind, "%s", kinds[kind].name);
	status = nm_question_level(q, &level, err);
	if (!status)
		status = nm_question_number(q, "skip", 0, &skip, err);
	if (!status)
		status = read_expression(q, &kinds[kind], &e, err);
	if (status)
		return status;
	b.level = level;
	b.skip = skip > 0 ? (uint64_t)skip : 0;
	status = nm_debugger_break(q->debugger, &b, &made, err);
	return status ? status : nm_answer_breakpoints(q, ret, err);
}

int nm_answer_unbreak(const struct nm_question *q, json_t **ret, struct nm_error *err)
{
	int64_t id;
	int status = nm_question_number(q, "id", 0, &id, err);

	if (!status && nm_debugger_unbreak(q->debugger, (uint32_t)id))
		status = nm_fail(err, NM_EINVAL, "there is no such breakpoint");
	return status ? status : nm_answer_breakpoints(q, ret, err);
}
