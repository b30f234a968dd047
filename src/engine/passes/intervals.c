/* SPDX-License-Identifier: MIT */
#include "intervals.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "varint.h"

enum { FIRST_LENGTH = 1 << 14, MOST_BYTES = 1 + (NM_CHANGES + 1) * NM_VARINT_BYTES /* of a change */ };
#define LONGEST \
	(1ull << 30) /* instructions, so that no key loads 2^32 lines; a longer run has more intervals */

int nm_intervals_init(struct nm_intervals *i, struct nm_hierarchy *hierarchy, unsigned levels)
{
	assert(levels && levels <= NM_MAX_LEVELS);
	*i = (struct nm_intervals){
	    .hierarchy = hierarchy, .levels = levels, .due = FIRST_LENGTH, .length = FIRST_LENGTH};
	for (unsigned level = 0; level < levels; level++)
		i->next[level] = nm_hierarchy_next_level(hierarchy, level);
	return nm_hierarchy_track_changes(hierarchy);
}

void nm_intervals_done(struct nm_intervals *v)
{
	for (size_t i = 0; i < v->list.count; i++)
		nm_vec_free(&v->list.at[i].packed);
	nm_vec_free(&v->list);
	for (unsigned level = 0; level < NM_MAX_LEVELS; level++)
		nm_vec_free(&v->taken[level]);
}

/* ---- packed changes ---- */

static void put_number(struct nm_packed_changes *to, uint64_t number)
{
	to->count += nm_varint_put(to->at + to->count, number);
}

static int pack_level(struct nm_packed_changes *to, const struct nm_change_list *list)
{
	uint32_t last = 0;

	assert(!list->count || list->at[0].key <= list->at[list->count - 1].key);
	if (nm_vec_reserve(to, (list->count + 1) * MOST_BYTES))
		return NM_ENOMEM;
	put_number(to, list->count);
	for (size_t i = 0; i < list->count; i++) {
		const struct nm_change *c = &list->at[i];
		uint8_t *bits;

		put_number(to, c->key - last);
		last = c->key;
		bits = &to->at[to->count++];
		*bits = 0;
		for (unsigned k = 0; k < NM_CHANGES; k++)
			if (c->counts[k]) {
				*bits |= (uint8_t)(1u << k);
				put_number(to, c->counts[k]);
			}
	}
	return 0;
}

_Static_assert(NM_CHANGES <= 8, "a byte has a bit for each count");

static uint64_t interval_count(struct nm_change_reader *r)
{
	uint64_t n = 0;
	const int there = nm_varint_get(&r->at, r->end, &n);

	assert(there);
	(void)there;
	return n;
}

struct nm_change_reader nm_changes_read(const struct nm_interval *interval)
{
	struct nm_change_reader r = {.at = interval->packed.at,
				     .end = interval->packed.at + interval->packed.count};

	r.left = interval_count(&r);
	return r;
}

void nm_changes_next_level(struct nm_change_reader *r)
{
	assert(!r->left);
	r->change.key = 0;
	r->left = interval_count(r);
}

int nm_changes_next(struct nm_change_reader *r)
{
	uint8_t bits;

	if (!r->left)
		return 0;
	r->left--;
	r->change.key += (uint32_t)interval_count(r);
	bits = *r->at++;
	for (unsigned k = 0; k < NM_CHANGES; k++)
		r->change.counts[k] = bits >> k & 1 ? interval_count(r) : 0;
	return 1;
}

/* ---- merging ---- */

/* The sum of the changes of one level in two intervals. */
static int add_level(struct nm_change_list *to, struct nm_change_reader *r, struct nm_change_reader *c)
{
	int more_a = nm_changes_next(r), more_b = nm_changes_next(c);

	while (more_a || more_b) {
		const int take_a = more_a && (!more_b || r->change.key <= c->change.key);
		const int take_b = more_b && (!more_a || c->change.key <= r->change.key);
		struct nm_change sum = take_a ? r->change : c->change;

		for (unsigned k = 0; k < NM_CHANGES && take_a && take_b; k++)
			sum.counts[k] += c->change.counts[k];
		if (nm_vec_push(to, sum))
			return NM_ENOMEM;
		more_a = take_a ? nm_changes_next(r) : more_a;
		more_b = take_b ? nm_changes_next(c) : more_b;
	}
	return 0;
}

