/* SPDX-License-Identifier: MIT
 *
 * Rows are in a list, in the order in which they were made.
 */
#include "event_filter.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hash_index.h"
#include "map.h"
#include "vector.h"

#define NO_RESIDENCY SIZE_MAX

struct nm_event_filter {
	const struct nm_event_query *query;
	struct nm_vec(struct nm_event_row) rows;
	struct nm_hash_index index; /* of the rows, by their keys */
	struct nm_vec(struct nm_event_residency) residencies;
	struct nm_vec(struct nm_logged_event) logged;
	uint64_t total;
	uint64_t line_bytes[NM_MAX_LEVELS];
	size_t open[NM_MAX_LEVELS][NM_MAX_CORES + 1]; /* the residency under way in each cache */
	int failed;
};

/* ---- rows ---- */

static uint64_t hash_of(const struct nm_event_row *r)
{
	return nm_mix64(r->place ^ nm_mix64((uint64_t)r->attr << 32 ^ r->victim ^ (uint64_t)r->level << 58 ^
					    (uint64_t)r->kind << 55));
}

static int is_same(const struct nm_event_row *r, const struct nm_event_row *e)
{
	return r->place == e->place && r->attr == e->attr && r->victim == e->victim && r->kind == e->kind &&
	       r->level == e->level;
}

/* The key of a row. */
static struct nm_event_row key_of(const struct nm_event_filter *f, const struct nm_event_row *row)
{
	struct nm_event_row key = *row;

	if (!f->query->by_attr)
		key.attr = key.victim = 0;
	return key;
}

/* Adds to the row of this key. Its count before. */
static uint64_t count_row(struct nm_event_filter *f, const struct nm_event_row *row)
{
	struct nm_event_row key = key_of(f, row), other;
	const uint64_t hash = hash_of(&key);
	uint32_t i;

	for (size_t at = 0; nm_hash_index_next(&f->index, hash, &at, &i);) {
		struct nm_event_row *old = &f->rows.at[i];

		other = key_of(f, old);
		if (is_same(&key, &other)) {
			old->count += row->count;
			return old->count - row->count;
		}
	}
	if (f->rows.count == UINT32_MAX - 1 || nm_vec_push(&f->rows, *row) ||
	    nm_hash_index_add(&f->index, hash, (uint32_t)f->rows.count - 1))
		f->failed = 1;
	return 0;
}

/* ---- events ---- */

static void keep_residency(struct nm_event_filter *f, const struct nm_event *e)
{
	size_t *open = &f->open[e->level][e->core];

	if (e->line != (f->query->address & ~(f->line_bytes[e->level] - 1)))
		return;
	if (e->kind == NM_EVENT_LOAD || e->kind == NM_EVENT_PREFETCH) {
		struct nm_event_residency residency = {.loaded = e->reference,
						       .address = e->address,
						       .loader = e->attr,
						       .level = e->level,
						       .core = e->core};
		*open = NO_RESIDENCY;
		if (f->total++ >= f->query->limit)
			return;
		if (nm_vec_push(&f->residencies, residency))
			f->failed = 1;
		else
			*open = f->residencies.count - 1;
	} else if (*open != NO_RESIDENCY && e->kind == NM_EVENT_HIT) {
		f->residencies.at[*open].hits += e->times;
	} else if (*open != NO_RESIDENCY && nm_event_leaves(e->kind)) {
		f->residencies.at[*open].left = e->reference;
		f->residencies.at[*open].evictor = e->attr;
		f->residencies.at[*open].push = e->address;
		f->residencies.at[*open].cause = e->cause;
		*open = NO_RESIDENCY;
	}
}

static uint64_t place_of(const struct nm_event_query *q, const struct nm_event *e, uint64_t address)
{
	switch (q->mode) {
	case NM_QUERY_GRANULES: return address >> q->shift << q->shift;
	case NM_QUERY_SETS: return e->set;
	default: return 0;
	}
}

