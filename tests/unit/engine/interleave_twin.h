/* SPDX-License-Identifier: MIT
 *
 * interleave_twin.h - the slow and obvious twin of the interleaver. It keeps all items of all threads for
 * ever, and searches them for whatever it wants to know: who holds a lock, what an access waits for.
 */
#ifndef NM_TEST_INTERLEAVE_TWIN_H
#define NM_TEST_INTERLEAVE_TWIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interleave_events.h"

struct numbers nm_vec(uint64_t);

enum kind { REF, AFTER, LOCK, SHARE, UNLOCK, SYNC, TURN, END };

struct item {
	enum kind kind;
	int bound;                      /* to the reference before */
	uint64_t object, value, number; /* of a reference: its number in the recorded order */
};

struct twin_thread {
	struct nm_vec(struct item) items;
	size_t next;
	int known, ended, inside;
	struct item wanted; /* a LOCK or SHARE; else a REF */
	uint64_t seen, round, last_call, half, turn;
	size_t half_end;
};

/* An access to a word that threads synchronise by. */
struct access {
	uint64_t word, position;
	uint32_t thread;
	int kind; /* 0 read, 1 write, 2 update */
};

struct held {
	uint64_t lock, number; /* of the item that took it */
	uint32_t thread;
	int shared;
};

struct twin {
	struct nm_machine machine;
	struct nm_interleave_setup setup; /* its machine is the one above */
	struct twin_thread threads[THREADS + 1];
	uint32_t running;
	uint64_t round, since, rng, stalls;
	size_t last_core, drawing[NM_MAX_CORES];
	struct nm_vec(struct access) accesses;
	struct numbers words; /* that are known */
	struct nm_vec(struct held) held;
	struct {
		uint64_t made, maker, position;
	} makings[THREADS + 1];
	size_t making_count;
	struct numbers out;
};

static unsigned core_of(const struct twin *t, uint32_t thread)
{
	return nm_machine_core(&t->machine, thread);
}

/* Positions are numbers of items. */
static int has_passed(const struct twin *t, uint64_t thread, uint64_t position)
{
	return t->threads[thread].next >= position;
}

static void push(struct twin *t, uint32_t thread, struct item item)
{
	(void)t;
	assert_int_equal(nm_vec_push(&t->threads[thread].items, item), 0);
}

static uint64_t held_back(const struct twin *t)
{
	uint64_t sum = 0;

	for (unsigned i = 1; i <= THREADS; i++)
		sum += t->threads[i].items.count - t->threads[i].next;
	return sum;
}

static int is_alone(const struct twin *t)
{
	unsigned running = 0;

	for (unsigned i = 1; i <= THREADS; i++)
		running += t->threads[i].known && !t->threads[i].ended;
	return running == 1 && !t->making_count;
}

/* The one thread that can run waits for none that has ended. */
static int has_caught_up(const struct twin *t)
{
	for (unsigned i = 1; i <= THREADS && t->setup.keeps_ended; i++)
		if (t->threads[i].ended && t->threads[i].next < t->threads[i].items.count)
			return 0;
	return is_alone(t);
}

static int take(struct twin *t, uint32_t thread, const struct item *item)
{
	const uint64_t lock = item->object;
	const int shared = item->kind == SHARE;
	size_t shares = 0, mine = 0;

	for (size_t i = 0; i < t->held.count; i++) {
		const struct held *h = &t->held.at[i];

		if (h->lock != lock)
			continue;
		if (!h->shared && h->thread != thread)
			return 0;
		shares += h->shared != 0;
		mine += h->thread == thread;
	}
	if (!shared && shares && !(shares == 1 && mine))
		return 0;
	assert_int_equal(nm_vec_push(&t->held, (struct held){lock, item->number, thread, shared}), 0);
	return 1;
}

