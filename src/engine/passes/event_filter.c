/* SPDX-License-Identifier: MIT
 *
 * event_filter.c - see event_filter.h.
 *
 * Rows are in a list, in the order in which they were made. A hash table of their numbers, at most half full,
 * finds them.
 */
#include "event_filter.h"

#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "vector.h"

#define NO_RESIDENCY SIZE_MAX

struct nm_event_filter {
	const struct nm_event_query *query;
	struct nm_vec(struct nm_event_row) rows;
	struct nm_vec(struct nm_event_residency) residencies;
	uint32_t *table; /* 1 + the number of a row; 0: free */
	size_t table_mask;
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

static int is_same(const struct nm_event_row *a, const struct nm_event_row *b)
{
	return a->place == b->place && a->attr == b->attr && a->victim == b->victim && a->kind == b->kind &&
	       a->level == b->level;
}

/* The key of a row. */
static struct nm_event_row key_of(const struct nm_event_filter *s, const struct nm_event_row *row)
{
	struct nm_event_row key = *row;

	if (!s->query->by_attr)
		key.attr = key.victim = 0;
	return key;
}

static int grow(struct nm_event_filter *s)
{
	size_t room = s->table ? (s->table_mask + 1) * 2 : 1024;
	uint32_t *table = calloc(room, sizeof *table);

	if (!table || s->rows.count > UINT32_MAX / 2) {
		free(table);
		return NM_ENOMEM;
	}
	free(s->table);
	s->table = table;
	s->table_mask = room - 1;
	for (size_t i = 0; i < s->rows.count; i++) {
		struct nm_event_row key = key_of(s, &s->rows.at[i]);
		size_t slot = hash_of(&key) & s->table_mask;

		while (table[slot])
			slot = (slot + 1) & s->table_mask;
		table[slot] = (uint32_t)(i + 1);
	}
	return 0;
}

/* Adds to the row of this key. Its count before. */
static uint64_t count(struct nm_event_filter *s, const struct nm_event_row *row)
{
	struct nm_event_row key = key_of(s, row), other;
	size_t slot;

	if (s->rows.count * 2 >= s->table_mask && grow(s)) {
		s->failed = 1;
		return 0;
	}
	slot = hash_of(&key) & s->table_mask;
	for (; s->table[slot]; slot = (slot + 1) & s->table_mask) {
		struct nm_event_row *old = &s->rows.at[s->table[slot] - 1];

		other = key_of(s, old);
		if (is_same(&key, &other)) {
			old->count += row->count;
			return old->count - row->count;
		}
	}
	if (nm_vec_push(&s->rows, *row))
		s->failed = 1;
	else
		s->table[slot] = (uint32_t)s->rows.count;
	return 0;
}

/* ---- events ---- */

static void keep_residency(struct nm_event_filter *s, const struct nm_event *e)
{
	size_t *open = &s->open[e->level][e->core];

	if (e->line != (s->query->address & ~(s->line_bytes[e->level] - 1)))
		return;
	if (e->kind == NM_EVENT_LOAD || e->kind == NM_EVENT_PREFETCH) {
		struct nm_event_residency residency = {.loaded = e->reference,
						       .address = e->address,
						       .loader = e->attr,
						       .level = e->level,
						       .core = e->core};
		*open = NO_RESIDENCY;
		if (s->total++ >= s->query->limit)
			return;
		if (nm_vec_push(&s->residencies, residency))
			s->failed = 1;
		else
			*open = s->residencies.count - 1;
	} else if (*open != NO_RESIDENCY && e->kind == NM_EVENT_HIT) {
		s->residencies.at[*open].hits += e->times;
	} else if (*open != NO_RESIDENCY && nm_event_leaves(e->kind)) {
		s->residencies.at[*open].left = e->reference;
		s->residencies.at[*open].evictor = e->attr;
		s->residencies.at[*open].push = e->address;
		s->residencies.at[*open].cause = e->cause;
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

int nm_event_filter_wants(const struct nm_event_filter *s, const struct nm_event *e)
{
	const struct nm_event_query *q = s->query;
	const int untouched = nm_event_of_untouched_line(e->kind);
	const uint64_t address = untouched ? e->line : e->address;
	const uint64_t bytes = untouched ? s->line_bytes[e->level] : e->bytes;

	return (q->kinds[e->level] >> e->kind & 1) && address < q->end && address + (bytes - 1) >= q->low &&
	       (!q->of_set || e->set == q->set) && (!q->serving || e->kind != NM_EVENT_LOAD || e->last);
}

int nm_event_filter_admits(struct nm_event_filter *s, const struct nm_event *e)
{
	const struct nm_event_row row = {
	    .count = e->times, .attr = e->attr, .victim = e->victim, .kind = e->kind, .level = e->level};
	const uint64_t before = s->query->by_attr ? count(s, &row) : s->total;

	s->total += e->times;
	return before < nm_event_query_end(s->query) &&
	       (s->query->by_attr || before + e->times > s->query->skip);
}

int nm_event_filter_log(struct nm_event_filter *s, const struct nm_logged_event *e)
{
	return nm_vec_push(&s->logged, *e);
}

void nm_event_filter_keep(struct nm_event_filter *s, const struct nm_event *e)
{
	const struct nm_event_query *q = s->query;

	if (q->mode == NM_QUERY_RESIDENCIES) {
		keep_residency(s, e);
	} else if (q->mode == NM_QUERY_LOG) {
		if (nm_event_filter_admits(s, e) &&
		    nm_event_filter_log(s, &(struct nm_logged_event){.at = *e}))
			s->failed = 1;
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
		count(s, &row);
	}
}

static void take(void *self, const struct nm_event *e)
{
	if (nm_event_filter_wants(self, e))
		nm_event_filter_keep(self, e);
}

/* ---- life ---- */

int nm_event_filter_new(struct nm_event_filter **ret_filter, const struct nm_event_query *query,
			const struct nm_machine *machine)
{
	struct nm_event_filter *s = calloc(1, sizeof *s);

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

void nm_event_filter_free(struct nm_event_filter *s)
{
	if (!s)
		return;
	nm_vec_free(&s->rows);
	nm_vec_free(&s->residencies);
	nm_vec_free(&s->logged);
	free(s->table);
	free(s);
}

void nm_event_filter_attach(struct nm_event_filter *s, struct nm_hierarchy *hierarchy)
{
	nm_hierarchy_watch(hierarchy, &(struct nm_monitor){.event = take, .self = s});
}

int nm_event_filter_take(struct nm_event_filter *s, struct nm_filtered_events *ret_events)
{
	*ret_events = (struct nm_filtered_events){.query = s->query,
						  .rows = s->rows.at,
						  .row_count = s->rows.count,
						  .residencies = s->residencies.at,
						  .residency_count = s->residencies.count,
						  .logged = s->logged.at,
						  .logged_count = s->logged.count,
						  .total = s->total};
	memset(&s->rows, 0, sizeof s->rows);
	memset(&s->logged, 0, sizeof s->logged);
	memset(&s->residencies, 0, sizeof s->residencies);
	return s->failed ? NM_ENOMEM : 0;
}
