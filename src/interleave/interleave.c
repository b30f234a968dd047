/* SPDX-License-Identifier: MIT
 *
 * interleave.c - the input: the streams of threads, rounds, and the handling of sync events.
 *
 * A *round* ends when a thread runs for the second time in it: by then the collector has given every
 * runnable thread a turn. All items from before the round are then output, interleaved with as many items
 * of the round as necessary.
 */
#include "interleave.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "interleave_priv.h"

int nm_interleave_new(struct nm_interleave **ret, const struct nm_interleave_setup *setup)
{
	struct nm_interleave *m = aligned_alloc(_Alignof(struct nm_interleave), sizeof *m);
	size_t cores = setup->machine->cores ? setup->machine->cores : 1;

	assert(setup->output);
	assert(cores <= NM_MAX_CORES);
	assert(setup->order.quantum <= NM_QUANTUM_MOST);
	if (!m)
		return NM_ENOMEM;
	memset(m, 0, sizeof *m);
	if (nm_vec_reach(&m->cores, cores)) {
		free(m);
		return NM_ENOMEM;
	}
	m->setup = *setup;
	m->quantum = setup->order.quantum ? setup->order.quantum : NM_QUANTUM;
	m->setup.hold_least = setup->hold_least ? setup->hold_least : NM_HOLD_LEAST;
	m->setup.hold_most = setup->hold_most ? setup->hold_most : NM_HOLD_MOST;
	m->random = nm_mix64(setup->order.seed) | 1;
	m->last_core = cores - 1;
	for (size_t i = 0; i < cores; i++)
		m->drawing[i] = (uint16_t)i;
	m->round = 1;
	*ret = m;
	return 0;
}

void nm_interleave_free(struct nm_interleave *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->live.count; i++)
		nm_stream_free(m, m->live.at[i]);
	for (size_t i = 0; i < m->cores.count; i++)
		nm_vec_free(&m->cores.at[i].streams);
	for (size_t i = 0; i < m->words.count; i++)
		nm_vec_free(&m->words.at[i].list);
	for (size_t i = 0; i < m->locks.count; i++)
		nm_vec_free(&m->locks.at[i].sections);
	while (m->spare) {
		struct chunk *c = m->spare;

		m->spare = c->next;
		free(c);
	}
	nm_vec_free(&m->streams);
	nm_vec_free(&m->live);
	nm_vec_free(&m->cores);
	nm_vec_free(&m->made);
	nm_vec_free(&m->words);
	nm_vec_free(&m->locks);
	nm_map_done(&m->makings);
	nm_map_done(&m->word_of);
	nm_map_done(&m->lock_of);
	free(m->word_lines);
	free(m->hints);
	free(m);
}

void nm_interleave_set_coalesced(struct nm_interleave *i, const struct nm_coalesced_table *coalesced)
{
	assert(!i->count && !i->held_back);
	i->coalesced = coalesced;
}

uint64_t nm_interleave_forced_progress(const struct nm_interleave *m) { return m->stalls; }

int nm_interleave_is_over(const struct nm_interleave *i, uint32_t thread)
{
	const struct stream *s = nm_stream_of(i, thread);

	return !s || (s->ended && nm_stream_is_empty(s));
}

int nm_interleave_send(struct nm_interleave *i) { return nm_output_send(i); }

int nm_interleave_settle(struct nm_interleave *i)
{
	int status = nm_schedule_possible(i);

	return status ? status : nm_output_send(i);
}

int nm_interleave_drain(struct nm_interleave *i)
{
	int status = nm_schedule_until(i, 0);

	return status ? status : nm_output_send(i);
}

/* ---- streams of threads --------------------------------------------------------------------------- */

static struct stream *start_stream(struct nm_interleave *i, uint64_t number)
{
	struct stream *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->number = (uint32_t)number;
	s->core = nm_machine_core(i->setup.machine, s->number);
	s->turn = i->ages++;
	if (nm_vec_reserve(&i->live, 1) || nm_vec_reach(&i->streams, number + 1) ||
	    nm_vec_push(&i->cores.at[s->core].streams, s)) {
		free(s);
		return NULL;
	}
	i->streams.at[number] = i->live.at[i->live.count++] = s;
	i->running_threads++;
	return s;
}

