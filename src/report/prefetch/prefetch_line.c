/* SPDX-License-Identifier: MIT
 *
 * prefetch_line.c - see prefetch_report.h: a line's loads, what prefetches of them save, and scaled caches.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "name_match.h"
#include "prefetch_report.h"

enum {
	PART = 10,        /* of the line's misses, that a load must have */
	INSTRUCTIONS = 2, /* of a prefetch */
	NEARLY = 50,      /* of what the best distance saves, that another may save less */
};

#define FIRST_LEVEL \
	"(SELECT level FROM levels WHERE coalesce(side, '') <> 'instruction' ORDER BY position LIMIT 1)"
#define AT_LINE " FROM instructions WHERE level = " FIRST_LEVEL " AND line = ?1 AND file "

/* ---- the loads ---- */

/* A text of a row that outlives it; NULL stays NULL. */
static int keep_text(struct nm_prefetch_line *l, const struct nm_rows *rows, unsigned column,
		     const char **ret)
{
	const char *text = nm_rows_text(rows, column);

	*ret = text ? nm_intern(&l->pool, text) : NULL;
	return text && !*ret ? NM_ENOMEM : 0;
}

static int take_load(struct nm_prefetch_line *l, const struct nm_rows *rows)
{
	struct nm_prefetch_load load = {.address = (uint64_t)nm_rows_integer(rows, 1),
					.misses = nm_rows_bounded(rows, 4)};

	return keep_text(l, rows, 0, &load.module) || keep_text(l, rows, 2, &load.function) ||
		       keep_text(l, rows, 3, &load.object) || nm_vec_push(&l->loads, load)
		   ? NM_ENOMEM
		   : 0;
}

/* An instruction's rows become one, with the object of the row that misses most. */
static const char loads_sql[] =
    "SELECT module, address, function, object, sum(read_misses), max(read_misses)" AT_LINE
    "%s ?2 GROUP BY module, address HAVING sum(reads) > 0 ORDER BY 5 DESC, address";

static int load_loads(struct nm_prefetch_line *l, struct nm_profile *profile,
		      const struct nm_name_pattern *file, const char *typed, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	char sql[1024];
	int status;

	snprintf(sql, sizeof sql, loads_sql, file->operator_);
	status = nm_profile_query(profile, sql, &rows, err);
	if (!status) {
		nm_rows_bind_integer(rows, 1, l->line);
		nm_rows_bind_text(rows, 2, file->pattern);
	}
	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = take_load(l, rows) ? nm_fail_memory(err) : 0;
	nm_rows_free(rows);
	if (!status && !l->loads.count)
		return nm_fail(err, NM_EINVAL, "line %" PRId64 " of %s loads nothing (nearmiss annotate %s)",
			       l->line, typed, typed);
	return status;
}

static void choose_loads(struct nm_prefetch_line *l)
{
	int64_t misses = 0;

	for (size_t i = 0; i < l->loads.count; i++)
		misses += l->loads.at[i].misses;
	for (size_t i = 0; i < l->loads.count; i++)
		l->loads.at[i].is_chosen = l->loads.at[i].misses * PART >= misses;
}

/* ---- kinds of loads ---- */

struct kinds_sums {
	double loads, covered, dependent;
};

static struct nm_prefetch_kinds kinds_of(struct kinds_sums sums)
{
	return sums.loads > 0 ? (struct nm_prefetch_kinds){.dependent = sums.dependent / sums.loads,
							   .covered = sums.covered / sums.loads}
			      : (struct nm_prefetch_kinds){0};
}

/* Whether a row (module, address) is one of the loads that are prefetched. */
static int is_own(const struct nm_prefetch_line *l, const struct nm_rows *rows)
{
	const char *module = nm_rows_text(rows, 0);

	for (size_t i = 0; i < l->loads.count; i++) {
		const struct nm_prefetch_load *load = &l->loads.at[i];

		if (load->is_chosen && load->address == (uint64_t)nm_rows_integer(rows, 1) &&
		    (module && load->module ? !strcmp(module, load->module) : !module && !load->module))
			return 1;
	}
	return 0;
}

