/* SPDX-License-Identifier: MIT */
#include "token.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_BEFORE = 300 }; /* of a long line, before the fault */

void nm_nest_position(const struct nm_nest_source *source, const char *at, unsigned *ret_line,
		      unsigned *ret_column)
{
	const char *start = at;

	while (start > source->text && start[-1] != '\n')
		start--;
	*ret_column = (unsigned)(at - start) + 1;
	*ret_line = 1;
	while (start > source->text)
		*ret_line += *--start == '\n';
}

/* The line, from a little before the fault, without what a terminal must not see. */
static void copy_line(const struct nm_nest_source *source, const char *start, char *line, size_t room)
{
	const char *end = source->text + source->bytes;
	size_t n = 0;

	for (; start < end && *start != '\n' && n + 1 < room; start++)
		line[n++] = (unsigned char)*start < ' ' && *start != '\t' ? ' ' : *start;
	line[n] = '\0';
}

int nm_nest_fault_in(const struct nm_nest_source *source, struct nm_error *err, const char *at,
		     const char *format, ...)
{
	char message[300], line[400];
	unsigned number, column;
	const char *start;
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	nm_nest_position(source, at, &number, &column);
	start = at - (column > SHOWN_BEFORE ? SHOWN_BEFORE : column - 1);
	copy_line(source, start, line, sizeof line);
	if (!source->name)
		return nm_fail_at(err, line, (int)(at - start), "%s", message);
	return nm_fail_at(err, line, (int)(at - start), "%s:%u:%u: %s", source->name, number, column,
			  message);
}

static int is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int scan_number(struct nm_nest_lexer *l, struct nm_nest_token *t, struct nm_error *err)
{
	int hexadecimal = l->at[0] == '0' && (l->at[1] == 'x' || l->at[1] == 'X');

	t->kind = NM_NEST_NUMBER;
	t->number = 0;
	if (hexadecimal)
		l->at += 2;
	for (; hexadecimal ? isxdigit((unsigned char)*l->at) : is_digit(*l->at); l->at++) {
		char c = (char)tolower((unsigned char)*l->at);

		if (__builtin_mul_overflow(t->number, hexadecimal ? 16 : 10, &t->number) ||
		    __builtin_add_overflow(t->number, is_digit(c) ? c - '0' : c - 'a' + 10, &t->number))
			return nm_nest_fault_in(l->source, err, t->at, "the number is too large");
	}
	if (hexadecimal && l->at == t->at + 2)
		return nm_nest_fault_in(l->source, err, t->at, "digits must follow 0x");
	if (!hexadecimal && *l->at == '.') { /* 0.5, 1.5e-3: only an operand of a statement */
		t->kind = NM_NEST_REAL;
		do
			l->at++;
		while (is_digit(*l->at));
		if (strchr("eEdD", *l->at) && *l->at &&
		    (is_digit(l->at[1]) || (l->at[1] && strchr("+-", l->at[1]))))
			for (l->at += 2; is_digit(*l->at);)
				l->at++;
	}
	if (is_letter(*l->at))
		return nm_nest_fault_in(l->source, err, l->at, "unexpected '%c' in a number", *l->at);
	return 0;
}

static int scan_string(struct nm_nest_lexer *l, struct nm_nest_token *t, struct nm_error *err)
{
	size_t n = strcspn(++l->at, "\"\n");

	if (l->at[n] != '"')
		return nm_nest_fault_in(l->source, err, t->at, "the string does not end on its line");
	*t = (struct nm_nest_token){NM_NEST_STRING, l->at, n, 0};
	l->at += n + 1;
	return 0;
}

/* Does the statement go on after a line that ends so? */
static int statement_continues(const struct nm_nest_lexer *l)
{
	return l->open || !l->last || l->last == NM_NEST_NEWLINE || strchr("+-*/,=", l->last);
}

static void skip_blanks(struct nm_nest_lexer *l)
{
	for (;; l->at++) {
		if (*l->at == '#')
			l->at += strcspn(l->at, "\n");
		if (*l->at != ' ' && *l->at != '\t' && *l->at != '\r' &&
		    !((*l->at == '\n' || *l->at == ';') && l->last < NM_NEST_WORD &&
		      statement_continues(l)) &&
		    !(*l->at == '\n' && l->open))
			return;
	}
}

int nm_nest_scan(struct nm_nest_lexer *l, struct nm_nest_token *ret, struct nm_error *err)
{
	struct nm_nest_token t = {0};
	const char *end = l->source->text + l->source->bytes;
	int status = 0;

	skip_blanks(l);
	t.at = l->at;
	if (l->at == end) {
		t.kind = NM_NEST_END;
	} else if (is_letter(*l->at)) {
		t.kind = NM_NEST_WORD;
		while (is_letter(*l->at) || is_digit(*l->at))
			l->at++;
	} else if (is_digit(*l->at)) {
		status = scan_number(l, &t, err);
	} else if (*l->at == '"') {
		status = scan_string(l, &t, err);
	} else if (*l->at == '\n' || *l->at == ';') {
		t.kind = NM_NEST_NEWLINE;
		l->at++;
	} else if (*l->at && strchr("+-*/=,:()[]", *l->at)) {
		t.kind = *l->at++;
	} else if (*l->at > ' ' && *l->at < 127) {
		return nm_nest_fault_in(l->source, err, l->at, "unexpected '%c'", *l->at);
	} else {
		return nm_nest_fault_in(l->source, err, l->at, "unexpected byte 0x%02x",
					(unsigned)(unsigned char)*l->at);
	}
	if (t.kind == '(' || t.kind == '[')
		l->open++;
	else if ((t.kind == ')' || t.kind == ']') && l->open)
		l->open--;
	if (t.kind != NM_NEST_STRING)
		t.length = (size_t)(l->at - t.at);
	l->last = t.kind;
	if (!status)
		*ret = t;
	return status;
}