/* Removes threads that have ended and whose items are all output. */
static void remove_gone(struct nm_interleave *m)
{
	for (size_t i = m->live.count; i-- > 0;) {
		struct stream *s = m->live.at[i];
		struct core *c = &m->cores.at[s->core];
		size_t k = 0;

		if (!s->ended || !nm_stream_is_empty(s) || s == m->running)
			continue;
		while (c->streams.at[k] != s)
			k++;
		c->streams.at[k] = c->streams.at[--c->streams.count];
		m->streams.at[s->number] = NULL;
		m->live.at[i] = m->live.at[--m->live.count];
		nm_stream_free(m, s);
	}
}

/* Whether no other thread can run, and none has been created that is yet to start. */
static int is_alone(const struct nm_interleave *m) { return m->running_threads == 1 && !m->makings.count; }

/* Whether also no item is queued: the running thread's references can be output directly. */
static int goes_straight(const struct nm_interleave *m) { return is_alone(m) && !m->held_back; }

/* There is one thread that can run, and need not wait for others. */
static int has_caught_up(const struct nm_interleave *m)
{
	for (size_t i = 0; i < m->live.count && m->setup.keeps_ended; i++)
		if (m->live.at[i]->ended && !nm_stream_is_empty(m->live.at[i]))
			return 0;
	return is_alone(m);
}

static int end_round(struct nm_interleave *m)
{
	int status;

	m->owed = 0;
	for (size_t i = 0; i < m->live.count; i++) {
		struct stream *s = m->live.at[i];

		s->owed = s->seen;
		m->owed += s->owed > s->passed ? s->owed - s->passed : 0;
	}
	status = nm_schedule_owed(m);
	m->owed = 0;
	for (size_t i = 0; i < m->live.count; i++) {
		m->live.at[i]->seen = m->live.at[i]->added;
		m->live.at[i]->owed = 0;
	}
	remove_gone(m);
	m->round++;
	m->since = 0;
	return status;
}

static int run_thread(struct nm_interleave *i, uint64_t number)
{
	struct stream *s = nm_stream_of(i, number);
	int status = 0;

	if (!s && !(s = start_stream(i, number)))
		return NM_ENOMEM;
	i->running = s;
	if (s->round == i->round && i->since >= i->setup.hold_least)
		status = end_round(i);
	s->round = i->round;
	return status || (is_alone(i) && !i->held_back) ? status : nm_stream_mark(i, s, MARK_TURN, 0, 0);
}

/* ---- input ---------------------------------------------------------------------------------------- */

/* References of the running thread that need no mark before them. */
static int add_plain(struct nm_interleave *i, const struct nm_ref *refs, const uint64_t *clock, size_t count)
{
	struct stream *s = i->running;

	if (!goes_straight(i))
		return nm_stream_add(i, s, refs, clock, count);
	s->added += count;
	s->passed += count;
	return nm_output_put(i, s, refs, clock, count);
}

static const uint64_t *clock_at(const uint64_t *clock, size_t i) { return clock ? clock + i : NULL; }

static int add_ordered(struct nm_interleave *i, const struct nm_ref *r, const uint64_t *clock)
{
	const struct nm_range_access access = {r->address, r->size,
					       r->kind == NM_REF_WRITE ? ACCESS_WRITE : ACCESS_READ};
	int status = nm_words_order(i, i->running, &access);

	return status ? status : add_plain(i, r, clock, 1);
}

/* A reference to a line that may have words by which threads synchronise. If it touches such words, coalesced
 * accesses are added one by one, so that each waits only for its own word. */
static int add_near(struct nm_interleave *m, const struct nm_ref *r, const uint64_t *clock)
{
	const struct nm_coalesced *group;
	int status = 0;

	if (!nm_words_touched(m, r->address, r->size))
		return add_plain(m, r, clock, 1);
	if (!nm_ref_is_coalesced(r))
		return add_ordered(m, r, clock);
	group = nm_coalesced_at(m->coalesced, r->attr);
	for (uint32_t i = 0; i < group->members && !status; i++) {
		const struct nm_ref single = nm_coalesced_member_ref(r, &group->member[i]);

		status = add_ordered(m, &single, clock);
	}
	return status;
}

static int add_references(struct nm_interleave *m, const struct nm_ref *refs, const uint64_t *clock,
			  size_t count)
{
	size_t from = 0;
	int status = 0;

	if (!m->word_lines || goes_straight(m) || m->running->inside)
		return add_plain(m, refs, clock, count);
	for (size_t i = 0; i < count && !status; i++) {
		if (refs[i].kind == NM_REF_FETCH || !nm_words_near(m, &refs[i]))
			continue;
		if (i > from)
			status = add_plain(m, refs + from, clock_at(clock, from), i - from);
		if (!status)
			status = add_near(m, &refs[i], clock_at(clock, i));
		from = i + 1;
	}
	return status || from == count ? status
				       : add_plain(m, refs + from, clock_at(clock, from), count - from);
}