static int load_kinds(struct nm_prefetch_line *l, struct nm_profile *profile, struct nm_error *err)
{
	struct kinds_sums own = {0}, others = {0};
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    "SELECT module, address, sum(loads), sum(covered), sum(dependent) FROM instructions WHERE level = " FIRST_LEVEL
	    " GROUP BY module, address",
	    &rows, err);

	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		struct kinds_sums *to = is_own(l, rows) ? &own : &others;

		to->loads += (double)nm_rows_bounded(rows, 2);
		to->covered += (double)nm_rows_bounded(rows, 3);
		to->dependent += (double)nm_rows_bounded(rows, 4);
		status = 0;
	}
	nm_rows_free(rows);
	l->own = kinds_of(own);
	l->others = kinds_of(others);
	return status;
}

static int load_instructions(struct nm_prefetch_line *l, struct nm_profile *profile, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status =
	    nm_profile_query(profile, "SELECT sum(instructions), sum(refs) FROM processes", &rows, err);

	if (!status)
		status = nm_rows_next(rows, err);
	if (status > 0) {
		l->instructions = (double)nm_rows_bounded(rows, 0);
		l->pace = NM_CYCLES_PER_INSTRUCTION *
			  fmax(l->instructions / fmax((double)nm_rows_bounded(rows, 1), 1), 1);
	}
	nm_rows_free(rows);
	return status < 0 ? status : 0;
}

int nm_prefetch_line_find(struct nm_prefetch_line *l, struct nm_profile *profile, const char *file,
			  int64_t line, struct nm_error *err)
{
	struct nm_name_pattern pattern = {NULL, NULL};
	int status = nm_match_name(profile, "file", file,
				   "SELECT DISTINCT file AS name FROM instructions WHERE file IS NOT NULL", 1,
				   &pattern, err);

	l->line = line;
	if (!status)
		status = load_loads(l, profile, &pattern, file, err);
	if (!status) {
		choose_loads(l);
		status = nm_levels_load(&l->levels, profile, NULL, err);
	}
	if (!status)
		status = load_kinds(l, profile, err);
	if (!status)
		status = load_instructions(l, profile, err);
	nm_name_pattern_done(&pattern);
	return status;
}

void nm_prefetch_line_done(struct nm_prefetch_line *l)
{
	nm_levels_done(&l->levels);
	nm_strings_done(&l->pool);
	nm_vec_free(&l->loads);
}

void nm_prefetch_line_latencies(const struct nm_prefetch_line *l, struct nm_machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++) {
		const struct nm_level *level = nm_levels_named(&l->levels, machine->levels[i].name);

		if (level)
			machine->levels[i].latency = (uint32_t)level->latency;
	}
	machine->memory_latency = (uint32_t)l->levels.memory;
}

struct nm_machine nm_prefetch_line_paced(const struct nm_prefetch_line *l, const struct nm_machine *machine)
{
	struct nm_machine paced = *machine;

	for (unsigned i = 0; i < paced.count; i++)
		paced.levels[i].latency = (uint32_t)lround(paced.levels[i].latency / l->pace);
	paced.memory_latency = (uint32_t)lround(paced.memory_latency / l->pace);
	return paced;
}

/* ---- cycles ---- */

/* What a reference waits, on average of the kinds. */
static double wait_of(const struct nm_prefetch_line *l, struct nm_prefetch_kinds kinds, double latency)
{
	const struct nm_waits w = nm_waits_of(NM_LIKELY, latency);

	if (!l->levels.has_covered)
		return latency;
	return kinds.dependent * w.dependent + kinds.covered * w.covered +
	       (1 - kinds.dependent - kinds.covered) * w.together;
}

