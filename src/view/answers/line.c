/* SPDX-License-Identifier: MIT
 *
 * line.c - the details of one source line: its objects, the evictors of the lines that it loads, the
 * previous uses of its data, the classes of its misses, the calls that led to it.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "selection.h"

enum { MOST = 20 /* rows of each list */, MOST_CALLS = 64 };

/* The rows of one line, summed by some keys and ranked by misses, or by their only sum. */
struct list {
	struct nm_cube rows;
	struct nm_ranked *order; /* malloc'ed */
};

static void free_list(struct list *list)
{
	nm_cube_done(&list->rows);
	free(list->order);
}

static double rank_of(const struct nm_cube *rows, size_t row)
{
	return rows->sum_count == 1 ? (double)*nm_cube_sums(rows, row) : (double)nm_cube_misses(rows, row);
}

static int make_list(struct list *list, const struct nm_cube *facts, const char *const *names, unsigned count,
		     const struct nm_cube_condition *of_line)
{
	unsigned by[NM_CUBE_KEYS];

	for (unsigned k = 0; k < count; k++)
		by[k] = nm_cube_key(facts, names[k]);
	if (nm_cube_group(&list->rows, facts, by, count, of_line, 2))
		return NM_ENOMEM;
	list->order = malloc((list->rows.row_count + 1) * sizeof *list->order);
	if (!list->order)
		return NM_ENOMEM;
	for (size_t row = 0; row < list->rows.row_count; row++)
		list->order[row] = (struct nm_ranked){rank_of(&list->rows, row), row};
	nm_cube_rank(&list->rows, list->order, list->rows.row_count);
	return 0;
}

/* ---- objects and classes ---- */

static json_t *json_of_object(const struct nm_cube *rows, size_t row, const char *input)
{
	const struct nm_metric_sums s = nm_cube_counts(rows, row);
	json_t *json = nm_view_keys(rows, row);

	json_object_update_new(json, json_pack("{sI sI}", "misses", (json_int_t)nm_cube_misses(rows, row),
					       "loads", (json_int_t)s.loads));
	if (!input)
		json_object_update_new(
		    json, json_pack("{sI sI sI sI sI}", "reads", (json_int_t)s.reads, "writes",
				    (json_int_t)s.writes, "reuse", (json_int_t)s.reuse, "used_bytes",
				    (json_int_t)s.used_bytes, "loaded_bytes", (json_int_t)s.loaded_bytes));
	return json;
}

static json_t *ratio(double factor, int64_t part, int64_t whole)
{
	return whole ? json_real(factor * (double)part / (double)whole) : json_null();
}

static void add_sums(const struct nm_metric_sums *s, json_t *answer)
{
	json_object_set_new(answer, "classes",
			    json_pack("{sI sI sI sI}", "cold", (json_int_t)s->cold, "capacity",
				      (json_int_t)s->capacity, "conflict", (json_int_t)s->conflict,
				      "coherence", (json_int_t)s->coherence));
	json_object_set_new(answer, "reuse",
			    json_pack("{so so}", "per_load", ratio(1, s->reuse, s->loads), "waste",
				      ratio(100, s->loaded_bytes - s->used_bytes, s->loaded_bytes)));
}

static int add_objects(const struct nm_cube *facts, nm_key file, nm_key line, const char *input,
		       json_t *answer)
{
	const struct nm_cube_condition of_line[] = {{nm_cube_key(facts, "file"), file},
						    {nm_cube_key(facts, "line"), line}};
	struct list list = {.order = NULL};
	int status = make_list(&list, facts, (const char *const[]){"object", "function"}, 2, of_line);
	const struct nm_metric_sums s = nm_cube_all_counts(&list.rows);
	json_t *objects = json_array();

	for (size_t i = 0; !status && i < list.rows.row_count && i < MOST; i++)
		json_array_append_new(objects, json_of_object(&list.rows, list.order[i].row, input));
	json_object_set_new(answer, "objects", objects);
	if (!input)
		add_sums(&s, answer);
	free_list(&list);
	return status;
}

/* ---- evictors and reuses ---- */

static int add_evictors(const struct nm_cube *facts, nm_key file, nm_key line, json_t *answer)
{
	const struct nm_cube_condition of_line[] = {{nm_cube_key(facts, "victim_file"), file},
						    {nm_cube_key(facts, "victim_line"), line}};
	static const char *const names[] = {"victim", "evictor", "function", "file", "line"};
	struct list list = {.order = NULL};
	json_t *evictors = json_array();
	int status = make_list(&list, facts, names, 5, of_line);

	for (size_t i = 0; !status && i < list.rows.row_count && i < MOST; i++) {
		json_t *json = nm_view_keys(&list.rows, list.order[i].row);

		json_object_set(json, "object", json_object_get(json, "evictor"));
		json_object_del(json, "evictor");
		json_object_set_new(json, "evictions",
				    json_integer((json_int_t)*nm_cube_sums(&list.rows, list.order[i].row)));
		json_array_append_new(evictors, json);
	}
	json_object_set_new(answer, "evictors", evictors);
	free_list(&list);
	return status;
}

