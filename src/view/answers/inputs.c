/* SPDX-License-Identifier: MIT
 *
 * inputs.c - of a merged profile, the inputs that it was made of: all of them with their groups, and the overview of
 * one. Of an input there are all counts of levels, but only misses and loads of places.
 */
#include <stdlib.h>

#include "report.h"
#include "view_json.h"

/* ---- all inputs ---- */

/* ?1: the level. */
static const char inputs_sql[] =
    "SELECT i.input AS input, i.rank AS rank, i.host AS host, i.exit_status AS exit_status, i.alike AS \"group\", "
    "l.misses AS misses, 1000.0 * l.misses / nullif(i.instructions, 0) AS mpki FROM inputs i LEFT JOIN "
    "(SELECT input, sum(read_misses + write_misses) AS misses FROM input_levels WHERE level = ?1 GROUP BY input) l "
    "ON l.input = i.input ORDER BY i.alike, i.position LIMIT 1000";

static nm_view_report report_groups;
static int report_groups(struct nm_profile *profile, const void *request, const struct nm_style *style,
			 FILE *out, struct nm_error *err)
{
	return nm_report_run(nm_report_named("groups"), profile, request, style, out, err);
}

int nm_view_inputs(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		   struct nm_error *err)
{
	struct nm_report_request what = {.limit = NM_VIEW_ROWS};
	json_t *inputs = NULL, *groups = NULL, *total = NULL;
	char *level = NULL;
	int status = nm_view_level(of->profile, request, &level, err);

	what.level = level;
	if (!status)
		status = nm_view_run(report_groups, of->profile, &what, &groups, err);
	if (!status)
		status = nm_view_select(of->profile, inputs_sql, (const char *[]){level}, 1, &inputs, err);
	if (!status)
		status = nm_view_select(of->profile, "SELECT count(*) AS inputs FROM inputs", NULL, 0, &total,
					err);
	if (!status)
		*ret_answer = json_pack("{ss sO sO sO}", "level", level, "total",
					json_object_get(json_array_get(total, 0), "inputs"), "groups",
					json_object_get(groups, "rows"), "inputs", inputs);
	json_decref(inputs);
	json_decref(groups);
	json_decref(total);
	free(level);
	return status;
}

/* ---- the overview of one; ?1: the input, ?2: the level of pairs ---- */

static const struct {
	const char *member, *sql;
} lists[] = {
    {"levels",
     "SELECT l.level AS level, l.size AS size, l.ways AS ways, l.line_size AS line, l.sets AS sets, l.policy AS policy, "
     "sum(c.reads) AS reads, sum(c.writes) AS writes, sum(c.read_misses + c.write_misses) AS misses, "
     "100.0 * sum(c.read_misses + c.write_misses) / nullif(sum(c.reads + c.writes), 0) AS miss_ratio, "
     "1000.0 * sum(c.read_misses + c.write_misses) / nullif((SELECT instructions FROM inputs WHERE input = ?1), 0) "
     "AS mpki, sum(c.cold) AS cold, sum(c.capacity) AS capacity, sum(c.conflict) AS conflict, "
     "sum(c.coherence) AS coherence, sum(c.loads) AS loads, sum(c.evictions) AS evictions, "
     "sum(c.writebacks) AS writebacks, sum(c.loaded_bytes) AS bytes "
     "FROM input_levels c JOIN levels l ON l.level = c.level AND l.process = c.process "
     "WHERE c.input = ?1 GROUP BY c.position"},
    {"pairs", "SELECT object, function, file, line, sum(misses) AS misses, "
	      "100.0 * sum(misses) / nullif(sum(sum(misses)) OVER (), 0) AS share FROM input_counts "
	      "WHERE input = ?1 AND level = ?2 GROUP BY object, function, file, line HAVING sum(misses) > 0 "
	      "ORDER BY misses DESC, object, file, line, function LIMIT 10"},
};

/* As text, like the facts about a whole profile. */
static int add_facts(struct nm_profile *profile, const char *input, json_t *answer, struct nm_error *err)
{
	static const char sql[] =
	    "SELECT file, CAST(rank AS TEXT) AS rank, host, command, CAST(exit_status AS TEXT) AS exit_status, "
	    "CAST(instructions AS TEXT) AS instructions, CAST(refs AS TEXT) AS \"references\", "
	    "CAST(lost_words AS TEXT) AS lost_words FROM inputs WHERE input = ?1";
	json_t *rows = NULL, *facts = json_object(), *value;
	const char *name;
	const int status = nm_view_select(profile, sql, &input, 1, &rows, err);

	json_object_foreach(json_array_get(rows, 0), name, value) if (!json_is_null(value))
	    json_object_set(facts, name, value);
	json_object_set_new(answer, "info", facts);
	json_decref(rows);
	return status;
}

int nm_view_overview_of_input(struct nm_profile *profile, const char *level, const char *input,
			      json_t *answer, struct nm_error *err)
{
	const char *const texts[] = {input, level};
	int status = add_facts(profile, input, answer, err);

	for (unsigned i = 0; !status && i < sizeof lists / sizeof *lists; i++) {
		json_t *list = NULL;

		status = nm_view_select(profile, lists[i].sql, texts, i + 1, &list, err);
		json_object_set_new(answer, lists[i].member, list ? list : json_array());
	}
	json_object_set_new(answer, "level", json_string(level));
	return status;
}
