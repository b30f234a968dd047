/* SPDX-License-Identifier: MIT
 *
 * patterns_test.c - strides beside a naive count of every step of random walks; when they are looked at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numbers.h"
#include "patterns.h"

enum { WALKS = 12, ATTRS = 5, BATCHES = 40, STRIDES_MOST = 6 };

static const int64_t strides[STRIDES_MOST] = {8, -24, 0, 4000, INT64_C(1) << 40, 3};

/* An instruction that walks an object. */
struct walk {
	uint64_t address, steps;
	uint32_t attr;
};

struct twin {
	struct walk walks[WALKS];
	uint64_t counts[ATTRS + 1][STRIDES_MOST], sampled[ATTRS + 1];
};

/* Every walk of an attribution key takes one of as many strides as attribution keys have numbers; the last
 * one takes the first mostly. */
static uint64_t step(struct twin *t, struct walk *w)
{
	unsigned i = (unsigned)below(w->attr == ATTRS ? STRIDES_MOST : w->attr);

	if (w->attr == ATTRS && below(4))
		i = 0;
	if (!w->steps++) {
		w->address = 1u << 20;
		return w->address;
	}
	t->counts[w->attr][i]++;
	t->sampled[w->attr]++;
	w->address += (uint64_t)strides[i];
	return w->address;
}

static void fill(struct twin *t, struct nm_patterns *p, struct nm_ref *batch)
{
	for (unsigned i = 0; i < NM_BATCH; i++) {
		unsigned k = (unsigned)below(WALKS + 1);

		if (k == WALKS) { /* a fetch */
			p->access[i] = NM_NO_ACCESS;
			batch[i] =
			    (struct nm_ref){.address = below(1 << 20), .attr = 1, .kind = NM_REF_FETCH};
			continue;
		}
		p->access[i] = k;
		batch[i] = (struct nm_ref){
		    .address = step(t, &t->walks[k]), .attr = t->walks[k].attr, .kind = k % 2};
	}
}

static void check(const struct twin *t, const struct nm_result_strides *r)
{
	assert_int_equal(r->sampled, t->sampled[r->attr]);
	for (unsigned k = 0; k < NM_RESULT_STRIDES; k++)
		for (unsigned i = 0; i < STRIDES_MOST; i++) {
			if (!r->strides[k].count || r->strides[k].bytes != strides[i])
				continue;
			assert_true(r->strides[k].count <= t->counts[r->attr][i]);
			if (r->attr < ATTRS || !i)
				assert_int_equal(r->strides[k].count, t->counts[r->attr][i]);
		}
	if (r->attr == ATTRS)
		assert_int_equal(r->strides[0].bytes, strides[0]);
}

static void counts_are_the_twins(void **state)
{
	static struct nm_patterns p;
	static struct nm_ref batch[NM_BATCH];
	uint32_t sites[WALKS];
	struct twin t = {0};

	(void)state;
	nm_patterns_init(&p);
	p.until = UINT64_MAX;
	for (unsigned k = 0; k < WALKS; k++) {
		sites[k] = k / 2; /* one reads, one writes */
		t.walks[k].attr = 1 + k % ATTRS;
	}
	for (unsigned b = 0; b < BATCHES; b++) {
		fill(&t, &p, batch);
		assert_int_equal(nm_patterns_take(&p, sites, batch, NM_BATCH / 3), 0);
		assert_int_equal(nm_patterns_take(&p, sites, batch, NM_BATCH), 0);
		nm_patterns_next(&p);
	}
	assert_int_equal(p.list.count, ATTRS);
	for (unsigned i = 0; i < ATTRS; i++)
		check(&t, &p.list.at[i]);
	nm_patterns_done(&p);
}

/* All in the beginning, one of 256 in the long run, no step from one burst to the next. */
static void bursts(void **state)
{
	static struct nm_patterns p;
	struct nm_ref batch[1] = {{.address = 8, .attr = 1}};
	const uint32_t site = 1;
	uint64_t sampled = 0, early = 0;

	(void)state;
	nm_patterns_init(&p);
	for (unsigned i = 0; i < 640000; i++) {
		assert_true(i >= 8 || p.sampling);
		assert_true(p.sampling == (p.taken == 0));
		if (p.sampling) {
			p.access[0] = 0;
			assert_int_equal(nm_patterns_take(&p, &site, batch, 1), 0);
		}
		sampled += (uint64_t)p.sampling;
		early += i < 64 && p.sampling;
		nm_patterns_next(&p);
	}
	assert_true(early > 24);
	assert_in_range(sampled, 640000 / 256, 640000 / 220);
	assert_int_equal(p.list.at[0].sampled, sampled - p.burst);
	nm_patterns_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_are_the_twins),
	    cmocka_unit_test(bursts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
