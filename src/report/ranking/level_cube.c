/* SPDX-License-Identifier: MIT */
#include "level_cube.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "memstream.h"

/* ---- reading ------------------------------------------------------------------------------------ */

static void write_levels(const struct nm_levels *levels, const char *level, FILE *sql)
{
	const struct nm_level *of = nm_levels_named(levels, level);
	struct nm_charge charge;
	const char *comma = "";

	assert(of);
	fputs(" AND counts.level IN (", sql);
	for (unsigned j = 0; j < levels->count; j++) {
		if (!nm_levels_charge(levels, (unsigned)(of - levels->at), j, &charge))
			continue;
		fputs(comma, sql);
		nm_sql_text(levels->at[j].name, sql);
		comma = ", ";
	}
	fputc(')', sql);
}

static void write_selection(const struct nm_selection *s, FILE *sql)
{
	if (s->request.process)
		fputs(" AND counts.process = ?2", sql);
	if (s->request.thread)
		fputs(" AND counts.thread = ?3", sql);
	if (s->object.pattern)
		fprintf(sql, " AND counts.object %s ?4", s->object.operator_);
	if (s->function.pattern)
		fprintf(sql, " AND counts.function %s ?5", s->function.operator_);
	if (s->file.pattern)
		fprintf(sql, " AND counts.file %s ?6", s->file.operator_);
}

static char *write_query(const struct nm_level_cube_request *r)
{
	const struct nm_levels *levels = &r->selection->levels;
	char *text = NULL;
	FILE *sql = nm_memstream_open(&text, NULL);

	if (!sql)
		return NULL;
	fputs("WITH x AS MATERIALIZED (SELECT object FROM objects WHERE kind = 'code')", sql);
	if (r->has_types)
		fputs(", o AS MATERIALIZED (SELECT process, object, type FROM objects)", sql);
	if (r->apart)
		fprintf(sql, ", z AS MATERIALIZED (SELECT place, %s AS apart FROM places WHERE apart)",
			r->apart);
	fprintf(sql, " SELECT counts.level, %s", nm_levels_split(levels) ? "counts.object IN x" : "0");
	for (unsigned k = 0; k < r->key_count; k++)
		fprintf(sql, ", %s", r->keys[k].from);
#define NM_COUNT(name) fputs(", counts." #name, sql);
#include "counts.def"
#undef NM_COUNT
	fprintf(sql, " FROM %s AS counts%s WHERE 1", r->view,
		r->has_types ? " LEFT JOIN o ON o.process = counts.process AND o.object = counts.object"
			     : "");
	if (r->level && !r->selection->machine_levels)
		write_levels(levels, r->level, sql);
	write_selection(r->selection, sql);
	if (r->condition)
		fprintf(sql, " AND (%s)", r->condition);
	return nm_memstream_close(sql, &text) ? NULL : text;
}

/* The level by its name, as a key; 0: of no level of the machine. */
static nm_key level_key(const struct nm_levels *levels, const char *name)
{
	for (unsigned j = 0; name && j < levels->count; j++)
		if (!strcmp(levels->at[j].name, name))
			return j + 1;
	return 0;
}

int nm_level_cube_add(struct nm_level_cube *cube, const nm_key *keys, const struct nm_metric_sums *sums)
{
	int64_t more[NM_COUNTS], *total = nm_cube_at(&cube->cube, keys);

	assert(keys && sums);
	if (!total || nm_vec_reach(&cube->dependent_walks, cube->cube.row_count))
		return NM_ENOMEM;
	memcpy(more, sums, sizeof more);
	for (unsigned c = 0; c < NM_COUNTS; c++)
		total[c] = nm_sum_bounded(total[c], more[c]);
	cube->dependent_walks.at[(size_t)(total - cube->cube.sums) / NM_COUNTS] += nm_dependent_walks(sums);
	return 0;
}

static int read_rows(struct nm_level_cube *cube, const struct nm_levels *levels, struct nm_rows *rows,
		     struct nm_error *err)
{
	int status;

	while ((status = nm_rows_next(rows, err)) > 0) {
		const struct nm_metric_sums sums = nm_sums_of_row(rows, cube->cube.key_count);
		nm_key keys[NM_CUBE_KEYS];

		if (nm_cube_read_keys(&cube->cube, &cube->names, rows, keys))
			return nm_fail_memory(err);
		keys[NM_CUBE_LEVEL] = level_key(levels, nm_rows_text(rows, NM_CUBE_LEVEL));
		if (keys[NM_CUBE_LEVEL] && nm_level_cube_add(cube, keys, &sums))
			return nm_fail_memory(err);
	}
	return status;
}

