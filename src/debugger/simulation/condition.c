/* SPDX-License-Identifier: MIT
 *
 * condition.c - parses expressions into steps of a stack machine, and runs them; see condition.h.
 */
#include "condition.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "debug_program.h"

enum step {
	DO_CONSTANT,
	DO_VALUE,
	DO_LOOP,
	DO_NOT,
	DO_NEGATE,
	DO_OR,
	DO_AND,
	DO_EQUAL,
	DO_UNEQUAL,
	DO_LESS,
	DO_AT_MOST,
	DO_MORE,
	DO_AT_LEAST,
	DO_ADD,
	DO_SUBTRACT,
	DO_MULTIPLY,
	DO_DIVIDE,
	DO_REMAINDER,
};

/* By enum nm_condition_value. */
static const char *const value_names[NM_VALUES] = {
    "position", "address", "size", "write", "thread", "object", "function", "file",         "line",
    "element",  "set",     "way",  "hit",   "miss",   "class",  "evicted",  "false_sharing"};

struct parser {
	const char *text, *at;
	struct nm_debug_program *program;
	struct nm_condition *to;
	unsigned depth; /* of the stack, and of parentheses */
	struct nm_error *err;
};

enum { DEPTH = 32 };

static int fail_at_token(const struct parser *p, const char *what)
{
	return nm_fail_at(p->err, p->text, (int)(p->at - p->text), "%s", what);
}

/* What follows a whole operand, and is not the end that `otherwise` misses. */
static int fail_behind_operand(const struct parser *p, const char *otherwise)
{
	return fail_at_token(p, *p->at == '=' ? "a comparison is written == here"
				: *p->at      ? "an operator is missing here"
					      : otherwise);
}

static int put_step(struct parser *p, enum step does, int64_t number)
{
	if (p->to->count == NM_CONDITION_STEPS)
		return fail_at_token(p, "the condition is too long");
	p->to->step[p->to->count].does = (uint8_t)does;
	p->to->step[p->to->count++].number = number;
	return 0;
}

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

/* ---- operands ---- */

static int parse_string(struct parser *p)
{
	const char quote = *p->at, *end = strchr(p->at + 1, quote), *name;

	if (!end)
		return fail_at_token(p, "the name does not end");
	name = nm_intern_n(&p->program->names, p->at + 1, (size_t)(end - p->at - 1));
	if (!name)
		return nm_fail_memory(p->err);
	p->at = end + 1;
	return put_step(p, DO_CONSTANT, (int64_t)(uintptr_t)name);
}

static int parse_number(struct parser *p)
{
	char *end;
	const unsigned long long n = strtoull(p->at, &end, 0);

	p->at = end;
	if (isalnum((unsigned char)*end))
		return fail_at_token(p, "this is not a number");
	return put_step(p, DO_CONSTANT, (int64_t)n);
}

static int parse_loop(struct parser *p, const char *word, size_t length)
{
	struct nm_condition *c = p->to;
	unsigned i;

	if (!p->program->nest || length >= sizeof c->loop[0])
		return fail_at_token(p, "this name means nothing here; names of the program stand in quotes");
	for (i = 0; i < c->loops; i++)
		if (strlen(c->loop[i]) == length && !memcmp(c->loop[i], word, length))
			break;
	if (i == NM_CONDITION_LOOPS)
		return fail_at_token(p, "too many indices of loops");
	if (i == c->loops) {
		memcpy(c->loop[i], word, length);
		c->loop[i][length] = '\0';
		c->loops++;
	}
	p->at += length;
	return put_step(p, DO_LOOP, i);
}

/* The class that a word names, or 0. */
static int class_named(const char *word, size_t length)
{
	for (int k = 1; k < NM_CLASSES; k++)
		if (strlen(nm_effect_class_names[k]) == length &&
		    !memcmp(nm_effect_class_names[k], word, length))
			return k;
	return 0;
}

static int parse_word(struct parser *p)
{
	const char *word = p->at;
	size_t length = 0;
	int class;

	while (isalnum((unsigned char)word[length]) || word[length] == '_')
		length++;
	for (unsigned i = 0; i < NM_VALUES; i++)
		if (strlen(value_names[i]) == length && !memcmp(value_names[i], word, length)) {
			p->at += length;
			return put_step(p, DO_VALUE, i);
		}
	class = class_named(word, length);
	if (!class)
		return parse_loop(p, word, length);
	p->at += length;
	return put_step(p, DO_CONSTANT, class);
}

/* ---- operators ---- */

static int parse_level(struct parser *p, unsigned level);

