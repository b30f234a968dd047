/* SPDX-License-Identifier: MIT */
#include "estimates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "errors.h"
#include "map.h"

enum { LEAST_BYTES = 1024, STEPS = 4 /* of an octave */, MOST_OCTAVES = 34 };

static const double negligible = 1e-6; /* misses per reference, without cold misses */

/* The groups of a scope. */
struct scope {
	enum nm_scope kind;
	uint32_t *of_key;     /* [keys] */
	uint32_t *whose;      /* [count], of each group */
	uint64_t *references; /* [count] */
	uint32_t count;
	struct nm_estimate *points; /* [size * count + group] */
};

static void free_scope(struct scope *s)
{
	free(s->of_key);
	free(s->whose);
	free(s->references);
	free(s->points);
}

/* The identity of an attribution's group: a number, or the address of a string in the pool. 0: out of
 * memory. */
static uint64_t group_identity(struct nm_strings *pool, const struct nm_result *r, enum nm_scope kind,
			       const struct nm_result_attribution *a)
{
	const struct nm_result_site *site = &r->sites[a->site];
	const char *name = kind == NM_SCOPE_FUNCTION || !site->file ? site->function : site->file;
	char line[16] = "";
	size_t length;
	char *text;

	if (kind == NM_SCOPE_THREAD)
		return a->thread;
	if (kind == NM_SCOPE_OBJECT)
		return 1 + (uint64_t)a->object;
	if (kind == NM_SCOPE_LINE && site->file)
		snprintf(line, sizeof line, ":%u", site->line);
	length = strlen(name ? name : "") + strlen(line) + 1;
	text = malloc(length);
	if (!text)
		return 0;
	snprintf(text, length, "%s%s", name ? name : "", line);
	name = nm_intern(pool, text);
	free(text);
	return (uintptr_t)name;
}

static uint32_t group_of(enum nm_scope kind, const struct nm_result_attribution *a)
{
	return kind == NM_SCOPE_THREAD ? a->thread : kind == NM_SCOPE_OBJECT ? a->object : a->site;
}

/* Numbers the groups of attributions from 1: of_attr[attr]. */
static int number_groups(struct scope *s, const struct nm_result *r, uint32_t *of_attr)
{
	struct nm_strings pool = {0};
	struct nm_map groups = {0};
	int status = 0;

	for (size_t i = 0; i < r->attr_count && !status; i++) {
		const uint64_t id = group_identity(&pool, r, s->kind, &r->attrs[i]);

		of_attr[i] = (uint32_t)nm_map_get(&groups, id, s->count);
		if (!id || (of_attr[i] == s->count && nm_map_put(&groups, id, s->count)))
			status = NM_ENOMEM;
		if (of_attr[i] == s->count)
			s->whose[s->count++] = group_of(s->kind, &r->attrs[i]);
	}
	nm_map_done(&groups);
	nm_strings_done(&pool);
	return status;
}

/* Makes the groups of a scope, and room for their points; the whole program has group 0 only. */
static int make_scope(struct scope *s, const struct nm_result *r, const struct nm_estimate_query *q,
		      size_t sizes)
{
	uint32_t *of_attr = calloc(r->attr_count + 1, sizeof *of_attr);
	int status = 0;

	s->count = 1;
	s->of_key = calloc(q->keys + 1, sizeof *s->of_key);
	s->whose = calloc(r->attr_count + 2, sizeof *s->whose);
	s->references = calloc(r->attr_count + 2, sizeof *s->references);
	if (!of_attr || !s->of_key || !s->whose || !s->references)
		status = NM_ENOMEM;
	if (!status && s->kind != NM_SCOPE_TOTAL)
		status = number_groups(s, r, of_attr);
	for (size_t key = 1; key < q->keys && !status; key++)
		s->of_key[key] = of_attr[q->attr_of[key]];
	for (size_t i = 0; i < r->attr_count && q->references && !status; i++) {
		s->references[0] += q->references[i];
		if (of_attr[i])
			s->references[of_attr[i]] += q->references[i];
	}
	free(of_attr);
	if (!status)
		s->points = calloc(s->count * sizes, sizeof *s->points);
	return s->points ? 0 : NM_ENOMEM;
}

