/* SPDX-License-Identifier: MIT
 *
 * notes.c - the sentences under the summary: what to try against the first pairs, and what kept the
 * picture from being complete.
 *
 * Each of the first pairs gets what its rule says (advice.c), unless it has too few of the misses to matter, or
 * it has been said: of the same object, or by a rule that says the same of all.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "notes.h"

enum { PAIRS = 3, MIN_SHARE = 5, MODULES = 4 }; /* notes, percent, names */

struct note_writer {
	struct nm_table *pairs; /* its pool holds the sentences */
	struct nm_notes *notes;
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

static int is_repeated(const struct note_writer *r, size_t row)
{
	const char *cause = nm_table_named(r->pairs, row, "cause")->text;
	const char *object = nm_table_named(r->pairs, row, "object")->text;
	size_t i;

	for (i = 0; i < row; i++) {
		const char *before = nm_table_named(r->pairs, i, "cause")->text;
		const char *of = nm_table_named(r->pairs, i, "object")->text;

		if (before && of && !strcmp(before, cause) &&
		    (nm_rule_named(cause)->once || !strcmp(of, object)))
			return 1;
	}
	return 0;
}

static int note_pair(struct note_writer *r, size_t row)
{
	const char *object = nm_table_named(r->pairs, row, "object")->text;
	const char *file = nm_table_named(r->pairs, row, "file")->text;
	const char *function = nm_table_named(r->pairs, row, "function")->text;
	const char *advice = nm_table_named(r->pairs, row, "try")->text;
	char place[300] = "", *text;

	if (nm_table_named(r->pairs, row, "share")->real < MIN_SHARE || !object || !advice ||
	    is_repeated(r, row))
		return 0;
	if (file) {
		const char *slash = strrchr(file, '/');

		snprintf(place, sizeof place, " at %s:%" PRId64, slash ? slash + 1 : file,
			 nm_table_named(r->pairs, row, "line")->integer);
	} else if (function) {
		snprintf(place, sizeof place, " in %s", function);
	}
	if (asprintf(&text, "%s%s: %s", object, place, advice) < 0)
		text = NULL;
	return add_note(r, text);
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

int nm_notes_make(struct nm_profile *profile, const char *process, struct nm_table *pairs,
		  struct nm_notes *ret_notes, struct nm_error *err)
{
	struct note_writer r = {.pairs = pairs, .notes = ret_notes, .err = err};
	size_t row;
	int status = 0;

	for (row = 0; row < pairs->row_count && ret_notes->count < PAIRS && !status; row++)
		status = note_pair(&r, row);
	if (!status)
		status = note_huge_pages(&r, profile, process);
	if (!status)
		status = note_missing_symbols(&r, profile, process);
	if (!status)
		status = note_losses(&r, profile, process);
	return status;
}