static void bind_selection(struct nm_rows *rows, const struct nm_selection *s)
{
	nm_rows_bind_text(rows, 2, s->request.process);
	nm_rows_bind_integer(rows, 3, s->request.thread);
	nm_rows_bind_text(rows, 4, s->object.pattern);
	nm_rows_bind_text(rows, 5, s->function.pattern);
	nm_rows_bind_text(rows, 6, s->file.pattern);
}

int nm_level_cube_load(struct nm_level_cube *cube, struct nm_profile *profile,
		       const struct nm_level_cube_request *request, struct nm_error *err)
{
	const char *names[NM_CUBE_KEYS + 1] = {"level", "code"};
	struct nm_rows *rows = NULL;
	char *sql = write_query(request);
	int status = sql ? nm_profile_query(profile, sql, &rows, err) : nm_fail_memory(err);

	assert(NM_CUBE_ASKED + request->key_count <= NM_CUBE_KEYS);
	for (unsigned k = 0; k < request->key_count; k++)
		names[NM_CUBE_ASKED + k] = request->keys[k].name;
	*cube = (struct nm_level_cube){.cube = nm_cube_of(names, NM_COUNTS), .names = {.are_raw = 1}};
	cube->cube.numbers = 1u << NM_CUBE_LEVEL | 1u << NM_CUBE_CODE;
	for (unsigned k = 0; k < request->key_count; k++)
		cube->cube.numbers |= (unsigned)request->keys[k].is_number << (NM_CUBE_ASKED + k);
	if (!status) {
		bind_selection(rows, request->selection);
		status = read_rows(cube, &request->selection->levels, rows, err);
	}
	nm_rows_free(rows);
	free(sql);
	if (status)
		nm_level_cube_done(cube);
	return status;
}

void nm_level_cube_done(struct nm_level_cube *cube)
{
	nm_cube_done(&cube->cube);
	nm_vec_free(&cube->dependent_walks);
	nm_cube_names_done(&cube->names);
}

/* ---- what misses are charged with ----------------------------------------------------------------- */

static int is_on_side(const nm_key *keys, enum nm_charged_side side)
{
	return side == NM_CHARGED_BOTH ||
	       (side == NM_CHARGED_CODE) == (nm_key_number(keys[NM_CUBE_CODE]) > 0);
}

int nm_is_charged(const nm_key *keys, unsigned source, enum nm_charged_side side)
{
	assert(source < NM_REPORT_LEVELS);
	return keys[NM_CUBE_LEVEL] == source + 1 && is_on_side(keys, side);
}

/* What is charged with the rows of one level. */
struct charging {
	struct nm_charge charge;
	int applies;                 /* `charge` is of this level */
	int is_last;                 /* it is selection.last */
	int machine;                 /* its place among selection.machines, or -1 */
	enum nm_charged_side beside; /* what counts for that */
	int64_t unit;                /* bytes of a fill, where lines are prefetched too */
};

static void find_charging(struct charging *ret, const struct nm_selection *s, unsigned i, unsigned j)
{
	const struct nm_levels *levels = &s->levels;
	const struct nm_level *source = &levels->at[j];

	*ret = (struct charging){.machine = -1, .unit = source->unit};
	ret->applies = nm_levels_charge(levels, i, j, &ret->charge);
	ret->is_last = ret->applies && source == s->last;
	if (!ret->applies && nm_machine_same(source->name, levels->at[i].name))
		return;
	for (unsigned m = 0; m < s->machine_levels; m++)
		if (s->machines[m].level == source)
			ret->machine = (int)m;
	ret->beside = ret->applies ? ret->charge.side
		      : !nm_levels_split(levels) || source->side != NM_LEVEL_UNIFIED ||
			      levels->at[i].side == NM_LEVEL_UNIFIED
			  ? NM_CHARGED_BOTH
		      : levels->at[i].side == NM_LEVEL_CODE ? NM_CHARGED_CODE
							    : NM_CHARGED_DATA;
}

