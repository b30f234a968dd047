/* SPDX-License-Identifier: MIT
 *
 * strides_test.c - strides beside a naive count of every step of random walks; when they are looked at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bursts.h"
#include "numbers.h"
#include "pass.h"

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

static void fill(struct twin *t, struct nm_bursts *p, struct nm_ref *batch)
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

/* Gives the pass references [from, end) of the batch. */
static void sample(void *pass, const struct nm_bursts *b, const uint32_t *instructions,
		   const struct nm_ref *batch, size_t from, size_t end)
{
	static const uint8_t none[WALKS];
	const struct nm_pass_sample s = {.refs = batch,
					 .from = from,
					 .end = end,
					 .access = b->access,
					 .instructions = instructions,
					 .chases = none,
					 .frame_end = b->frame_end,
					 .burst = b->burst,
					 .batch = b->batch,
					 .left = b->until - b->batch};

	assert_int_equal(nm_pass_strides.sample(pass, NULL, &s), 0);
}

/* Hands the strides over, with attributions as they are. */
static struct nm_result finish(void *pass)
{
	enum { COUNT = 6 };
	static const uint32_t same[COUNT] = {0, 1, 2, 3, 4, 5};
	static struct nm_result_attribution attrs[COUNT];
	static struct nm_result_site site;
	struct nm_result result = {.attrs = attrs, .attr_count = COUNT, .sites = &site, .site_count = 1};

	assert_int_equal(nm_pass_strides.finish(pass, &(struct nm_pass_merge){.attrs = same}, &result), 0);
	nm_pass_strides.free(pass);
	result.attrs = NULL;
	result.sites = NULL;
	return result;
}

static void counts_are_the_twins(void **state)
{
	static struct nm_bursts p;
	static struct nm_ref batch[NM_BATCH];
	uint32_t sites[WALKS];
	struct twin t = {0};
	struct nm_result result;
	void *pass;

	(void)state;
	nm_bursts_init(&p);
	assert_int_equal(nm_pass_strides.make(&pass, NULL, NULL), 0);
	p.until = UINT64_MAX;
	for (unsigned k = 0; k < WALKS; k++) {
		sites[k] = k / 2; /* one reads, one writes */
		t.walks[k].attr = 1 + k % ATTRS;
	}
	for (unsigned b = 0; b < BATCHES; b++) {
		fill(&t, &p, batch);
		sample(pass, &p, sites, batch, 0, NM_BATCH / 3);
		sample(pass, &p, sites, batch, NM_BATCH / 3, NM_BATCH);
		nm_bursts_next(&p);
	}
	result = finish(pass);
	assert_int_equal(result.stride_count, ATTRS);
	for (unsigned i = 0; i < ATTRS; i++)
		check(&t, &result.strides[i]);
	free(result.strides);
	free(result.chasing);
}

/* All in the beginning, one of 256 in the long run, no step from one burst to the next. */
static void bursts(void **state)
{
	static struct nm_bursts p;
	struct nm_ref batch[1] = {{.address = 8, .attr = 1}};
	const uint32_t site = 1;
	uint64_t sampled = 0, early = 0;
	struct nm_result result;
	void *pass;

	(void)state;
	nm_bursts_init(&p);
	assert_int_equal(nm_pass_strides.make(&pass, NULL, NULL), 0);
	for (unsigned i = 0; i < 640000; i++) {
		assert_true(i >= 8 || p.sampling);
		assert_true(p.sampling == (p.taken == 0));
		if (p.sampling) {
			p.access[0] = 0;
			sample(pass, &p, &site, batch, 0, 1);
		}
		sampled += (uint64_t)p.sampling;
		early += i < 64 && p.sampling;
		nm_bursts_next(&p);
	}
	result = finish(pass);
	assert_true(early > 24);
	assert_in_range(sampled, 640000 / 256, 640000 / 220);
	assert_int_equal(result.strides[0].sampled, sampled - p.burst);
	free(result.strides);
	free(result.chasing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_are_the_twins),
	    cmocka_unit_test(bursts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
