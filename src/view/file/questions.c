/* SPDX-License-Identifier: MIT
 *
 * questions.c - see questions.h. The pages in web/ send the same requests: keep both in step.
 */
#include "questions.h"

#include <stdlib.h>
#include <string.h>

#include "selection.h"
#include "view_json.h"

struct asker {
	int (*ask)(void *self, const struct nm_request *request, struct nm_error *err);
	void *self;
	struct nm_error *err;
	unsigned profile;
};

/* Requests for a profile, and for each of its levels. Parameters follow "?". */
static const char *const of_profile[] = {
    "overview",           "metrics",        "dimensions", "curves?by=total", "curves?by=object",
    "curves?by=function", "curves?by=line", "timeline",   "names?limit=200", NULL};
static const char *const of_level[] = {
    "table?by=object&limit=300&mine=1&offset=0&order=desc&sort=misses",
    "table?by=function&limit=300&mine=1&offset=0&order=desc&sort=misses",
    "table?by=file,line&limit=300&mine=1&offset=0&order=desc&sort=misses",
    "table?by=object,file,line&limit=300&mine=1&offset=0&order=desc&sort=misses",
    "table?by=function,file,line&limit=300&mine=1&offset=0&order=desc&sort=misses",
    "table?by=object&limit=300&offset=0&order=desc&sort=misses",
    "table?by=object,file,line&limit=300&offset=0&order=desc&sort=misses",
    "tree?by=object,function&metric=misses&nodes=400",
    "tree?by=function,object&metric=misses&nodes=400",
    "sources",
    "chains?by=object&mine=1",
    "chains?by=call&mine=1",
    "evictions?mine=1&top=40",
    "sharing?limit=1000",
    "sharing/lines",
    "structures",
    "timeline/rows?by=object",
    "timeline/rows?by=line",
    "histogram?bins=256&of=set",
    "histogram?bins=256&of=memory_line",
    "histogram?bins=256&of=served",
    "histogram?bins=256&of=reuse",
    "histogram?bins=256&of=stack",
    NULL};
static const char levels_of_data_first[] =
    "SELECT level FROM levels GROUP BY level ORDER BY side = 'instruction', min(position), level LIMIT 8";

/* Requests for each of the first inputs of a merged profile: but for the first two with the first level. */
static const char *const of_input[] = {"overview",
				       "dimensions",
				       "table?by=object&limit=300&offset=0&order=desc&sort=misses",
				       "table?by=function&limit=300&offset=0&order=desc&sort=misses",
				       "table?by=file,line&limit=300&offset=0&order=desc&sort=misses",
				       "sources",
				       NULL};
static const char first_inputs[] = "SELECT input FROM inputs ORDER BY alike, position LIMIT 16";

/* The rows of comparisons. */
static const char *const of_changes[] = {"object,line", "object", "line", NULL};

/* Requests for each row of a query over the first level, and over that of the verdict: its columns are parameters of
 * the path. Each request reads all counts. */
static const struct {
	const char *path, *sql;
} of_rows[] = {
    {"source", "SELECT file FROM counts WHERE level = ?1 AND file IS NOT NULL GROUP BY file "
	       "ORDER BY sum(read_misses + write_misses) DESC, file LIMIT 12"},
    {"line",
     "SELECT file, CAST(line AS TEXT) AS line FROM counts WHERE level = ?1 AND file IS NOT NULL GROUP BY file, counts.line "
     "ORDER BY sum(read_misses + write_misses) DESC, file, counts.line LIMIT 40"},
    {"evictions/lines", NULL}, /* ask_pairs() */
    {"table", "SELECT 'file,line,function' AS by, type, field, '20' AS \"limit\" FROM field_counts "
	      "WHERE level = ?1 AND type IS NOT NULL AND field IS NOT NULL GROUP BY type, field "
	      "ORDER BY sum(read_misses + write_misses) DESC, type, field LIMIT 20"},
};

