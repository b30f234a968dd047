/* SPDX-License-Identifier: MIT
 *
 * signals_test.c - signal handlers: which stack and context continue after them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "signals.h"

enum { OUTER = 10, INNER, HANDLER, LONGJMP, LOW = 0x1000, END = 0x2000, OWN_LOW = 0x8000, OWN_END = 0x9000 };

/* A thread that runs INNER, which OUTER called at 0x1f00. */
struct scene {
	struct nm_calls *calls;
	struct nm_frames frames;
	struct nm_signals signals;
	uint32_t outer, inner;
};

static uint32_t call(struct scene *sc, uint64_t slot, uint32_t function)
{
	struct nm_stack *s = nm_frames_stack(&sc->frames);

	nm_signals_leave(&sc->signals, &sc->frames, slot, 0);
	assert_int_equal(nm_stack_push(s, slot, 1, 0), 0);
	s->pending = 7;
	assert_int_equal(nm_calls_run(sc->calls, s, function, 0, 0), 0);
	return s->context;
}

static void leave(struct scene *sc, uint64_t slot)
{
	nm_signals_leave(&sc->signals, &sc->frames, slot, 1);
	nm_frames_pop(&sc->frames, nm_frames_stack(&sc->frames), slot);
}

/* The context of a block of the function. */
static uint32_t run(struct scene *sc, uint32_t function)
{
	sc->frames.current = nm_signals_run(&sc->signals, sc->calls, &sc->frames, function);
	assert_int_equal(nm_calls_run(sc->calls, nm_frames_stack(&sc->frames), function, 0, 0), 0);
	return nm_frames_stack(&sc->frames)->context;
}

/* A signal comes, and its handler's first block runs; own: on a stack of its own. */
static uint32_t handle(struct scene *sc, uint64_t slot, unsigned number, int own)
{
	size_t from = nm_signals_resume(&sc->signals, &sc->frames);

	if (own)
		assert_int_equal(nm_frames_switch(&sc->frames, OWN_LOW, OWN_LOW, OWN_END), 0);
	else
		sc->frames.current = from;
	assert_int_equal(nm_signals_enter(&sc->signals, sc->calls, &sc->frames, from, slot, number), 0);
	return run(sc, HANDLER);
}

static int begin(void **state)
{
	static struct scene sc;

	memset(&sc, 0, sizeof sc);
	sc.calls = nm_calls_new();
	assert_int_equal(nm_frames_init(&sc.frames, LOW, END), 0);
	sc.outer = call(&sc, 0x1f80, OUTER);
	sc.inner = call(&sc, 0x1f00, INNER);
	*state = &sc;
	return 0;
}

static int end(void **state)
{
	struct scene *sc = *state;

	nm_calls_free(sc->calls);
	nm_frames_done(&sc->frames);
	nm_signals_done(&sc->signals);
	return 0;
}

static void check_handler(const struct scene *sc, uint32_t context, unsigned number)
{
	const struct nm_call *handler = &sc->calls->list.at[context];

	assert_int_equal(handler->function, HANDLER);
	assert_int_equal(sc->calls->list.at[handler->parent].function, NM_CALLS_SIGNAL + number);
	assert_int_equal(sc->calls->list.at[handler->parent].parent, 0);
}

/* It returns to one block, which is the signal's; then the interrupted function goes on. */
static void test_return(void **state)
{
	struct scene *sc = *state;

	for (int own = 0; own < 2; own++) {
		uint64_t slot = own ? OWN_END - 64 : 0x1a00;
		uint32_t handler = handle(sc, slot, 5, own);

		check_handler(sc, handler, 5);
		call(sc, slot - 64, 30);
		leave(sc, slot - 64);
		assert_int_equal(run(sc, HANDLER), handler);
		leave(sc, slot);
		assert_int_equal(run(sc, 40), sc->calls->list.at[handler].parent);
		assert_int_equal(run(sc, INNER), sc->inner);
		assert_int_equal(sc->frames.current, 0);
		assert_int_equal(sc->signals.list.count, 0);
	}
}

/* Behind the call, before the first block of what it calls. */
static void test_between_call_and_callee(void **state)
{
	struct scene *sc = *state;
	struct nm_stack *s = nm_frames_stack(&sc->frames);
	uint32_t callee;

	assert_int_equal(nm_stack_push(s, 0x1e00, 1, 0), 0);
	s->pending = 9;
	check_handler(sc, handle(sc, 0x1a00, 5, 0), 5);
	leave(sc, 0x1a00);
	run(sc, 40);
	callee = run(sc, 50);
	assert_int_equal(sc->calls->list.at[callee].function, 50);
	assert_int_equal(sc->calls->list.at[callee].parent, sc->inner);
	assert_int_equal(sc->calls->list.at[callee].site, 8);
}

