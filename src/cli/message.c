/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rank.h"
#include "text.h"

static int progress_is_shown; /* in the terminal's last line */

/* Names and texts may come from files of others: a terminal must not obey them. */
static void print_clean(const char *text, size_t bytes)
{
	char *part = strndup(text, bytes), *clean = part ? nm_utf8_clean(part) : NULL;

	fputs(clean ? clean : "out of memory", stderr);
	free(clean);
	free(part);
}

void nm_message(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	nm_message_progress_end();
	fputs("nearmiss: ", stderr);
	if (nm_rank())
		fprintf(stderr, "rank %s: ", nm_rank());
	va_start(args, format);
	if (vasprintf(&text, format, args) >= 0)
		print_clean(text, strlen(text));
	else
		fputs("out of memory", stderr);
	va_end(args);
	free(text);
	fputc('\n', stderr);
}

static void show_progress(uint64_t count, const char *what, double per_second)
{
	fprintf(stderr, "\r\033[Knearmiss: %.1f M %s, %.1f M/s", (double)count / 1e6, what, per_second / 1e6);
	progress_is_shown = 1;
}

void nm_message_progress(uint64_t references, double per_second)
{
	show_progress(references, "references", per_second);
}

void nm_message_samples(uint64_t samples, double per_second)
{
	show_progress(samples, "samples", per_second);
}

void nm_message_tasks(size_t done, size_t all, double seconds_left)
{
	const uint64_t left = seconds_left < 0 ? 0 : (uint64_t)(seconds_left + 0.5);

	fprintf(stderr, "\r\033[Knearmiss: %zu of %zu tasks", done, all);
	if (seconds_left >= 0)
		fprintf(stderr, ", %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", left / 3600, left / 60 % 60,
			left % 60);
	progress_is_shown = 1;
}

void nm_message_pages(unsigned answers, size_t bytes)
{
	fprintf(stderr, "\r\033[Knearmiss: %u answers, %.1f MB", answers, (double)bytes / 1e6);
	progress_is_shown = 1;
}

void nm_message_progress_end(void)
{
	if (progress_is_shown)
		fputs("\r\033[K", stderr);
	progress_is_shown = 0;
}

/* Prints the line of the subject that holds the fault, and a caret below it. Tabs stay tabs. */
static void show_place(const char *subject, size_t column)
{
	const char *start = subject + column, *line, *at;

	while (start > subject && start[-1] != '\n')
		start--;
	line = start;
	fputs("  ", stderr);
	for (size_t n; *start && *start != '\n'; start += n) {
		n = *start == '\t' ? 1 : strcspn(start, "\t\n");
		if (*start == '\t')
			fputc('\t', stderr);
		else
			print_clean(start, n);
	}
	fputs("\n  ", stderr);
	for (at = line; at < subject + column; at++)
		if (*at == '\t' || ((unsigned char)*at & 0xc0) != 0x80) /* one column for each code point */
			fputc(*at == '\t' ? '\t' : ' ', stderr);
	fputs("^\n", stderr);
}

void nm_message_error(const struct nm_error *err)
{
	nm_message("%s", err->text);
	if (err->column >= 0 && (size_t)err->column <= strlen(err->subject))
		show_place(err->subject, (size_t)err->column);
}

int nm_failed(const struct nm_error *err, int otherwise)
{
	nm_message_error(err);
	return nm_status_of(err->code, otherwise);
}

enum { LONGEST = 40 };

/* Edit distance: insertions, deletions, changes, and exchanges of neighbours count 1 each. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t d[LONGEST + 1][LONGEST + 1], m = strlen(a), n = strlen(b), i, j;

	if (m > LONGEST || n > LONGEST)
		return LONGEST;
	for (i = 0; i <= m; i++)
		d[i][0] = i;
	for (j = 0; j <= n; j++)
		d[0][j] = j;
	for (i = 1; i <= m; i++) {
		for (j = 1; j <= n; j++) {
			size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[m][n];
}

/* Of words that are equally near, one that begins as typed. */
const char *nm_nearest(const char *typed, const char *const *words)
{
	const char *nearest = NULL;
	const size_t n = strlen(typed);
	size_t best = 2 * LONGEST;

	for (; *words; words++) {
		size_t d = edit_distance(typed, *words), rank;

		if (n >= 3 && !strncmp(typed, *words, n)) /* the beginning of a word */
			d = 1;
		rank = 2 * d + (*typed != **words);
		if (rank < best && d <= 1 + n / 4) {
			best = rank;
			nearest = *words;
		}
	}
	return nearest;
}