static int parse_operand(struct parser *p)
{
	int status;

	skip_blanks(p);
	if (++p->depth > DEPTH)
		return fail_at_token(p, "the condition is nested too deeply");
	if (*p->at == '!' || *p->at == '-') {
		const enum step does = *p->at++ == '!' ? DO_NOT : DO_NEGATE;

		status = parse_operand(p);
		if (!status)
			status = put_step(p, does, 0);
	} else if (*p->at == '(') {
		p->at++;
		status = parse_level(p, 0);
		if (!status && *p->at != ')')
			status = fail_behind_operand(p, "a parenthesis is not closed");
		p->at += !status;
	} else if (*p->at == '"' || *p->at == '\'') {
		status = parse_string(p);
	} else if (isdigit((unsigned char)*p->at)) {
		status = parse_number(p);
	} else if (isalpha((unsigned char)*p->at) || *p->at == '_') {
		status = parse_word(p);
	} else {
		status = fail_at_token(p, "a name or a number is missing here");
	}
	p->depth--;
	return status;
}

enum { LEVELS = 6 };

/* The lowest precedence first; longer operators before shorter ones. */
static const struct {
	unsigned level;
	const char *text;
	enum step does;
} operators[] = {{0, "||", DO_OR},      {1, "&&", DO_AND},      {2, "==", DO_EQUAL},   {2, "!=", DO_UNEQUAL},
		 {3, "<=", DO_AT_MOST}, {3, ">=", DO_AT_LEAST}, {3, "<", DO_LESS},     {3, ">", DO_MORE},
		 {4, "+", DO_ADD},      {4, "-", DO_SUBTRACT},  {5, "*", DO_MULTIPLY}, {5, "/", DO_DIVIDE},
		 {5, "%", DO_REMAINDER}};
enum { OPERATORS = sizeof operators / sizeof *operators };

static int parse_level(struct parser *p, unsigned level)
{
	int status = level == LEVELS ? parse_operand(p) : parse_level(p, level + 1);

	for (unsigned i = 0; level < LEVELS && !status;) {
		const size_t length = strlen(operators[i].text);

		skip_blanks(p);
		if (operators[i].level == level && !strncmp(p->at, operators[i].text, length)) {
			p->at += length;
			status = parse_level(p, level + 1);
			if (!status)
				status = put_step(p, operators[i].does, 0);
			i = 0;
		} else if (++i == OPERATORS) {
			break;
		}
	}
	return status;
}

int nm_condition_parse(struct nm_condition *ret, const char *text, struct nm_debug_program *program,
		       struct nm_error *err)
{
	struct nm_condition condition = {.count = 0};
	struct parser p = {.text = text, .at = text, .program = program, .to = &condition, .err = err};
	int status = parse_level(&p, 0);

	if (!status && *p.at)
		status = fail_behind_operand(&p, "");
	if (!status)
		*ret = condition;
	return status;
}

/* ---- evaluation ---- */

static int64_t combine_values(enum step does, int64_t a, int64_t b)
{
	const int known = a != NM_NO_VALUE && b != NM_NO_VALUE;

	switch (does) {
	case DO_OR: return (a && a != NM_NO_VALUE) || (b && b != NM_NO_VALUE);
	case DO_AND: return known && a && b;
	case DO_EQUAL: return known && a == b;
	case DO_UNEQUAL: return !known || a != b;
	case DO_LESS: return known && a < b;
	case DO_AT_MOST: return known && a <= b;
	case DO_MORE: return known && a > b;
	case DO_AT_LEAST: return known && a >= b;
	default: break;
	}
	if (!known)
		return NM_NO_VALUE;
	switch (does) {
	case DO_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
	case DO_SUBTRACT: return (int64_t)((uint64_t)a - (uint64_t)b);
	case DO_MULTIPLY: return (int64_t)((uint64_t)a * (uint64_t)b);
	case DO_DIVIDE: return b ? a / b : NM_NO_VALUE;
	case DO_REMAINDER: return b == -1 ? 0 : b ? a % b : NM_NO_VALUE;
	default: return NM_NO_VALUE;
	}
}

int nm_condition_holds(const struct nm_condition *c, const struct nm_condition_frame *frame)
{
	int64_t stack[NM_CONDITION_STEPS];
	unsigned n = 0;

	for (unsigned i = 0; i < c->count; i++) {
		const int64_t number = c->step[i].number;

		switch (c->step[i].does) {
		case DO_CONSTANT: stack[n++] = number; break;
		case DO_VALUE: stack[n++] = frame->value[number]; break;
		case DO_LOOP: stack[n++] = frame->loop[number]; break;
		case DO_NOT: stack[n - 1] = !stack[n - 1] || stack[n - 1] == NM_NO_VALUE; break;
		case DO_NEGATE: stack[n - 1] = (int64_t) - (uint64_t)stack[n - 1]; break;
		default:
			n--;
			stack[n - 1] = combine_values((enum step)c->step[i].does, stack[n - 1], stack[n]);
		}
	}
	assert(n == 1);
	return stack[0] && stack[0] != NM_NO_VALUE;
}