static void test_nested(void **state)
{
	struct scene *sc = *state;
	uint32_t first = handle(sc, OWN_END - 64, 5, 1);

	check_handler(sc, handle(sc, OWN_END - 512, 6, 1), 6);
	leave(sc, OWN_END - 512);
	run(sc, 40);
	assert_int_equal(run(sc, HANDLER), first);
	leave(sc, OWN_END - 64);
	run(sc, 40);
	/* One more, before the interrupted function runs. */
	check_handler(sc, handle(sc, OWN_END - 64, 6, 1), 6);
	leave(sc, OWN_END - 64);
	run(sc, 40);
	assert_int_equal(run(sc, INNER), sc->inner);
	assert_int_equal(sc->signals.list.count, 0);
}

/* Longjmp to OUTER, which runs on and then calls. */
static void test_jump_out(void **state)
{
	struct scene *sc = *state;

	for (int own = 0; own < 2; own++) {
		uint64_t slot = own ? OWN_END - 64 : 0x1a00;

		call(sc, 0x1f00, INNER);
		handle(sc, slot, 5, own);
		call(sc, slot - 64, LONGJMP);
		sc->signals.leaping = 1;
		assert_int_equal(run(sc, OUTER), sc->outer);
		assert_int_equal(sc->frames.current, 0);
		sc->signals.leaping = 0;
		call(sc, 0x1f20, 60);
		leave(sc, 0x1f20);
		assert_int_equal(run(sc, OUTER), sc->outer);
		assert_int_equal(sc->signals.list.count, 0);
	}
}

/* The handler calls what it has interrupted, and longjmp reaches that call. */
static void test_jump_within(void **state)
{
	struct scene *sc = *state;
	uint32_t again;

	handle(sc, 0x1a00, 5, 0);
	again = call(sc, 0x1900, INNER);
	assert_int_not_equal(again, sc->inner);
	call(sc, 0x1800, LONGJMP);
	sc->signals.leaping = 1;
	assert_int_equal(run(sc, INNER), again);
}

/* The same if only the next call shows the jump. */
static void test_jump_out_unseen(void **state)
{
	struct scene *sc = *state;
	uint32_t callee;

	handle(sc, OWN_END - 64, 5, 1);
	sc->frames.current = 0;
	callee = call(sc, 0x1f20, 60);
	assert_int_equal(sc->calls->list.at[callee].parent, sc->outer);
	leave(sc, 0x1f20);
	handle(sc, 0x1a00, 5, 0); /* it interrupts OUTER itself */
	call(sc, 0x1900, LONGJMP);
	callee = call(sc, 0x1f30, 61);
	assert_int_equal(sc->calls->list.at[callee].parent, sc->outer);
	assert_int_equal(sc->signals.list.count, 0);
}

/* Whatever comes, as from a damaged stream: stacks and contexts are those that there are, and the list does
 * not grow without end. */
static void test_any_order(void **state)
{
	struct scene *sc = *state;
	uint32_t random = 1;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t slot;

		random = random * 1664525u + 1013904223u;
		slot = (random >> 20 & 1 ? (uint64_t)LOW : (uint64_t)OWN_LOW) + (random >> 8 & 0xff8);
		assert_int_equal(nm_frames_switch(&sc->frames, slot, slot < END ? LOW : OWN_LOW,
						  slot < END ? END : OWN_END),
				 0);
		switch (random >> 24 & 3) {
		case 0: call(sc, slot, OUTER + (random >> 28)); break;
		case 1: leave(sc, slot); break;
		case 2: handle(sc, slot, random >> 26, slot >= END); break;
		default: sc->signals.leaping = (int)(random >> 30 & 1); run(sc, OUTER + (random >> 28));
		}
		assert_in_range(sc->frames.current, 0, sc->frames.stacks.count - 1);
		assert_in_range(nm_frames_stack(&sc->frames)->context, 0, sc->calls->list.count - 1);
		assert_in_range(sc->signals.list.count, 0, 2 * (END - LOW) / 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_return, begin, end),
	    cmocka_unit_test_setup_teardown(test_between_call_and_callee, begin, end),
	    cmocka_unit_test_setup_teardown(test_nested, begin, end),
	    cmocka_unit_test_setup_teardown(test_jump_out, begin, end),
	    cmocka_unit_test_setup_teardown(test_jump_within, begin, end),
	    cmocka_unit_test_setup_teardown(test_jump_out_unseen, begin, end),
	    cmocka_unit_test_setup_teardown(test_any_order, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
