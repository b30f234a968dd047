/* SPDX-License-Identifier: MIT
 *
 * pointer.c - the pointer that a statement assigns the result of a call to, for its type: see assigned.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "source/assigned.h"

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The end of template arguments that open at `at`, or `at`. */
static const char *behind_template(const char *at)
{
	const char *end = at + strcspn(at, "=;()?");

	while (end > at && *end != '>')
		end--;
	return end;
}

/* Is a call part of what stands behind a sign: in no parenthesis that has closed, behind no comma? */
static int holds_call(const char *sign, const char *call)
{
	int depth = 0;

	for (const char *at = sign + 1; at < call; at++) {
		if (*at == '<' && is_word(at[-1]))
			at = behind_template(at);
		depth += strchr("([{", *at) != NULL;
		depth -= strchr(")]}", *at) != NULL;
		if (depth < 0 || (!depth && strchr(",;", *at)))
			return 0;
	}
	return sign < call;
}

/* The "=" that assigns the result of a call, the last that holds it, or, if its place is not known, the first. */
static const char *assigning_sign(const char *text, const char *call)
{
	const char *found = NULL;

	for (const char *equals = text; (equals = strchr(equals, '=')); equals++) {
		if (equals == text || strchr("=!<>+-*/%&|^", equals[-1]) || equals[1] == '=') {
			equals += equals[1] == '=';
			continue;
		}
		if (!call)
			return equals;
		if (holds_call(equals, call))
			found = equals;
	}
	return found;
}

/* The last name before the "=" that assigns, and how many subscripts and stars it has. */
static int name_before(const char *text, const char *call, char *word, unsigned *ret_steps)
{
	const char *equals = assigning_sign(text, call), *end, *first;
	int depth = 0;

	if (!equals)
		return 0;
	for (first = equals; first > text && !strchr(";{}(", first[-1]); first--)
		;
	first += strspn(first, " \t\n");
	*ret_steps = (unsigned)strspn(first, "*");
	for (end = equals; end > text; end--) {
		char c = end[-1];

		if (c == ']')
			depth++;
		else if (c == '[')
			*ret_steps += !--depth;
		else if (!depth && !isspace((unsigned char)c))
			break;
	}
	const char *start = end;
	while (start > text && is_word(start[-1]))
		start--;
	if (start == end || end - start >= ASSIGNED_ROOM)
		return 0;
	snprintf(word, ASSIGNED_ROOM, "%.*s", (int)(end - start), start);
	return 1;
}

/* Where the line begins that a line of a text continues after a "=", or SIZE_MAX. */
static size_t line_assigned_on(const char *text, size_t line)
{
	size_t at = line;

	while (at && isspace((unsigned char)text[at - 1]))
		at--;
	if (!at || text[at - 1] != '=')
		return SIZE_MAX;
	while (at && text[at - 1] != '\n')
		at--;
	return at;
}

int statement_pointer(const struct statement_call *c, char word[ASSIGNED_ROOM], unsigned *ret_steps)
{
	size_t before;

	if (c->column && c->line + c->column <= strlen(c->text))
		return name_before(c->text, c->text + c->line + c->column - 1, word, ret_steps);
	return name_before(c->text + c->line, NULL, word, ret_steps) ||
	       ((before = line_assigned_on(c->text, c->line)) != SIZE_MAX &&
		name_before(c->text + before, NULL, word, ret_steps));
}

int statement_counts(const struct statement_call *c)
{
	const char *size = strstr(c->text + c->line, "sizeof");

	return size && !memchr(c->text + c->line, '+', strcspn(c->text + c->line, ";"));
}
