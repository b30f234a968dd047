/* SPDX-License-Identifier: MIT
 *
 * named_results.h - results compared by names: every figure of every attribution key, context, pair of an
 * eviction and event, in whatever order keys were found.
 */
#ifndef NAMED_RESULTS_H
#define NAMED_RESULTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "map.h"
#include "result.h"
#include "vector.h"

enum { COUNTS = sizeof(struct nm_counts) / sizeof(uint64_t) };

/* A row of figures under a hash of the names that it belongs to. */
struct row {
	uint64_t key, figures[COUNTS];
	char text[100];
};

struct table {
	struct nm_vec(struct row) rows;
};

static inline uint64_t hash_text(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = nm_mix64(h ^ (unsigned char)*text);
	return nm_mix64(h + 1);
}

static inline uint64_t hash_site(const struct nm_result *r, uint32_t site, uint64_t h)
{
	if (site >= r->site_count)
		return nm_mix64(h);
	h = hash_text(h, r->sites[site].function);
	h = hash_text(h, r->sites[site].module);
	h = nm_mix64(h ^ r->sites[site].line);
	return nm_mix64(h ^ r->sites[site].address);
}

static inline uint64_t hash_attr(const struct nm_result *r, uint32_t attr)
{
	const struct nm_result_attribution *c = &r->attrs[attr];

	return hash_site(r, c->site, hash_text(c->thread, r->objects[c->object].name));
}

static inline uint64_t hash_context(const struct nm_result *r, uint32_t context)
{
	uint64_t h = 7;

	for (; context; context = r->contexts[context].parent)
		h = hash_site(r, r->contexts[context].site, hash_text(h, r->contexts[context].function));
	return h;
}

static inline void add_row(struct table *t, const char *what, unsigned level, uint64_t key,
			   const void *figures, size_t count, const struct nm_result *r, uint32_t attr)
{
	struct row row = {.key = nm_mix64(hash_text(key, what) ^ level) >> 8};
	uint64_t any = 0;

	row.key |= (uint64_t)(level | (what[0] == 't' ? 0 : what[1] == 'o' ? 16 : 32)) << 56;
	memcpy(row.figures, figures, count * sizeof *row.figures);
	for (size_t i = 0; i < count; i++)
		any |= row.figures[i];
	if (!any)
		return;
	snprintf(row.text, sizeof row.text, "%s, level %u, %s in %s, %llx", what, level,
		 r->objects[r->attrs[attr].object].name, r->sites[r->attrs[attr].site].function,
		 (unsigned long long)r->sites[r->attrs[attr].site].address);
	assert_int_equal(nm_vec_push(&t->rows, row), 0);
}

static inline void add_level(struct table *t, const struct nm_result *r, unsigned i)
{
	const struct nm_result_level *l = &r->levels[i];

	add_row(t, "total", i, 0, &l->total, COUNTS, r, 0);
	for (uint32_t c = 0; c < r->attr_count; c++) {
		add_row(t, "counts", i, hash_attr(r, c), &l->counts[c], COUNTS, r, c);
		if (l->extras)
			add_row(t, "extras", i, hash_attr(r, c), &l->extras[c],
				sizeof *l->extras / sizeof(uint64_t), r, c);
	}
	for (size_t k = 0; k < r->context_attr_count; k++) {
		const struct nm_result_context_attr *c = &r->context_attrs[k];

		add_row(t, "context", i, hash_attr(r, c->attr) ^ hash_context(r, c->context),
			&l->context_counts[k], COUNTS, r, c->attr);
	}
	for (size_t k = 0; k < l->eviction_count; k++) {
		const struct nm_eviction *e = &l->evictions[k];
		uint64_t pair =
		    nm_mix64(hash_attr(r, e->evictor) + (unsigned)e->prefetch) ^ hash_attr(r, e->victim);
		uint64_t count = e->count;

		add_row(t, "evictions", i, pair, &count, 1, r, e->evictor);
	}
}

static inline int by_key(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return memcmp(a->figures, b->figures, sizeof a->figures);
}

static inline struct table table_of(const struct nm_result *r)
{
	struct table t = {0};
	size_t kept = 0;

	for (unsigned i = 0; i < r->machine.count; i++)
		add_level(&t, r, i);
	for (uint32_t c = 1; c < r->context_count; c++)
		add_row(&t, "calls", 0, hash_context(r, c), &r->contexts[c].calls, 1, r, 0);
	for (size_t k = 0; k < r->events.row_count; k++) {
		const struct nm_event_row *s = &r->events.rows[k];
		uint64_t key = nm_mix64(hash_attr(r, s->attr) ^ s->place) + 8 * s->kind;

		key = nm_mix64(key ^ (s->kind == NM_EVENT_REPLACE ? hash_attr(r, s->victim) : 0));
		add_row(&t, "events", s->level, key, &s->count, 1, r, s->attr);
	}
	qsort(t.rows.at, t.rows.count, sizeof *t.rows.at, by_key);
	for (size_t i = 0; i < t.rows.count; i++) /* attribution keys that are called the same are one */
		if (kept && t.rows.at[kept - 1].key == t.rows.at[i].key)
			for (unsigned f = 0; f < COUNTS; f++)
				t.rows.at[kept - 1].figures[f] += t.rows.at[i].figures[f];
		else
			t.rows.at[kept++] = t.rows.at[i];
	t.rows.count = kept;
	return t;
}

static inline void same_results(const char *what, const struct nm_result *single,
				const struct nm_result *grouped)
{
	struct table a = table_of(single), b = table_of(grouped);

	assert_int_equal(single->instructions, grouped->instructions);
	assert_int_equal(single->references, grouped->references);
	for (size_t i = 0; i < a.rows.count && i < b.rows.count; i++) {
		const struct row *x = &a.rows.at[i], *y = &b.rows.at[i];

		if (x->key != y->key)
			fail_msg("%s: one by one %s; in groups %s", what, x->text, y->text);
		for (unsigned f = 0; f < COUNTS; f++)
			if (x->figures[f] != y->figures[f])
				fail_msg("%s: %s: figure %u is %llu in groups, %llu one by one", what,
					 x->text, f, (unsigned long long)y->figures[f],
					 (unsigned long long)x->figures[f]);
	}
	assert_int_equal(a.rows.count, b.rows.count);
	assert_int_equal(single->events.total, grouped->events.total);
	assert_int_equal(single->events.logged_count, grouped->events.logged_count);
	for (size_t i = 0; i < single->events.logged_count; i++) {
		const struct nm_logged_event *x = &single->events.logged[i], *y = &grouped->events.logged[i];

		assert_int_equal(x->at.reference, y->at.reference);
		assert_int_equal(x->instructions, y->instructions);
	}
	nm_vec_free(&a.rows);
	nm_vec_free(&b.rows);
}

#endif
