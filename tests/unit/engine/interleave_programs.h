/* SPDX-License-Identifier: MIT
 *
 * interleave_programs.h - random programs: threads that come and go, access data and words that they
 * synchronise by, and take locks; sane ones give up what they took and nothing else.
 */
#ifndef NM_TEST_INTERLEAVE_PROGRAMS_H
#define NM_TEST_INTERLEAVE_PROGRAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interleave_events.h"
#include "numbers.h"

/* What a thread that exists does next; senseless: with locks as they come. */
struct program {
	struct events events;
	int held[LOCKS];         /* by which thread; sane programs only */
	unsigned sharers[LOCKS]; /* the same: a bit for each */
	uint32_t count;          /* threads that were started */
	uint32_t running;
	int live[THREADS + 1];
	int in_function[THREADS + 1];
	int sane;
};

static void add(struct program *p, struct event e) { assert_int_equal(nm_vec_push(&p->events, e), 0); }

static void add_sync(struct program *p, uint8_t kind, uint64_t object)
{
	add(p, (struct event){.kind = kind, .object = object});
}

static void add_access(struct program *p)
{
	uint64_t address = below(3) ? DATA_BASE + below(512) * 8 : WORD_BASE + below(WORDS) * 4;
	uint8_t kind = (uint8_t)(below(3) == 0);

	add(p, (struct event){.ref = {address, p->running, below(2) ? 4 : 8, kind, 1}});
}

static void add_atomic(struct program *p)
{
	uint8_t kind = below(2) ? NM_SYNC_ATOMIC : NM_SYNC_UPDATE;
	struct event e = {.kind = kind, .ref = {WORD_BASE + below(WORDS) * 4, p->running, 4, NM_REF_READ, 1}};

	add(p, e);
	e.ref.kind = NM_REF_WRITE;
	add(p, e);
}

static void add_lock_event(struct program *p)
{
	unsigned lock = (unsigned)below(LOCKS);

	if (!p->sane) {
		add_sync(p, (uint8_t)(NM_SYNC_LOCK + below(3)), lock + 1);
	} else if (p->held[lock] == (int)p->running) {
		add_sync(p, NM_SYNC_UNLOCK, lock + 1);
		p->held[lock] = 0;
	} else if (p->sharers[lock] >> p->running & 1) {
		add_sync(p, NM_SYNC_UNLOCK, lock + 1);
		p->sharers[lock] &= ~(1u << p->running);
	} else if (!p->held[lock] && below(2)) {
		add_sync(p, NM_SYNC_SHARE, lock + 1);
		p->sharers[lock] |= 1u << p->running;
	} else if (!p->held[lock] && !p->sharers[lock]) {
		add_sync(p, NM_SYNC_LOCK, lock + 1);
		p->held[lock] = (int)p->running;
	}
}

static void start_one(struct program *p)
{
	int made = below(3) != 0;
	uint32_t number = p->count + 1;

	if (number > THREADS)
		return;
	if (made)
		add_sync(p, NM_SYNC_CREATE, 100 + number);
	for (unsigned i = 0; i < below(20); i++)
		add_access(p);
	add(p, (struct event){
		   .kind = NM_SYNC_START, .object = 100 + number, .thread = number, .parent = p->running});
	p->count = number;
	p->live[number] = 1;
}

static void switch_one(struct program *p)
{
	uint32_t number = 1 + (uint32_t)below(p->count);

	if (!p->live[number])
		return;
	p->running = number;
	add_sync(p, NM_SYNC_THREAD, number);
}

static unsigned count_live(const struct program *p)
{
	unsigned live = 0;

	for (unsigned i = 1; i <= THREADS; i++)
		live += p->live[i] != 0;
	return live;
}

static void end_one(struct program *p)
{
	uint32_t number = 1 + (uint32_t)below(p->count);

	if (!p->live[number] || count_live(p) == 1)
		return;
	p->live[number] = 0;
	add_sync(p, NM_SYNC_EXIT, number);
	for (unsigned i = 0; i < LOCKS; i++) {
		p->held[i] = p->held[i] == (int)number ? 0 : p->held[i];
		p->sharers[i] &= ~(1u << number);
	}
	while (number == p->running)
		switch_one(p);
}

static void add_other(struct program *p)
{
	static const uint8_t plain[] = {NM_SYNC_JOIN, NM_SYNC_CALL, NM_SYNC_RESUME};

	switch (below(4)) {
	case 0: add_sync(p, plain[below(3)], 0); break;
	case 1:
		add_sync(p, below(2) ? NM_SYNC_FUTEX_WAIT : NM_SYNC_FUTEX_WAKE, WORD_BASE + below(WORDS) * 4);
		break;
	case 2:
		add_sync(p, p->in_function[p->running] ? NM_SYNC_LEAVE : NM_SYNC_ENTER, 0);
		p->in_function[p->running] ^= 1;
		break;
	default: end_one(p);
	}
}

static struct events make_program(unsigned seed, int sane)
{
	struct program p = {.count = 1, .running = 1, .sane = sane};

	rng_state = seed;
	p.live[1] = 1;
	add(&p, (struct event){.kind = NM_SYNC_START, .object = 101, .thread = 1});
	add_sync(&p, NM_SYNC_THREAD, 1);
	while (p.events.count < EVENTS) {
		unsigned dice = (unsigned)below(100);

		if (dice < 2)
			start_one(&p);
		else if (dice < 7)
			switch_one(&p);
		else if (dice < 12)
			add_lock_event(&p);
		else if (dice < 18)
			add_atomic(&p);
		else if (dice < 21)
			add_other(&p);
		else
			add_access(&p);
	}
	return p.events;
}

#endif
