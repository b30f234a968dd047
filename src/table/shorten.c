/* SPDX-License-Identifier: MIT
 *
 * shorten.c - shortens long names, and keeps the parts that distinguish them.
 *
 * Steps, until the name fits: the "(file:line)" of a variable goes, or a module, but not the line of a block without a
 * variable, "heap main (a.c:7)"; template arguments become "<…>" (the longest group first), parameter lists
 * become "(…)" and then nothing, the middle is cut out, keeping a third of the room before the cut (names
 * differ more at their ends). A name's last "(file:line)" and the file:line at the start of a place are cut only where
 * nothing else is left to cut. The innermost frame behind a place is dropped before its function is shortened.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distinct.h"
#include "table.h"

/* Past "operator<<" and the like, whose signs are no brackets. */
static size_t skip_operator(const char *text, size_t i)
{
	static const char word[] = "operator";
	size_t n = sizeof word - 1;

	if (strncmp(text + i, word, n) || (i && (isalnum((unsigned char)text[i - 1]) || text[i - 1] == '_')))
		return i;
	i += n;
	if (!strncmp(text + i, "()", 2))
		return i + 2;
	return i + strspn(text + i, "<>-=");
}

/* The end (past its bracket) of the group that opens at i, or 0. */
static size_t group_end(const char *text, size_t i, size_t end)
{
	char open = text[i], close = open == '<' ? '>' : ')';
	size_t depth = 0;

	while (i < end) {
		size_t past = skip_operator(text, i);

		if (past != i) {
			i = past;
			continue;
		}
		if (text[i] == open)
			depth++;
		else if (text[i] == close && !--depth)
			return i + 1;
		i++;
	}
	return 0;
}

/* "(solver.c:12)" or "(solver.c)" at the very end of text: where it starts, else the length. */
static size_t location_start(const char *text)
{
	size_t n = strlen(text), i;

	if (!n || text[n - 1] != ')')
		return n;
	for (i = n - 1; i > 0 && text[i] != '('; i--)
		;
	return i > 0 && text[i - 1] == ' ' && memchr(text + i, '.', n - i) && !strstr(text + i, "+0x") ? i
												       : n;
}

