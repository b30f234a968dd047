/* SPDX-License-Identifier: MIT
 *
 * rules_conflicts.c - rules of lines that collide: as long as they do, all other figures show that.
 */
#include "rules.h"

/* No step leads from one to the next: of loads, else of accesses; of blocks of which nothing is known. */
static int has_no_step(const struct nm_evidence *e)
{
	if (e->walked)
		return follows_no_order(e);
	return e->strided ? e->follow < NM_HALF : is_collection(e);
}

static double saves_conflicts(const struct nm_evidence *e) { return percent(e->conflict, e->loads) / 100; }

/* Lines of one row after the other: what a walk down a column does.  Without a walk, it may be one. */
static int walks_columns(const struct nm_evidence *e, int64_t row)
{
	return e->walked ? step_of(e) && step_of(e) % row == 0 : 1;
}

static int row_length(const struct nm_evidence *e)
{
	struct nm_array_shape array = nm_array_shape_parse(e->type);
	const int64_t row = array.fastest * element_bytes(e);

	return is_half(e, e->conflict) && !has_rival(e) && array.dimensions > 1 && is_power_of_two(row) &&
	       row >= e->line_size && walks_columns(e, row);
}

static void advise_row_length(const struct nm_evidence *e, FILE *out)
{
	struct nm_array_shape array = nm_array_shape_parse(e->type);
	const char *which = array.first_is_fastest ? "first" : "last";
	int64_t more = element_bytes(e) < e->line_size ? e->line_size / element_bytes(e) : 1;

	fprintf(out,
		"%.0f %% of the loads are conflicts, and its rows of %" PRId64 " elements have %" PRId64
		" bytes, a power of two, so that columns fall into few sets: ",
		percent(e->conflict, e->loads), array.fastest, array.fastest * element_bytes(e));
	if (e->waste >= NM_HALF)
		fprintf(out, "interchange the loops, so that the %s subscript runs fastest, or ", which);
	fprintf(out, "pad the %s dimension to %" PRId64, which, array.fastest + more);
}

static void pad_rows(const struct nm_evidence *e, int64_t row, FILE *out)
{
	fputs("pad ", out);
	nm_lay_out_object(e, out);
	fprintf(out, " rows of %" PRId64 " by %" PRId64, row, e->line_size);
}

static void lay_out_rows(const struct nm_evidence *e, size_t count, FILE *out)
{
	(void)count;
	pad_rows(e, nm_array_shape_parse(e->type).fastest * element_bytes(e), out);
}

static void lay_out_steps(const struct nm_evidence *e, size_t count, FILE *out)
{
	(void)count;
	pad_rows(e, labs(step_of(e)), out);
}

/* Steps of its own by a multiple of the line that is a power of two, or nearly: lines of few sets. */
static int long_power(const struct nm_evidence *e)
{
	const int64_t step = labs(step_of(e));

	return is_half(e, e->conflict) && !has_rival(e) && step >= 8 * e->line_size && is_power_of_two(step);
}

static void advise_long_power(const struct nm_evidence *e, FILE *out)
{
	fprintf(out,
		"%.0f %% of the loads are conflicts: it is walked in steps of %" PRId64
		" bytes, a power of two, so that its lines fall into few sets: make its rows %" PRId64
		" bytes longer than what is used of them",
		percent(e->conflict, e->loads), labs(step_of(e)), e->line_size);
}

static int rivals(const struct nm_evidence *e)
{
	return is_half(e, e->conflict) && has_rival(e) && !has_no_step(e);
}

static void advise_rivals(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads are conflicts: its lines go to the same sets as those of %s, which evicted %.0f %% "
	    "of them, and those of others that begin a multiple of the same distance away: move each by a line against "
	    "the one before it (%" PRId64
	    " bytes more at the end of each), or interleave them in one array of structures",
	    percent(e->conflict, e->loads), e->evictor, percent(e->evictor_count, e->evictions),
	    e->line_size);
}

/* Each a line further than the one before it, against the first's rival. */
static void lay_out_rivals(const struct nm_evidence *rows, size_t count, FILE *out)
{
	int64_t moved = 0;

	for (size_t i = 0; i < count; i++) {
		size_t before = 0;

		while (before < i && !is_word(rows[before].object, rows[i].object))
			before++;
		if (before < i || is_word(rows[i].object, rows->evictor))
			continue;
		fputs(moved ? "; offset " : "offset ", out);
		nm_lay_out_object(&rows[i], out);
		fprintf(out, " against %s by %" PRId64, rows->evictor, ++moved * rows->line_size);
	}
}

/* Blocks that all begin in the same sets. */
static int has_blocks_of_a_power(const struct nm_evidence *e)
{
	return e->blocks > 1 && is_power_of_two(e->largest) && e->largest >= 16 * e->line_size;
}

static int same_sets(const struct nm_evidence *e)
{
	return is_half(e, e->conflict) && (has_blocks_of_a_power(e) || !has_no_step(e));
}

static void advise_same_sets(const struct nm_evidence *e, FILE *out)
{
	fprintf(out, "%.0f %% of the loads are conflicts, lines that compete for the same few sets",
		percent(e->conflict, e->loads));
	if (has_blocks_of_a_power(e))
		fprintf(out,
			": its blocks of %" PRId64
			" bytes begin in the same sets: make them some lines longer, "
			"or start each at another line",
			e->largest);
	else
		fputs(": pad it, or change its row length or alignment from a power of two", out);
}

/* Chains get what is advised of lists: that their nodes lie side by side. */
static int uneven_sets(const struct nm_evidence *e)
{
	return is_half(e, e->conflict) && has_no_step(e) && !dependent(e);
}

static void advise_uneven_sets(const struct nm_evidence *e, FILE *out)
{
	fprintf(
	    out,
	    "%.0f %% of the loads are conflicts, and they follow no order: what is used lies scattered, so that "
	    "some sets get more lines than they have ways",
	    percent(e->conflict, e->loads));
	if (has_rival(e))
		fprintf(out, ", of %s too", e->evictor);
	fputs(": put what is used often side by side, in an array of its own", out);
}

const struct nm_rule nm_rules_of_conflicts[] = {
    {"row length", row_length, advise_row_length, .saves = saves_conflicts, .lay_out = lay_out_rows},
    {"step length", long_power, advise_long_power, .saves = saves_conflicts, .lay_out = lay_out_steps},
    {"rivals", rivals, advise_rivals, .saves = saves_conflicts, .lay_out = lay_out_rivals},
    {"same sets", same_sets, advise_same_sets, .saves = saves_conflicts},
    {"uneven sets", uneven_sets, advise_uneven_sets, .saves = saves_conflicts},
    {.cause = NULL},
};
