/* SPDX-License-Identifier: MIT
 *
 * quote.c - a sentence for a pull request that stands alone: what was simulated, the misses of every level before and
 * after, and the estimated cycles; also if there is no effect.
 *
 * Where both profiles were simulated with other placements of memory (record --relocate), a change of misses is called
 * no effect if the ranges of both overlap in each level that changes: a rebuild moves data as these do.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_priv.h"
#include "machine.h"
#include "memstream.h"

static const double LITTLE = 0.001;

struct change {
	const char *level;
	int64_t before, after;
	int overlaps; /* with other placements of memory */
};

struct quote {
	const struct nm_diff *diff;
	const struct nm_diff_side *old, *now;
	struct change changes[NM_REPORT_LEVELS];
	unsigned count;
};

/* Widens a range by the misses with other placements. *ret_known: whether there are any. 0, or a code. */
static int widen(const struct nm_diff_side *side, const char *level, int64_t *least, int64_t *most,
		 int *ret_known, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_has(side->profile, "relocations", err);

	*ret_known = 0;
	if (status <= 0)
		return status;
	status = nm_profile_query(
	    side->profile,
	    "SELECT min(misses), max(misses) FROM (SELECT sum(misses) AS misses FROM relocations "
	    "WHERE level = ?1 AND (?2 IS NULL OR process = ?2) GROUP BY relocation)",
	    &rows, err);
	if (status)
		return status;
	nm_rows_bind_text(rows, 1, level);
	nm_rows_bind_text(rows, 2, side->selection.request.process);
	status = nm_rows_next(rows, err);
	if (status > 0 && nm_rows_type(rows, 0) != NM_VALUE_NULL) {
		*ret_known = 1;
		*least = nm_rows_bounded(rows, 0) < *least ? nm_rows_bounded(rows, 0) : *least;
		*most = nm_rows_bounded(rows, 1) > *most ? nm_rows_bounded(rows, 1) : *most;
	}
	nm_rows_free(rows);
	return status < 0 ? status : 0;
}

static int take_overlap(const struct quote *q, struct change *c, struct nm_error *err)
{
	int64_t least = c->before, most = c->before, least_now = c->after, most_now = c->after;
	int known, known_now;
	int status = widen(q->old, c->level, &least, &most, &known, err);

	if (!status)
		status = widen(q->now, c->level, &least_now, &most_now, &known_now, err);
	if (!status)
		c->overlaps = known && known_now && least <= most_now && least_now <= most;
	return status;
}

/* The levels that take data, of the machine that is reported on, in both profiles. */
static int take_changes(struct quote *q, struct nm_error *err)
{
	const struct nm_levels *old = &q->old->selection.levels, *now = &q->now->selection.levels;
	int status = 0;

	for (unsigned i = 0; i < old->count && !status; i++) {
		struct change *c = &q->changes[q->count];
		unsigned k = 0;

		while (k < now->count && strcmp(now->at[k].name, old->at[i].name))
			k++;
		if (k == now->count || old->at[i].side == NM_LEVEL_CODE ||
		    !nm_machine_same(old->at[i].name, q->old->selection.request.level))
			continue;
		*c = (struct change){
		    .level = old->at[i].name, .before = q->old->misses[i], .after = q->now->misses[k]};
		if (c->before != c->after)
			status = take_overlap(q, c, err);
		q->count++;
	}
	return status;
}

/* " (+46.1 %)"; also " (new)", " (gone)". */
static void write_percent(int64_t before, int64_t after, FILE *out)
{
	char percent[NM_DIFF_PERCENT_ROOM];

	nm_diff_percent(before, after, percent);
	fprintf(out, " (%s%s)", percent, *percent == '+' || *percent == '-' ? " %" : "");
}

static void write_subject(const struct quote *q, FILE *out)
{
	fprintf(out, "By nearmiss's simulation of %s, %s ", q->now->machine, q->now->command);
	if (q->diff->request->of_candidates) {
		fprintf(out, "with \"%s\"", q->now->path);
		return;
	}
	fprintf(out, "(%s) compared with ", q->now->path);
	if (strcmp(q->old->command, q->now->command) != 0)
		fprintf(out, "%s (%s)", q->old->command, q->old->path);
	else
		fputs(q->old->path, out);
	if (q->old->machine != q->now->machine)
		fprintf(out, " on %s", q->old->machine);
}

static void write_changes(const struct quote *q, FILE *out)
{
	for (unsigned i = 0; i < q->count; i++) {
		const struct change *c = &q->changes[i];

		fprintf(out, "%s%s ", i ? ", " : "", c->level);
		nm_print_grouped(c->after, out);
		fputs(c->after == 1 ? " time" : " times", out);
		if (c->before == c->after)
			continue;
		fputs(" instead of ", out);
		nm_print_grouped(c->before, out);
		write_percent(c->before, c->after, out);
	}
}

static void write_cycles(const struct quote *q, FILE *out)
{
	const int64_t before = q->old->totals[NM_DIFF_CYCLES], after = q->now->totals[NM_DIFF_CYCLES];

	if (q->diff->has[NM_DIFF_CLASS] || before == after)
		return;
	fputs("; these misses cost an estimated ", out);
	nm_print_grouped(after, out);
	fputs(" cycles instead of ", out);
	nm_print_grouped(before, out);
	write_percent(before, after, out);
}

static int is_little(int64_t before, int64_t after)
{
	return fabs((double)(after - before)) < LITTLE * (double)before;
}

static void write_sentence(const struct quote *q, FILE *out)
{
	int same = 1, overlap = 1, little = 1;

	for (unsigned i = 0; i < q->count; i++) {
		const struct change *c = &q->changes[i];

		same &= c->before == c->after;
		overlap &= c->before == c->after || c->overlaps;
		little &= c->before == c->after || is_little(c->before, c->after);
	}
	write_subject(q, out);
	fputs(same ? " misses as often: " : " misses ", out);
	write_changes(q, out);
	if (same) {
		fputs(". No effect.", out);
		return;
	}
	write_cycles(q, out);
	fputs(overlap  ? ". No effect: other placements of memory change as much."
	      : little ? ". Next to no effect."
		       : ".",
	      out);
}

int nm_diff_quote(const struct nm_diff *diff, unsigned side, char **ret_text, struct nm_error *err)
{
	struct quote q = {.diff = diff, .old = &diff->sides[0], .now = &diff->sides[side]};
	int status = take_changes(&q, err);
	FILE *out = status ? NULL : nm_memstream_open(ret_text, NULL);

	if (status)
		return status;
	if (out)
		write_sentence(&q, out);
	return out && !nm_memstream_close(out, ret_text) ? 0 : nm_fail_memory(err);
}
