/* SPDX-License-Identifier: MIT
 *
 * notes.c - the sentences under the summary: what to try for the first pairs, and what is missing from the
 * profile.
 *
 * Each of the first pairs gets the advice of its rule (advice.c), unless its cost is too small or the same
 * advice was given before. Where cost is estimated, the advice that saves most comes first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "notes.h"
#include "report_priv.h"
#include "selection.h"

enum { PAIRS = 3, MIN_SHARE = 5, MIN_LIBRARY_SHARE = 2, MODULES = 4 }; /* notes, percent, names */

/* A row that was advised on. */
struct advised {
	const char *cause, *object, *file; /* cause: never NULL */
	int64_t line;                      /* 0: none */
};

struct note_writer {
	struct nm_table *pairs; /* its pool holds the sentences */
	struct nm_notes *notes;
	int by_cost; /* shares are of cycles, else of misses */
	struct nm_vec(struct advised) advised;
	struct nm_error *err;
};

/* Takes over text (malloc'ed or NULL). */
static int add_note(struct note_writer *r, char *text)
{
	const char *kept = nm_table_keep(r->pairs, text);

	if (!kept || nm_vec_push(r->notes, kept))
		return nm_fail_memory(r->err);
	return 0;
}

static int is_same(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

/* Whether the advice was given before: on the same object, on the same line, or by a rule that advises the
 * same on every object. */
static int is_repeated(const struct note_writer *r, const struct advised *row)
{
	for (size_t i = 0; i < r->advised.count; i++) {
		const struct advised *other = &r->advised.at[i];

		if (is_same(row->cause, other->cause) &&
		    (nm_rule_named(row->cause)->once || is_same(row->object, other->object) ||
		     (r->by_cost && row->line && row->line == other->line &&
		      is_same(row->file, other->file))))
			return 1;
	}
	return 0;
}

/* 0 or NM_ENOMEM. The texts of a table may go before the writer does. */
static int remember(struct note_writer *r, struct advised row)
{
	row.cause = nm_rule_named(row.cause)->cause;
	row.object = nm_intern(&r->pairs->pool, row.object);
	row.file = row.file ? nm_intern(&r->pairs->pool, row.file) : NULL;
	return !row.object || nm_vec_push(&r->advised, row) ? nm_fail_memory(r->err) : 0;
}

/* " at solver.c:41", " in solve", or nothing. */
static void write_place(const struct nm_table *table, size_t row, char *to, size_t room)
{
	const char *file = nm_table_find(table, row, "file")->text;
	const char *function = nm_table_find(table, row, "function")->text;
	const char *slash = file ? strrchr(file, '/') : NULL;

	*to = 0;
	if (file)
		snprintf(to, room, " at %s:%" PRId64, slash ? slash + 1 : file,
			 nm_table_named(table, row, "line")->integer);
	else if (function)
		snprintf(to, room, " in %s", function);
}

static double share_of(const struct note_writer *r, const struct nm_table *table, size_t row)
{
	return nm_table_named(table, row, r->by_cost ? "cycles_share" : "share")->real;
}

/* What to try against a row of objects and lines. */
static int note_row(struct note_writer *r, const struct nm_table *table, size_t row)
{
	const struct advised what = {.cause = nm_table_named(table, row, "cause")->text,
				     .object = nm_table_named(table, row, "object")->text,
				     .file = nm_table_find(table, row, "file")->text,
				     .line = nm_table_find(table, row, "line")->integer};
	const char *advice = nm_table_named(table, row, "try")->text;
	const char *saving = nm_table_named(table, row, "saving")->text;
	char place[300], *text;

	if (!what.object || !what.cause || !advice || is_repeated(r, &what))
		return 0;
	if (remember(r, what))
		return NM_ENOMEM;
	write_place(table, row, place, sizeof place);
	if (asprintf(&text, "%s%s: %s%s%s", what.object, place, advice, saving ? "; " : "",
		     saving ? saving : "") < 0)
		text = NULL;
	return add_note(r, text);
}

static int note_large_row(struct note_writer *r, const struct nm_table *table, size_t row)
{
	return share_of(r, table, row) < MIN_SHARE ? 0 : note_row(r, table, row);
}

/* The rows in their order; or, by cost, those that save most first, without those that are not worth advising
 * on. */
static int note_rows(struct note_writer *r, const struct nm_table *table)
{
	double last = INFINITY;
	int status = 0;

	for (size_t row = 0; !r->by_cost && row < table->row_count && r->notes->count < PAIRS && !status;
	     row++)
		status = note_large_row(r, table, row);
	while (r->by_cost && last >= 0 && r->notes->count < PAIRS && !status) {
		double best = -1;

		for (size_t row = 0; row < table->row_count; row++) {
			const double worth = nm_advice_worth(table, row);

			best = worth < last && worth > best ? worth : best;
		}
		for (size_t row = 0;
		     best >= 0 && row < table->row_count && r->notes->count < PAIRS && !status; row++)
			if (!(nm_advice_worth(table, row) < best) && nm_advice_worth(table, row) < last)
				status = note_large_row(r, table, row);
		last = best;
	}
	return status;
}

/* What to try against an object, at the line where it costs most. */
static int note_object(struct note_writer *r, struct nm_profile *profile,
		       const struct nm_selection *selection, const char *object)
{
	struct nm_selection one = *selection;
	struct nm_report_table pairs = {.table = {0}};
	int status;

	one.object = (struct nm_name_pattern){.operator_ = "=", .pattern = strdup(object)};
	one.request.limit = 1;
	status = one.object.pattern ? nm_report_fill(nm_report_named("pairs"), profile, &one, &pairs, r->err)
				    : nm_fail_memory(r->err);
	if (!status && pairs.table.row_count && (!r->by_cost || nm_advice_worth(&pairs.table, 0) >= 0))
		status = note_row(r, &pairs.table, 0);
	nm_report_table_done(&pairs);
	nm_name_pattern_done(&one.object);
	return status;
}

/* Where many lines share the misses of an object, none of its rows may be large enough. */
static int note_objects(struct note_writer *r, struct nm_profile *profile,
			const struct nm_selection *selection)
{
	struct nm_report_table objects = {.table = {0}};
	int status = nm_report_fill(nm_report_named("objects"), profile, selection, &objects, r->err);

	for (size_t row = 0; !status && row < objects.table.row_count && r->notes->count < PAIRS; row++) {
		const char *object = nm_table_named(&objects.table, row, "object")->text;

		if (object && share_of(r, &objects.table, row) >= MIN_SHARE)
			status = note_object(r, profile, selection, object);
	}
	nm_report_table_done(&objects);
	return status;
}

static int note_missing_symbols(struct note_writer *r, struct nm_profile *profile, const char *process)
{
	struct nm_rows *rows = NULL;
	char list[400] = "", *text;
	size_t n = 0, count = 0;
	int status = nm_profile_query(
	    profile,
	    "SELECT DISTINCT module FROM undebugged WHERE ?1 IS NULL OR process = ?1 ORDER BY module", &rows,
	    r->err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, process);
	while ((status = nm_rows_next(rows, r->err)) > 0) {
		const char *module = nm_rows_text(rows, 0), *slash = module ? strrchr(module, '/') : NULL;

		if (count++ < MODULES && n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
					      slash    ? slash + 1
					      : module ? module
						       : "?");
	}
	nm_rows_free(rows);
	if (status || !count)
		return status;
	if (count > MODULES && n < sizeof list)
		snprintf(list + n, sizeof list - n, " and %zu more", count - MODULES);
	if (asprintf(&text,
		     "no debug information in %s: their lines and variables have no names; compile with -g, "
		     "install their -dbg or -dbgsym packages, or set DEBUGINFOD_URLS",
		     list) < 0)
		text = NULL;
	return add_note(r, text);
}

/* For misses in a library function that was called, not inlined, by an unknown caller. */
static int note_library(struct note_writer *r, struct nm_profile *profile)
{
	int has_calls = nm_profile_has_contexts(profile, r->err);
	const char *function = NULL;
	char *text;

	for (size_t row = 0; row < r->pairs->row_count && !function; row++) {
		const struct nm_value *share = nm_table_find(r->pairs, row, "share");

		if (nm_table_find(r->pairs, row, "library")->integer && share->real >= MIN_LIBRARY_SHARE)
			function = nm_table_find(r->pairs, row, "function")->text;
	}
	if (has_calls || !function)
		return has_calls < 0 ? has_calls : 0;
	if (asprintf(&text,
		     "%s is called, not inlined: record with --callgraph to see it at the lines that call it",
		     function) < 0)
		text = NULL;
	return add_note(r, text);
}

static int note_losses(struct note_writer *r, struct nm_profile *profile, const char *process)
{
	struct nm_rows *rows = NULL;
	int64_t lost = 0, killed = 0, undecoded = 0;
	char *text;
	int status =
	    nm_profile_query(profile,
			     "SELECT sum(lost_words), sum(exit_status = -1), sum(exit_status = 128 + 4 AND "
			     "'valgrind' = (SELECT value FROM info WHERE key = 'collector')) "
			     "FROM processes WHERE ?1 IS NULL OR process = ?1",
			     &rows, r->err);

	if (!status)
		nm_rows_bind_text(rows, 1, process);
	if (!status && (status = nm_rows_next(rows, r->err)) > 0) {
		lost = nm_rows_bounded(rows, 0);
		killed = nm_rows_bounded(rows, 1);
		undecoded = nm_rows_bounded(rows, 2);
		status = 0;
	}
	nm_rows_free(rows);
	if (!status && lost) {
		if (asprintf(&text, "%" PRId64 " words of the event stream were lost: the counts are too low",
			     lost) < 0)
			text = NULL;
		status = add_note(r, text);
	}
	if (!status && killed) {
		if (asprintf(&text,
			     "%" PRId64 " processes were killed: the counts are what they did until then",
			     killed) < 0)
			text = NULL;
		status = add_note(r, text);
	}
	if (!status && undecoded) {
		if (asprintf(
			&text,
			"%" PRId64
			" processes were stopped by SIGILL: unless they do that themselves, they use an "
			"instruction that Valgrind does not know, as those of AVX-512; build the program, "
			"or the library, without -march=native",
			undecoded) < 0)
			text = NULL;
		status = add_note(r, text);
	}
	return status;
}

static int note_huge_pages(struct note_writer *r, struct nm_profile *profile, const char *process)
{
	struct nm_huge_pages_saving s;
	char *text;
	int status = nm_huge_pages_estimate(profile, process, &s, r->err);

	if (status || !s.pages || s.saved * 100 < s.misses * MIN_SHARE || s.saved <= 0)
		return status;
	if (asprintf(&text,
		     "huge pages of %s would save %" PRId64 " %% of the misses of %s, %" PRId64
		     " %% of it of %s: align large blocks to %s and use madvise(MADV_HUGEPAGE), or mmap with "
		     "MAP_HUGETLB",
		     s.pages, s.saved * 100 / s.misses, s.level, s.of_object * 100 / s.saved, s.object,
		     s.pages) < 0)
		text = NULL;
	return add_note(r, text);
}

/* What to try, if there is something to win. */
static int note_advice(struct note_writer *r, struct nm_profile *profile,
		       const struct nm_selection *selection)
{
	int status = note_rows(r, r->pairs);

	if (!status && !r->notes->count)
		status = note_objects(r, profile, selection);
	if (!status)
		status = note_huge_pages(r, profile, selection->request.process);
	return status;
}

int nm_notes_make(struct nm_profile *profile, const struct nm_selection *selection,
		  const struct nm_verdict *verdict, struct nm_table *pairs, struct nm_notes *ret_notes,
		  struct nm_error *err)
{
	struct note_writer r = {
	    .pairs = pairs, .notes = ret_notes, .by_cost = selection->levels.foresees, .err = err};
	const char *process = selection->request.process;
	int status = nm_verdict_is_bound(verdict) ? note_advice(&r, profile, selection) : 0;

	if (!status)
		status = note_library(&r, profile);
	if (!status)
		status = note_missing_symbols(&r, profile, process);
	if (!status)
		status = note_losses(&r, profile, process);
	nm_vec_free(&r.advised);
	return status;
}