/* Splits "name?a=b&c=d" in place, and adds the parameters. */
static void take_parameters(struct nm_request *request, char *text)
{
	char *next = strchr(text, '?');

	while (next) {
		char *name = next + 1, *value;

		*next = '\0';
		next = strchr(name, '&');
		value = strchr(name, '=');
		*value = '\0';
		nm_request_add(request, name, value + 1, NULL);
	}
}

/* Calls `ask` with a path and its parameters, and the level and input that are not NULL. Changes the text. */
static int ask_text(const struct asker *a, char *text, const char *level, const char *input)
{
	struct nm_request request = {.method = "GET", .path = text, .body = ""};

	take_parameters(&request, text);
	if (level)
		nm_request_add(&request, "level", level, NULL);
	if (input)
		nm_request_add(&request, "input", input, NULL);
	return a->ask(a->self, &request, a->err);
}

/* "/api/p/N/QUESTION" */
static int ask_one(const struct asker *a, const char *question, const char *level, const char *input)
{
	char text[160];

	snprintf(text, sizeof text, "/api/p/%u/%s", a->profile, question);
	return ask_text(a, text, level, input);
}

static int ask_pair(const struct asker *a, const nm_key pair[2], const char *level)
{
	char path[60];
	struct nm_request request = {.method = "GET", .path = path, .body = ""};

	snprintf(path, sizeof path, "/api/p/%u/evictions/lines", a->profile);
	nm_request_add(&request, "level", level, NULL);
	nm_request_add(&request, "evictor", pair[0] ? nm_key_text(pair[0]) : "?", NULL);
	nm_request_add(&request, "victim", pair[1] ? nm_key_text(pair[1]) : "?", NULL);
	nm_request_add(&request, "mine", "1", NULL);
	return a->ask(a->self, &request, a->err);
}

/* The lines of the pairs of evictor and victim that the user's code evicts most, from what the matrix has read. */
static int ask_pairs(const struct asker *a, struct nm_view *view, const char *level)
{
	enum { PAIRS = 20 };
	const struct nm_cube *facts;
	struct nm_ranked *order = NULL;
	struct nm_cube pairs = {.key_count = 0};
	int status = nm_fact_store_get(&view->facts, view->profiles[a->profile].profile, NM_FACTS_EVICTIONS,
				       level, NULL, &facts, a->err);

	if (status)
		return status;
	const struct nm_cube_condition mine = {.key = nm_cube_key(facts, "library")};
	const unsigned by[] = {nm_cube_key(facts, "evictor"), nm_cube_key(facts, "victim")};

	if (nm_cube_group(&pairs, facts, by, 2, &mine, 1) ||
	    !(order = malloc((pairs.row_count + 1) * sizeof *order)))
		status = nm_fail_memory(a->err);
	for (size_t row = 0; order && row < pairs.row_count; row++)
		order[row] = (struct nm_ranked){(double)*nm_cube_sums(&pairs, row), row};
	if (!status)
		nm_cube_rank(&pairs, order, pairs.row_count);
	for (size_t i = 0; !status && i < pairs.row_count && i < PAIRS; i++)
		status = ask_pair(a, nm_cube_keys(&pairs, order[i].row), level);
	free(order);
	nm_cube_done(&pairs);
	return status;
}

static int ask_rows(const struct asker *a, struct nm_view *view, unsigned which, const char *level)
{
	struct nm_rows *rows = NULL;
	char path[60];
	int status;

	if (!of_rows[which].sql)
		return ask_pairs(a, view, level);
	status = nm_profile_query(view->profiles[a->profile].profile, of_rows[which].sql, &rows, a->err);
	snprintf(path, sizeof path, "/api/p/%u/%s", a->profile, of_rows[which].path);
	if (!status)
		nm_rows_bind_text(rows, 1, level);
	while (!status && (status = nm_rows_next(rows, a->err)) > 0) {
		struct nm_request request = {.method = "GET", .path = path, .body = ""};

		nm_request_add(&request, "level", level, NULL);
		for (unsigned i = 0; i < nm_rows_columns(rows); i++)
			nm_request_add(&request, nm_rows_name(rows, i), nm_rows_text(rows, i), NULL);
		status = a->ask(a->self, &request, a->err);
	}
	nm_rows_free(rows);
	return status;
}

