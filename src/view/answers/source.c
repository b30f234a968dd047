/* SPDX-License-Identifier: MIT
 *
 * source.c - source files, one of them with its figures beside it, and what is known of one line.
 *
 * Texts come from `nearmiss annotate`, with its rules: a file of this machine is shown only where the profile
 * may point to it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "annotate.h"
#include "answers.h"

int nm_view_sources(struct nm_profile *profile, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err)
{
	char *level = NULL, sql[600];
	json_t *source;
	size_t i;
	int status = nm_view_level(profile, request, &level, err);

	snprintf(
	    sql, sizeof sql,
	    "SELECT file, sum(read_misses + write_misses) AS misses, sum(loads) AS loads, EXISTS (SELECT 1 FROM "
	    "sources s WHERE s.file = counts.file AND s.text IS NOT NULL) AS available FROM counts "
	    "WHERE level = ?1 AND file IS NOT NULL GROUP BY file ORDER BY misses DESC, file LIMIT %d",
	    NM_VIEW_ROWS);
	if (!status)
		status = nm_view_select(profile, sql, (const char *[]){level}, 1, ret_answer, err);
	if (!status)
		json_array_foreach(*ret_answer, i, source)
		{
			const char *file = json_string_value(json_object_get(source, "file"));
			const int stored = json_integer_value(json_object_get(source, "available")) != 0;

			json_object_set_new(source, "available", json_boolean(stored || !access(file, R_OK)));
		}
	free(level);
	return status;
}

/* ---- one file ---- */

static nm_view_report annotate;
static int annotate(struct nm_profile *profile, const void *request, const struct nm_style *style, FILE *out,
		    struct nm_error *err)
{
	return nm_annotate_run(profile, request, style, out, err);
}

/* Of an annotation, moves number and text of a line beside its figures. */
static json_t *split_line(json_t *line)
{
	json_t *split = json_pack("{sO sO sO}", "n", json_object_get(line, "line"), "text",
				  json_object_get(line, "source"), "figures", line);

	json_object_del(line, "line");
	json_object_del(line, "source");
	json_object_del(line, "file");
	return split;
}

static json_t *file_of(const json_t *document, const char *name)
{
	json_t *file;
	size_t i;

	json_array_foreach(
	    json_object_get(document, "files"), i,
	    file) if (!strcmp(json_string_value(json_object_get(file, "file")), name)) return file;
	return NULL;
}

static json_t *reshape(const json_t *file, const json_t *document)
{
	json_t *lines = json_array(), *line;
	size_t i;

	json_array_foreach(json_object_get(file, "lines"), i, line)
	    json_array_append_new(lines, split_line(line));
	return json_pack("{sO sO sO sO sO sO so}", "file", json_object_get(file, "file"), "level",
			 json_object_get(document, "level"), "source", json_object_get(file, "source"),
			 "note", json_object_get(file, "note"), "misses", json_object_get(file, "misses"),
			 "functions", json_object_get(file, "functions"), "lines", lines);
}

int nm_view_source(struct nm_profile *profile, const struct nm_request *request, json_t **ret_answer,
		   struct nm_error *err)
{
	const char *name = nm_request_text(request, "file");
	struct nm_annotate_request what = {.names = &name, .name_count = 1, .context = -1};
	json_t *document = NULL, *file;
	char *level = NULL;
	int status = nm_view_level(profile, request, &level, err);

	if (!status && !name)
		status = nm_fail(err, NM_EINVAL, "name a file");
	what.report.level = level;
	if (!status)
		status = nm_view_run(annotate, profile, &what, &document, err);
	if (!status) {
		file = file_of(document, name);
		if (file)
			*ret_answer = reshape(file, document);
		else
			status = nm_fail(err, NM_ENOENT, "the profile has no file %.200s", name);
	}
	json_decref(document);
	free(level);
	return status;
}

/* ---- one line ---- */