static int add_reuses(struct nm_profile *profile, const char *file, const char *line, json_t *answer,
		      struct nm_error *err)
{
	static const char sql[] =
	    "SELECT previous_file, previous_line, previous_function, previous_object, sum(count) AS count FROM reuses "
	    "WHERE file = ?1 AND line = CAST(?2 AS INTEGER) GROUP BY 1, 2, 3, 4 ORDER BY count DESC, 1, 2 LIMIT 20";
	json_t *list = NULL;
	const int status = nm_view_select(profile, sql, (const char *[]){file, line}, 2, &list, err);

	json_object_set_new(answer, "reuses", list ? list : json_array());
	return status;
}

/* ---- call chains ---- */

/* The calls from the one of the line's function outwards. */
static json_t *json_of_chain(const struct nm_recorded_calls *calls, uint32_t call, int64_t misses)
{
	json_t *list = json_array();

	for (unsigned n = 0; call != NM_NO_CALL && n < MOST_CALLS; n++) {
		const struct nm_recorded_call *of = &calls->at.at[call];

		json_array_append_new(list, json_pack("{so so so}", "function", nm_view_key(of->function, 0),
						      "file", nm_view_key(of->file, 0), "line",
						      nm_view_key(of->line, 1)));
		call = of->by;
	}
	return json_pack("{sI so}", "misses", (json_int_t)misses, "calls", list);
}

struct chain {
	uint32_t call;
	int64_t misses;
};

static int by_misses(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;

	return x->misses != y->misses ? (x->misses < y->misses) - (x->misses > y->misses)
				      : (x->call > y->call) - (x->call < y->call);
}

static int add_chains_of(const struct nm_recorded_calls *calls, const struct nm_cube *facts, nm_key file,
			 nm_key line, json_t *answer)
{
	const unsigned files = nm_cube_key(facts, "user_file"), lines = nm_cube_key(facts, "user_line");
	struct nm_vec(struct chain) chains = {0};
	struct nm_map number = {0}; /* of the chain of a call */
	json_t *list = json_array();
	int status = 0;

	for (size_t row = 0; !status && row < facts->row_count; row++) {
		const nm_key *keys = nm_cube_keys(facts, row);
		const int64_t misses = *nm_cube_sums(facts, row);
		uint32_t call;
		size_t n;

		if (keys[files] != file || keys[lines] != line || misses <= 0)
			continue;
		call = nm_calls_of_row(calls, facts, row);
		n = nm_map_get(&number, call, chains.count);
		if (n == chains.count)
			status = nm_map_put(&number, call, n) || nm_vec_push(&chains, (struct chain){call, 0})
				     ? NM_ENOMEM
				     : 0;
		if (!status)
			chains.at[n].misses += misses;
	}
	qsort(chains.at, chains.count, sizeof *chains.at, by_misses);
	for (size_t i = 0; !status && i < chains.count && i < MOST; i++)
		json_array_append_new(list, json_of_chain(calls, chains.at[i].call, chains.at[i].misses));
	json_object_set_new(answer, "chains", list);
	nm_vec_free(&chains);
	nm_map_done(&number);
	return status;
}

static int add_chains(const struct nm_view_profile *of, const char *level, nm_key file, nm_key line,
		      json_t *answer, struct nm_error *err)
{
	struct nm_recorded_calls calls = {0};
	const struct nm_cube *facts;
	int status = nm_profile_has_rows(of->profile, "contexts", err);

	if (status <= 0)
		return status;
	status = nm_calls_load(&calls, of, level, err);
	if (!status)
		status = nm_fact_store_get(of->facts, of->profile, NM_FACTS_CHAINS, level, NULL, &facts, err);
	if (!status && add_chains_of(&calls, facts, file, line, answer))
		status = nm_fail_memory(err);
	nm_calls_done(&calls);
	return status;
}

int nm_view_line(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		 struct nm_error *err)
{
	const char *file = nm_request_text(request, "file"), *input = NULL;
	const struct nm_cube *facts;
	nm_key name = NM_KEY_UNKNOWN;
	char *level = NULL;
	int64_t line;
	int status = nm_request_number(request, "line", 0, INT32_MAX, -1, &line, err);

	if (!status && (!file || line < 0))
		status = nm_fail(err, NM_EINVAL, "name a file and a line");
	if (!status)
		status = nm_view_input(of->profile, request, &input, err);
	if (!status)
		status = nm_view_level(of->profile, request, &level, err);
	*ret_answer = json_pack("{ss* sI}", "file", file, "line", (json_int_t)line);
	if (!status)
		status = nm_view_counts(of, level, input, &facts, err);
	if (!status)
		name = nm_key_find(&of->facts->names, file);
	if (!status && add_objects(facts, name, (nm_key)line + 1, input, *ret_answer))
		status = nm_fail_memory(err);
	if (!status && !input)
		status =
		    nm_fact_store_get(of->facts, of->profile, NM_FACTS_EVICTIONS, level, NULL, &facts, err);
	if (!status && !input && add_evictors(facts, name, (nm_key)line + 1, *ret_answer))
		status = nm_fail_memory(err);
	if (!status && !input)
		status = add_reuses(of->profile, file, nm_request_text(request, "line"), *ret_answer, err);
	if (!status && !input)
		status = add_chains(of, level, name, (nm_key)line + 1, *ret_answer, err);
	free(level);
	return status;
}
