/* SPDX-License-Identifier: MIT */
#include "facts.h"

#include <stdlib.h>
#include <string.h>

#include "level_cube.h"
#include "selection.h"

const char *const nm_diff_metric_names[] = {"references", "misses", "loads", "cycles", NULL};
const char *const nm_diff_key_names[] = {"process", "level",  "class", "function", "file",
					 "line",    "object", "type",  "field",    NULL};

enum { CLASSES = 4 };
static const char *const classes[CLASSES] = {"cold", "capacity", "conflict", "coherence"};

/* Where keys come from. Those that are not always there are told apart by only on request; the level is charged, and
 * the class is one of the sums. */
static const struct {
	const char *from;
	int is_number, is_always;
} key_sources[NM_DIFF_KEYS] = {[NM_DIFF_PROCESS] = {.from = "counts.process"},
			       [NM_DIFF_FUNCTION] = {.from = "counts.function", .is_always = 1},
			       [NM_DIFF_FILE] = {.from = "counts.file", .is_always = 1},
			       [NM_DIFF_LINE] = {.from = "counts.line", .is_number = 1, .is_always = 1},
			       [NM_DIFF_OBJECT] = {.from = "counts.object", .is_always = 1},
			       [NM_DIFF_TYPE] = {.from = "o.type"},
			       [NM_DIFF_FIELD] = {.from = "counts.field"}};

/* The keys of the cube; ret_order: which they are. Returns how many. */
static unsigned list_keys(const char *has, struct nm_level_key ret_keys[NM_DIFF_KEYS],
			  unsigned ret_order[NM_DIFF_KEYS])
{
	unsigned count = 0;

	for (unsigned key = 0; key < NM_DIFF_KEYS; key++) {
		if (!key_sources[key].from || (!has[key] && !key_sources[key].is_always))
			continue;
		ret_keys[count] = (struct nm_level_key){nm_diff_key_names[key], key_sources[key].from,
							key_sources[key].is_number};
		ret_order[count++] = key;
	}
	return count;
}

static int take_names(struct nm_diff_names *names, const nm_key *keys, const unsigned *order, unsigned count,
		      struct nm_strings *pool)
{
	for (unsigned k = 0; k < count; k++) {
		const unsigned key = order[k];

		if (!keys[k])
			continue;
		if (key == NM_DIFF_LINE)
			names->line = nm_key_number(keys[k]);
		else if (!(names->text[key] = nm_intern(pool, nm_key_text(keys[k]))))
			return NM_ENOMEM;
	}
	return 0;
}

/* A fact for each class that the row has misses of. */
static int push_classes(struct nm_diff_side *side, struct nm_diff_fact *fact,
			const struct nm_metric_sums *sums, struct nm_strings *pool)
{
	const int64_t lines[CLASSES] = {sums->cold, sums->capacity, sums->conflict, sums->coherence};

	for (unsigned c = 0; c < CLASSES; c++) {
		memset(fact->sums, 0, sizeof fact->sums);
		fact->sums[NM_DIFF_MISSES] = fact->sums[NM_DIFF_LOADS] = nm_bounded(lines[c]);
		fact->own.text[NM_DIFF_CLASS] = nm_intern(pool, classes[c]);
		fact->common = fact->own;
		if (!fact->own.text[NM_DIFF_CLASS] || nm_vec_push(&side->facts, *fact))
			return NM_ENOMEM;
		fact->executed = 0;
	}
	return 0;
}

/* A fact has its names; `row` has what is charged to the level. */
static int take_row(struct nm_diff_side *side, struct nm_diff_fact *fact, const struct nm_metric_row *row,
		    int is_asked, const char *has, struct nm_strings *pool)
{
	const struct nm_metric_sums *s = &row->sums;

	fact->sums[NM_DIFF_REFERENCES] = nm_bounded(s->reads + s->writes);
	fact->sums[NM_DIFF_MISSES] = nm_bounded(s->read_misses + s->write_misses);
	fact->sums[NM_DIFF_LOADS] = nm_bounded(s->loads);
	fact->sums[NM_DIFF_CYCLES] = row->cycles;
	for (unsigned m = 0; m < NM_DIFF_METRICS && is_asked; m++)
		side->totals[m] = nm_sum_bounded(side->totals[m], fact->sums[m]);
	fact->executed = is_asked ? fact->sums[NM_DIFF_REFERENCES] : 0;
	if (has[NM_DIFF_CLASS])
		return push_classes(side, fact, s, pool);
	fact->common = fact->own;
	return nm_vec_push(&side->facts, *fact);
}