static double waits_of(const struct nm_prefetch_line *l, const struct nm_machine *machine,
		       const struct nm_prefetch_sums *sums)
{
	const unsigned last = machine->count - 1;
	double cycles = 0;

	for (unsigned share = 0; share < NM_PREFETCH_SHARES; share++) {
		const struct nm_prefetch_kinds kinds = share == NM_OF_LOADS ? l->own : l->others;
		const uint64_t *misses = sums->misses[share];

		for (unsigned i = 1; i <= last; i++)
			cycles += ((double)misses[i - 1] - (double)misses[i]) *
				  wait_of(l, kinds, machine->levels[i].latency);
		cycles += (double)misses[last] * wait_of(l, kinds, machine->memory_latency);
	}
	for (unsigned depth = 1; depth <= machine->count; depth++) {
		const double late = (double)sums->counts.late[depth], rest = (double)sums->counts.rest[depth];

		if (late)
			cycles += late * wait_of(l, l->own, l->pace * rest / late);
	}
	return cycles;
}

double nm_prefetch_run_cycles(const struct nm_prefetch_line *l, const struct nm_prefetch_result *r)
{
	return l->instructions * NM_CYCLES_PER_INSTRUCTION + waits_of(l, r->machine, r->before);
}

double nm_prefetch_saves(const struct nm_prefetch_line *l, const struct nm_prefetch_result *r)
{
	return waits_of(l, r->machine, r->before) - waits_of(l, r->machine, r->sums) -
	       INSTRUCTIONS * NM_CYCLES_PER_INSTRUCTION * (double)r->sums->counts.prefetches;
}

unsigned nm_prefetch_best(const struct nm_prefetch_line *l, const struct nm_prefetch_result *distances,
			  unsigned count)
{
	double most = -INFINITY;
	unsigned best = 0;

	for (unsigned i = 0; i < count; i++)
		most = fmax(most, nm_prefetch_saves(l, &distances[i]));
	while (nm_prefetch_saves(l, &distances[best]) < most - fabs(most) / NEARLY)
		best++;
	assert(best < count);
	return best;
}

/* ---- scaled caches ---- */

struct nm_machine nm_prefetch_scaled(const struct nm_machine *machine, int exponent)
{
	struct nm_machine scaled = *machine;

	for (unsigned i = 1; i < machine->count; i++) {
		struct nm_level_spec *l = &scaled.levels[i];
		const uint64_t least = (l[-1].size - 1) / (l->ways * l->line) + 1,
			       sets = exponent < 0 ? l->sets >> -exponent : l->sets << exponent;

		l->sets = sets > least ? sets : least;
		l->size = l->sets * l->ways * l->line;
	}
	return scaled;
}

/* Whether the footprint, and as much again, fits level i, but hardly a half of it the one before; of the number of
 * levels: it fits none. */
static int fits_level(const struct nm_machine *machine, unsigned i, uint64_t footprint)
{
	return (i == machine->count || machine->levels[i].size >= 2 * footprint) &&
	       machine->levels[i - 1].size * (i == machine->count ? 4 : 2) <= footprint;
}

/* The exponent, nearest to 0, with which that is so; 0 also where there is none. */
static int exponent_of(const struct nm_machine *machine, unsigned i, uint64_t footprint)
{
	enum { MOST = 12 };

	for (int e = 0; e <= MOST; e++)
		for (int sign = 1; sign >= -1; sign -= 2) {
			const struct nm_machine scaled = nm_prefetch_scaled(machine, sign * e);

			if (fits_level(&scaled, i, footprint))
				return sign * e;
		}
	return 0;
}

unsigned nm_prefetch_scales(const struct nm_machine *machine, uint64_t footprint,
			    int ret_exponents[NM_PREFETCH_SCALES])
{
	unsigned count = 1;

	ret_exponents[0] = 0;
	for (unsigned i = 1; i <= machine->count && count < NM_PREFETCH_SCALES; i++) {
		const int e = exponent_of(machine, i, footprint);
		unsigned at = count;

		if (!e)
			continue;
		for (; at > 0 && ret_exponents[at - 1] < e; at--)
			ret_exponents[at] = ret_exponents[at - 1];
		ret_exponents[at] = e;
		count++;
	}
	return count;
}