/* Half of an atomic instruction. The second half runs in the same turn as the first, so it need not wait. */
static int add_atomic(struct nm_interleave *i, const struct nm_ref *r, const uint64_t *clock, int commutes)
{
	struct stream *s = i->running;
	const int second = r->kind == NM_REF_WRITE && s->half == r->address && s->half_position == s->added;
	const struct nm_range_access access = {r->address, r->size, commutes ? ACCESS_UPDATE : ACCESS_WRITE};
	int status = s->inside ? 0 : nm_words_learn(i, r->address, r->size);

	if (!status && !goes_straight(i)) {
		if (second)
			status = nm_stream_mark(i, s, MARK_TOGETHER, 0, 0);
		else if (!s->inside)
			status = nm_words_wait(i, s, &access);
		if (!status && !s->inside)
			status = nm_words_note(i, s, &access);
	}
	if (!status)
		status = add_plain(i, r, clock, 1);
	s->half = r->kind == NM_REF_READ ? r->address : 0;
	s->half_position = s->added;
	return status;
}

/* What the running thread tells the caches before its next reference. */
static int add_hint(struct nm_interleave *i, const struct nm_cache_hint *hint)
{
	struct stream *s = i->running;

	if (goes_straight(i))
		return nm_output_hint(i, s, hint);
	return nm_vec_push(&s->hints, *hint) ? NM_ENOMEM : nm_stream_mark(i, s, MARK_HINT, 0, 0);
}

/* The running thread waits for all threads that have ended and, if `calls`, for the last call of each other
 * thread. */
static int come_after(struct nm_interleave *m, int calls)
{
	struct stream *s = m->running;
	int status = nm_stream_mark(m, s, MARK_SYNC, 0, 0);

	for (size_t i = 0; i < m->live.count && !status; i++) {
		const struct stream *other = m->live.at[i];
		uint64_t position = other->ended ? other->added : calls ? other->last_call : 0;

		if (other != s && position > other->passed)
			status = nm_locks_wait_for_thread(m, s, other->number, position);
	}
	return status;
}

static int create_thread(struct nm_interleave *i, uint64_t made)
{
	struct making making = {i->running->number, i->running->added};
	size_t at = i->made.count;

	if (nm_map_get(&i->makings, made, UINT64_MAX) != UINT64_MAX)
		return 0;
	return nm_vec_push(&i->made, making) || nm_map_put(&i->makings, made, at) ? NM_ENOMEM : 0;
}

static int start_thread(struct nm_interleave *i, const struct nm_sync *e)
{
	uint64_t at = nm_map_get(&i->makings, e->object, UINT64_MAX);
	const struct stream *parent = nm_stream_of(i, e->parent);
	struct making making = {0, 0};
	struct stream *s = nm_stream_of(i, e->thread);

	if (!s && !(s = start_stream(i, e->thread)))
		return NM_ENOMEM;
	if (at != UINT64_MAX) {
		making = i->made.at[at];
		nm_map_remove(&i->makings, e->object);
		if (!i->makings.count)
			i->made.count = 0;
	} else if (parent) {
		making = (struct making){parent->number, parent->added};
	}
	return nm_has_passed(i, making.maker, making.position)
		   ? 0
		   : nm_locks_wait_for_thread(i, s, making.maker, making.position);
}

static int end_thread(struct nm_interleave *i, uint64_t number)
{
	struct stream *s = nm_stream_of(i, number);

	if (!s || s->ended)
		return 0;
	s->ended = 1;
	i->running_threads--;
	return nm_stream_mark(i, s, MARK_END, 0, 0);
}

static int note_futex(struct nm_interleave *i, uint64_t address, enum access kind)
{
	struct stream *s = i->running;
	const struct nm_range_access access = {address, 4, kind};
	int status = nm_words_learn(i, address, 4);

	if (!status)
		status = nm_words_order(i, s, &access);
	return status ? status : nm_stream_mark(i, s, MARK_SYNC, 0, 0);
}

/* The function that acquires the lock returns: the thread holds the lock now. */
static int obtain_lock(struct nm_interleave *i, struct stream *s)
{
	const int shared = s->wants == WANTS_TO_SHARE;

	if (s->wants == WANTS_NOTHING)
		return 0;
	s->wants = WANTS_NOTHING;
	return nm_locks_open(i, s, s->wanted, shared);
}