static void add_own(int64_t *to, const struct nm_metric_sums *sums, int64_t unit)
{
	int64_t more[NM_COUNTS];

	memcpy(more, sums, sizeof more);
	to[NM_CHARGED_OWN]++;
	to[NM_CHARGED_LINES] =
	    nm_sum_bounded(to[NM_CHARGED_LINES], unit ? sums->loaded_bytes / unit : sums->loads);
	for (unsigned c = 0; c < NM_COUNTS; c++)
		to[NM_CHARGED_COUNTS + c] = nm_sum_bounded(to[NM_CHARGED_COUNTS + c], more[c]);
}

static int add_row(struct nm_charged *to, const nm_key *keys, const struct charging *c,
		   const struct nm_metric_sums *sums, double dependent_walks)
{
	const int64_t misses = sums->read_misses + sums->write_misses;
	int64_t *total = nm_cube_at(&to->cube, keys);

	if (!total || nm_vec_reach(&to->cycles, to->cube.row_count))
		return NM_ENOMEM;
	if (c->machine >= 0) {
		int64_t *beside = &total[NM_CHARGED_MACHINES + c->machine];

		*beside = nm_sum_bounded(*beside, misses);
	}
	if (!c->applies)
		return 0;
	if (c->charge.is_own)
		add_own(total, sums, c->unit);
	if (c->is_last)
		total[NM_CHARGED_LAST_MISSES] = nm_sum_bounded(total[NM_CHARGED_LAST_MISSES], misses);
	to->cycles.at[(size_t)(total - to->cube.sums) / to->cube.sum_count] +=
	    nm_charge_cycles(&c->charge, sums, dependent_walks);
	return 0;
}

/* What rows there are that meet the conditions, charged to level i. */
static int charge_level(struct nm_charged *to, const struct nm_level_cube *from, const struct nm_selection *s,
			unsigned i, const unsigned *by, const struct nm_cube_condition *conditions,
			unsigned condition_count)
{
	struct charging of[NM_REPORT_LEVELS];
	int status = 0;

	for (unsigned j = 0; j < s->levels.count; j++)
		find_charging(&of[j], s, i, j);
	for (size_t row = 0; !status && row < from->cube.row_count; row++) {
		const nm_key *all = nm_cube_keys(&from->cube, row);
		const struct charging *c = &of[nm_key_number(all[NM_CUBE_LEVEL])];
		const struct nm_metric_sums sums = nm_cube_counts(&from->cube, row);
		nm_key keys[NM_CUBE_KEYS];

		if ((!c->applies && c->machine < 0) || !is_on_side(all, c->beside) ||
		    !nm_cube_meets(all, conditions, condition_count))
			continue;
		for (unsigned k = 0; k < to->cube.key_count; k++)
			keys[k] = by[k] == NM_CUBE_LEVEL ? i + 1 : all[by[k]];
		status = add_row(to, keys, c, &sums, from->dependent_walks.at[row]);
	}
	return status;
}

int nm_charge(struct nm_charged *ret, const struct nm_level_cube *from, const struct nm_selection *s,
	      const char *level, const unsigned *by, unsigned by_count,
	      const struct nm_cube_condition *conditions, unsigned condition_count)
{
	int status = 0;

	*ret = (struct nm_charged){
	    .cube = {.key_count = by_count, .sum_count = NM_CHARGED_MACHINES + s->machine_levels}};
	for (unsigned k = 0; k < by_count; k++) {
		assert(by[k] < from->cube.key_count);
		ret->cube.names[k] = from->cube.names[by[k]];
		ret->cube.numbers |= (from->cube.numbers >> by[k] & 1) << k;
	}
	for (unsigned i = 0; i < s->levels.count && !status; i++)
		if (!level || !strcmp(level, s->levels.at[i].name))
			status = charge_level(ret, from, s, i, by, conditions, condition_count);
	if (status)
		nm_charged_done(ret);
	return status;
}

void nm_charged_done(struct nm_charged *charged)
{
	nm_cube_done(&charged->cube);
	nm_vec_free(&charged->cycles);
}

struct nm_metric_row nm_charged_row(const struct nm_charged *charged, size_t row)
{
	const int64_t *sums = nm_cube_sums(&charged->cube, row);
	struct nm_metric_row ret = {.lines = sums[NM_CHARGED_LINES],
				    .last_misses = sums[NM_CHARGED_LAST_MISSES],
				    .cycles = (int64_t)fmax(-0x1p54, fmin(charged->cycles.at[row], 0x1p54))};

	memcpy(&ret.sums, &sums[NM_CHARGED_COUNTS], sizeof ret.sums);
	return ret;
}