static void fit_packed(struct nm_packed_changes *packed)
{
	uint8_t *fitting = realloc(packed->at, packed->count);

	assert(packed->count > 0);
	if (fitting)
		*packed = (struct nm_packed_changes){fitting, packed->count, packed->count};
}

static int add_changes(struct nm_intervals *i, struct nm_interval *to, const struct nm_interval *next)
{
	struct nm_change_reader a = nm_changes_read(to), b = nm_changes_read(next);
	struct nm_packed_changes packed = {0};

	for (unsigned level = 0; level < i->levels; level++) {
		i->taken[0].count = 0;
		if (add_level(&i->taken[0], &a, &b) || pack_level(&packed, &i->taken[0])) {
			nm_vec_free(&packed);
			return NM_ENOMEM;
		}
		if (level + 1 < i->levels) {
			nm_changes_next_level(&a);
			nm_changes_next_level(&b);
		}
	}
	fit_packed(&packed);
	i->bytes += packed.count - to->packed.count - next->packed.count;
	nm_vec_free(&to->packed);
	to->packed = packed;
	return 0;
}

/* Makes two neighbours one, the first. */
static int join_intervals(struct nm_intervals *i, struct nm_interval *to, struct nm_interval *next)
{
	assert(to->end <= next->end);
	if (add_changes(i, to, next))
		return NM_ENOMEM;
	to->end = next->end;
	for (unsigned level = 0; level < i->levels; level++)
		for (unsigned k = 0; k < 2; k++)
			to->refs[level][k] += next->refs[level][k];
	nm_sketch_merge(to->sketch, next->sketch);
	nm_vec_free(&next->packed);
	return 0;
}

/* An odd last one stays alone. */
static int halve_intervals(struct nm_intervals *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->list.count; i += 2, n++) {
		if (i + 1 < v->list.count && join_intervals(v, &v->list.at[i], &v->list.at[i + 1]))
			return NM_ENOMEM;
		if (n != i) {
			v->list.at[n] = v->list.at[i];
			v->list.at[i].packed = (struct nm_packed_changes){0};
		}
	}
	v->list.count = n;
	v->length *= 2;
	return 0;
}

/* Takes the changes of a level, or those of the earlier one that is simulated for it. */
static int take_level(struct nm_intervals *i, unsigned level, struct nm_interval *interval)
{
	const unsigned simulated = nm_hierarchy_simulated(i->hierarchy, level);

	assert(level < NM_MAX_LEVELS);
	if (simulated != level) {
		memcpy(interval->refs[level], interval->refs[simulated], sizeof interval->refs[level]);
		return 0;
	}
	i->taken[level].count = 0;
	return nm_hierarchy_take_changes(i->hierarchy, level, &i->taken[level], interval->refs[level]);
}

int nm_intervals_end(struct nm_intervals *i, uint64_t instructions)
{
	struct nm_interval *interval;

	if (nm_vec_reach(&i->list, i->list.count + 1))
		return NM_ENOMEM;
	interval = &i->list.at[i->list.count - 1];
	interval->begin = i->begin;
	interval->end = instructions;
	for (unsigned level = 0; level < i->levels; level++) {
		if (take_level(i, level, interval) ||
		    pack_level(&interval->packed, &i->taken[nm_hierarchy_simulated(i->hierarchy, level)]))
			return NM_ENOMEM;
	}
	fit_packed(&interval->packed);
	nm_hierarchy_take_sketch(i->hierarchy, interval->sketch);
	i->bytes += interval->packed.count;
	while ((i->list.count >= NM_MAX_INTERVALS || i->bytes > NM_INTERVAL_BYTES) && i->list.count > 1 &&
	       i->length < LONGEST)
		if (halve_intervals(i))
			return NM_ENOMEM;
	i->begin = instructions;
	i->due = instructions + i->length;
	return 0;
}