/* What the thread took by an item, if it did; NULL: all that it took. */
static void leave(struct twin *t, uint32_t thread, const struct item *lock)
{
	for (size_t i = t->held.count; i-- > 0;)
		if (t->held.at[i].thread == thread && (!lock || t->held.at[i].number == lock->number))
			memmove(&t->held.at[i], &t->held.at[i + 1],
				(--t->held.count - i) * sizeof t->held.at[0]);
}

/* The item that begins the section which another one ends, or NULL. */
static const struct item *begin_of(const struct twin_thread *th, const struct item *unlock)
{
	unsigned depth = 1;

	for (const struct item *item = unlock; item-- > th->items.at;) {
		if (item->object != unlock->object)
			continue;
		depth += item->kind == UNLOCK;
		if ((item->kind == LOCK || item->kind == SHARE) && !--depth)
			return item;
	}
	return NULL;
}

/* The item that ends a section; count: it was not recorded. */
static size_t end_of(const struct twin_thread *th, size_t lock)
{
	unsigned depth = 0;
	size_t i = lock;

	for (; i < th->items.count; i++) {
		const struct item *item = &th->items.at[i];

		if (item->object != th->items.at[lock].object)
			continue;
		depth += item->kind == LOCK || item->kind == SHARE;
		if (item->kind == UNLOCK && depth && !--depth)
			break;
	}
	return i;
}

/* Whether all sections of the lock that are older and exclude this one are over. */
static int is_in_turn(const struct twin *t, const struct item *lock)
{
	for (unsigned i = 1; i <= THREADS; i++) {
		const struct twin_thread *th = &t->threads[i];

		for (size_t k = 0; k < th->items.count; k++) {
			const struct item *other = &th->items.at[k];
			const int excludes =
			    other->kind == LOCK || (other->kind == SHARE && lock->kind == LOCK);
			size_t end;

			if (!excludes || other->object != lock->object || other->number >= lock->number)
				continue;
			end = end_of(th, k);
			if (end == th->items.count ? !th->ended || th->next < th->items.count
						   : th->next <= end)
				return 0;
		}
	}
	return 1;
}

/* Whether the section is known to its end and has nothing that may wait. */
static int may_overtake(const struct twin_thread *th, size_t lock)
{
	const size_t end = end_of(th, lock);

	for (size_t i = lock + 1; i < end; i++) {
		const enum kind kind = th->items.at[i].kind;

		if (kind == AFTER || kind == LOCK || kind == SHARE)
			return 0;
	}
	return end < th->items.count;
}

static int may_take(const struct twin *t, uint32_t thread, const struct item *lock)
{
	const struct twin_thread *th = &t->threads[thread];

	for (size_t i = 0; i < t->held.count; i++)
		if (t->held.at[i].thread == thread && t->held.at[i].lock == lock->object)
			return 1;
	return may_overtake(th, (size_t)(lock - th->items.at)) || is_in_turn(t, lock);
}

static int pass_item(struct twin *t, uint32_t thread, const struct item *item)
{
	switch (item->kind) {
	case AFTER: return has_passed(t, item->object, item->value);
	case LOCK:
	case SHARE: return may_take(t, thread, item) && take(t, thread, item);
	case UNLOCK:
		if (begin_of(&t->threads[thread], item))
			leave(t, thread, begin_of(&t->threads[thread], item));
		return 1;
	case END: leave(t, thread, NULL); return 1;
	default: return 1;
	}
}

static int run_thread(struct twin *t, uint32_t thread)
{
	struct twin_thread *th = &t->threads[thread];
	int64_t left = t->setup.order.quantum;
	int ran = 0, refs = 0;

	for (; th->next < th->items.count; th->next++) {
		const struct item *item = &th->items.at[th->next];

		if ((left <= 0 && !(item->kind == REF && item->bound)) || (item->kind == TURN && refs))
			break;
		if (!pass_item(t, thread, item))
			break;
		ran |= item->kind != AFTER;
		th->turn = item->kind == TURN ? item->number : th->turn;
		if (item->kind != REF)
			continue;
		refs = 1;
		left--;
		assert_int_equal(nm_vec_push(&t->out, item->number), 0);
	}
	return ran;
}

