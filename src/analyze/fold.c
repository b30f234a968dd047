/* SPDX-License-Identifier: MIT
 *
 * fold.c - from the engine's cells (thread, place, object) to the result's (thread, place, named object): sums
 * up objects that come to the same name.
 */
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"

struct fold {
	struct nm_engine *engine;
	struct nm_result *result;
	uint32_t *objects; /* engine's object -> result's */
	uint32_t *cells;   /* engine's cell -> result's; UINT32_MAX: empty */
};

void nm_result_free(struct nm_result *result)
{
	for (unsigned i = 0; i < NM_MAX_LEVELS; i++) {
		free(result->levels[i].counts);
		free(result->levels[i].evictions);
	}
	free(result->objects);
	free(result->sites);
	free(result->cells);
	for (size_t i = 0; i < result->code_count; i++) {
		free(result->code[i].bytes);
		free(result->code[i].lines);
	}
	free(result->code);
	free(result->undebugged);
	memset(result, 0, sizeof *result);
}

/* ---- cells ---- */

/* Sorts and numbers anew: a table of what was seen would need three times the memory of the list. */
struct keyed {
	uint64_t key;
	size_t i;
};

static int by_key(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->i < b->i ? -1 : a->i > b->i;
}

static int fold_cells(struct fold *f, size_t raw)
{
	struct nm_result *r = f->result;
	struct keyed *list = calloc(raw, sizeof *list);
	uint64_t last = 0;

	if (!list)
		return NM_ENOMEM;
	for (size_t i = 1; i < raw; i++) {
		const struct nm_cell *c = &f->engine->cells.list.at[i];

		list[i].i = i;
		list[i].key = (uint64_t)c->thread << 52 | (uint64_t)c->place << 26 | f->objects[c->object];
	}
	qsort(list + 1, raw - 1, sizeof *list, by_key);
	r->cell_count = 0;
	for (size_t k = 1; k < raw; k++) {
		const struct nm_cell *c = &f->engine->cells.list.at[list[k].i];

		if (!r->cell_count || list[k].key != last)
			r->cells[r->cell_count++] =
			    (struct nm_result_cell){c->thread, c->place, f->objects[c->object]};
		last = list[k].key;
		f->cells[list[k].i] = (uint32_t)(r->cell_count - 1);
	}
	free(list);
	return 0;
}

static void add_counts(struct nm_counts *into, const struct nm_counts *from)
{
	uint64_t *a = (uint64_t *)into;
	const uint64_t *b = (const uint64_t *)from;

	for (size_t i = 0; i < sizeof *into / sizeof *a; i++)
		a[i] += b[i];
}
_Static_assert(sizeof(struct nm_counts) % sizeof(uint64_t) == 0, "counts are all uint64_t");

/* Counts per result cell; into a fresh array, since several cells become one. */
static int fold_counts(struct fold *f, struct nm_result_level *level, size_t raw)
{
	struct nm_counts *sums = calloc(f->result->cell_count + 1, sizeof *sums);

	if (!sums)
		return NM_ENOMEM;
	for (size_t i = 1; i < raw; i++)
		add_counts(&sums[f->cells[i]], &level->counts[i]);
	free(level->counts);
	level->counts = sums;
	return 0;
}

static int by_pair(const void *left, const void *right)
{
	const struct nm_eviction *a = left, *b = right;

	if (a->evictor != b->evictor)
		return a->evictor < b->evictor ? -1 : 1;
	return a->victim < b->victim ? -1 : a->victim > b->victim;
}

static void fold_evictions(const struct fold *f, struct nm_result_level *level)
{
	struct nm_eviction *list = level->evictions, *fitting;
	size_t kept = 0;

	for (size_t i = 0; i < level->eviction_count; i++) {
		list[i].evictor = f->cells[list[i].evictor];
		list[i].victim = f->cells[list[i].victim];
	}
	if (level->eviction_count)
		qsort(list, level->eviction_count, sizeof *list, by_pair);
	for (size_t i = 0; i < level->eviction_count; i++)
		if (kept && !by_pair(&list[kept - 1], &list[i]))
			list[kept - 1].count += list[i].count;
		else
			list[kept++] = list[i];
	level->eviction_count = kept;
	fitting = realloc(list, (kept + 1) * sizeof *list);
	if (fitting)
		level->evictions = fitting;
}

