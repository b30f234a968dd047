/* SPDX-License-Identifier: MIT
 *
 * advice.c - one thing to try for each of the first pairs, and what kept the picture from being complete.
 *
 * A rule looks at one pair and the first that fits speaks; the thresholds are the point at which more than
 * half of the traffic has that one cause.  Pairs with less than MIN_SHARE of the misses get none.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report_priv.h"

enum { PAIRS = 3, MIN_SHARE = 5, MODULES = 4 };

struct advisor {
	struct nm_table *pairs; /* its pool holds the sentences */
	struct nm_advice *advice;
	struct nm_error *err;
};

static double percent(const struct nm_table *pairs, size_t row, const char *class)
{
	double loads = (double)nm_table_named(pairs, row, "loads")->integer;

	return loads > 0 ? 100.0 * (double)nm_table_named(pairs, row, class)->integer / loads : 0.0;
}

static double wasted(const struct nm_table *pairs, size_t row)
{
	return nm_table_named(pairs, row, "waste")->real;
}

static double conflict(const struct nm_table *pairs, size_t row) { return percent(pairs, row, "conflict"); }
static double coherence(const struct nm_table *pairs, size_t row) { return percent(pairs, row, "coherence"); }
static double capacity(const struct nm_table *pairs, size_t row) { return percent(pairs, row, "capacity"); }
static double cold(const struct nm_table *pairs, size_t row) { return percent(pairs, row, "cold"); }

static const struct {
	double (*figure)(const struct nm_table *pairs, size_t row);
	const char *text;
} rules[] = {
    {coherence, "of the lines had been taken away by other threads: give each thread its own lines"},
    {conflict, "of the loads are conflicts, lines that compete for the same few sets: pad it, or change its "
	       "row length from a power of two"},
    {wasted, "of the bytes loaded are never used: walk it in the order in which it lies in memory, or put "
	     "the fields that are used together side by side"},
    {capacity, "of the loads bring back lines that did not stay because too much else came between: "
	       "work in blocks that fit the cache, or join the loops that pass over it"},
    {cold, "of the loads are first touches: use the memory again instead of new memory, or make it smaller"},
};

/* Takes over text (malloc'ed or NULL). */
static int say(struct advisor *advisor, char *text)
{
	const char *kept = text ? nm_intern(&advisor->pairs->pool, text) : NULL;

	free(text);
	if (!kept || nm_vec_push(advisor->advice, kept))
		return nm_fail(advisor->err, NM_ENOMEM, "out of memory");
	return 0;
}

static int advise_pair(struct advisor *advisor, size_t row)
{
	const struct nm_table *pairs = advisor->pairs;
	const char *object = nm_table_named(pairs, row, "object")->text;
	const char *file = nm_table_named(pairs, row, "file")->text;
	char place[300] = "", *text;
	unsigned i;

	if (nm_table_named(pairs, row, "share")->real < MIN_SHARE || !object)
		return 0;
	if (file) {
		const char *slash = strrchr(file, '/');

		snprintf(place, sizeof place, " at %s:%" PRId64, slash ? slash + 1 : file,
			 nm_table_named(pairs, row, "line")->integer);
	}
	for (i = 0; i < sizeof rules / sizeof *rules; i++) {
		double figure = rules[i].figure(pairs, row);

		if (figure < 50)
			continue;
		if (asprintf(&text, "%s%s: %.0f %% %s", object, place, figure, rules[i].text) < 0)
			text = NULL;
		return say(advisor, text);
	}
	return 0;
}

static int advise_symbols(struct advisor *advisor, struct nm_profile *profile, const char *process)
{
	struct nm_rows *rows = NULL;
	char list[400] = "", *text;
	size_t n = 0, count = 0;
	int rc = nm_profile_query(
	    profile,
	    "SELECT DISTINCT module FROM undebugged WHERE ?1 IS NULL OR process = ?1 ORDER BY module", &rows,
	    advisor->err);

	if (rc)
		return rc;
	nm_rows_bind_text(rows, 1, process);
	while ((rc = nm_rows_next(rows, advisor->err)) > 0) {
		const char *module = nm_rows_text(rows, 0), *slash = strrchr(module, '/');

		if (count++ < MODULES && n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
					      slash ? slash + 1 : module);
	}
	nm_rows_free(rows);
	if (rc || !count)
		return rc;
	if (count > MODULES && n < sizeof list)
		snprintf(list + n, sizeof list - n, " and %zu more", count - MODULES);
	if (asprintf(&text,
		     "no debug information in %s: their lines and variables have no names; compile with -g, "
		     "install their -dbg or -dbgsym packages, or set DEBUGINFOD_URLS",
		     list) < 0)
		text = NULL;
	return say(advisor, text);
}

static int advise_losses(struct advisor *advisor, struct nm_profile *profile, const char *process)
{
	struct nm_rows *rows = NULL;
	int64_t lost = 0, killed = 0;
	char *text;
	int rc = nm_profile_query(
	    profile,
	    "SELECT sum(lost_words), sum(exit_status = -1) FROM processes WHERE ?1 IS NULL OR process = ?1",
	    &rows, advisor->err);

	if (!rc)
		nm_rows_bind_text(rows, 1, process);
	if (!rc && (rc = nm_rows_next(rows, advisor->err)) > 0) {
		lost = nm_rows_integer(rows, 0);
		killed = nm_rows_integer(rows, 1);
		rc = 0;
	}
	nm_rows_free(rows);
	if (!rc && lost) {
		if (asprintf(&text, "%" PRId64 " words of the event stream were lost: the counts are too low",
			     lost) < 0)
			text = NULL;
		rc = say(advisor, text);
	}
	if (!rc && killed) {
		if (asprintf(&text,
			     "%" PRId64 " processes were killed: the counts are what they did until then",
			     killed) < 0)
			text = NULL;
		rc = say(advisor, text);
	}
	return rc;
}

int nm_advice(struct nm_profile *profile, const char *process, struct nm_table *pairs,
	      struct nm_advice *ret_advice, struct nm_error *err)
{
	struct advisor advisor = {.pairs = pairs, .advice = ret_advice, .err = err};
	size_t row;
	int rc = 0;

	for (row = 0; row < pairs->row_count && row < PAIRS && !rc; row++)
		rc = advise_pair(&advisor, row);
	if (!rc)
		rc = advise_symbols(&advisor, profile, process);
	if (!rc)
		rc = advise_losses(&advisor, profile, process);
	return rc;
}