/* The thread whose recorded turn is the oldest, of those that were not tried. */
static uint32_t oldest_turn(const struct twin *t, size_t core, const int *tried)
{
	uint32_t oldest = 0;
	uint64_t least = UINT64_MAX;

	for (unsigned i = 1; i <= THREADS; i++) {
		const struct twin_thread *th = &t->threads[i];
		uint64_t turn;

		if (tried[i] || core_of(t, i) != core || th->next == th->items.count)
			continue;
		turn = th->items.at[th->next].kind == TURN ? th->items.at[th->next].number : th->turn;
		if (turn < least) {
			oldest = i;
			least = turn;
		}
	}
	return oldest;
}

static int run_core(struct twin *t, size_t core)
{
	int tried[THREADS + 1] = {0};
	uint32_t thread;

	while ((thread = oldest_turn(t, core, tried))) {
		tried[thread] = 1;
		if (run_thread(t, thread))
			return 1;
	}
	return 0;
}

static size_t draw_core(struct twin *t, size_t i)
{
	size_t drawn, core;

	t->rng ^= t->rng >> 12;
	t->rng ^= t->rng << 25;
	t->rng ^= t->rng >> 27;
	drawn = i + (t->rng * 0x2545f4914f6cdd1dull >> 32) % (t->machine.cores - i);
	core = t->drawing[drawn];
	t->drawing[drawn] = t->drawing[i];
	return t->drawing[i] = core;
}

static int take_turn(struct twin *t)
{
	const size_t last = t->last_core;

	for (size_t i = 0; i < t->machine.cores; i++) {
		t->last_core = t->setup.order.random ? draw_core(t, i) : (last + 1 + i) % t->machine.cores;
		if (run_core(t, t->last_core))
			return 1;
	}
	return 0;
}

/* The lock that a thread has waited for longest is gone without. Ages: items of references and marks in
 * recorded order. */
static void stall(struct twin *t)
{
	struct twin_thread *oldest = NULL;

	for (unsigned i = 1; i <= THREADS; i++) {
		struct twin_thread *th = &t->threads[i];
		const struct item *item = th->next < th->items.count ? &th->items.at[th->next] : NULL;

		if (item && (item->kind == LOCK || item->kind == SHARE) &&
		    (!oldest || item->number < oldest->items.at[oldest->next].number))
			oldest = th;
	}
	assert_non_null(oldest);
	oldest->next++;
	t->stalls++;
}

static void go_until(struct twin *t, uint64_t most)
{
	while (held_back(t) > most)
		if (!take_turn(t))
			stall(t);
}

static void go_possible(struct twin *t)
{
	while (held_back(t) && take_turn(t))
		;
}

static int owes(const struct twin *t)
{
	for (unsigned i = 1; i <= THREADS; i++)
		if (t->threads[i].next < t->threads[i].seen)
			return 1;
	return 0;
}

static void switch_to(struct twin *t, uint32_t thread, uint64_t number)
{
	struct twin_thread *th = &t->threads[thread];

	th->turn = th->known ? th->turn : number;
	th->known = 1;
	t->running = thread;
	if (th->round == t->round && t->since >= t->setup.hold_least) {
		while (owes(t) && take_turn(t))
			;
		for (unsigned i = 1; i <= THREADS; i++)
			t->threads[i].seen = t->threads[i].items.count;
		t->round++;
		t->since = 0;
	}
	th->round = t->round;
	if (!is_alone(t) || held_back(t))
		push(t, thread, (struct item){.kind = TURN, .number = number});
}

static int knows(const struct twin *t, uint64_t word)
{
	for (size_t i = 0; i < t->words.count; i++)
		if (t->words.at[i] == word)
			return 1;
	return 0;
}

