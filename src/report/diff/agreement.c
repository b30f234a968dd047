/* SPDX-License-Identifier: MIT
 *
 * agreement.c - loads and lines up what agreement.h compares.
 */
#include "agreement.h"

#include <stdlib.h>
#include <string.h>

#include "diff_priv.h"
#include "match.h"
#include "ranked_rows.h"
#include "ranking.h"
#include "selection.h"

/* ---- what was sampled --------------------------------------------------------------------------- */

static int query_number(struct nm_profile *profile, const char *condition, struct nm_error *err)
{
	char sql[160];

	snprintf(sql, sizeof sql, "SELECT 1 FROM samples WHERE %s", condition);
	return nm_profile_has_row(profile, sql, err);
}

static int choose_compared(struct nm_agreement *a, struct nm_error *err)
{
	struct nm_profile *machine = a->sides[NM_MACHINE].profile;
	const int has_source = query_number(machine, "served IS NOT NULL", err),
		  has_stores = query_number(machine, "operation IN ('store', 'both')", err),
		  has_others = query_number(machine, "event NOT LIKE '%faults%'", err);

	if (has_source < 0 || has_stores < 0 || has_others < 0)
		return NM_EFORMAT;
	a->compared = has_source ? NM_COMPARED_MISSES : !has_others ? NM_COMPARED_TOUCHES : NM_COMPARED_TIME;
	a->loads_only = has_source && !has_stores;
	return 0;
}

static int take_texts(struct nm_agreement *a, struct nm_strings *pool, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(a->sides[NM_MACHINE].profile,
				      "SELECT (SELECT value FROM info WHERE key = 'sampled_events'), "
				      "(SELECT group_concat(value, ', ') FROM info WHERE key IN ('host', "
				      "'host_processor')), (SELECT value FROM info WHERE key = 'command')",
				      &rows, err);

	if (!status)
		status = nm_rows_next(rows, err);
	if (status > 0) {
		const char *text[3];

		for (unsigned i = 0; i < 3; i++)
			text[i] = nm_intern(pool, nm_rows_text(rows, i) ? nm_rows_text(rows, i) : "");
		a->events = text[0];
		a->host = text[1];
		a->sides[NM_MACHINE].command = text[2];
		status = text[0] && text[1] && text[2] ? 0 : nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return status;
}

/* The level that is compared. */
static int choose_level(struct nm_agreement *a, struct nm_error *err)
{
	enum { PAGE = 4096 };
	const struct nm_selection *s = &a->sides[NM_MODEL].selection;

	if (a->compared == NM_COMPARED_TIME)
		return 0;
	a->level = s->request.level;
	if (a->compared == NM_COMPARED_MISSES)
		return a->level[0] == 'L' && a->level[1] >= '1' && a->level[1] <= '3'
			   ? 0
			   : nm_fail(
				 err, NM_EINVAL,
				 "samples are of L1, L2 and L3, not of %s: name one of these with --level",
				 a->level);
	for (unsigned i = 0; !a->request->level && i < s->levels.count; i++)
		if (s->levels.at[i].line_size == PAGE && s->levels.at[i].side != NM_LEVEL_CODE) {
			a->level = s->levels.at[i].name;
			return 0;
		}
	return nm_levels_named(&s->levels, a->level)->line_size == PAGE
		   ? 0
		   : nm_fail(
			 err, NM_EINVAL,
			 "page faults are compared with the first touches of pages: simulate a TLB too, as with "
			 "--cache ...:tlb/L1=256K,4,4096");
}

/* ---- rows --------------------------------------------------------------------------------------- */

/* Adds rows of function, file, line, object and four sums, in the order of enum nm_diff_metric. */
static int add_facts(struct nm_diff_side *side, const char *sql, const char *process, struct nm_strings *pool,
		     struct nm_error *err)
{
	static const unsigned columns[] = {NM_DIFF_FUNCTION, NM_DIFF_FILE, NM_DIFF_LINE, NM_DIFF_OBJECT};
	enum { COLUMNS = sizeof columns / sizeof *columns };
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(side->profile, sql, &rows, err);

	if (!status)
		nm_rows_bind_text(rows, 1, process);
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		struct nm_diff_fact fact = {.executed = 0};

		status = 0;
		for (unsigned i = 0; i < COLUMNS; i++) {
			const char *text = columns[i] == NM_DIFF_LINE ? NULL : nm_rows_text(rows, i);

			if (columns[i] == NM_DIFF_LINE)
				fact.own.line = nm_rows_bounded(rows, i);
			else if (text && !(fact.own.text[columns[i]] = nm_intern(pool, text)))
				status = NM_ENOMEM;
		}
		for (unsigned m = 0; m < NM_DIFF_METRICS; m++)
			fact.sums[m] = nm_rows_bounded(rows, COLUMNS + m);
		fact.executed = fact.sums[NM_MODEL_COUNT] + fact.sums[NM_MACHINE_SAMPLES];
		fact.common = fact.own;
		if (status || nm_vec_push(&side->facts, fact))
			status = nm_fail_memory(err);
	}
	nm_rows_free(rows);
	return status;
}