/* The rows of a scope, group by group. */
static int add_rows(struct nm_result *r, const struct nm_estimate_query *q, const struct scope *s,
		    const uint64_t *lines, size_t sizes)
{
	const size_t room = r->estimate_count + s->count * sizes;
	struct nm_result_estimate *rows = realloc(r->estimates, (room + 1) * sizeof *rows);

	if (!rows)
		return NM_ENOMEM;
	r->estimates = rows;
	for (uint32_t group = s->kind != NM_SCOPE_TOTAL; group < s->count; group++)
		for (size_t i = 0; i < sizes; i++) {
			const struct nm_estimate *e = &s->points[i * s->count + group],
						 *smaller = e - s->count;

			if (isnan(e->miss_ratio) || (group && e->samples < NM_ESTIMATE_LEAST_SAMPLES) ||
			    (i && e->miss_ratio == smaller->miss_ratio && e->low == smaller->low &&
			     e->high == smaller->high))
				continue;
			r->estimates[r->estimate_count++] = (struct nm_result_estimate){
			    .method = q->estimator->name,
			    .policy = q->estimator->policy,
			    .rate = q->rate,
			    .scope = s->kind,
			    .whose = s->whose[group],
			    .size = lines[i] * q->line,
			    .miss_ratio = e->miss_ratio,
			    .cold_ratio = e->cold_ratio,
			    .low = e->low,
			    .high = e->high,
			    .samples = e->samples,
			};
		}
	return 0;
}

/* All points of a size. */
static int ask_estimator(const struct nm_estimate_query *q, const struct scope *scopes, size_t size,
			 uint64_t lines)
{
	int status = 0;

	for (enum nm_scope kind = NM_SCOPE_TOTAL; kind < NM_SCOPES && !status; kind++) {
		const struct scope *s = &scopes[kind];
		const struct nm_groups groups = {.of_key = s->of_key,
						 .keys = q->keys,
						 .count = s->count,
						 .references = q->references ? s->references : NULL};

		status = q->estimator->estimate(q->self, &groups, lines, &s->points[size * s->count]);
	}
	return status;
}

/* All points of all sizes up to that where the whole program has only cold misses left; *sizes becomes their
 * number. */
static int ask_sizes(const struct nm_estimate_query *q, const struct scope *scopes, const uint64_t *lines,
		     size_t *sizes)
{
	for (size_t i = 0; i < *sizes; i++) {
		const struct nm_estimate *total = &scopes[NM_SCOPE_TOTAL].points[i];

		if (ask_estimator(q, scopes, i, lines[i]))
			return NM_ENOMEM;
		if (!(total->miss_ratio - total->cold_ratio > negligible))
			*sizes = i + 1;
	}
	return 0;
}

/* Sizes, in lines, from the smallest on. Returns their number. */
static size_t list_sizes(uint64_t lines[MOST_OCTAVES * STEPS], unsigned line)
{
	size_t sizes = 0;

	for (unsigned i = 0; i < MOST_OCTAVES * STEPS; i++) {
		const uint64_t bytes = ((uint64_t)LEAST_BYTES << i / STEPS) / STEPS * (STEPS + i % STEPS);

		if (bytes % line == 0)
			lines[sizes++] = bytes / line;
	}
	return sizes;
}

int nm_estimates_add(struct nm_result *r, const struct nm_estimate_query *q)
{
	struct scope scopes[NM_SCOPES] = {{0}};
	uint64_t lines[MOST_OCTAVES * STEPS];
	size_t sizes = list_sizes(lines, q->line);
	int status = 0;

	for (enum nm_scope kind = NM_SCOPE_TOTAL; kind < NM_SCOPES && !status; kind++) {
		scopes[kind].kind = kind;
		status = make_scope(&scopes[kind], r, q, sizes);
	}
	if (!status)
		status = ask_sizes(q, scopes, lines, &sizes);
	for (enum nm_scope kind = NM_SCOPE_TOTAL; kind < NM_SCOPES && !status; kind++)
		status = add_rows(r, q, &scopes[kind], lines, sizes);
	for (enum nm_scope kind = NM_SCOPE_TOTAL; kind < NM_SCOPES; kind++)
		free_scope(&scopes[kind]);
	return status;
}
