/* SPDX-License-Identifier: MIT
 *
 * rows.c - sums the facts that a budget is for: in all, and by object and line of code, of which it finds the
 * one that matters most.
 */
#include <assert.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gate_priv.h"
#include "map.h"
#include "sources.h"

struct row {
	const struct nm_diff_names *names; /* as the last profile that has it calls it */
	unsigned side;                     /* that profile */
};

struct sums {
	unsigned sides;
	struct nm_map row_of; /* interned key -> row */
	struct nm_vec(struct row) rows;
	struct nm_vec(int64_t) at; /* [rows][sides] */
	int64_t totals[NM_GATE_PROFILES];
	size_t facts;
};

/* A name, or a pattern of *, ? and [...]. */
static int name_fits(const char *pattern, const char *own, const char *common)
{
	if (!pattern)
		return 1;
	return (own && (!strcmp(pattern, own) || !fnmatch(pattern, own, 0))) ||
	       (common && (!strcmp(pattern, common) || !fnmatch(pattern, common, 0)));
}

int nm_budget_means(const struct nm_budget *b, const struct nm_diff_fact *fact)
{
	return name_fits(b->object, fact->own.text[NM_DIFF_OBJECT], fact->common.text[NM_DIFF_OBJECT]) &&
	       name_fits(b->function, fact->own.text[NM_DIFF_FUNCTION],
			 fact->common.text[NM_DIFF_FUNCTION]) &&
	       name_fits(b->field, fact->own.text[NM_DIFF_FIELD], fact->common.text[NM_DIFF_FIELD]);
}

static int add_fact(struct sums *s, const struct nm_diff_fact *fact, unsigned side, int64_t count,
		    struct nm_strings *pool)
{
	const struct nm_diff_names *n = &fact->common;
	const char *key =
	    nm_gate_say(pool, "%p/%p/%" PRId64 "/%p", (const void *)n->text[NM_DIFF_FUNCTION],
			(const void *)n->text[NM_DIFF_FILE], n->line, (const void *)n->text[NM_DIFF_OBJECT]);
	const size_t i = key ? nm_map_get(&s->row_of, (uintptr_t)key, s->rows.count) : 0;

	if (!key || (i == s->rows.count && (nm_vec_push(&s->rows, (struct row){NULL, 0}) ||
					    nm_vec_reach(&s->at, s->rows.count * s->sides) ||
					    nm_map_put(&s->row_of, (uintptr_t)key, i))))
		return NM_ENOMEM;
	s->rows.at[i] = (struct row){&fact->own, side};
	s->at.at[i * s->sides + side] += count;
	s->totals[side] += count;
	s->facts++;
	return 0;
}

static struct nm_count_range count_hull(const int64_t *counts, unsigned from, unsigned end)
{
	struct nm_count_range i = {counts[from], counts[from], counts[from]};

	for (unsigned side = from + 1; side < end; side++) {
		i.least = counts[side] < i.least ? counts[side] : i.least;
		i.greatest = counts[side] > i.greatest ? counts[side] : i.greatest;
	}
	return i;
}

/* ---- the place ---------------------------------------------------------------------------------- */

/* The row with the largest count or, of a relative budget, rise between the intervals; SIZE_MAX: none. */
static size_t worst_row(const struct sums *s, unsigned base_count, int is_relative)
{
	size_t worst = SIZE_MAX;
	int64_t most = 0;

	for (size_t i = 0; i < s->rows.count; i++) {
		const int64_t *counts = &s->at.at[i * s->sides];
		const struct nm_count_range now = count_hull(counts, base_count, s->sides);
		const int64_t size =
		    is_relative ? now.least - count_hull(counts, 0, base_count).greatest : now.value;

		if (size > most) {
			most = size;
			worst = i;
		}
	}
	return worst;
}

static const char *clean_path(const char *text, struct nm_strings *pool, int *failed)
{
	const char *kept = text ? nm_gate_clean(pool, text) : NULL;

	*failed |= text && !kept;
	return kept;
}

static const char *path_below(const char *root, const char *path)
{
	const size_t n = root ? strlen(root) : 0;

	return n && !strncmp(path, root, n) && path[n] == '/' ? path + n + 1 : path;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* From "matrix.c:21" of the object's declaration or allocation, if it is in the file of the place: profiles have
 * no folders here. */
static int take_declaration(struct nm_gate_place *p, const char *at)
{
	const char *colon = strrchr(at, ':');
	const size_t n = (size_t)(colon - at);

	if (!p->file || strlen(last_component(p->file)) != n || strncmp(last_component(p->file), at, n))
		return 0;
	p->declared_line = strtoll(colon + 1, NULL, 10);
	p->declared_file = p->file;
	return 1;
}

static int find_declaration(struct nm_gate_place *p, struct nm_profile *profile, const char *object,
			    struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    "SELECT DISTINCT allocated_at FROM objects WHERE object = ?1 AND allocated_at LIKE '%:%'", &rows,
	    err);

	if (!status)
		nm_rows_bind_text(rows, 1, object);
	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = take_declaration(p, nm_rows_text(rows, 0));
	nm_rows_free(rows);
	return status < 0 ? status : 0;
}

