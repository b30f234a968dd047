/* SPDX-License-Identifier: MIT
 *
 * calls_test.c - contexts of calls: folding, trampolines, the limit, and attribution keys by context.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "calls.h"

/* As after a call from a site: the callee's first block runs. */
static uint32_t enter(struct nm_calls *calls, struct nm_stack *s, uint32_t site, uint32_t function)
{
	s->pending = site + 1;
	assert_int_equal(nm_calls_run(calls, s, function, 0, 0), 0);
	assert_int_equal(s->pending, 0);
	return s->context;
}

static void test_same_call_same_context(void **state)
{
	struct nm_calls *calls = nm_calls_new();
	struct nm_stack s = {0};
	uint32_t a, b;

	(void)state;
	a = enter(calls, &s, 1, 10);
	s.context = 0;
	assert_int_equal(enter(calls, &s, 1, 10), a);
	assert_int_equal(calls->list.at[a].count, 2);
	s.context = 0;
	b = enter(calls, &s, 1, 11); /* another function from the same site */
	assert_int_not_equal(b, a);
	s.context = 0;
	assert_int_not_equal(enter(calls, &s, 2, 10), a); /* the same function from another */
	nm_calls_free(calls);
}

static void test_recursion_is_folded(void **state)
{
	struct nm_calls *calls = nm_calls_new();
	struct nm_stack s = {0};
	uint32_t f = enter(calls, &s, 1, 10), g = enter(calls, &s, 2, 11), i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(enter(calls, &s, 2, 11), g);
		assert_int_equal(enter(calls, &s, 1, 10), f); /* through both */
	}
	assert_int_equal(calls->list.count, 3);
	assert_int_equal(calls->list.at[f].count, 1001);
	assert_int_equal(calls->list.at[g].count, 1001);
	assert_int_equal(enter(calls, &s, 3, 10),
			 3); /* the same function from another site is another call */
	nm_calls_free(calls);
}

static void test_trampolines_lead_on(void **state)
{
	struct nm_calls *calls = nm_calls_new();
	struct nm_attributions attrs = {.named = {0}};
	struct nm_stack s = {.pending = 8};
	uint32_t plt, resolver;

	(void)state;
	assert_int_equal(nm_calls_run(calls, &s, 20, 1, 0), 0);
	plt = s.context;
	assert_int_equal(nm_calls_run(calls, &s, 21, 1, 0), 0);
	resolver = s.context;
	assert_int_not_equal(plt, resolver);
	enter(calls, &s, 3, 22); /* the resolver calls something, which returns */
	s.context = resolver;
	nm_calls_end(calls, &attrs, &s, 0);
	assert_int_equal(nm_calls_run(calls, &s, 30, 0, 0), 0);
	assert_int_equal(calls->list.at[s.context].function, 30);
	assert_int_equal(calls->list.at[s.context].site, 7);
	assert_int_equal(calls->list.at[s.context].parent, 0);
	assert_int_equal(calls->list.at[s.context].count, 1);
	assert_int_equal(calls->list.at[plt].count, 0);
	assert_int_equal(calls->list.at[resolver].count, 0);
	nm_calls_free(calls);
}

/* Beyond the limit, calls count in their callers' contexts. */
static void test_limit(void **state)
{
	struct nm_calls *calls = nm_calls_new();
	struct nm_stack s = {0};
	uint32_t i, last = 0;

	(void)state;
	for (i = 1; i < NM_CALLS_MAX; i++) {
		s.context = 0;
		last = enter(calls, &s, i, 10);
		assert_int_equal(last, i);
	}
	assert_int_equal(enter(calls, &s, NM_CALLS_MAX, 10), last);
	s.context = 0;
	assert_int_equal(enter(calls, &s, NM_CALLS_MAX, 11), 0);
	assert_int_equal(calls->list.count, NM_CALLS_MAX);
	nm_calls_free(calls);
}

static void test_attrs_by_context(void **state)
{
	struct nm_calls *calls = nm_calls_new();
	struct nm_ref batch[5];
	struct nm_stack s = {0};
	uint32_t i;

	(void)state;
	for (i = 0; i < 5; i++)
		batch[i] = (struct nm_ref){.attr = 7, .size = 8, .weight = 1, .kind = i % 2};
	s.pending = 2;
	assert_int_equal(nm_calls_run(calls, &s, 10, 0, 2), 0); /* references 2 and 3 */
	s.context = 0;
	assert_int_equal(nm_calls_run(calls, &s, 9, 0, 4), 0);
	assert_int_equal(nm_calls_translate(calls, batch, 5), 0);
	assert_int_equal(batch[0].attr, batch[1].attr);
	assert_int_equal(batch[0].attr, batch[4].attr);
	assert_int_equal(batch[2].attr, batch[3].attr);
	assert_int_not_equal(batch[0].attr, batch[2].attr);
	assert_int_equal(calls->attrs.at[batch[0].attr].attr, 7);
	assert_int_equal(calls->attrs.at[batch[0].attr].context, 0);
	assert_int_equal(calls->attrs.at[batch[0].attr].references.count[0], 2);
	assert_int_equal(calls->attrs.at[batch[0].attr].references.count[1], 1);
	assert_int_equal(calls->attrs.at[batch[2].attr].references.count[0], 1);
	assert_int_equal(calls->attrs.at[batch[2].attr].references.count[1], 1);
	nm_calls_free(calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_call_same_context), cmocka_unit_test(test_recursion_is_folded),
	    cmocka_unit_test(test_trampolines_lead_on),    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_attrs_by_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
