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
	struct nm_map merged, pairs;
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
	free(result->undebugged);
	memset(result, 0, sizeof *result);
}

/* ---- cells ---- */

static int fold_cell(struct fold *f, size_t i)
{
	const struct nm_cell *c = &f->engine->cells.list.at[i];
	struct nm_result_cell r = {c->thread, c->place, f->objects[c->object]};
	uint64_t key = (uint64_t)r.thread << 52 | (uint64_t)r.site << 26 | r.object;
	uint64_t at = nm_map_get(&f->merged, key, UINT64_MAX);

	if (at == UINT64_MAX) {
		at = f->result->cell_count++;
		f->result->cells[at] = r;
		if (nm_map_put(&f->merged, key, at))
			return NM_ENOMEM;
	}
	f->cells[i] = (uint32_t)at;
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

static int fold_evictions(struct fold *f, struct nm_result_level *level)
{
	size_t kept = 0;

	nm_map_done(&f->pairs);
	for (size_t i = 0; i < level->eviction_count; i++) {
		struct nm_eviction v = level->evictions[i];
		uint64_t key, at;

		v.evictor = f->cells[v.evictor];
		v.victim = f->cells[v.victim];
		key = (uint64_t)v.evictor << 32 | v.victim;
		at = nm_map_get(&f->pairs, key, UINT64_MAX);
		if (at != UINT64_MAX) {
			level->evictions[at].count += v.count;
			continue;
		}
		if (nm_map_put(&f->pairs, key, kept))
			return NM_ENOMEM;
		level->evictions[kept++] = v;
	}
	level->eviction_count = kept;
	return 0;
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
		if (status || nm_module_debug_level(m) == NM_DEBUG_DWARF)
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
	r->cell_count = 0;
	for (size_t i = 1; i < raw && !status; i++)
		status = fold_cell(f, i);
	for (unsigned i = 0; i < r->machine.count && !status; i++) {
		status = fold_counts(f, &r->levels[i], raw);
		if (!status)
			status = fold_evictions(f, &r->levels[i]);
	}
	if (status)
		return status;
	add_references(f, raw);
	return list_undebugged(f);
}

int nm_engine_fold(struct nm_engine *e, struct nm_result *result)
{
	struct fold f = {.engine = e, .result = result};
	const char *slash = e->process.executable ? strrchr(e->process.executable, '/') : NULL;
	int status = fold_all(&f);

	free(f.objects);
	free(f.cells);
	nm_map_done(&f.merged);
	nm_map_done(&f.pairs);
	result->process = slash ? slash + 1 : e->process.executable ? e->process.executable : "<unknown>";
	result->command = e->command ? e->command : "";
	result->exit_status = e->exit_status;
	result->instructions = e->instructions;
	result->references = e->references;
	result->lost_words = e->lost;
	return status;
}