/* Misses or first touches of the level, with conflicts; or the cycles that the facts hold already. */
static int load_model(struct nm_agreement *a, struct nm_strings *pool, struct nm_error *err)
{
	struct nm_diff_side *side = &a->sides[NM_MODEL];
	const char *count = a->compared == NM_COMPARED_TOUCHES ? "cold"
			    : a->loads_only                    ? "read_misses"
							       : "misses";
	struct nm_selection at_level = side->selection;
	char sql[480];
	int status;

	for (size_t i = 0; a->compared == NM_COMPARED_TIME && i < side->facts.count; i++) {
		struct nm_diff_fact *fact = &side->facts.at[i];
		const int64_t cycles = fact->sums[NM_DIFF_CYCLES];

		memset(fact->sums, 0, sizeof fact->sums);
		fact->sums[NM_MODEL_COUNT] = cycles;
	}
	if (a->compared == NM_COMPARED_TIME)
		return 0;
	nm_vec_free(&side->facts);
	at_level.request.level = a->level;
	status = nm_ranked_by(side->profile, &at_level, "function,line,object",
			      "misses,read_misses,cold,conflict", NULL, err);
	snprintf(sql, sizeof sql,
		 "SELECT function, file, line, object, conflict, %s, 0, 0 FROM " NM_RANKED
		 " WHERE %s > 0 AND object NOT IN (SELECT object FROM objects WHERE kind = 'code') "
		 "ORDER BY function, file, line, object",
		 count, count);
	return status ? status : add_facts(side, sql, NULL, pool, err);
}

/* The samples whose data did not come from the level, or one nearer. */
static const char *condition_beyond(const char *level)
{
	static const char *const conditions[] = {
	    "(missed OR served NOT IN ('L1', 'fill buffer', 'uncached'))",
	    ("(missed AND served IN ('L2', 'L3', 'L4') OR NOT missed AND (served IN ('L3', 'L4', 'other cache', 'memory') "
	     "OR served LIKE 'remote%'))"),
	    "(missed AND served IN ('L3', 'L4') OR NOT missed AND (served IN ('L4', 'memory') OR served LIKE 'remote%'))"};

	return conditions[level[1] - '1'];
}

static int load_machine(struct nm_agreement *a, struct nm_strings *pool, struct nm_error *err)
{
	char sql[560];

	snprintf(
	    sql, sizeof sql,
	    "SELECT function, file, line, object, 0, 0, sum(count), sum(coalesce(tlb = 'miss', 0) * count) "
	    "FROM samples WHERE (?1 IS NULL OR process = ?1) AND operation IS NOT 'none' AND %s "
	    "GROUP BY function, file, line, object",
	    a->compared == NM_COMPARED_MISSES ? condition_beyond(a->level) : "1");
	return add_facts(&a->sides[NM_MACHINE], sql, a->request->process, pool, err);
}