static size_t column_width(const char *text, size_t bytes)
{
	size_t n = 0;

	for (; bytes--; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* The longest group of a kind that follows something and gets shorter, in columns and not longer in bytes,
 * when `ellipsis` stands in it. 0 if there is none. */
static size_t longest_group(const char *text, char open, size_t end, const char *ellipsis, size_t *ret_end)
{
	size_t bytes = strlen(ellipsis) + 2, width = nm_utf8_width(ellipsis) + 2;
	size_t i = 0, best = 0, at = 0;

	while (i < end) {
		size_t past = skip_operator(text, i);

		if (past != i) {
			i = past;
			continue;
		}
		if (text[i] == open && i && (open == '<' || text[i - 1] != ' ')) {
			size_t stop = group_end(text, i, end);

			if (stop >= i + bytes && stop - i > best &&
			    column_width(text + i, stop - i) > width) {
				best = stop - i;
				at = i;
				*ret_end = stop;
			}
			if (stop)
				i = stop - 1;
		}
		i++;
	}
	return at;
}

/* Replaces what is inside groups, in place. The text only gets shorter. */
static void drop_groups(char *text, char open, size_t width, const char *ellipsis)
{
	size_t mark = strlen(ellipsis), at, end = 0;

	while (nm_utf8_width(text) > width &&
	       (at = longest_group(text, open, location_start(text), ellipsis, &end)) != 0) {
		memcpy(text + at + 1, ellipsis, mark);
		memmove(text + at + 1 + mark, text + end - 1, strlen(text + end - 1) + 1);
	}
}

/* Removes a parameter list that is "(…)" already from the end of a name. */
static void drop_empty_list(char *text, const char *ellipsis)
{
	size_t tail = location_start(text), n = strlen(ellipsis) + 2, at;

	while (tail && text[tail - 1] == ' ')
		tail--;
	at = tail - n;
	if (tail <= n || text[at] != '(' || text[tail - 1] != ')' || strncmp(text + at + 1, ellipsis, n - 2))
		return;
	while (at && text[at - 1] == ' ')
		at--;
	if (at)
		memmove(text + at, text + tail, strlen(text + tail) + 1);
}

/* Removes what tells a name from others that read the same: the "(file:line)" of a variable, the module of a
 * function or of a block that is named after one; also from "name (file:line) #2". */
static void drop_location(char *text)
{
	char *number = strrchr(text, ' ');
	size_t end = number && number[1] == '#' ? (size_t)(number - text) : strlen(text), start = end;
	const int is_block = !strncmp(text, "heap ", 5);

	if (!end || text[end - 1] != ')')
		return;
	while (start && text[start] != '(')
		start--;
	if (start > 1 && text[start - 1] == ' ' &&
	    (is_block ? start > 5 && !memchr(text + start, ':', end - start)
		      : memchr(text + start, '.', end - start) != NULL))
		memmove(text + start - 1, text + end, strlen(text + end) + 1);
}

/* Cuts out the middle of the text before its byte `tail`, if that leaves at least a letter on both sides. */
static void cut_middle(char *text, size_t tail, size_t width, const char *ellipsis)
{
	size_t mark = nm_utf8_width(ellipsis);
	size_t fixed = nm_utf8_width(text + tail) + mark;
	size_t room = width > fixed + 2 ? width - fixed : 2, left = (room + 2) / 3, right = room - left;
	size_t whole = nm_utf8_width(text) - nm_utf8_width(text + tail), from, to;

	if (nm_utf8_width(text) <= width || whole <= room + mark)
		return;
	from = nm_utf8_bytes(text, left);
	to = nm_utf8_bytes(text, whole - right);
	if (!strncmp(text + to, ellipsis, strlen(ellipsis))) /* one mark, not two in a row */
		to += strlen(ellipsis);
	memmove(text + from + strlen(ellipsis), text + to, strlen(text + to) + 1);
	memcpy(text + from, ellipsis, strlen(ellipsis));
}

/* A copy with room for a mark that is longer than what is cut. */
static char *copy_to_cut(const char *text, const char *ellipsis)
{
	char *copy = malloc(strlen(text) + strlen(ellipsis) + 1);

	return copy ? strcpy(copy, text) : NULL;
}

static char *cut_whole(const char *text, size_t width, const char *ellipsis)
{
	char *copy = copy_to_cut(text, ellipsis);

	if (copy)
		cut_middle(copy, strlen(copy), width, ellipsis);
	return copy;
}

char *nm_shorten_name(const char *name, size_t width, const char *ellipsis)
{
	char *text = copy_to_cut(name, ellipsis);

	if (!text)
		return NULL;
	if (nm_utf8_width(text) <= width)
		return text;
	drop_location(text);
	drop_groups(text, '<', width, ellipsis);
	drop_groups(text, '(', width, ellipsis);
	if (nm_utf8_width(text) > width)
		drop_empty_list(text, ellipsis);
	cut_middle(text, location_start(text), width, ellipsis);
	if (nm_utf8_width(text) <= width)
		return text;
	free(text); /* the place alone is too wide */
	return cut_whole(name, width, ellipsis);
}

enum { LEAST_FUNCTION = 5 }; /* columns: less than that names nothing, and the place stands alone */

static char *shorten_place(const char *place, size_t width, const char *ellipsis)
{
	const char *function = strstr(place, " (");
	size_t head, fixed;
	char *inside, *shorter, *text = NULL;

	if (nm_utf8_width(place) <= width)
		return strdup(place);
	if (!function) /* "file:line", or the function alone of code without a source */
		return isdigit((unsigned char)place[strlen(place) - 1])
			   ? strdup(place)
			   : nm_shorten_name(place, width, ellipsis);
	head = (size_t)(function - place);
	if (!isdigit((unsigned char)place[head - 1]) &&
	    head > width / 2) /* code without a source: "function (module)" */
		return nm_shorten_name(place, width, ellipsis);
	fixed = nm_utf8_width(place) - nm_utf8_width(function) + 3;
	if (width < fixed + LEAST_FUNCTION)
		return strndup(place, head);
	inside = strndup(function + 2, strlen(function + 2) - 1);
	shorter = inside ? nm_shorten_name(inside, width - fixed, ellipsis) : NULL;
	if (shorter)
		text = malloc(head + strlen(shorter) + 4);
	if (text) {
		memcpy(text, place, head);
		strcpy(text + head, " (");
		strcat(text, shorter);
		strcat(text, ")");
	}
	free(shorter);
	free(inside);
	return text;
}

/* " < file:line function" behind the place, or its end. */
static const char *inner_part(const char *place)
{
	const char *function = strstr(place, " ("), *inner;
	size_t behind = function ? group_end(place, (size_t)(function + 1 - place), strlen(place)) : 0;

	inner = strstr(place + behind, " < ");
	return inner ? inner : place + strlen(place);
}

/* The innermost frame gives way first: its function, then its line. */
char *nm_shorten_location(const char *place, size_t width, const char *ellipsis)
{
	const char *inner = inner_part(place), *function = *inner ? strchr(inner + 3, ' ') : NULL;
	char *outer, *shorter, *cut;

	if (nm_utf8_width(place) <= width)
		return strdup(place);
	if (function && column_width(place, (size_t)(function - place)) <= width)
		return strndup(place, (size_t)(function - place));
	outer = strndup(place, (size_t)(inner - place));
	shorter = outer ? shorten_place(outer, width, ellipsis) : NULL;
	free(outer);
	if (!shorter || nm_utf8_width(shorter) <= width)
		return shorter;
	cut = cut_whole(shorter, width, ellipsis);
	free(shorter);
	return cut;
}

/* ---- distinct ---- */

/* The interned text of a name shortened to leave room for " #number", with that; 1: without. */
static const char *numbered_name(struct nm_distinct *d, nm_shorten_function *shorten, const char *name,
				 size_t width, const char *ellipsis, uint64_t number)
{
	char mark[32] = "", *text, *whole = NULL;
	const char *kept = NULL;
	size_t n = 0;

	if (number > 1)
		n = (size_t)snprintf(mark, sizeof mark, " #%llu", (unsigned long long)number);
	text = shorten(name, width > n ? width - n : 1, ellipsis);
	if (text && asprintf(&whole, "%s%s", text, mark) >= 0)
		kept = nm_intern(&d->pool, whole);
	free(whole);
	free(text);
	return kept;
}

const char *nm_distinct_name(struct nm_distinct *d, nm_shorten_function *shorten, const char *name,
			     size_t width, const char *ellipsis)
{
	const char *key = nm_intern(&d->pool, name), *plain, *shown;
	uint64_t number;

	if (!key)
		return NULL;
	shown = (const char *)(uintptr_t)nm_map_get(&d->shown, (uintptr_t)key, 0);
	if (shown)
		return shown;
	plain = shown = numbered_name(d, shorten, name, width, ellipsis, 1);
	if (!plain)
		return NULL;
	number = nm_map_get(&d->numbers, (uintptr_t)plain, 0);
	while (number && shown && nm_map_get(&d->numbers, (uintptr_t)shown, 0))
		shown = numbered_name(d, shorten, name, width, ellipsis, ++number);
	if (!shown || nm_map_put(&d->numbers, (uintptr_t)plain, number ? number : 1) ||
	    (shown != plain && nm_map_put(&d->numbers, (uintptr_t)shown, 1)) ||
	    nm_map_put(&d->shown, (uintptr_t)key, (uintptr_t)shown))
		return NULL;
	return shown;
}

void nm_distinct_done(struct nm_distinct *d)
{
	nm_strings_done(&d->pool);
	nm_map_done(&d->shown);
	nm_map_done(&d->numbers);
}
