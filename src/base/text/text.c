/* SPDX-License-Identifier: MIT
 *
 * text.c - CSV, UTF-8, sizes in bytes, declarations of C and shapes of arrays.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "text.h"

/* ---- csv ---- */

void nm_csv_field(const char *text, FILE *out)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* ---- utf8 ---- */

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

/* ---- size ---- */

int nm_read_size(const char *text, uint64_t *ret_bytes)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	char *end;

	errno = 0;
	*ret_bytes = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || errno)
		return 0;
	suffix = *end ? strchr(suffixes, *end) : NULL;
	if (!suffix)
		return !*end;
	*ret_bytes <<= 10 * (suffix - suffixes + 1);
	return !end[1] && *ret_bytes >> 10 * (suffix - suffixes + 1) == strtoull(text, NULL, 10);
}

/* ---- declaration ---- */

/* C writes a type around the name. The place of the name is behind the stars of the innermost "(*", else
 * before the first bracket, else at the end; arguments of templates, "<...>", are passed over.
 */

enum nm_declaration_style nm_declaration_style(const char *file, const char *structure)
{
	const char *ending = file ? strrchr(file, '.') : NULL;

	if (structure && !strncmp(structure, "type(", strlen("type(")))
		return NM_DECLARE_FORTRAN;
	return ending && !strcmp(ending, ".rs") ? NM_DECLARE_RUST : NM_DECLARE_C;
}

/* The first "(*" or "[" outside of "<...>"; the end if there is none. */
static const char *first_bracket(const char *type)
{
	int depth = 0;

	for (; *type; type++) {
		depth += (*type == '<') - (*type == '>');
		if (!depth && (*type == '[' || !strncmp(type, "(*", 2)))
			return type;
	}
	return type;
}

static void declare_in_c(const char *type, const char *name, FILE *out)
{
	const char *hole = first_bracket(type), *end;

	if (*hole == '(')
		hole += strcspn(hole, ")[");
	for (end = hole; end > type && end[-1] == ' ';)
		end--;
	fprintf(out, "%.*s%s%s%s", (int)(end - type), type, end > type && strchr("*&", end[-1]) ? "" : " ",
		name, hole);
}

/* "real(kind=8)(100,0:9), pointer": the bounds stand behind the name. */
static void declare_in_fortran(const char *type, const char *name, FILE *out)
{
	const char *bounds = strstr(type, ")("), *end = bounds ? strchr(bounds + 2, ')') : NULL;

	if (end)
		fprintf(out, "%.*s%s :: %s%.*s", (int)(bounds + 1 - type), type, end + 1, name,
			(int)(end - bounds), bounds + 1);
	else
		fprintf(out, "%s :: %s", type, name);
}

void nm_declare(enum nm_declaration_style style, const char *type, const char *name, FILE *out)
{
	switch (style) {
	case NM_DECLARE_C: declare_in_c(type, name, out); return;
	case NM_DECLARE_FORTRAN: declare_in_fortran(type, name, out); return;
	case NM_DECLARE_RUST: fprintf(out, "%s: %s", name, type); return;
	}
}

/* ---- array shape ---- */

/* C and C++ write "double [512][256]", the last subscript runs through memory fastest; Fortran writes
 * "real(kind=8)(0:9,5)", the first one does. What has no bounds has no shape; neither has Rust's "[T; N]",
 * whose nesting is not followed.
 */

/* "5" or, as LOW:HIGH, "0:9". Moves *at behind it. 0: it is neither. low: where subscripts begin else. */
static int parse_bounds(const char **at, int64_t low, int64_t *ret_low, int64_t *ret_count)
{
	char *stop;
	int64_t high = strtoll(*at, &stop, 10);

	if (stop == *at || llabs(high / 2) > INT32_MAX)
		return 0;
	*ret_low = low;
	*ret_count = high;
	if (*stop == ':') {
		const char *from = stop + 1;

		*ret_low = high;
		high = strtoll(from, &stop, 10);
		if (stop == from || llabs(high / 2) > INT32_MAX)
			return 0;
		*ret_count = high - *ret_low + 1;
	}
	*at = stop;
	return *ret_count > 0 && *ret_count <= INT32_MAX;
}

/* "512][256]" or "0:9,5)". 0: it is not such a list. */
static int parse_list(const char *at, char end, struct nm_array_shape *shape)
{
	const int is_fortran = end == ')';

	for (;;) {
		int64_t low, count;

		if (shape->dimensions == NM_DIMENSIONS || !parse_bounds(&at, is_fortran, &low, &count) ||
		    shape->elements > INT64_MAX / count)
			return 0;
		shape->elements *= count;
		shape->dimension[shape->dimensions].low = low;
		shape->dimension[shape->dimensions++].count = count;
		if (*at == end && !at[1])
			return 1;
		if (is_fortran ? *at != ',' : strncmp(at, "][", 2) != 0)
			return 0;
		at += is_fortran ? 1 : 2;
	}
}

struct nm_array_shape nm_array_shape_parse(const char *type)
{
	const size_t n = type ? strlen(type) : 0;
	const char end = n ? type[n - 1] : '\0';
	const char *open = end == ']' ? strchr(type, '[') : end == ')' ? strrchr(type, '(') : NULL;
	struct nm_array_shape shape = {.elements = 1, .first_is_fastest = end == ')'};

	if (!open || (shape.first_is_fastest && open == type) || !parse_list(open + 1, end, &shape))
		return (struct nm_array_shape){0};
	shape.fastest = shape.dimension[shape.first_is_fastest ? 0 : shape.dimensions - 1].count;
	return shape;
}
