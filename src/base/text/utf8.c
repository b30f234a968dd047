/* SPDX-License-Identifier: MIT
 *
 * utf8.c - see utf8.h.
 */
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

static int continues(unsigned char c) { return (c & 0xc0) == 0x80; }

size_t nm_utf8_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += !continues((unsigned char)*text);
	return n;
}

size_t nm_utf8_bytes(const char *text, size_t columns)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (!continues((unsigned char)text[i]) && !columns--)
			break;
	return i;
}

/* Length of the well-formed sequence at s (shortest form, no surrogates, up to U+10FFFF), or 0. */
static size_t sequence(const unsigned char *s)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		return continues(s[1]) ? 2 : 0;
	if (s[0] >= 0xe0 && s[0] <= 0xef) {
		if (!continues(s[1]) || !continues(s[2]))
			return 0;
		return (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ? 0 : 3;
	}
	if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		if (!continues(s[1]) || !continues(s[2]) || !continues(s[3]))
			return 0;
		return (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f) ? 0 : 4;
	}
	return 0;
}

/* U+0000..1F, U+7F, and U+80..9F, which some terminals obey too. */
static int controls(const unsigned char *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

char *nm_utf8_clean(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *s = (const unsigned char *)text;
	char *clean = malloc(3 * strlen(text) + 1), *to = clean;

	while (clean && *s) {
		size_t n = sequence(s);

		if (n && !controls(s)) {
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
