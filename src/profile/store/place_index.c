/* SPDX-License-Identifier: MIT
 *
 * place_index.c - sorts the attribution keys of a result into an order that does not depend on the run.
 *
 * The engine numbers sites, objects and attribution keys as it meets them, and two sites may have the same
 * text (two modules with an inline function of one header). Texts are compared once, to rank sites and
 * objects; attribution keys are then sorted by numbers.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile_priv.h"
#include "sort.h"

/* A packed place; the engine makes no more sites, objects and regions (attribution.h, regions.h). */
enum { SITE_SHIFT = 26, REGION_SHIFT = 2 * SITE_SHIFT, RANK_MAX = (1 << SITE_SHIFT) - 1 };

static int compare_text(const char *a, const char *b)
{
	if (a == b)
		return 0;
	if (!a || !b)
		return a ? 1 : -1;
	return strcmp(a, b);
}

static int compare_sites(const void *a, const void *b, void *arg)
{
	const struct nm_result_site *sites = arg;
	const struct nm_result_site *s = &sites[*(const uint32_t *)a], *y = &sites[*(const uint32_t *)b];
	int order = compare_text(s->function, y->function);

	if (!order)
		order = compare_text(s->file, y->file);
	if (!order)
		order = (s->line > y->line) - (s->line < y->line);
	if (!order)
		order = compare_text(s->inlined, y->inlined);
	if (!order)
		order = compare_text(s->user_function, y->user_function);
	if (!order)
		order = compare_text(s->user_file, y->user_file);
	if (!order)
		order = (s->user_line > y->user_line) - (s->user_line < y->user_line);
	if (!order && !s->file && !y->file)
		order = compare_text(s->module, y->module);
	return order;
}

static int compare_objects(const void *a, const void *b, void *arg)
{
	const struct nm_result_object *objects = arg;

	return compare_text(objects[*(const uint32_t *)a].name, objects[*(const uint32_t *)b].name);
}

typedef int compare_fn(const void *, const void *, void *);

/* Ranks `count` elements: *ret_rank[index] and *ret_first[rank]. */
static int rank_elements(size_t count, compare_fn *compare, void *things, uint32_t **ret_rank,
			 uint32_t **ret_first, uint32_t *ret_ranks)
{
	uint32_t *ranks = malloc((count + 1) * sizeof *ranks), *order = malloc((count + 1) * sizeof *order);
	uint32_t n = 0;
	size_t i;

	*ret_rank = ranks;
	*ret_first = order;
	if (!ranks || !order)
		return NM_ENOMEM;
	for (i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof *order, compare, things);
	for (i = 0; i < count; i++) {
		if (!n || compare(&order[n - 1], &order[i], things))
			order[n++] = order[i];
		ranks[order[i]] = n - 1;
	}
	assert(n <= count);
	*ret_ranks = n;
	return 0;
}

/* The sort is stable: attribution keys of one thread and place stay in the order of their numbers. */
static int merge_keys(struct nm_place_index *index, const struct nm_result *result, struct nm_keyed *attrs)
{
	const size_t n = result->attr_count;

	for (size_t i = 0; i < n; i++) {
		const struct nm_result_attribution *attr = &result->attrs[i];

		assert(attr->site < result->site_count && attr->object < result->object_count);
		attrs[i].key = (uint64_t)attr->region << REGION_SHIFT |
			       (uint64_t)index->site_rank[attr->site] << SITE_SHIFT |
			       index->object_rank[attr->object];
		attrs[i].value = i;
	}
	assert(index->sites <= RANK_MAX && index->objects <= RANK_MAX);
	if (nm_sort_by_key(attrs, n))
		return NM_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!i || attrs[i].key != attrs[i - 1].key)
			index->places[index->place_count++] = (struct nm_stored_location){
			    .region = (uint32_t)(attrs[i].key >> REGION_SHIFT),
			    .site = (uint32_t)(attrs[i].key >> SITE_SHIFT) & RANK_MAX,
			    .object = (uint32_t)attrs[i].key & RANK_MAX};
		index->place_of[attrs[i].value] = index->place_count - 1;
	}
	for (size_t i = 0; i < n; i++)
		attrs[i].key = result->attrs[attrs[i].value].thread;
	if (nm_sort_by_key(attrs, n))
		return NM_ENOMEM;
	for (size_t i = 0; i < n; i++)
		index->order[i] = (uint32_t)attrs[i].value;
	return 0;
}

int nm_place_index_make(struct nm_place_index *ret_index, const struct nm_result *result)
{
	size_t room = result->attr_count + 1;
	struct nm_keyed *attrs = malloc(room * sizeof *attrs);
	struct nm_place_index index = {0};
	int status;

	status = rank_elements(result->site_count, compare_sites, result->sites, &index.site_rank,
			       &index.site_first, &index.sites);
	if (!status)
		status = rank_elements(result->object_count, compare_objects, result->objects,
				       &index.object_rank, &index.object_first, &index.objects);
	index.places = malloc(room * sizeof *index.places);
	index.place_of = malloc(room * sizeof *index.place_of);
	index.order = malloc(room * sizeof *index.order);
	if (status || !attrs || !index.places || !index.place_of || !index.order ||
	    merge_keys(&index, result, attrs)) {
		nm_place_index_done(&index);
		free(attrs);
		return NM_ENOMEM;
	}
	free(attrs);
	*ret_index = index;
	return 0;
}

void nm_place_index_done(struct nm_place_index *index)
{
	free(index->site_rank);
	free(index->object_rank);
	free(index->site_first);
	free(index->object_first);
	free(index->places);
	free(index->place_of);
	free(index->order);
	memset(index, 0, sizeof *index);
}

/* ---- evictions ---- */

static uint64_t key_of(const struct nm_place_index *index, const struct nm_eviction *e)
{
	return (uint64_t)index->place_of[e->victim] << 32 | index->place_of[e->evictor];
}

int nm_place_evictions(const struct nm_result_level *from, const struct nm_place_index *index,
		       struct nm_place_eviction **ret_list, size_t *ret_count)
{
	struct nm_keyed *order = malloc((from->eviction_count + 1) * sizeof *order);
	struct nm_place_eviction *list = malloc((from->eviction_count + 1) * sizeof *list);
	size_t n = 0;

	assert(index->place_of);
	for (size_t i = 0; order && i < from->eviction_count; i++)
		order[i] = (struct nm_keyed){key_of(index, &from->evictions[i]), i};
	if (!list || !order || nm_sort_by_key(order, from->eviction_count)) {
		free(order);
		free(list);
		return SQLITE_NOMEM;
	}
	for (size_t i = 0; i < from->eviction_count; i++) {
		const struct nm_eviction *e = &from->evictions[order[i].value];

		if (!i || order[i].key != order[i - 1].key)
			list[n++] = (struct nm_place_eviction){.victim = (uint32_t)(order[i].key >> 32),
							       .evictor = (uint32_t)order[i].key};
		list[n - 1].count += e->count;
		list[n - 1].prefetches += e->prefetch ? e->count : 0;
	}
	free(order);
	*ret_list = list;
	*ret_count = n;
	return 0;
}
