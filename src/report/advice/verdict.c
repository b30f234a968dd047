/* SPDX-License-Identifier: MIT
 *
 * verdict.c - see verdict.h.
 *
 * Compares the estimated cycles of all misses of data (levels.h) with those that the instructions take
 * without misses. Both are rough, so that the verdict has a range: each end takes all figures of the model at
 * theirs. docs/cost.md says how often it is right.
 */
#include "verdict.h"

#include <stdlib.h>

#include "machine.h"
#include "memstream.h"

/* Cycles that misses wait, in each case, and that chained loads take without them; where nothing is foreseen, all
 * cases are the same. */
struct waits {
	double of[NM_CASES], first[NM_CASES];
};

/* What is summed of the counts of a level. */
struct sums {
	double chained, together, foreseen; /* loads, by kind */
	double walks, chained_walks;        /* page walks: all, and those of chained loads */
	double plain;                       /* cycles, on a machine that foresees nothing */
	double conflicting;                 /* the part of the loads that are conflicts */
	double written;                     /* lines that are written back */
};

enum { PAGE = 4096 /* bytes; a level with larger ways is looked up by places in memory */ };

static double share(const struct waits *waits, double instructions, enum nm_case which)
{
	const double w = waits->of[which];

	return w > 0 ? 100 * w / (w + waits->first[which] + instructions * nm_waiting[which].per_instruction)
		     : 0;
}

/* Where the program's data go first, in the machine of the level that is reported on. */
static const struct nm_level *first_level(const struct nm_levels *levels)
{
	const struct nm_level *first = nm_levels_named(levels, levels->asked);

	for (unsigned i = levels->count; i-- > 0;)
		if (levels->at[i].side != NM_LEVEL_CODE && nm_machine_same(levels->at[i].name, levels->asked))
			first = &levels->at[i];
	return first;
}

/* Adds the cycles that the misses of `level` wait. */
static void add_waits(const struct nm_levels *levels, const struct nm_level *level, const struct sums *s,
		      struct waits *waits)
{
	const struct nm_level *first = first_level(levels);

	for (enum nm_case c = 0; c < NM_CASES; c++) {
		const struct nm_waits each = nm_levels_waits(levels, first, level, c);
		const double left = level->way > PAGE ? 1 - nm_waiting[c].scattered * s->conflicting : 1;

		waits->of[c] +=
		    s->plain + left * (s->chained * each.chained + s->together * each.together +
				       s->foreseen * each.foreseen + s->chained_walks * each.chained_walk +
				       (s->walks - s->chained_walks) * each.walk +
				       s->written * each.foreseen * nm_waiting[c].written);
		if (level == first)
			waits->first[c] += s->chained * nm_waiting[c].first;
	}
}

#define THREADS                                                                                        \
	"(SELECT max(n) FROM (SELECT count(*) AS n FROM (SELECT DISTINCT process, thread FROM counts " \
	"WHERE ?1 IS NULL OR process = ?1) GROUP BY process))"

static int write_query(const struct nm_levels *levels, char **ret_sql)
{
	FILE *sql = nm_memstream_open(ret_sql, NULL);

	if (!sql)
		return NM_ENOMEM;
	fputs("WITH " NM_LEVELS_W " AS (", sql);
	nm_levels_weights(levels, first_level(levels)->name, sql);
	fputs("), x AS MATERIALIZED (SELECT object FROM objects WHERE kind = 'code'), ", sql);
	nm_levels_sums(levels, "(?1 IS NULL OR process = ?1)", sql);
	fputs(" SELECT w.source, ", sql);
	if (levels->foresees)
		fputs("sum(s.chained), sum(s.loads - s.chained - s.foreseen), sum(s.foreseen), ", sql);
	else
		fputs("0, 0, 0, ", sql);
	fputs(levels->foresees && levels->walk ? "sum(s.page_walks), sum(s.chained_walks), " : "0, 0, ", sql);
	fputs(
	    "sum(w.hit * (reads + writes - read_misses - write_misses) + w.miss * (read_misses + write_misses)), "
	    "1.0 * sum(s.conflict) / nullif(sum(s.loads), 0), sum(s.writebacks) "
	    "FROM w CROSS JOIN s ON s.level = w.source WHERE w.code IS NULL OR w.code = s.code GROUP BY w.source",
	    sql);
	return nm_memstream_close(sql, ret_sql);
}

