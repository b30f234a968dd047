/* SPDX-License-Identifier: MIT
 *
 * fold.c - brings the cells of a result into an order that does not depend on the run.
 *
 * The engine numbers sites, objects and cells as it meets them, and two sites may read the same (two
 * modules with an inline function of one header).  Texts are compared once, to rank sites and objects;
 * cells are then sorted by numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_priv.h"

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
	const struct nm_result_site *x = &sites[*(const uint32_t *)a], *y = &sites[*(const uint32_t *)b];
	int order = compare_text(x->function, y->function);

	if (!order)
		order = compare_text(x->file, y->file);
	if (!order)
		order = (x->line > y->line) - (x->line < y->line);
	return order;
}

static int compare_objects(const void *a, const void *b, void *arg)
{
	const struct nm_result_object *objects = arg;

	return compare_text(objects[*(const uint32_t *)a].name, objects[*(const uint32_t *)b].name);
}

typedef int compare_fn(const void *, const void *, void *);

/* Ranks `count` things: *ret_rank[index] and *ret_first[rank]. */
static int rank(size_t count, compare_fn *compare, void *things, uint32_t **ret_rank, uint32_t **ret_first,
		uint32_t *ret_ranks)
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
	*ret_ranks = n;
	return 0;
}

struct cell_key {
	uint64_t place; /* site rank, object rank; later the place's number */
	uint32_t thread, cell;
};

static int compare_by_place(const void *a, const void *b)
{
	const struct cell_key *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static int compare_by_thread(const void *a, const void *b)
{
	const struct cell_key *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread > y->thread ? 1 : -1;
	if (x->place != y->place)
		return x->place > y->place ? 1 : -1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

static void fold_cells(struct nm_fold *fold, const struct nm_result *result, struct cell_key *keys)
{
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < result->cell_count; i++) {
		const struct nm_result_cell *cell = &result->cells[i];

		keys[i].place = (uint64_t)fold->site_rank[cell->site] << 32 | fold->object_rank[cell->object];
		keys[i].thread = cell->thread;
		keys[i].cell = (uint32_t)i;
	}
	qsort(keys, result->cell_count, sizeof *keys, compare_by_place);
	for (i = 0; i < result->cell_count; i++) {
		if (!i || keys[i].place != last) {
			last = keys[i].place;
			fold->places[fold->place_count].site = (uint32_t)(last >> 32);
			fold->places[fold->place_count++].object = (uint32_t)last;
		}
		keys[i].place = fold->place_count - 1;
		fold->place_of[keys[i].cell] = fold->place_count - 1;
	}
	qsort(keys, result->cell_count, sizeof *keys, compare_by_thread);
	for (i = 0; i < result->cell_count; i++)
		fold->order[i] = keys[i].cell;
}

int nm_fold(struct nm_fold *ret_fold, const struct nm_result *result)
{
	size_t cells = result->cell_count + 1;
	struct cell_key *keys = malloc(cells * sizeof *keys);
	struct nm_fold fold = {0};
	int rc;

	rc = rank(result->site_count, compare_sites, result->sites, &fold.site_rank, &fold.site_first,
		  &fold.sites);
	if (!rc)
		rc = rank(result->object_count, compare_objects, result->objects, &fold.object_rank,
			  &fold.object_first, &fold.objects);
	fold.places = malloc(cells * sizeof *fold.places);
	fold.place_of = malloc(cells * sizeof *fold.place_of);
	fold.order = malloc(cells * sizeof *fold.order);
	if (rc || !keys || !fold.places || !fold.place_of || !fold.order) {
		nm_fold_done(&fold);
		free(keys);
		return NM_ENOMEM;
	}
	fold_cells(&fold, result, keys);
	free(keys);
	*ret_fold = fold;
	return 0;
}

void nm_fold_done(struct nm_fold *fold)
{
	free(fold->site_rank);
	free(fold->object_rank);
	free(fold->site_first);
	free(fold->object_first);
	free(fold->places);
	free(fold->place_of);
	free(fold->order);
	memset(fold, 0, sizeof *fold);
}

/* ---- evictions ---- */

static int compare_evictions(const void *a, const void *b)
{
	const struct nm_place_eviction *x = a, *y = b;

	if (x->victim != y->victim)
		return x->victim > y->victim ? 1 : -1;
	return (x->evictor > y->evictor) - (x->evictor < y->evictor);
}

size_t nm_place_evictions(const struct nm_result_level *from, const struct nm_fold *fold,
			  struct nm_place_eviction *list)
{
	size_t n = 0;

	for (size_t i = 0; i < from->eviction_count; i++) {
		const struct nm_eviction *e = &from->evictions[i];

		list[i] = (struct nm_place_eviction){.victim = fold->place_of[e->victim],
						     .evictor = fold->place_of[e->evictor],
						     .count = e->count,
						     .prefetches = e->prefetch ? e->count : 0};
	}
	qsort(list, from->eviction_count, sizeof *list, compare_evictions);
	for (size_t i = 0; i < from->eviction_count; i++) {
		if (n && !compare_evictions(&list[n - 1], &list[i])) {
			list[n - 1].count += list[i].count;
			list[n - 1].prefetches += list[i].prefetches;
		} else {
			list[n++] = list[i];
		}
	}
	return n;
}