int nm_event_filter_wants(const struct nm_event_filter *f, const struct nm_event *e)
{
	const struct nm_event_query *q = f->query;
	const int untouched = nm_event_of_untouched_line(e->kind);
	const uint64_t address = untouched ? e->line : e->address;
	const uint64_t bytes = untouched ? f->line_bytes[e->level] : e->bytes;

	return (q->kinds[e->level] >> e->kind & 1) && address < q->end && address + (bytes - 1) >= q->low &&
	       (!q->of_set || e->set == q->set) && (!q->serving || e->kind != NM_EVENT_LOAD || e->last);
}

int nm_event_filter_admits(struct nm_event_filter *f, const struct nm_event *e)
{
	const struct nm_event_row row = {
	    .count = e->times, .attr = e->attr, .victim = e->victim, .kind = e->kind, .level = e->level};
	const uint64_t before = f->query->by_attr ? count_row(f, &row) : f->total;

	f->total += e->times;
	return before < nm_event_query_end(f->query) &&
	       (f->query->by_attr || before + e->times > f->query->skip);
}

int nm_event_filter_log(struct nm_event_filter *f, const struct nm_logged_event *e)
{
	return nm_vec_push(&f->logged, *e);
}

void nm_event_filter_keep(struct nm_event_filter *f, const struct nm_event *e)
{
	const struct nm_event_query *q = f->query;

	if (q->mode == NM_QUERY_RESIDENCIES) {
		keep_residency(f, e);
	} else if (q->mode == NM_QUERY_LOG) {
		if (nm_event_filter_admits(f, e) &&
		    nm_event_filter_log(f, &(struct nm_logged_event){.at = *e}))
			f->failed = 1;
	} else {
		const uint64_t address = nm_event_of_untouched_line(e->kind) ? e->line : e->address;
		struct nm_event_row row = {.place = place_of(q, e, address),
					   .count = e->times,
					   .attr = e->attr,
					   .victim = e->victim,
					   .kind = e->kind,
					   .level = e->level};

		if (q->serving && e->kind == NM_EVENT_LOAD)
			row.level = NM_MAX_LEVELS;
		count_row(f, &row);
	}
}

static void take_event(void *self, const struct nm_event *e)
{
	if (nm_event_filter_wants(self, e))
		nm_event_filter_keep(self, e);
}

/* ---- life ---- */

int nm_event_filter_new(struct nm_event_filter **ret_filter, const struct nm_event_query *query,
			const struct nm_machine *machine)
{
	struct nm_event_filter *s = calloc(1, sizeof *s);

	assert(query);
	if (!s)
		return NM_ENOMEM;
	s->query = query;
	for (unsigned i = 0; i < machine->count; i++) {
		s->line_bytes[i] = nm_level_unit(&machine->levels[i]);
		for (unsigned k = 0; k <= NM_MAX_CORES; k++)
			s->open[i][k] = NO_RESIDENCY;
	}
	*ret_filter = s;
	return 0;
}

void nm_event_filter_free(struct nm_event_filter *f)
{
	if (!f)
		return;
	nm_vec_free(&f->rows);
	nm_vec_free(&f->residencies);
	nm_vec_free(&f->logged);
	nm_hash_index_done(&f->index);
	free(f);
}

void nm_event_filter_attach(struct nm_event_filter *f, struct nm_hierarchy *hierarchy)
{
	nm_hierarchy_watch(hierarchy, &(struct nm_monitor){.event = take_event, .self = f});
}

int nm_event_filter_take(struct nm_event_filter *f, struct nm_filtered_events *ret_events)
{
	*ret_events = (struct nm_filtered_events){.query = f->query,
						  .rows = f->rows.at,
						  .row_count = f->rows.count,
						  .residencies = f->residencies.at,
						  .residency_count = f->residencies.count,
						  .logged = f->logged.at,
						  .logged_count = f->logged.count,
						  .total = f->total};
	memset(&f->rows, 0, sizeof f->rows);
	memset(&f->logged, 0, sizeof f->logged);
	memset(&f->residencies, 0, sizeof f->residencies);
	return f->failed ? NM_ENOMEM : 0;
}