/* Adds up the waits of all levels, and names the one whose misses wait most. */
static int read_waits(struct nm_profile *profile, const struct nm_selection *selection, struct waits *ret,
		      const char **ret_level, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	double most = 0;
	char *sql = NULL;
	int status = write_query(&selection->levels, &sql);

	if (status)
		return nm_fail_memory(err);
	status = nm_profile_query(profile, sql, &rows, err);
	free(sql);
	if (!status)
		nm_rows_bind_text(rows, 1, selection->request.process);
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const struct sums sums = {.chained = nm_rows_real(rows, 1),
					  .together = nm_rows_real(rows, 2),
					  .foreseen = nm_rows_real(rows, 3),
					  .walks = nm_rows_real(rows, 4),
					  .chained_walks = nm_rows_real(rows, 5),
					  .plain = nm_rows_real(rows, 6),
					  .conflicting = nm_rows_real(rows, 7),
					  .written = nm_rows_real(rows, 8)};
		const struct nm_level *level = nm_levels_named(&selection->levels, nm_rows_text(rows, 0));
		const double before = ret->of[NM_LIKELY];

		add_waits(&selection->levels, level, &sums, ret);
		if (ret->of[NM_LIKELY] - before > most) {
			most = ret->of[NM_LIKELY] - before;
			*ret_level = level->name;
		}
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

/* instructions: without repetitions of string instructions. */
static int read_numbers(struct nm_profile *profile, const struct nm_selection *selection,
			int64_t *ret_instructions, int64_t *ret_threads, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    selection->has_repeated
		? "SELECT (SELECT sum(instructions - repeated) FROM processes WHERE ?1 IS NULL OR process = ?1), " THREADS
		: "SELECT (SELECT sum(instructions) FROM processes WHERE ?1 IS NULL OR process = ?1), " THREADS,
	    &rows, err);

	if (!status)
		nm_rows_bind_text(rows, 1, selection->request.process);
	if (!status && (status = nm_rows_next(rows, err)) > 0) {
		*ret_instructions = nm_rows_integer(rows, 0);
		*ret_threads = nm_rows_integer(rows, 1);
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

/* Of levels with a prefetcher the profile does not tell whose prefetches theirs are. */
static int read_cover(struct nm_profile *profile, const struct nm_selection *selection, struct nm_verdict *v,
		      struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    "SELECT 100.0 * p.useful / nullif(p.useful + l.misses, 0), 100.0 * p.late / nullif(p.useful, 0) FROM "
	    "(SELECT sum(useful) AS useful, sum(late) AS late FROM prefetches WHERE level = ?2 AND (?1 IS NULL OR "
	    "process = ?1)) p, (SELECT sum(read_misses + write_misses) AS misses, max(prefetch) AS prefetch FROM "
	    "levels WHERE level = ?2 AND (?1 IS NULL OR process = ?1)) l WHERE l.prefetch IS NULL",
	    &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, selection->request.process);
		nm_rows_bind_text(rows, 2, v->first);
	}
	if (!status && (status = nm_rows_next(rows, err)) > 0) {
		v->covered = nm_rows_real(rows, 0);
		v->late = nm_rows_real(rows, 1);
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

int nm_verdict_make(struct nm_profile *profile, const struct nm_selection *selection,
		    struct nm_verdict *ret_verdict, struct nm_error *err)
{
	struct nm_verdict v = {.foresees = selection->levels.foresees,
			       .first = first_level(&selection->levels)->name};
	struct waits waits = {.of = {0}};
	int64_t count = 0;
	int status = read_numbers(profile, selection, &count, &v.threads, err);
	const double instructions = (double)count;

	if (!status)
		status = read_waits(profile, selection, &waits, &v.level, err);
	if (!status)
		status = read_cover(profile, selection, &v, err);
	v.known = count > 0;
	v.cycles = v.known && v.foresees
		       ? waits.of[NM_LIKELY] + instructions * nm_waiting[NM_LIKELY].per_instruction
		       : 0;
	v.share = share(&waits, instructions, NM_LIKELY);
	v.low = share(&waits, instructions, NM_LEAST);
	v.high = share(&waits, instructions, NM_MOST);
	*ret_verdict = v;
	return status;
}

void nm_verdict_write(const struct nm_verdict *v, FILE *out)
{
	if (!v->known) {
		fputs("unknown: no instructions were counted", out);
		return;
	}
	if (!nm_verdict_is_bound(v))
		fputs("not memory-bound: ", out);
	if (v->foresees)
		fprintf(out, "about %.0f %% of the run (%.0f to %.0f %%) is memory stall", v->share, v->low,
			v->high);
	else
		fprintf(out, "up to %.0f %% of the run is memory stall", v->high);
	if (nm_verdict_is_bound(v) && v->level)
		fprintf(out, ", mostly %s misses", v->level);
	if (!v->foresees)
		fputs(" (prefetching not modelled)", out);
	if (v->covered >= NM_COVER_FROM) {
		fprintf(out, "; the program's prefetches save %.0f %% of the misses of %s", v->covered,
			v->first);
		if (v->late >= NM_COVER_FROM)
			fprintf(out, ", %.0f %% of these late", v->late);
	}
}