static int take_level(struct nm_diff_side *side, const struct nm_level_cube *cube, const char *level,
		      const unsigned *order, const char *has, struct nm_strings *pool)
{
	const unsigned count = cube->cube.key_count - NM_CUBE_ASKED;
	struct nm_charged charged;
	unsigned by[NM_CUBE_KEYS];
	size_t *rows;
	int status;

	for (unsigned k = 0; k < count; k++)
		by[k] = NM_CUBE_ASKED + k;
	if (nm_charge(&charged, cube, &side->selection, level, by, count, NULL, 0))
		return NM_ENOMEM;
	rows = nm_cube_order(&charged.cube);
	status = rows ? 0 : NM_ENOMEM;
	for (size_t i = 0; i < charged.cube.row_count && !status; i++) {
		const struct nm_metric_row row = nm_charged_row(&charged, rows[i]);
		struct nm_diff_fact fact = {.executed = 0};

		if (!nm_cube_sums(&charged.cube, rows[i])[NM_CHARGED_OWN])
			continue;
		status = take_names(&fact.own, nm_cube_keys(&charged.cube, rows[i]), order, count, pool);
		if (has[NM_DIFF_LEVEL] && !(fact.own.text[NM_DIFF_LEVEL] = nm_intern(pool, level)))
			status = NM_ENOMEM;
		if (!status)
			status = take_row(side, &fact, &row, !strcmp(level, side->selection.request.level),
					  has, pool);
	}
	free(rows);
	nm_charged_done(&charged);
	return status;
}

/* One level, or all that are asked for. */
static int load_facts(struct nm_diff_side *side, const char *level, const char *has, struct nm_strings *pool,
		      struct nm_error *err)
{
	const struct nm_levels *levels = &side->selection.levels;
	struct nm_level_key keys[NM_DIFF_KEYS];
	unsigned order[NM_DIFF_KEYS];
	const unsigned count = list_keys(has, keys, order);
	struct nm_level_cube cube;
	int status = nm_level_cube_load(
	    &cube, side->profile,
	    &(struct nm_level_cube_request){.selection = &side->selection,
					    .level = level,
					    .keys = keys,
					    .key_count = count,
					    .view = has[NM_DIFF_FIELD] ? "field_counts" : "counts",
					    .has_types = has[NM_DIFF_TYPE]},
	    err);

	for (unsigned i = 0; !status && i < levels->count; i++)
		if ((!level || !strcmp(level, levels->at[i].name)) &&
		    take_level(side, &cube, levels->at[i].name, order, has, pool))
			status = nm_fail_memory(err);
	nm_level_cube_done(&cube);
	return status;
}

/* What was run, on which machine, with what pinned. */
static int load_run(struct nm_diff_side *side, struct nm_strings *pool, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    side->profile,
	    "SELECT (SELECT command FROM processes ORDER BY path LIMIT 1), "
	    "coalesce((SELECT value FROM info WHERE key = 'machine_spec'), ''), "
	    "(SELECT sum(instructions) FROM processes WHERE ?1 IS NULL OR process = ?1), "
	    "coalesce((SELECT group_concat(key || '=' || value, ';') FROM (SELECT key, value FROM info "
	    "WHERE key LIKE 'hermetic!_%' ESCAPE '!' AND key != 'hermetic_unpinned' ORDER BY key)), '')",
	    &rows, err);

	if (!status) {
		nm_rows_bind_text(rows, 1, side->selection.request.process);
		status = nm_rows_next(rows, err);
	}
	if (status > 0) {
		side->command = nm_intern(pool, nm_rows_text(rows, 0) ? nm_rows_text(rows, 0) : "");
		side->machine = nm_intern(pool, nm_rows_text(rows, 1));
		side->instructions = nm_rows_bounded(rows, 2);
		side->pinned = nm_intern(pool, nm_rows_text(rows, 3));
		status = side->command && side->machine && side->pinned ? 0 : nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return status;
}

static int load_misses(struct nm_diff_side *side, struct nm_error *err)
{
	const struct nm_levels *levels = &side->selection.levels;
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(side->profile,
				      "SELECT level, sum(read_misses + write_misses) FROM levels "
				      "WHERE ?1 IS NULL OR process = ?1 GROUP BY level",
				      &rows, err);

	if (!status)
		nm_rows_bind_text(rows, 1, side->selection.request.process);
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const char *name = nm_rows_text(rows, 0);

		for (unsigned i = 0; name && i < levels->count; i++)
			if (!strcmp(levels->at[i].name, name))
				side->misses[i] = nm_rows_bounded(rows, 1);
		status = 0;
	}
	nm_rows_free(rows);
	return status;
}

int nm_diff_side_load(struct nm_diff_side *side, const struct nm_diff_request *request, const char *has,
		      struct nm_strings *pool, struct nm_error *err)
{
	const struct nm_report_request r = {.level = request->level,
					    .process = request->process,
					    .frame = request->frame,
					    .part = request->part};
	int status = nm_select_counts(side->profile, err);

	if (!status)
		status = nm_selection_make(side->profile, &r, &side->selection, err);
	if (!status)
		status = load_run(side, pool, err);
	if (!status)
		status = load_misses(side, err);
	if (!status)
		status = load_facts(side, has[NM_DIFF_LEVEL] ? request->level : side->selection.request.level,
				    has, pool, err);
	return status;
}

void nm_diff_side_done(struct nm_diff_side *side)
{
	nm_vec_free(&side->facts);
	nm_selection_done(&side->selection);
}
