/* SPDX-License-Identifier: MIT
 *
 * wrap.c - sentences that fit a width: broken at blanks, and words that are wider than a line, such as a SPEC, behind
 * their colons.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

static size_t columns_of(const char *text, size_t bytes)
{
	return nm_utf8_width(text) - nm_utf8_width(text + bytes);
}

/* The bytes of a word that go on one line of so many columns. */
static size_t piece_of(const char *word, size_t bytes, size_t columns)
{
	size_t end = bytes;

	while (end && columns_of(word, end) > columns)
		for (end--; end && word[end - 1] != ':'; end--)
			;
	return end ? end : bytes;
}

void nm_print_wrapped(const char *lead, const char *text, unsigned width, FILE *out)
{
	const size_t indent = nm_utf8_width(lead), room = width > indent ? width - indent : 1;
	size_t at = indent, blanks = 0, n;
	int begins = 1; /* nothing is on the line yet */

	fputs(lead, out);
	for (; *text; text += n) {
		n = strcspn(text, " ");
		if (!begins && width && at + blanks + columns_of(text, n) > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
			begins = 1;
		}
		if (width && begins)
			n = piece_of(text, n, room);
		fprintf(out, "%*s%.*s", begins ? 0 : (int)blanks, "", (int)n, text);
		at += (begins ? 0 : blanks) + columns_of(text, n);
		begins = 0;
		text += n;
		blanks = n = strspn(text, " ");
	}
	fputc('\n', out);
}

int nm_print_sentence(const char *lead, unsigned width, FILE *out, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return NM_ENOMEM;
	nm_print_wrapped(lead, text, width, out);
	free(text);
	return 0;
}
