/* SPDX-License-Identifier: MIT
 *
 * contexts.c - stores call chains: their calls, the counts of places in each, and sums that include callees.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

/* The place of a variable that a library destroys: "destruction of prices" where it is declared. */
static sqlite3_int64 declaration_place(struct nm_result_writer *w, const struct nm_result_object *variable)
{
	const char *at = variable->allocated_at, *colon = strrchr(at, ':');
	char function[1024], file[4200];
	struct nm_result_site place = {.function = function, .file = file};
	sqlite3_int64 site = 0;

	if (!colon || (size_t)(colon - at) >= sizeof file)
		return 0;
	snprintf(function, sizeof function, "destruction of %s", variable->name);
	snprintf(file, sizeof file, "%.*s", (int)(colon - at), at);
	place.line = (uint32_t)strtoul(colon + 1, NULL, 10);
	w->status = nm_names_site(&w->store->names, &place, &site);
	return site;
}

/* users: for each context, the site of the nearest call that the user wrote; 0: there is none. */
static void store_contexts(struct nm_result_writer *w, sqlite3_int64 *users)
{
	const struct nm_result *result = w->result;

	for (size_t i = 0; i < result->context_count && !w->status; i++) {
		const struct nm_result_context *c = &result->contexts[i];
		sqlite3_stmt *insert = nm_row_of_process(w, NM_INSERT_CONTEXT);
		sqlite3_int64 site = 0;

		users[i] = i ? users[c->parent] : 0;
		if (c->site != UINT32_MAX)
			w->status = nm_names_site(&w->store->names, &result->sites[c->site], &site);
		if (w->status)
			return;
		if (c->site != UINT32_MAX && !result->sites[c->site].is_library)
			users[i] = nm_names_user(&w->store->names, site);
		else if (c->destroys)
			users[i] = declaration_place(w, &result->objects[c->destroys - 1]);
		nm_row_number(insert, 2, i);
		if (i)
			nm_row_number(insert, 3, c->parent);
		else
			sqlite3_bind_null(insert, 3);
		nm_row_id(insert, 4, nm_row_text_id(w, c->function));
		nm_row_id(insert, 5, site);
		nm_row_number(insert, 6, c->calls);
		nm_row_id(insert, 7, users[i]);
		nm_row_run(w, insert);
	}
}

static void store_buckets(struct nm_result_writer *w)
{
	for (uint32_t i = 0; i < w->index.objects && !w->status; i++) {
		const struct nm_result_object *object = &w->result->objects[w->index.object_first[i]];
		sqlite3_stmt *insert = nm_row(w, NM_INSERT_BUCKET);

		if (!object->chain)
			continue;
		nm_row_number(insert, 1, (uint64_t)w->objects + i);
		nm_row_number(insert, 2, object->chain - 1);
		nm_row_run(w, insert);
	}
}

/* A row of an attribution key in a context. */
struct context_row {
	uint32_t context, thread, place, attr;
};

static int compare_context_rows(const void *a, const void *b)
{
	const struct context_row *r = a, *y = b;

	if (r->context != y->context)
		return r->context > y->context ? 1 : -1;
	if (r->thread != y->thread)
		return r->thread > y->thread ? 1 : -1;
	return (r->place > y->place) - (r->place < y->place);
}

static struct context_row *sorted_context_rows(const struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;
	struct context_row *rows = malloc((result->context_attr_count + 1) * sizeof *rows);

	for (uint32_t i = 0; rows && i < result->context_attr_count; i++) {
		const struct nm_result_context_attr *c = &result->context_attrs[i];

		assert(c->context < result->context_count && c->attr < result->attr_count);
		rows[i] = (struct context_row){c->context, result->attrs[c->attr].thread,
					       w->index.place_of[c->attr], i};
	}
	if (rows)
		qsort(rows, result->context_attr_count, sizeof *rows, compare_context_rows);
	return rows;
}

static void store_context_attr(struct nm_result_writer *w, unsigned level, const struct context_row *at,
			       const struct nm_counts *sum)
{
	static const struct nm_counts none;
	sqlite3_stmt *insert;

	if (!memcmp(sum, &none, sizeof none))
		return;
	insert = nm_row_of_level(w, NM_INSERT_CONTEXT_CELL, level);
	nm_row_number(insert, 2, at->context);
	nm_row_number(insert, 3, at->thread);
	nm_row_number(insert, 4, nm_row_place(w, at->place));
	nm_row_counts(insert, 5, sum);
	nm_row_run(w, insert);
}

/* Several attribution keys may share a place: adds them up. */
static void store_context_attrs(struct nm_result_writer *w, unsigned level, const struct context_row *rows)
{
	size_t n = w->result->context_attr_count, i = 0;

	while (i < n && !w->status) {
		const struct context_row *first = &rows[i];
		struct nm_counts sum = {0};

		for (; i < n && !compare_context_rows(first, &rows[i]); i++)
			nm_counts_sum(&sum, &w->result->levels[level].context_counts[rows[i].attr]);
		store_context_attr(w, level, first, &sum);
	}
}

/* Callers come before what they call, so one pass backwards adds up. */
static void store_context_sums(struct nm_result_writer *w, unsigned level)
{
	const struct nm_result *result = w->result;
	struct nm_counts *sums = calloc(result->context_count + 1, sizeof *sums);

	if (!sums) {
		w->status = SQLITE_NOMEM;
		return;
	}
	for (size_t i = 0; i < result->context_attr_count; i++)
		nm_counts_sum(&sums[result->context_attrs[i].context],
			      &result->levels[level].context_counts[i]);
	for (size_t i = result->context_count; i-- > 1;) {
		assert(result->contexts[i].parent < i);
		nm_counts_sum(&sums[result->contexts[i].parent], &sums[i]);
	}
	for (size_t i = 0; i < result->context_count && !w->status; i++) {
		sqlite3_stmt *insert = nm_row_of_level(w, NM_INSERT_CONTEXT_SUM, level);

		nm_row_number(insert, 2, i);
		nm_row_counts(insert, 3, &sums[i]);
		nm_row_run(w, insert);
	}
	free(sums);
}

void nm_store_contexts(struct nm_result_writer *w)
{
	struct context_row *rows;
	sqlite3_int64 *users;

	if (!w->result->context_count)
		return;
	rows = sorted_context_rows(w);
	users = calloc(w->result->context_count, sizeof *users);
	if (!rows || !users)
		w->status = SQLITE_NOMEM;
	else
		store_contexts(w, users);
	if (!w->status)
		store_buckets(w);
	for (unsigned level = 0; level < w->result->machine.count && !w->status; level++) {
		store_context_attrs(w, level, rows);
		store_context_sums(w, level);
	}
	free(users);
	free(rows);
}