static int load_sides(struct nm_agreement *a, struct nm_strings *pool, struct nm_error *err)
{
	struct nm_diff_side *machine = &a->sides[NM_MACHINE];
	int status = choose_compared(a, err);

	if (!status)
		status = nm_diff_side_load(&a->sides[NM_MODEL], a->request, a->has, pool, err);
	if (!status)
		status = choose_level(a, err);
	if (!status)
		status = load_model(a, pool, err);
	if (!status && a->request->process)
		status = nm_select_process(machine->profile, a->request->process, err);
	if (!status)
		status = nm_profile_show_frame(machine->profile, a->request->frame, err);
	if (!status)
		status = load_machine(a, pool, err);
	return status ? status : take_texts(a, pool, err);
}

static int line_up(struct nm_agreement *a, struct nm_strings *pool, struct nm_error *err)
{
	struct nm_diff_texts texts[NM_AGREEMENT_SIDES] = {{.arena = {0}}};
	const struct nm_diff_matched model = {&a->sides[NM_MODEL], &texts[NM_MODEL]},
				     machine = {&a->sides[NM_MACHINE], &texts[NM_MACHINE]};
	int64_t unique = 0;
	int status = nm_diff_match(&model, &machine, pool, &unique, err);

	for (unsigned i = 0; i < NM_AGREEMENT_SIDES; i++)
		nm_diff_texts_done(&texts[i]);
	if (!status && nm_diff_rows_make(a->sides, NM_AGREEMENT_SIDES, a->has, NM_DIFF_MISSES, &a->rows))
		status = nm_fail_memory(err);
	for (size_t i = 0; i < a->rows.at.count; i++) {
		const struct nm_diff_row *row = &a->rows.at.at[i];

		a->model += (double)row->sums[NM_MODEL][NM_MODEL_COUNT];
		a->samples += (double)row->sums[NM_MACHINE][NM_MACHINE_SAMPLES];
		a->tlb_misses += (double)row->sums[NM_MACHINE][NM_MACHINE_TLB];
	}
	if (!status && (a->model == 0 || a->samples == 0))
		return nm_fail(err, NM_EINVAL, "%s has nothing to compare: no %s",
			       a->sides[a->model == 0 ? NM_MODEL : NM_MACHINE].path,
			       a->model == 0                       ? "such misses"
			       : a->compared == NM_COMPARED_MISSES ? "samples beyond the level"
								   : "samples");
	return status;
}

/* Rows are told apart by code and object only. */
static int check_keys(const char *has, struct nm_error *err)
{
	for (unsigned key = 0; key < NM_DIFF_KEYS; key++)
		if (has[key] && key != NM_DIFF_FUNCTION && key != NM_DIFF_FILE && key != NM_DIFF_LINE &&
		    key != NM_DIFF_OBJECT)
			return nm_fail(
			    err, NM_EINVAL,
			    "a simulated and a sampled profile are compared by object, function, file and "
			    "line, not by %s",
			    nm_diff_key_names[key]);
	return 0;
}

int nm_agreement_run(const struct nm_diff_input *model, const struct nm_diff_input *machine,
		     const struct nm_diff_request *request, const struct nm_style *style, FILE *out,
		     struct nm_error *err)
{
	struct nm_agreement a = {.request = request};
	struct nm_strings pool = {0};
	int status = nm_diff_take_keys(request->by ? request->by : "object,line", a.has, err);

	a.sides[NM_MODEL].path = model->path;
	a.sides[NM_MODEL].profile = model->profile;
	a.sides[NM_MACHINE].path = machine->path;
	a.sides[NM_MACHINE].profile = machine->profile;
	if (!status)
		status = check_keys(a.has, err);
	if (!status && (request->budget.metric || request->sort))
		status = nm_fail(err, NM_EINVAL, "--%s is for profiles that are all simulated",
				 request->budget.metric ? "fail-on" : "sort");
	if (!status)
		status = load_sides(&a, &pool, err);
	if (!status)
		status = line_up(&a, &pool, err);
	if (!status)
		status = nm_agreement_show(&a, style, out, err);
	nm_vec_free(&a.rows.at);
	for (unsigned i = 0; i < NM_AGREEMENT_SIDES; i++)
		nm_diff_side_done(&a.sides[i]);
	nm_strings_done(&pool);
	return status;
}
