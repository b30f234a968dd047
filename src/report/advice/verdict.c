/* SPDX-License-Identifier: MIT
 *
 * Compares the estimated cycles of all misses of data (levels.h) with those that the instructions take
 * without misses. Both are rough, so that the verdict has a range: each end takes all figures of the model at
 * theirs. docs/cost.md says how often it is right.
 */
#include "verdict.h"

#include <assert.h>
#include <string.h>

#include "level_cube.h"
#include "machine.h"

/* Cycles that misses wait, in each case, and that dependent loads take without them; where nothing is covered, all
 * cases are the same. */
struct waits {
	double of[NM_CASES], first[NM_CASES];
};

/* What is summed of the counts of a level. */
struct sums {
	double dependent, together, covered; /* loads, by kind */
	double walks, dependent_walks;       /* page walks: all, and those of dependent loads */
	double plain;                        /* cycles, on a machine without prefetchers */
	double conflicting;                  /* the part of the loads that are conflicts */
	double written;                      /* lines that are written back */
};

enum { PAGE = 4096 /* bytes; a level with larger ways is looked up by places in memory */ };

static double share(const struct waits *waits, double instructions, enum nm_case which)
{
	const double w = waits->of[which];

	assert(which < NM_CASES);
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
		    s->plain + left * (s->dependent * each.dependent + s->together * each.together +
				       s->covered * each.covered + s->dependent_walks * each.dependent_walk +
				       (s->walks - s->dependent_walks) * each.walk +
				       s->written * each.covered * nm_waiting[c].written);
		if (level == first)
			waits->first[c] += s->dependent * nm_waiting[c].first;
	}
}

#define THREADS                                                                                        \
	"(SELECT max(n) FROM (SELECT count(*) AS n FROM (SELECT DISTINCT process, thread FROM counts " \
	"WHERE ?1 IS NULL OR process = ?1) GROUP BY process))"

/* The counts by level and, where code has levels of its own, by what is code. */
static int load_counts(struct nm_level_cube *cube, struct nm_profile *profile,
		       const struct nm_selection *selection, struct nm_error *err)
{
	const struct nm_selection all = {
	    .request = {.process = selection->request.process, .level = selection->request.level},
	    .levels = selection->levels};

	return nm_level_cube_load(
	    cube, profile,
	    &(struct nm_level_cube_request){
		.selection = &all, .level = first_level(&selection->levels)->name, .view = "counts"},
	    err);
}

/* The sums of the counts of a level that are charged to the first. */
static struct sums sum_level(const struct nm_level_cube *cube, unsigned level, const struct nm_charge *charge,
			     int has_covered)
{
	struct nm_metric_sums all = {0};
	struct sums s = {.plain = 0};

	for (size_t row = 0; row < cube->cube.row_count; row++) {
		const struct nm_metric_sums counts = nm_cube_counts(&cube->cube, row);

		if (!nm_is_charged(nm_cube_keys(&cube->cube, row), level, charge->side))
			continue;
		nm_sums_add(&all, &counts);
		s.dependent_walks += cube->dependent_walks.at[row];
	}
	if (has_covered) {
		s.dependent = (double)all.dependent;
		s.covered = (double)all.covered;
		s.together = (double)(all.loads - all.dependent - all.covered);
		s.walks = (double)all.page_walks;
	}
	s.plain =
	    (double)charge->hit * (double)(all.reads + all.writes - all.read_misses - all.write_misses) +
	    (double)charge->miss * (double)(all.read_misses + all.write_misses);
	s.conflicting = all.loads ? (double)all.conflict / (double)all.loads : 0;
	s.written = (double)all.writebacks;
	return s;
}

/* Adds up the waits of all levels, and names the one whose misses wait most. */
static int read_waits(struct nm_profile *profile, const struct nm_selection *selection, struct waits *ret,
		      const char **ret_level, struct nm_error *err)
{
	const struct nm_levels *levels = &selection->levels;
	const unsigned first = (unsigned)(first_level(levels) - levels->at);
	struct nm_level_cube own = {.cube = {.key_count = 0}};
	const struct nm_level_cube *cube = selection->pairs;
	struct nm_charge charge;
	double most = 0;
	int status = 0;

	if (!cube || selection->request.thread ||
	    strcmp(selection->request.level, levels->at[first].name) != 0) {
		status = load_counts(&own, profile, selection, err);
		cube = &own;
	}
	for (unsigned j = 0; j < levels->count && !status; j++) {
		const double before = ret->of[NM_LIKELY];
		struct sums sums;

		if (!nm_levels_charge(levels, first, j, &charge))
			continue;
		sums = sum_level(cube, j, &charge, levels->has_covered);
		add_waits(levels, &levels->at[j], &sums, ret);
		if (ret->of[NM_LIKELY] - before > most) {
			most = ret->of[NM_LIKELY] - before;
			*ret_level = levels->at[j].name;
		}
	}
	nm_level_cube_done(&own);
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
	struct nm_verdict v = {.has_covered = selection->levels.has_covered,
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
	v.cycles = v.known && v.has_covered
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
	if (v->has_covered)
		fprintf(out, "about %.0f %% of the run (%.0f to %.0f %%) is memory stall", v->share, v->low,
			v->high);
	else
		fprintf(out, "up to %.0f %% of the run is memory stall", v->high);
	if (nm_verdict_is_bound(v) && v->level)
		fprintf(out, ", mostly %s misses", v->level);
	if (!v->has_covered)
		fputs(" (prefetching not modelled)", out);
	if (v->covered >= NM_COVER_FROM) {
		fprintf(out, "; the program's prefetches save %.0f %% of the misses of %s", v->covered,
			v->first);
		if (v->late >= NM_COVER_FROM)
			fprintf(out, ", %.0f %% of these late", v->late);
	}
}
