/* SPDX-License-Identifier: MIT
 *
 * interleave_test.c - the merged order of threads: against a slow twin on random streams with random
 * synchronisation, sane and senseless; that orders which synchronisation enforces hold, and locks exclude;
 * that nothing is lost, that threads never all wait, and memory is bounded; and small cases whose order is
 * written down.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interleave.h"
#include "numbers.h"
#include "vector.h"

enum { THREADS = 8, WORDS = 6, LOCKS = 3, EVENTS = 4000 };

#define WORD_BASE 0x10000ull
#define DATA_BASE 0x900000ull

/* An event of the recorded order: a reference (kind NM_SYNC_NONE, ATOMIC, UPDATE) or another. */
struct event {
	uint8_t kind;
	uint32_t thread, parent; /* of NM_SYNC_START */
	uint64_t object;
	struct nm_ref ref;
};

struct events nm_vec(struct event);
struct numbers nm_vec(uint64_t);

static int is_ref(const struct event *e)
{
	return e->kind == NM_SYNC_NONE || e->kind == NM_SYNC_ATOMIC || e->kind == NM_SYNC_UPDATE;
}

/* ---- the twin ------------------------------------------------------------------------------------ */

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
	struct nm_interleave_setup setup;
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
	if (is_alone(t) && held_back(t))
		go_possible(t);
}

static void twin_done(struct twin *t)
{
	for (unsigned i = 0; i <= THREADS; i++)
		nm_vec_free(&t->threads[i].items);
	nm_vec_free(&t->accesses);
	nm_vec_free(&t->words);
	nm_vec_free(&t->held);
	nm_vec_free(&t->out);
}

/* ---- random programs ----------------------------------------------------------------------------- */

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

/* ---- the interleaver ------------------------------------------------------------------------------ */

struct sink {
	struct numbers out;   /* clocks: numbers in the recorded order */
	struct numbers cores; /* of each */
};

static int receive(void *arg, const struct nm_merged *batch)
{
	struct sink *sink = arg;
	size_t turn = 0;

	assert_true(batch->count > 0 && batch->count <= NM_BATCH);
	assert_int_equal(batch->turns[batch->turn_count - 1].end, batch->count);
	for (size_t i = 0; i < batch->count; i++) {
		while (batch->turns[turn].end <= i)
			turn++;
		assert_int_equal(nm_vec_push(&sink->out, batch->clock[i]), 0);
		assert_int_equal(nm_vec_push(&sink->cores, batch->turns[turn].core), 0);
	}
	return 0;
}

/* In batches of random lengths. */
static uint64_t merge(const struct nm_interleave_setup *setup, const struct events *events, struct sink *sink)
{
	struct nm_interleave *m;
	struct nm_ref refs[NM_BATCH];
	uint64_t clock[NM_BATCH], stalls;
	static struct nm_sync syncs[EVENTS + 1000];
	struct nm_interleave_setup all = *setup;
	size_t count = 0, sync_count = 0;

	all.output = receive;
	all.arg = sink;
	all.clocked = 1;
	assert_int_equal(nm_interleave_new(&m, &all), 0);
	for (size_t i = 0; i < events->count; i++) {
		const struct event *e = &events->at[i];

		if (e->kind != NM_SYNC_NONE)
			syncs[sync_count++] =
			    (struct nm_sync){e->object, (uint32_t)count, e->thread, e->parent, e->kind};
		if (is_ref(e)) {
			clock[count] = i;
			refs[count++] = e->ref;
		}
		if (i + 1 == events->count || count == NM_BATCH || below(60) == 0) {
			assert_int_equal(nm_interleave_add(m, refs, count, clock, syncs, sync_count), 0);
			count = sync_count = 0;
		}
	}
	assert_int_equal(nm_interleave_drain(m), 0);
	stalls = nm_interleave_stalls(m);
	nm_interleave_free(m);
	return stalls;
}

static struct nm_interleave_setup random_setup(struct nm_machine *machine)
{
	machine->cores = 1 + (unsigned)below(THREADS);
	return (struct nm_interleave_setup){
	    .machine = machine,
	    .order = {.quantum = 1 + (uint32_t)below(40), .random = (int)below(2), .seed = below(1000)},
	    .hold_least = 1 + below(300),
	    .hold_most = UINT64_MAX};
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static void check_twin(const struct events *events, unsigned seed)
{
	struct twin *t = calloc(1, sizeof *t);
	struct sink sink = {0};
	uint64_t stalls;

	t->setup = random_setup(&t->machine);
	t->rng = mix(t->setup.order.seed) | 1;
	t->last_core = t->machine.cores - 1;
	t->round = 1;
	for (size_t i = 0; i < t->machine.cores; i++)
		t->drawing[i] = i;
	for (size_t i = 0; i < events->count; i++)
		twin_add(t, &events->at[i], i);
	go_until(t, 0);
	stalls = merge(&t->setup, events, &sink);
	assert_int_equal(sink.out.count, t->out.count);
	for (size_t i = 0; i < sink.out.count; i++)
		if (sink.out.at[i] != t->out.at[i])
			fail_msg("seed %u: reference %zu is %zu, not %zu", seed, i, (size_t)sink.out.at[i],
				 (size_t)t->out.at[i]);
	assert_int_equal(stalls, t->stalls);
	twin_done(t);
	free(t);
	nm_vec_free(&sink.out);
	nm_vec_free(&sink.cores);
}

static void test_twin(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 150; seed++) {
		struct events events = make_program(seed, seed % 2);

		check_twin(&events, seed);
		nm_vec_free(&events);
	}
}

/* A thread comes and goes, the first one runs alone for any number of references, and another thread
 * comes. */