static const struct {
	const char *name, *sql, *view; /* view: that a profile may lack; NULL: all have it */
} line_parts[] = {
    {"objects",
     "SELECT object, function, sum(reads) AS reads, sum(writes) AS writes, sum(read_misses + write_misses) AS misses, "
     "sum(loads) AS loads, sum(reuse) AS reuse, sum(used_bytes) AS used_bytes, sum(loaded_bytes) AS loaded_bytes "
     "FROM counts WHERE level = ?1 AND file = ?2 AND line = CAST(?3 AS INTEGER) GROUP BY object, function "
     "ORDER BY misses DESC, object LIMIT 20",
     NULL},
    {"evictors",
     "SELECT victim, evictor AS object, function, file, line, sum(count) AS evictions FROM evictions WHERE level = ?1 AND "
     "victim_file = ?2 AND victim_line = CAST(?3 AS INTEGER) GROUP BY victim, evictor, function, file, line "
     "ORDER BY evictions DESC, object LIMIT 20",
     NULL},
    {"reuses",
     "SELECT previous_file, previous_line, previous_function, previous_object, sum(count) AS count FROM reuses "
     "WHERE ?1 IS NOT NULL AND file = ?2 AND line = CAST(?3 AS INTEGER) GROUP BY 1, 2, 3, 4 ORDER BY count DESC, 1, 2 "
     "LIMIT 20",
     "reuses"},
};

static int add_sums(struct nm_profile *profile, const char *const *texts, json_t *answer,
		    struct nm_error *err)
{
	json_t *list = NULL;
	int status = nm_view_select(
	    profile,
	    "SELECT coalesce(sum(cold), 0) AS cold, coalesce(sum(capacity), 0) AS capacity, coalesce(sum(conflict), 0) AS "
	    "conflict, coalesce(sum(coherence), 0) AS coherence, 1.0 * sum(reuse) / nullif(sum(loads), 0) AS reuse, "
	    "100.0 * (sum(loaded_bytes) - sum(used_bytes)) / nullif(sum(loaded_bytes), 0) AS waste "
	    "FROM counts WHERE level = ?1 AND file = ?2 AND line = CAST(?3 AS INTEGER)",
	    texts, 3, &list, err);
	json_t *sums = json_array_get(list, 0);

	if (status)
		return status;
	json_object_set_new(answer, "reuse",
			    json_pack("{sO sO}", "per_load", json_object_get(sums, "reuse"), "waste",
				      json_object_get(sums, "waste")));
	json_object_del(sums, "reuse");
	json_object_del(sums, "waste");
	json_object_set(answer, "classes", sums);
	json_decref(list);
	return 0;
}

int nm_view_line(struct nm_profile *profile, const struct nm_request *request, json_t **ret_answer,
		 struct nm_error *err)
{
	const char *texts[3] = {NULL, nm_request_text(request, "file"), nm_request_text(request, "line")};
	char *level = NULL;
	int64_t line;
	int status = nm_request_number(request, "line", 0, INT32_MAX, -1, &line, err);

	if (!status && (!texts[1] || line < 0))
		status = nm_fail(err, NM_EINVAL, "name a file and a line");
	if (!status)
		status = nm_view_level(profile, request, &level, err);
	texts[0] = level;
	*ret_answer = json_pack("{ss* sI}", "file", texts[1], "line", (json_int_t)line);
	if (!status)
		status = add_sums(profile, texts, *ret_answer, err);
	for (unsigned i = 0; !status && i < sizeof line_parts / sizeof *line_parts; i++) {
		json_t *list = NULL;
		int has = line_parts[i].view ? nm_profile_has(profile, line_parts[i].view, err) : 1;

		status = has <= 0 ? has : nm_view_select(profile, line_parts[i].sql, texts, 3, &list, err);
		json_object_set_new(*ret_answer, line_parts[i].name, list ? list : json_array());
	}
	free(level);
	return status;
}