static void learn(struct twin *t, uint64_t address, uint32_t bytes)
{
	for (uint64_t w = address / 4; w <= (address + bytes - 1) / 4; w++)
		if (!knows(t, w))
			assert_int_equal(nm_vec_push(&t->words, w), 0);
}

/* Every conflicting access before it that has not gone out is waited for. */
static void wait_for(struct twin *t, uint64_t address, uint32_t bytes, int kind, uint64_t number)
{
	for (size_t i = 0; i < t->accesses.count; i++) {
		const struct access *a = &t->accesses.at[i];

		if (a->word >= address / 4 && a->word <= (address + bytes - 1) / 4 &&
		    a->thread != t->running && (a->kind != kind || kind == 1) &&
		    !has_passed(t, a->thread, a->position))
			push(t, t->running,
			     (struct item){
				 .kind = AFTER, .object = a->thread, .value = a->position, .number = number});
	}
}

/* An access has waited for all that it conflicts with, so who waits for it need not wait for those. */
static void forget(struct twin *t, uint64_t word, int kind)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->accesses.count; i++) {
		const struct access *a = &t->accesses.at[i];

		if (a->word != word || (kind != 1 && (a->thread != t->running || a->kind != kind)))
			t->accesses.at[kept++] = *a;
	}
	t->accesses.count = kept;
}

static void note(struct twin *t, uint64_t address, uint32_t bytes, int kind)
{
	for (uint64_t w = address / 4; w <= (address + bytes - 1) / 4; w++)
		forget(t, w, kind);
	for (uint64_t w = address / 4; w <= (address + bytes - 1) / 4; w++)
		if (knows(t, w))
			assert_int_equal(
			    nm_vec_push(
				&t->accesses,
				(struct access){w, t->threads[t->running].items.count + 1, t->running, kind}),
			    0);
}

static void add_ref(struct twin *t, const struct event *e, uint64_t number)
{
	struct twin_thread *th = &t->threads[t->running];
	int atomic = e->kind != NM_SYNC_NONE, straight = is_alone(t) && !held_back(t);
	int second = atomic && e->ref.kind == NM_REF_WRITE && th->half == e->ref.address &&
		     th->half_end == th->items.count;
	int kind = e->kind == NM_SYNC_UPDATE   ? 2
		   : e->kind == NM_SYNC_ATOMIC ? 1
					       : e->ref.kind == NM_REF_WRITE;

	if (atomic && !th->inside)
		learn(t, e->ref.address, e->ref.size);
	if (!straight && !second && !th->inside)
		wait_for(t, e->ref.address, e->ref.size, kind, number);
	if (!straight && !th->inside)
		note(t, e->ref.address, e->ref.size, kind);
	push(t, t->running, (struct item){.kind = REF, .number = number, .bound = second});
	t->since += !straight;
	if (straight) {
		th->next++;
		assert_int_equal(nm_vec_push(&t->out, number), 0);
	}
	if (atomic) {
		th->half = e->ref.kind == NM_REF_READ ? e->ref.address : 0;
		th->half_end = th->items.count;
	}
}

static void come_after(struct twin *t, int calls, uint64_t number)
{
	push(t, t->running, (struct item){.kind = SYNC, .number = number});
	for (unsigned i = 1; i <= THREADS; i++) {
		const struct twin_thread *other = &t->threads[i];
		uint64_t position = other->ended ? other->items.count : calls ? other->last_call : 0;

		if (i != t->running && !has_passed(t, i, position))
			push(t, t->running,
			     (struct item){.kind = AFTER, .object = i, .value = position, .number = number});
	}
}

static void start(struct twin *t, const struct event *e, uint64_t number)
{
	uint64_t maker = e->parent, position = t->threads[e->parent].items.count;

	t->threads[e->thread].turn = t->threads[e->thread].known ? t->threads[e->thread].turn : number;
	t->threads[e->thread].known = 1;
	for (size_t i = 0; i < t->making_count; i++)
		if (t->makings[i].made == e->object) {
			maker = t->makings[i].maker;
			position = t->makings[i].position;
			t->makings[i] = t->makings[--t->making_count];
			break;
		}
	if (maker && t->threads[maker].known && !has_passed(t, maker, position))
		push(t, e->thread,
		     (struct item){.kind = AFTER, .object = maker, .value = position, .number = number});
}