/* What was merged, at a level: all inputs, and where it is the first level each of the first inputs. */
static int ask_inputs(const struct asker *a, struct nm_profile *profile, const char *level, int is_first)
{
	struct nm_rows *inputs = NULL;
	const int has = nm_profile_has_rows(profile, "inputs", a->err);
	int status = has > 0 ? ask_one(a, "inputs", level, NULL) : has;

	if (has <= 0 || status || !is_first)
		return status;
	status = nm_profile_query(profile, first_inputs, &inputs, a->err);
	while (!status && (status = nm_rows_next(inputs, a->err)) > 0) {
		status = 0;
		for (unsigned i = 0; !status && of_input[i];
		     i++) /* an overview and dimensions are of no level */
			status = ask_one(a, of_input[i], i < 2 ? NULL : level, nm_rows_text(inputs, 0));
	}
	nm_rows_free(inputs);
	return status;
}

static int ask_levels(const struct asker *a, struct nm_view *view)
{
	struct nm_profile *profile = view->profiles[a->profile].profile;
	struct nm_rows *levels = NULL;
	char *of_verdict = NULL;
	int is_first = 1;
	int status = nm_view_verdict_level(profile, &of_verdict, a->err);

	if (!status)
		status = nm_profile_query(profile, levels_of_data_first, &levels, a->err);
	while (!status && (status = nm_rows_next(levels, a->err)) > 0) {
		const char *level = nm_rows_text(levels, 0);
		const int is_opened = is_first || (of_verdict && !strcmp(level, of_verdict));

		status = 0;
		for (unsigned i = 0; !status && of_level[i]; i++)
			status = ask_one(a, of_level[i], level, NULL);
		if (!status)
			status = ask_inputs(a, profile, level, is_first);
		for (unsigned i = 0; !status && is_opened && i < sizeof of_rows / sizeof *of_rows; i++)
			status = ask_rows(a, view, i, level);
		is_first = 0;
	}
	nm_rows_free(levels);
	free(of_verdict);
	return status;
}

/* What changed from the first profile to another, at each level. */
static int ask_changes(const struct asker *a, struct nm_profile *first)
{
	struct nm_rows *levels = NULL;
	char text[80];
	int status = nm_profile_query(first, levels_of_data_first, &levels, a->err);

	while (!status && (status = nm_rows_next(levels, a->err)) > 0) {
		status = 0;
		for (unsigned i = 0; !status && of_changes[i]; i++) {
			snprintf(text, sizeof text, "/api/compare?a=0&b=%u&by=%s", a->profile, of_changes[i]);
			status = ask_text(a, text, nm_rows_text(levels, 0), NULL);
		}
	}
	nm_rows_free(levels);
	return status;
}

int nm_view_questions(struct nm_view *view,
		      int (*ask)(void *self, const struct nm_request *request, struct nm_error *err),
		      void *self, struct nm_error *err)
{
	const struct nm_request session = {.method = "GET", .path = "/api/session", .body = ""};
	struct asker a = {ask, self, err, 0};
	int status = ask(self, &session, err);

	for (; !status && a.profile < view->count; a.profile++) {
		for (unsigned i = 0; !status && of_profile[i]; i++)
			status = ask_one(&a, of_profile[i], NULL, NULL);
		if (!status)
			status = ask_levels(&a, view);
	}
	for (a.profile = 1; !status && a.profile < view->count; a.profile++)
		status = ask_changes(&a, view->profiles[0].profile);
	return status;
}
