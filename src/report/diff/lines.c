/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <assert.h>
#include <stdlib.h>

#include "errors.h"

/* A table of more cells is not made: lines of such functions are matched by their numbers. */
enum { MOST_CELLS = 1 << 24 };

enum { TEXT = 8, EXECUTION = 4, REFERENCES = 3, OBJECTS = 2, PLACE = 1 };

static int same_execution(const struct nm_diff_line *l, const struct nm_diff_line *d)
{
	return l->references == d->references && l->objects == d->objects;
}

/* 0: they are not the same line. */
static unsigned line_score(const struct nm_diff_line *l, const struct nm_diff_line *d, int64_t moved)
{
	unsigned points = 0;

	if (l->text && l->text == d->text)
		points = TEXT;
	else if (same_execution(l, d))
		points = EXECUTION;
	else if (l->references == d->references)
		points = REFERENCES;
	else if (l->objects == d->objects)
		points = OBJECTS;
	return points + (d->number - l->number == moved ? PLACE : 0);
}

static void match_numbers(const struct nm_diff_line *l, size_t a_count, const struct nm_diff_line *d,
			  size_t b_count, size_t *pair)
{
	for (size_t i = 0, j = 0; i < a_count; i++) {
		while (j < b_count && d[j].number < l[i].number)
			j++;
		pair[i] = j < b_count && d[j].number == l[i].number ? j : SIZE_MAX;
	}
}

/* best[i][j]: the highest score of an alignment of a[i..] and b[j..]. */
static int align_lines(const struct nm_diff_line *l, size_t a_count, const struct nm_diff_line *d,
		       size_t b_count, size_t *pair)
{
	const size_t width = b_count + 1;
	const int64_t moved = d[0].number - l[0].number;
	unsigned *best = calloc((a_count + 1) * width, sizeof *best);

	if (!best)
		return NM_ENOMEM;
	for (size_t i = a_count; i-- > 0;) {
		for (size_t j = b_count; j-- > 0;) {
			const unsigned points = line_score(&l[i], &d[j], moved),
				       down = best[(i + 1) * width + j], right = best[i * width + j + 1],
				       both = points ? points + best[(i + 1) * width + j + 1] : 0;
			const unsigned skip = down > right ? down : right;

			best[i * width + j] = both > skip ? both : skip;
		}
	}
	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		const unsigned here = best[i * width + j], points = line_score(&l[i], &d[j], moved);

		if (points && here == points + best[(i + 1) * width + j + 1])
			pair[i++] = j++;
		else if (here == best[(i + 1) * width + j])
			i++;
		else
			j++;
	}
	free(best);
	return 0;
}

/* The only line without a partner that has this text, or SIZE_MAX. */
static size_t only_free(const struct nm_diff_line *lines, size_t count, const char *has_partner,
			const char *text)
{
	size_t found = SIZE_MAX;

	for (size_t j = 0; j < count; j++) {
		if (has_partner[j] || lines[j].text != text)
			continue;
		if (found != SIZE_MAX)
			return SIZE_MAX;
		found = j;
	}
	return found;
}

static int match_moved(const struct nm_diff_line *l, size_t a_count, const struct nm_diff_line *d,
		       size_t b_count, size_t *pair)
{
	char *a_has = calloc(a_count + b_count, 1), *b_has = a_has + a_count;

	if (!a_has)
		return NM_ENOMEM;
	for (size_t i = 0; i < a_count; i++)
		if ((a_has[i] = pair[i] != SIZE_MAX))
			b_has[pair[i]] = 1;
	for (size_t i = 0; i < a_count; i++) {
		size_t j;

		if (a_has[i] || !l[i].text || only_free(l, a_count, a_has, l[i].text) != i)
			continue;
		j = only_free(d, b_count, b_has, l[i].text);
		if (j == SIZE_MAX)
			continue;
		pair[i] = j;
		a_has[i] = b_has[j] = 1;
	}
	free(a_has);
	return 0;
}

int nm_diff_match_lines(const struct nm_diff_line *l, size_t a_count, const struct nm_diff_line *d,
			size_t b_count, int is_same_source, size_t *pair)
{
	for (size_t i = 0; i < a_count; i++) {
		assert(!i || l[i - 1].number < l[i].number);
		pair[i] = SIZE_MAX;
	}
	if (!a_count || !b_count)
		return 0;
	if (is_same_source || a_count > MOST_CELLS / b_count) {
		match_numbers(l, a_count, d, b_count, pair);
		return 0;
	}
	if (align_lines(l, a_count, d, b_count, pair))
		return NM_ENOMEM;
	return match_moved(l, a_count, d, b_count, pair);
}

double nm_diff_likeness(const struct nm_diff_line *l, size_t a_count, const struct nm_diff_line *d,
			size_t b_count, const size_t *pair)
{
	size_t alike = 0;

	for (size_t i = 0; i < a_count; i++) {
		const struct nm_diff_line *to = pair[i] == SIZE_MAX ? NULL : &d[pair[i]];

		alike += to && ((l[i].text && l[i].text == to->text) || same_execution(&l[i], to));
	}
	return (double)alike / (double)(a_count > b_count ? a_count : b_count ? b_count : 1);
}
