/* SPDX-License-Identifier: MIT
 *
 * utf8.c - see utf8.h.
 */
#include "utf8.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static int is_continuation_byte(unsigned char c) { return (c & 0xc0) == 0x80; }

/* Length of the well-formed sequence at s (shortest form, no surrogates, up to U+10FFFF), or 0. */
static size_t sequence_length(const unsigned char *s)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		return is_continuation_byte(s[1]) ? 2 : 0;
	if (s[0] >= 0xe0 && s[0] <= 0xef) {
		if (!is_continuation_byte(s[1]) || !is_continuation_byte(s[2]))
			return 0;
		return (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ? 0 : 3;
	}
	if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		if (!is_continuation_byte(s[1]) || !is_continuation_byte(s[2]) || !is_continuation_byte(s[3]))
			return 0;
		return (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f) ? 0 : 4;
	}
	return 0;
}

/* Moves *at over a code point; its columns: two of East Asian ones, none of combining marks. */
static size_t step_code_point(const char **at)
{
	const unsigned char *s = (const unsigned char *)*at;
	const size_t n = sequence_length(s);
	wchar_t c = s[0] & 0x7f >> n;
	int columns;

	*at += n ? n : 1;
	if (n < 2)
		return 1;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	columns = wcwidth(c);
	return columns < 0 ? 1 : (size_t)columns; /* the locale does not know it */
}

size_t nm_utf8_width(const char *text)
{
	size_t n = 0;

	while (*text)
		n += step_code_point(&text);
	return n;
}

size_t nm_utf8_bytes(const char *text, size_t columns)
{
	const char *end = text, *next = text;

	for (size_t n = 0; *next && (n += step_code_point(&next)) <= columns;)
		end = next;
	return (size_t)(end - text);
}

/* U+0000..1F, U+7F, and U+80..9F, which some terminals obey too. */
static int is_control(const unsigned char *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

char *nm_utf8_clean(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *s = (const unsigned char *)text;
	char *clean = malloc(3 * strlen(text) + 1), *to = clean;

	while (clean && *s) {
		size_t n = sequence_length(s);

		if (n && !is_control(s)) {
			memcpy(to, s, n);
			to += n;
		} else {
			memcpy(to, replacement, 3);
			to += 3;
		}
		s += n ? n : 1;
	}
	if (clean)
		*to = '\0';
	return clean;
}