static int await_lock(struct nm_interleave *i, struct stream *s, uint64_t object, int shared)
{
	int status = obtain_lock(i, s);

	if (status || !s->inside)
		return status ? status : nm_locks_open(i, s, object, shared);
	s->wanted = object;
	s->wants = shared ? WANTS_TO_SHARE : WANTS_IT;
	return 0;
}

static int release_lock(struct nm_interleave *i, struct stream *s, uint64_t object)
{
	int status = obtain_lock(i, s);

	return status ? status : nm_locks_close(i, s, object);
}

static int leave_locks(struct nm_interleave *i, struct stream *s)
{
	s->inside -= s->inside > 0;
	return obtain_lock(i, s);
}

/* All events but atomic references. */
static int take_event(struct nm_interleave *i, const struct nm_sync *e)
{
	struct stream *s = i->running;

	switch (e->kind) {
	case NM_SYNC_THREAD: return run_thread(i, e->object);
	case NM_SYNC_START: return start_thread(i, e);
	case NM_SYNC_EXIT: return end_thread(i, e->object);
	default: break;
	}
	if (!s)
		return 0;
	switch (e->kind) {
	case NM_SYNC_CREATE: return create_thread(i, e->object);
	case NM_SYNC_JOIN: return come_after(i, 0);
	case NM_SYNC_CALL: s->last_call = s->added; return 0;
	case NM_SYNC_RESUME: return s->inside ? 0 : come_after(i, 1);
	case NM_SYNC_ENTER: s->inside++; return 0;
	case NM_SYNC_LEAVE: return leave_locks(i, s);
	case NM_SYNC_LOCK: return await_lock(i, s, e->object, 0);
	case NM_SYNC_SHARE: return await_lock(i, s, e->object, 1);
	case NM_SYNC_UNLOCK: return release_lock(i, s, e->object);
	case NM_SYNC_FUTEX_WAIT: return s->inside ? 0 : note_futex(i, e->object, ACCESS_READ);
	case NM_SYNC_FUTEX_WAKE: return s->inside ? 0 : note_futex(i, e->object, ACCESS_WRITE);
	default: return 0;
	}
}

/* Adds references [from, to) of a batch, and the hints that so many syncs precede, from *hint on. */
static int add_hinted(struct nm_interleave *m, const struct nm_thread_batch *b, size_t from, size_t to,
		      size_t syncs, const struct nm_cache_hint **hint)
{
	int status = 0;

	for (; *hint != b->hints + b->hint_count && (*hint)->syncs <= syncs && !status; ++*hint) {
		const size_t before = (*hint)->before;

		assert(before >= from && before <= to);
		if (before > from)
			status = add_references(m, b->refs + from, clock_at(b->clock, from), before - from);
		from = before;
		if (!status)
			status = add_hint(m, *hint);
	}
	return status || from == to ? status
				    : add_references(m, b->refs + from, clock_at(b->clock, from), to - from);
}

int nm_interleave_add(struct nm_interleave *m, const struct nm_thread_batch *b)
{
	const struct nm_cache_hint *hint = b->hints;
	size_t at = 0;
	int status = 0;

	for (size_t i = 0; i < b->sync_count && !status; i++) {
		const struct nm_sync *s = &b->syncs[i];
		int atomic = s->kind == NM_SYNC_ATOMIC || s->kind == NM_SYNC_UPDATE;

		assert(s->index >= at && s->index + (atomic != 0) <= b->count);
		status = add_hinted(m, b, at, s->index, i, &hint);
		at = s->index;
		if (!status && atomic) {
			status =
			    add_atomic(m, &b->refs[at], clock_at(b->clock, at), s->kind == NM_SYNC_UPDATE);
			at++;
		} else if (!status) {
			status = take_event(m, s);
			if (!status && m->held_back && has_caught_up(m))
				status = nm_schedule_possible(m);
		}
	}
	if (!status)
		status = add_hinted(m, b, at, b->count, b->sync_count, &hint);
	if (!status && m->held_back > m->setup.hold_most)
		status = nm_schedule_until(m, m->setup.hold_most / 2);
	NM_CHECK(status || nm_interleave_is_valid(m));
	return status;
}

int nm_interleave_is_valid(const struct nm_interleave *m)
{
	uint64_t held_back = 0, owed = 0;

	for (size_t i = 0; i < m->live.count; i++) {
		const struct stream *s = m->live.at[i];

		if (nm_stream_of(m, s->number) != s || !nm_stream_is_valid(s))
			return 0;
		held_back += s->added - s->passed;
		owed += s->owed > s->passed ? s->owed - s->passed : 0;
	}
	return held_back == m->held_back && owed == m->owed && m->count <= NM_BATCH;
}
