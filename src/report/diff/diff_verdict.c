/* SPDX-License-Identifier: MIT
 *
 * diff_verdict.c - what a change did, in one sentence.
 *
 * The misses of the level come first, then the cycles that misses are estimated to cost, in all levels from
 * there on; the place is the row with the largest change. A change of less than one part in a thousand of both
 * is called next to none: the counts are exact, but a rebuild moves data by as much.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_priv.h"
#include "table.h"

static const double LITTLE = 0.001;

const struct nm_diff_names *nm_diff_row_names(const struct nm_diff_row *row, unsigned count)
{
	assert(count > 0 && count <= NM_DIFF_SIDES);
	while (count > 1 && !row->names[count - 1])
		count--;
	return row->names[count - 1];
}

const struct nm_diff_names *nm_diff_row_before(const struct nm_diff_row *row)
{
	unsigned side = 0;

	while (!row->names[side])
		side++;
	return row->names[side];
}

const char *nm_diff_percent(int64_t before, int64_t after, char *text)
{
	assert(text);
	if (before == after)
		*text = '\0';
	else if (!before)
		snprintf(text, NM_DIFF_PERCENT_ROOM, "new");
	else if (!after)
		snprintf(text, NM_DIFF_PERCENT_ROOM, "gone");
	else
		snprintf(text, NM_DIFF_PERCENT_ROOM, "%+.1f",
			 100 * (double)(after - before) / (double)before);
	return text;
}

static double relative_change(const struct nm_diff *diff, enum nm_diff_metric metric)
{
	const int64_t before = diff->sides[0].totals[metric],
		      after = diff->sides[diff->count - 1].totals[metric];

	assert(metric < NM_DIFF_METRICS);
	return before ? (double)(after - before) / (double)before : after ? INFINITY : 0;
}

/* "by 93.6 % (1,001,720 to 64,220)". */
static void write_change(const struct nm_diff *diff, enum nm_diff_metric metric, FILE *out)
{
	const int64_t before = diff->sides[0].totals[metric],
		      after = diff->sides[diff->count - 1].totals[metric];
	const double change = relative_change(diff, metric);

	assert(metric < NM_DIFF_METRICS);
	if (before == after)
		fputc('(', out);
	else if (isfinite(change))
		fprintf(out, fabs(change) < 0.0005 ? "by %.4f %% (" : "by %.1f %% (", 100 * fabs(change));
	else
		fputc('(', out);
	nm_print_grouped(before, out);
	if (before != after) {
		fputs(" to ", out);
		nm_print_grouped(after, out);
	}
	fputc(')', out);
}

static const char *change_verb(double change)
{
	return change < 0 ? "fall" : change > 0 ? "rise" : "stay the same";
}

/* "misses of L1d fall by ..., and the cycles that they cost (estimated) by ...". */
static void write_totals(const struct nm_diff *diff, FILE *out)
{
	const double misses = relative_change(diff, NM_DIFF_MISSES),
		     cycles = relative_change(diff, NM_DIFF_CYCLES);

	fprintf(out, "misses of %s %s ", diff->sides[0].selection.request.level, change_verb(misses));
	write_change(diff, NM_DIFF_MISSES, out);
	if (diff->has[NM_DIFF_CLASS]) /* cycles are not told apart by class */
		return;
	if ((misses < 0) == (cycles < 0) && cycles != 0)
		fputs(", and the cycles that they cost (estimated) ", out);
	else
		fprintf(out, ", but the cycles that they cost (estimated) %s ", change_verb(cycles));
	write_change(diff, NM_DIFF_CYCLES, out);
}

/* "; the largest change is on matrix at matrix.c:36 (-1,000,000 misses)"; in cycles if it has as many misses. */
static void write_place(const struct nm_diff *diff, FILE *out)
{
	const struct nm_diff_row *row = &diff->rows.at.at[0];
	const struct nm_diff_names *names = nm_diff_row_names(row, diff->count);
	const char *file = names->text[NM_DIFF_FILE], *slash = file ? strrchr(file, '/') : NULL;
	const int64_t misses = nm_diff_change(row, diff->count, NM_DIFF_MISSES),
		      change = misses ? misses : nm_diff_change(row, diff->count, NM_DIFF_CYCLES);

	if (!diff->has[NM_DIFF_OBJECT] && !diff->has[NM_DIFF_LINE])
		return;
	fputs("; the largest change is", out);
	if (diff->has[NM_DIFF_OBJECT])
		fprintf(out, " on %s",
			names->text[NM_DIFF_OBJECT] ? names->text[NM_DIFF_OBJECT] : "data without a name");
	if (diff->has[NM_DIFF_LINE] && names->line && file)
		fprintf(out, " at %s:%lld", slash ? slash + 1 : file, (long long)names->line);
	else if (diff->has[NM_DIFF_LINE] && names->text[NM_DIFF_FUNCTION])
		fprintf(out, " in %s", names->text[NM_DIFF_FUNCTION]);
	fprintf(out, " (%s", change > 0 ? "+" : "");
	nm_print_grouped(change, out);
	fputs(misses ? " misses)" : " cycles)", out);
}

int nm_diff_verdict(const struct nm_diff *diff, FILE *out)
{
	const double misses = relative_change(diff, NM_DIFF_MISSES),
		     cycles = relative_change(diff, NM_DIFF_CYCLES);

	if (misses == 0 && cycles == 0) {
		fprintf(out, "no effect: A and %c have %s misses of %s", 'A' + (int)diff->count - 1,
			diff->rows.at.count ? "as many" : "the same", diff->sides[0].selection.request.level);
		return 0;
	}
	if (fabs(misses) < LITTLE && fabs(cycles) < LITTLE)
		fputs("next to no effect: ", out);
	write_totals(diff, out);
	if (diff->rows.at.count)
		write_place(diff, out);
	return 0;
}
