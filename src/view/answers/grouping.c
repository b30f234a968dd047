/* SPDX-License-Identifier: MIT
 *
 * grouping.c - see grouping.h.
 */
#include "grouping.h"

#include <stdlib.h>
#include <string.h>

#include "name_match.h"
#include "selection.h"

const char *const nm_grouping_names[] = {"object",  "function", "file",  "line", "thread",
					 "process", "type",     "field", NULL};

int nm_grouping_is_number(const char *key) { return !strcmp(key, "line") || !strcmp(key, "thread"); }

static int has(const struct nm_grouping *g, const char *key)
{
	for (unsigned i = 0; i < g->count; i++)
		if (!strcmp(g->keys[i], key))
			return 1;
	return 0;
}

static int has_fields(const struct nm_grouping *g) { return has(g, "type") || has(g, "field"); }

static int add_key(struct nm_grouping *g, const char *name, struct nm_error *err)
{
	unsigned k = 0;

	while (nm_grouping_names[k] && strcmp(nm_grouping_names[k], name))
		k++;
	if (!nm_grouping_names[k])
		return nm_fail_unknown("key", name, nm_grouping_names, err);
	if (has(g, name))
		return 0;
	if (!strcmp(name, "line") && !has(g, "file")) { /* a number tells nothing without its file */
		int status = add_key(g, "file", err);

		if (status)
			return status;
	}
	if (g->count == NM_GROUPING_KEYS)
		return nm_fail(err, NM_EINVAL, "at most %d keys", NM_GROUPING_KEYS);
	g->keys[g->count++] = nm_grouping_names[k];
	return 0;
}

static int take_unit(struct nm_grouping *g, struct nm_profile *profile, struct nm_error *err)
{
	struct nm_levels levels = {.count = 0};
	int status = nm_levels_load(&levels, profile, NULL, err);
	const struct nm_level *level = status ? NULL : nm_levels_named(&levels, g->level);

	g->unit = level ? level->unit : 0;
	nm_levels_done(&levels);
	return status;
}

int nm_grouping_make(struct nm_grouping *g, struct nm_profile *profile, const struct nm_request *request,
		     const char *otherwise, struct nm_error *err)
{
	const char *list = nm_request_text(request, "by");
	char name[24];
	int status = 0, found;

	for (list = list ? list : otherwise; !status; list++) {
		size_t n = strcspn(list, ",");

		snprintf(name, sizeof name, "%.*s", (int)n, list);
		status = add_key(g, name, err);
		list += n;
		if (!*list)
			break;
	}
	if (!status && has_fields(g)) {
		found = nm_profile_has_fields(profile, err);
		if (found <= 0)
			status = found ? found : nm_fail(err, NM_EINVAL, "the profile has no fields");
	}
	if (!status)
		status = nm_view_level(profile, request, &g->level, err);
	return status ? status : take_unit(g, profile, err);
}

void nm_grouping_done(struct nm_grouping *g) { free(g->level); }

void nm_grouping_write(const struct nm_grouping *g, FILE *sql)
{
	fputs("WITH c AS MATERIALIZED (SELECT ", sql);
	for (unsigned i = 0; i < g->count; i++)
		fprintf(sql, "counts.%s AS %s, ", g->keys[i], g->keys[i]);
#define NM_COUNT(name) fputs("sum(" #name ") AS " #name ", ", sql);
#define NM_LATER_COUNT(name)
#include "counts.def"
#undef NM_COUNT
#undef NM_LATER_COUNT
	if (g->unit)
		fprintf(sql, "sum(loaded_bytes) / %lld AS lines, ", (long long)g->unit);
	else
		fputs("sum(loads) AS lines, ", sql);
	fprintf(sql, "sum(read_misses + write_misses) AS misses FROM %s WHERE counts.level = ?1",
		has_fields(g) ? "field_counts AS counts" : "counts");
	if (has_fields(g))
		fputs(" AND counts.field IS NOT NULL", sql);
	fputs(" GROUP BY ", sql);
	for (unsigned i = 0; i < g->count; i++)
		fprintf(sql, "%scounts.%s", i ? ", " : "", g->keys[i]);
	fputs("), t AS MATERIALIZED (SELECT sum(misses) AS misses FROM c), "
	      "p AS MATERIALIZED (SELECT sum(instructions) AS instructions FROM processes)",
	      sql);
}

int nm_grouping_has(const struct nm_metric *metric)
{
	return (metric->flags & NM_METRIC_ANNOTATED) && metric->unit != NM_METRIC_TEXT;
}

int nm_grouping_metric(const struct nm_request *request, const char *name, const char *otherwise,
		       const struct nm_metric **ret_metric, struct nm_error *err)
{
	const char *typed = nm_request_text(request, name);
	const struct nm_metric *metric = nm_metric_named(typed ? typed : otherwise);

	if (!metric || !nm_grouping_has(metric))
		return nm_fail(err, NM_EINVAL, "no metric \"%.80s\"", typed);
	*ret_metric = metric;
	return 0;
}