static int line_fingerprint(struct nm_gate_place *p, const struct nm_budget *b, const char *line,
			    struct nm_strings *pool)
{
	const char *parts[] = {b->level,    nm_diff_metric_names[b->metric],
			       b->object,   b->function,
			       b->field,    p->object,
			       p->function, line};
	const char *all = "";
	char digest[NM_DIGEST_ROOM];

	for (unsigned i = 0; all && i < sizeof parts / sizeof *parts; i++)
		all = nm_gate_say(pool, "%s%s\n", all, parts[i] ? parts[i] : "");
	if (!all)
		return NM_ENOMEM;
	nm_source_digest(all, strlen(all), digest);
	p->fingerprint = nm_intern(pool, digest);
	return p->fingerprint ? 0 : NM_ENOMEM;
}

static int take_place(struct nm_judgement *j, const struct sums *s, size_t i, const struct nm_comparison *c,
		      const struct nm_gate_request *request, struct nm_strings *pool, struct nm_error *err)
{
	const struct row *row = &s->rows.at[i];
	const int64_t *counts = &s->at.at[i * s->sides];
	const char *object = row->names->text[NM_DIFF_OBJECT], *file = row->names->text[NM_DIFF_FILE];
	struct nm_profile *profile = c->sides[row->side].profile;
	const struct nm_diff_source *source;
	struct nm_gate_place *p = &j->place;
	const char *text = NULL;
	int failed = 0;
	int status = nm_diff_source_of(&c->texts[row->side], profile, file, pool, &source, err);

	assert(i < s->rows.count);
	if (!status)
		text = nm_diff_text_at(source, row->names->line);
	p->object = clean_path(object, pool, &failed);
	p->function = clean_path(row->names->text[NM_DIFF_FUNCTION], pool, &failed);
	p->file = file ? clean_path(path_below(request->root, file), pool, &failed) : NULL;
	p->line = row->names->line;
	p->now = count_hull(counts, request->base_count, s->sides);
	if (request->base_count)
		p->base = count_hull(counts, 0, request->base_count);
	if (!status && object)
		status = find_declaration(p, profile, object, err);
	if (!status && (failed || line_fingerprint(p, j->budget, text ? text : "", pool)))
		status = nm_fail_memory(err);
	return status;
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static int collect_rows(struct sums *s, const struct nm_comparison *c, const struct nm_budget *b,
			struct nm_strings *pool)
{
	for (unsigned side = 0; side < c->count; side++)
		for (size_t i = 0; i < c->sides[side].facts.count; i++) {
			const struct nm_diff_fact *fact = &c->sides[side].facts.at[i];

			if (nm_budget_means(b, fact) && add_fact(s, fact, side, fact->sums[b->metric], pool))
				return NM_ENOMEM;
		}
	return 0;
}

/* Widens the interval of the profiles [from, end) by those within each. */
static int widen_interval(struct nm_judgement *j, struct nm_count_range *r, const struct nm_comparison *c,
			  unsigned from, unsigned end, struct nm_strings *pool, struct nm_error *err)
{
	int relocated = 0;

	for (unsigned side = from; side < end; side++) {
		int64_t least, greatest;
		const int found = nm_gate_spread(&c->sides[side], j->budget, pool, &least, &greatest, err);

		if (found < 0)
			return found;
		if (!found)
			continue;
		relocated++;
		r->least = least < r->least ? least : r->least;
		r->greatest = greatest > r->greatest ? greatest : r->greatest;
	}
	j->is_single |= end - from == 1 && !relocated;
	return 0;
}

static int nothing_fits(const struct nm_budget *b, const struct nm_gate_request *request,
			struct nm_error *err)
{
	return nm_fail(err, NM_EINVAL, "%s:%d: no profile has counts of%s%s%s%s%s%s", request->budgets->path,
		       b->line, b->object ? " object " : "", b->object ? b->object : "",
		       b->function ? " function " : "", b->function ? b->function : "",
		       b->field ? " field " : "", b->field ? b->field : "");
}

int nm_judgement_sum(struct nm_judgement *j, const struct nm_comparison *c,
		     const struct nm_gate_request *request, struct nm_strings *pool, struct nm_error *err)
{
	const struct nm_budget *b = j->budget;
	const int is_relative = b->rule == NM_BUDGET_RELATIVE;
	struct sums s = {.sides = c->count};
	size_t worst;
	int status = collect_rows(&s, c, b, pool) ? nm_fail_memory(err) : 0;

	assert(j->budget);
	if (!status && !s.facts && (b->object || b->function || b->field))
		status = nothing_fits(b, request, err);
	if (!status) {
		j->now = count_hull(s.totals, request->base_count, s.sides);
		status = widen_interval(j, &j->now, c, request->base_count, s.sides, pool, err);
	}
	if (!status && is_relative) {
		j->base = count_hull(s.totals, 0, request->base_count);
		status = widen_interval(j, &j->base, c, 0, request->base_count, pool, err);
	}
	if (!status) {
		worst = worst_row(&s, request->base_count, is_relative);
		j->has_place = worst != SIZE_MAX;
		if (j->has_place)
			status = take_place(j, &s, worst, c, request, pool, err);
	}
	nm_map_done(&s.row_of);
	nm_vec_free(&s.rows);
	nm_vec_free(&s.at);
	return status;
}