static void test_alone_between_threads(void **state)
{
	(void)state;
	for (unsigned alone = 0; alone < 1100; alone++) {
		struct program p = {.count = 1, .running = 1, .live = {[1] = 1}};

		rng_state = alone + 1;
		add(&p, (struct event){.kind = NM_SYNC_START, .object = 101, .thread = 1});
		add_sync(&p, NM_SYNC_THREAD, 1);
		start_one(&p);
		add_access(&p);
		add_sync(&p, NM_SYNC_THREAD, 2);
		add_access(&p);
		add_sync(&p, NM_SYNC_EXIT, 2);
		add_sync(&p, NM_SYNC_THREAD, 1);
		for (unsigned i = 0; i < alone; i++)
			add_access(&p);
		start_one(&p);
		add_access(&p);
		add_sync(&p, NM_SYNC_THREAD, 3);
		add_access(&p);
		check_twin(&p.events, alone);
		nm_vec_free(&p.events);
	}
}

/* ---- what the order has to be --------------------------------------------------------------------- */

/* Where each event that is a reference went; SIZE_MAX: nowhere. */
static size_t *places_of(const struct events *events, const struct sink *sink)
{
	size_t *place = malloc(events->count * sizeof *place), refs = 0;

	for (size_t i = 0; i < events->count; i++) {
		place[i] = SIZE_MAX;
		refs += (size_t)is_ref(&events->at[i]);
	}
	assert_int_equal(sink->out.count, refs);
	for (size_t i = 0; i < sink->out.count; i++) {
		assert_true(place[sink->out.at[i]] == SIZE_MAX);
		place[sink->out.at[i]] = i;
	}
	return place;
}

/* Each thread's references are in their order, and nothing is lost or twice. */
static void check_threads(const struct events *events, const size_t *place)
{
	size_t last[THREADS + 1] = {0};

	for (size_t i = 0; i < events->count; i++) {
		const struct event *e = &events->at[i];

		if (!is_ref(e))
			continue;
		assert_true(place[i] + 1 > last[e->ref.attr]);
		last[e->ref.attr] = place[i] + 1;
	}
}

/* The next reference of the thread from event i on, or the last one before. */
static size_t place_near(const struct events *events, const size_t *place, size_t i, uint32_t thread,
			 int step)
{
	for (; i < events->count; i += (size_t)step)
		if (is_ref(&events->at[i]) && events->at[i].ref.attr == thread)
			return place[i];
	return SIZE_MAX;
}

/* No two threads are between taking a lock and giving it up at the same time; programs are sane. */
static void check_locks(const struct events *events, const size_t *place)
{
	struct section {
		uint64_t lock;
		size_t from, end;
	};
	struct nm_vec(struct section) sections = {0};
	size_t begin[LOCKS + 1] = {0};
	uint32_t owner[LOCKS + 1] = {0}, running = 1;

	for (size_t i = 0; i < events->count; i++) {
		const struct event *e = &events->at[i];

		running = e->kind == NM_SYNC_THREAD ? (uint32_t)e->object : running;
		if (e->kind == NM_SYNC_LOCK) {
			begin[e->object] = i;
			owner[e->object] = running;
		} else if (e->kind == NM_SYNC_UNLOCK && owner[e->object] == running) {
			size_t from = place_near(events, place, begin[e->object], running, 1);
			size_t end = place_near(events, place, i, running, -1);

			if (from != SIZE_MAX && end != SIZE_MAX && from <= end)
				assert_int_equal(
				    nm_vec_push(&sections, (struct section){e->object, from, end}), 0);
			owner[e->object] = 0;
		}
	}
	for (size_t i = 0; i < sections.count; i++)
		for (size_t k = i + 1; k < sections.count; k++)
			if (sections.at[i].lock == sections.at[k].lock)
				assert_true(sections.at[i].end < sections.at[k].from ||
					    sections.at[k].end < sections.at[i].from);
	nm_vec_free(&sections);
}

static int touches(const struct event *a, const struct event *b)
{
	return a->ref.address / 4 <= (b->ref.address + b->ref.size - 1) / 4 &&
	       b->ref.address / 4 <= (a->ref.address + a->ref.size - 1) / 4;
}

/* From the first atomic access to a word on, accesses to it are in the recorded order, where one writes. */
static void check_words(const struct events *events, const size_t *place)
{
	for (size_t a = 0; a < events->count; a++) {
		const struct event *atomic = &events->at[a];

		if (atomic->kind != NM_SYNC_ATOMIC)
			continue;
		for (size_t i = a + 1; i < events->count; i++) {
			const struct event *e = &events->at[i];

			if (is_ref(e) && touches(atomic, e) && e->ref.address == atomic->ref.address)
				assert_true(place[a] < place[i]);
		}
	}
}

static void test_orders_hold(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 60; seed++) {
		struct nm_machine machine = {.cores = 1};
		struct nm_interleave_setup setup;
		struct events events = make_program(seed, 1);
		struct sink sink = {0};
		size_t *place;

		for (size_t i = 0; i < events.count; i++) /* within them the order is the lock's */
			if (events.at[i].kind == NM_SYNC_ENTER || events.at[i].kind == NM_SYNC_LEAVE)
				events.at[i].kind = NM_SYNC_CALL;
		setup = random_setup(&machine);
		setup.hold_most = below(2) ? 500 : UINT64_MAX;
		assert_int_equal(merge(&setup, &events, &sink), 0);
		place = places_of(&events, &sink);
		check_threads(&events, place);
		check_words(&events, place);
		check_locks(&events, place);
		free(place);
		nm_vec_free(&sink.out);
		nm_vec_free(&sink.cores);
		nm_vec_free(&events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_twin),
	    cmocka_unit_test(test_alone_between_threads),
	    cmocka_unit_test(test_orders_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