static void obtain(struct twin *t, uint64_t number)
{
	struct twin_thread *th = &t->threads[t->running];
	struct item item = th->wanted;

	item.number = number;
	th->wanted.kind = REF;
	if (item.kind != REF)
		push(t, t->running, item);
}

static void add_event(struct twin *t, const struct event *e, uint64_t number)
{
	struct twin_thread *th = &t->threads[t->running];
	struct item item = {.object = e->object, .number = number};

	switch (e->kind) {
	case NM_SYNC_THREAD: switch_to(t, (uint32_t)e->object, number); break;
	case NM_SYNC_CREATE:
		for (size_t i = 0; i < t->making_count; i++)
			if (t->makings[i].made == e->object)
				return;
		t->makings[t->making_count].made = e->object;
		t->makings[t->making_count].maker = t->running;
		t->makings[t->making_count++].position = th->items.count;
		break;
	case NM_SYNC_START: start(t, e, number); break;
	case NM_SYNC_EXIT:
		if (t->threads[e->object].known && !t->threads[e->object].ended) {
			item.kind = END;
			t->threads[e->object].ended = 1;
			push(t, (uint32_t)e->object, item);
		}
		break;
	case NM_SYNC_JOIN: come_after(t, 0, number); break;
	case NM_SYNC_RESUME:
		if (!th->inside)
			come_after(t, 1, number);
		break;
	case NM_SYNC_CALL: th->last_call = th->items.count; break;
	case NM_SYNC_ENTER: th->inside++; break;
	case NM_SYNC_LEAVE:
		th->inside -= th->inside > 0;
		obtain(t, number);
		break;
	case NM_SYNC_FUTEX_WAIT:
	case NM_SYNC_FUTEX_WAKE:
		if (th->inside)
			break;
		learn(t, e->object, 4);
		wait_for(t, e->object, 4, e->kind == NM_SYNC_FUTEX_WAKE, number);
		note(t, e->object, 4, e->kind == NM_SYNC_FUTEX_WAKE);
		item.kind = SYNC;
		push(t, t->running, item);
		break;
	default:
		item.kind = e->kind == NM_SYNC_LOCK ? LOCK : e->kind == NM_SYNC_SHARE ? SHARE : UNLOCK;
		obtain(t, number);
		if (th->inside && item.kind != UNLOCK)
			th->wanted = item;
		else
			push(t, t->running, item);
	}
}

static void twin_add(struct twin *t, const struct event *e, uint64_t number)
{
	if (is_ref(e)) {
		add_ref(t, e, number);
		return;
	}
	add_event(t, e, number);
	if (has_caught_up(t) && held_back(t))
		go_possible(t);
}

static void twin_drain(struct twin *t) { go_until(t, 0); }

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static struct twin *twin_new(const struct nm_interleave_setup *setup)
{
	struct twin *t = calloc(1, sizeof *t);

	assert_non_null(t);
	t->setup = *setup;
	t->machine = *setup->machine;
	t->setup.machine = &t->machine;
	t->rng = mix(setup->order.seed) | 1;
	t->last_core = t->machine.cores - 1;
	t->round = 1;
	for (size_t i = 0; i < t->machine.cores; i++)
		t->drawing[i] = i;
	return t;
}

static void twin_free(struct twin *t)
{
	for (unsigned i = 0; i <= THREADS; i++)
		nm_vec_free(&t->threads[i].items);
	nm_vec_free(&t->accesses);
	nm_vec_free(&t->words);
	nm_vec_free(&t->held);
	nm_vec_free(&t->out);
	free(t);
}

#endif
