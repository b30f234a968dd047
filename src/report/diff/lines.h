/* SPDX-License-Identifier: MIT
 *
 * lines.h - which line of a function is which after an edit.
 *
 * Known of a line are its number, what it executed, and often its text. Lines keep their order, so the best
 * alignment of the two sequences is found as in diff(1), but by scores: the same text counts most, then the
 * same references to the same objects, then the same distance from the function's first line. What is left
 * over and has the text of one line left over on the other side has moved.
 */
#ifndef NM_DIFF_LINES_H
#define NM_DIFF_LINES_H

#include <stddef.h>
#include <stdint.h>

struct nm_diff_line {
	int64_t number;
	const char *text; /* interned, without blanks at the ends; NULL: unknown */
	int64_t references;
	uint64_t objects; /* digest of the set of objects that it uses */
};

/* Sets pair[i] to the index in b of what line a[i] became, or to SIZE_MAX. Both are sorted by number, and no
 * number occurs twice. is_same_source: the file did not change, so the number alone decides. 0 or
 * NM_ENOMEM. */
int nm_diff_match_lines(const struct nm_diff_line *a, size_t a_count, const struct nm_diff_line *b,
			size_t b_count, int is_same_source, size_t *pair);

/* How sure it is, from 0 to 1, that the lines are of one function: the share of lines that agree in their
 * text, or in references and objects. */
double nm_diff_likeness(const struct nm_diff_line *a, size_t a_count, const struct nm_diff_line *b,
			size_t b_count, const size_t *pair);

#endif