/* The references that the program made go to the first level of their side. */
static void add_references(struct fold *f, size_t raw)
{
	const struct nm_engine *e = f->engine;
	unsigned first[2] = {0, 0}; /* for data, for fetches */

	while (first[0] < e->machine.count && e->machine.levels[first[0]].side == NM_SIDE_INSTRUCTION)
		first[0]++;
	while (first[1] < e->machine.count && e->machine.levels[first[1]].side == NM_SIDE_DATA)
		first[1]++;
	for (size_t i = 1; i < raw; i++) {
		int code = e->space.objects.at[e->cells.list.at[i].object].kind == NM_OBJECT_CODE;
		struct nm_counts *c;

		if (first[code] >= e->machine.count)
			continue;
		c = &f->result->levels[first[code]].counts[f->cells[i]];
		c->reads += e->cells.references[i].count[0];
		c->writes += e->cells.references[i].count[1];
	}
}

/* ---- modules without debug information ---- */

static int list_undebugged(struct fold *f)
{
	const struct nm_engine *e = f->engine;
	struct nm_result *r = f->result;
	struct nm_map seen = {0};
	int status = 0;

	for (size_t i = 0; i < e->cells.sites.count && !status; i++) {
		struct nm_module *m = e->cells.sites.at[i].module;
		const char **more;

		if (!m || nm_map_get(&seen, (uintptr_t)m, 0))
			continue;
		status = nm_map_put(&seen, (uintptr_t)m, 1);
		if (status || nm_module_debug_level(m) == NM_DEBUG_DWARF ||
		    !strncmp(nm_module_name(m), "vgpreload_", 10)) /* Valgrind's own, in every program */
			continue;
		more = realloc(r->undebugged, (r->undebugged_count + 1) * sizeof *more);
		if (!more) {
			status = NM_ENOMEM;
			break;
		}
		r->undebugged = more;
		r->undebugged[r->undebugged_count++] = nm_module_path(m);
	}
	nm_map_done(&seen);
	return status;
}

/* ---- all ---- */

static int fold_all(struct fold *f)
{
	struct nm_engine *e = f->engine;
	struct nm_result *r = f->result;
	size_t raw = r->cell_count;
	int status = nm_engine_name_objects(e, r, &f->objects);

	f->cells = calloc(raw + 1, sizeof *f->cells);
	r->sites = calloc(e->cells.places.count + 1, sizeof *r->sites);
	r->cells = calloc(raw + 1, sizeof *r->cells);
	if (!f->cells || !r->sites || !r->cells)
		return NM_ENOMEM;
	r->site_count = e->cells.places.count;
	if (r->site_count)
		memcpy(r->sites, e->cells.places.at, r->site_count * sizeof *r->sites);
	if (!status)
		status = fold_cells(f, raw);
	for (unsigned i = 0; i < r->machine.count && !status; i++) {
		status = fold_counts(f, &r->levels[i], raw);
		fold_evictions(f, &r->levels[i]);
	}
	if (status)
		return status;
	add_references(f, raw);
	r->by_instruction = e->options.by_instruction;
	if (r->by_instruction && nm_engine_list_code(e, r))
		return NM_ENOMEM;
	return list_undebugged(f);
}

int nm_engine_fold(struct nm_engine *e, struct nm_result *result)
{
	struct fold f = {.engine = e, .result = result};
	const char *slash = e->process.executable ? strrchr(e->process.executable, '/') : NULL;
	int status = fold_all(&f);

	free(f.objects);
	free(f.cells);
	result->process = slash ? slash + 1 : e->process.executable ? e->process.executable : "<unknown>";
	result->command = e->command ? e->command : "";
	result->exit_status = e->exit_status;
	result->instructions = e->clock - e->unmeasured;
	result->references = e->references;
	result->lost_words = e->lost;
	return status;
}
