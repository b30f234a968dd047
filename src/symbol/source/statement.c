/* SPDX-License-Identifier: MIT
 *
 * statement.c - the statement around a line of a source: see assigned.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/assigned.h"

enum { LINES_BEFORE = 6, LINES_BEHIND = 4, LINES_OF_COPY = 8 };

/* Blanks comments of one line, and text between quotes, so that no bracket or sign of it is taken for
 * code. */
static void blank_texts(char *line)
{
	for (char *at = line, quote = 0; *at; at++) {
		if (!quote && at[0] == '/' && at[1] == '/') {
			memset(at, ' ', strcspn(at, "\n"));
			return;
		}
		if (!quote && at[0] == '/' && at[1] == '*') {
			char *end = strstr(at, "*/");

			memset(at, ' ', end ? (size_t)(end + 2 - at) : strcspn(at, "\n"));
		}
		if (quote && *at == '\\' && at[1])
			*at++ = ' ';
		else if (quote ? *at == quote : *at == '"')
			quote = quote ? 0 : *at;
		else if (quote)
			*at = ' ';
	}
}

/* Is it Fortran, whose statements end with their line? */
static int is_fortran_source(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && (dot[1] == 'f' || dot[1] == 'F');
}

/* Does a statement end with this line?  A line without code ends the statement before it, too. */
static int statement_ends(const char *line, int by_line)
{
	size_t n = strlen(line);

	while (n && strchr(" \t\r\n", line[n - 1]))
		n--;
	if (by_line)
		return !n || line[n - 1] != '&';
	return !n || strchr(";{}", line[n - 1]) || line[strspn(line, " \t")] == '#';
}

int statement_read(const char *file, uint32_t line, char text[STATEMENT_ROOM], size_t *ret_line)
{
	FILE *in = file ? fopen(file, "re") : NULL;
	size_t room = 0, used = 0, length;
	char *one = NULL;
	uint32_t at = 1;
	int by_line = file && is_fortran_source(file);

	if (!in)
		return 0;
	*text = '\0';
	*ret_line = SIZE_MAX;
	for (; at < line + LINES_BEHIND && getline(&one, &room, in) >= 0; at++) {
		if (at + LINES_BEFORE < line)
			continue;
		blank_texts(one);
		length = strlen(one);
		if (used + length + 1 > STATEMENT_ROOM)
			break;
		if (at == line)
			*ret_line = used;
		memcpy(text + used, one, length + 1);
		used += length;
		if (at < line && statement_ends(one, by_line))
			used = 0;
		else if (at >= line && statement_ends(one, by_line))
			break;
	}
	free(one);
	fclose(in);
	return *ret_line != SIZE_MAX;
}

int lines_behind(const char *file, uint32_t line, char text[STATEMENT_ROOM])
{
	FILE *in = file ? fopen(file, "re") : NULL;
	size_t room = 0, used = 0, length;
	char *one = NULL;

	if (!in)
		return 0;
	*text = '\0';
	for (uint32_t at = 1; at <= line + LINES_OF_COPY && getline(&one, &room, in) >= 0; at++) {
		if (at <= line)
			continue;
		blank_texts(one);
		length = strlen(one);
		if (used + length + 1 > STATEMENT_ROOM || *one == '}') /* the function's end */
			break;
		memcpy(text + used, one, length + 1);
		used += length;
	}
	free(one);
	fclose(in);
	return 1;
}

int text_assigns_through(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = text; n && (at = strstr(at, name)); at += n) {
		const char *before = at, *behind = at + n + strspn(at + n, " \t\n");

		while (before > text && strchr(" \t\n", before[-1]))
			before--;
		if (before > text && before[-1] == '*' && behind[0] == '=' && behind[1] != '=')
			return 1;
	}
	return 0;
}
