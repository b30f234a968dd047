/* SPDX-License-Identifier: MIT
 *
 * prefetches.c - what is wrong with the program's prefetches: useless, too late, too early (docs/advice.md).
 *
 * The level that the prefetches of a place name is the first that has any. Levels with a prefetcher of their own
 * are left out: the profile does not tell whose prefetches theirs are.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memstream.h"
#include "notes.h"

enum {
	PLACES = 2,      /* that get a sentence */
	WORTH = 200,     /* instructions for each prefetch, at most */
	MIN_FOUND = 90,  /* percent of the prefetches: useless */
	MIN_USEFUL = 50, /* percent of the lines: too late */
	MIN_LATE = 50,   /* percent of the useful lines */
	MIN_UNUSED = 50, /* percent of the lines: too early; */
	MIN_EARLY = 20   /* or those that were wanted soon after */
};

/* A place, and what came of its prefetches into the level that they name. */
struct prefetches {
	const char *object, *file, *function, *level;
	int64_t line;
	int64_t made;                    /* instructions that prefetch */
	int64_t lines;                   /* that they brought there */
	int64_t useful, late, too_early; /* of these */
	const char *behind;              /* the next level, or NULL */
	int64_t brought_behind;          /* lines that it had to load for them */
};

static const char places_sql[] =
    "WITH s AS MATERIALIZED (SELECT p.process AS process, p.object AS object, p.file AS file, p.line AS line, "
    "p.function AS function, p.level AS level, l.position AS position, sum(p.prefetches) AS n, "
    "sum(p.redundant) AS redundant, sum(p.useful) AS useful, sum(p.late) AS late, "
    "sum(p.late_evicted) AS early FROM prefetches p JOIN levels l ON l.process = p.process AND "
    "l.level = p.level AND l.prefetch IS NULL AND instr(l.level, '/') = 0 "
    "WHERE ?1 IS NULL OR p.process = ?1 GROUP BY 1, 2, 3, 4, 5, 6), "
    "a AS (SELECT *, min(position) FROM s GROUP BY process, object, file, line, function), "
    "b AS (SELECT a.*, (SELECT l.level FROM levels l WHERE l.process = a.process AND instr(l.level, '/') = 0 "
    "AND l.position > a.position AND l.pages IS NULL AND l.side IS NOT 'code' ORDER BY l.position LIMIT 1) AS behind FROM a) "
    "SELECT b.object, b.file, b.line, b.function, b.level, b.n + b.redundant, b.n, b.useful, b.late, b.early, "
    "b.behind, coalesce(s.n, 0) FROM b LEFT JOIN s ON s.process = b.process AND s.object IS b.object AND "
    "s.file IS b.file AND s.line IS b.line AND s.function IS b.function AND s.level = b.behind "
    "WHERE (b.n + b.redundant) * ?2 >= (SELECT sum(instructions) FROM processes p WHERE p.process = b.process) "
    "ORDER BY b.n + b.redundant DESC, b.object, b.file, b.line LIMIT ?3";

static int64_t percent_of(int64_t part, int64_t whole) { return whole > 0 ? 100 * part / whole : 0; }

static void write_place(const struct prefetches *p, FILE *out)
{
	if (p->object)
		fprintf(out, "%s at ", p->object);
	if (p->file)
		fprintf(out, "%s:%" PRId64, strrchr(p->file, '/') ? strrchr(p->file, '/') + 1 : p->file,
			p->line);
	else
		fputs(p->function ? p->function : "unknown code", out);
	fputs(": ", out);
}

/* Writes what is wrong, if anything is. */
static void judge(const struct prefetches *p, int is_bound, FILE *out)
{
	const int64_t found = percent_of(p->made - p->lines, p->made),
		      unused = percent_of(p->lines - p->useful, p->lines),
		      near = p->behind ? percent_of(p->made - p->brought_behind, p->made) : 0;

	if (found >= MIN_FOUND || near >= MIN_FOUND) {
		write_place(p, out);
		fprintf(out,
			"prefetch useless: %" PRId64 " %% of %" PRId64
			" find their line in %s%s, which holds "
			"what they point to: leave them out",
			found >= MIN_FOUND ? found : near, p->made, found >= MIN_FOUND ? p->level : p->behind,
			found >= MIN_FOUND ? "" : " or before");
	} else if (is_bound && percent_of(p->useful, p->lines) >= MIN_USEFUL &&
		   percent_of(p->late, p->useful) >= MIN_LATE) {
		write_place(p, out);
		fprintf(out,
			"prefetch too late: %" PRId64 " %% of %" PRId64
			" lines are used before they can have "
			"come: prefetch further ahead",
			percent_of(p->late, p->useful), p->useful);
	} else if (is_bound && (unused >= MIN_UNUSED || percent_of(p->too_early, p->lines) >= MIN_EARLY)) {
		write_place(p, out);
		fprintf(out,
			"prefetch too early: %" PRId64 " %% of %" PRId64
			" lines left %s unused: prefetch less "
			"far ahead, or not at all",
			unused, p->lines, p->level);
	}
}

static struct prefetches read_row(const struct nm_rows *rows)
{
	return (struct prefetches){.object = nm_rows_text(rows, 0),
				   .file = nm_rows_text(rows, 1),
				   .line = nm_rows_bounded(rows, 2),
				   .function = nm_rows_text(rows, 3),
				   .level = nm_rows_text(rows, 4),
				   .made = nm_rows_bounded(rows, 5),
				   .lines = nm_rows_bounded(rows, 6),
				   .useful = nm_rows_bounded(rows, 7),
				   .late = nm_rows_bounded(rows, 8),
				   .too_early = nm_rows_bounded(rows, 9),
				   .behind = nm_rows_text(rows, 10),
				   .brought_behind = nm_rows_bounded(rows, 11)};
}

int nm_prefetches_judge(struct nm_profile *profile, const char *process, int is_bound,
			int (*take)(void *arg, char *sentence), void *arg, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, places_sql, &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, process);
		nm_rows_bind_integer(rows, 2, WORTH);
		nm_rows_bind_integer(rows, 3, PLACES);
	}
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const struct prefetches p = read_row(rows);
		char *text = NULL;
		FILE *out = nm_memstream_open(&text, NULL);

		if (out)
			judge(&p, is_bound, out);
		status = !out || nm_memstream_close(out, &text) ? nm_fail_memory(err) : 0;
		if (!status && *text)
			status = take(arg, text);
		else
			free(text);
	}
	nm_rows_free(rows);
	return status;
}
