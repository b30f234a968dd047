/* SPDX-License-Identifier: MIT
 *
 * schedule.c - which core and which thread runs next.
 *
 * Cores take turns in order or at random. A core that has nothing to run, or whose threads all wait, is
 * skipped. A core runs one thread at a time, in the recorded order: of its threads that need not wait, it
 * chooses the one whose recorded turn is oldest.
 */
#include <assert.h>

#include "interleave_priv.h"

/* Outputs the next hint: 1 or an error. */
static int pass_hint(struct nm_interleave *i, struct stream *s)
{
	const struct nm_cache_hint hint = s->hints.at[s->hints_passed++];

	if (s->hints_passed == s->hints.count)
		s->hints.count = s->hints_passed = 0;
	const int status = nm_output_hint(i, s, &hint);

	return status ? status : 1;
}

/* 1: the thread has passed the mark; 0: it has to wait; or NM_ENOMEM. */
static int pass_mark(struct nm_interleave *i, struct stream *s, const struct mark *mark)
{
	int status = 1;

	switch (mark->kind) {
	case MARK_AFTER: status = nm_has_passed(i, mark->object, mark->value); break;
	case MARK_LOCK:
	case MARK_SHARE: status = nm_locks_take(i, s, mark); break;
	case MARK_UNLOCK: nm_locks_leave(i, s, mark); break;
	case MARK_END: nm_locks_leave_all(i, s); break;
	case MARK_TURN: s->turn = mark->age; break;
	case MARK_HINT: status = pass_hint(i, s); break;
	case MARK_TOGETHER:
	case MARK_SYNC: break;
	}
	if (status > 0) {
		s->synchronised |=
		    mark->kind != MARK_TOGETHER && mark->kind != MARK_TURN && mark->kind != MARK_HINT;
		nm_stream_pass_mark(i, s);
	}
	return status;
}

/* How many of the next references have a total weight of at most `left`; *ret_weight: that weight. */
static size_t measure_run(const struct run *run, uint64_t left, uint64_t *ret_weight)
{
	size_t first = 0, end = run->count; /* of those whose weight with all before may be `left` or more */

	/* References seldom weigh less than 1. */
	if (left < end && run->weights[left - 1] - run->before >= left)
		end = left;
	while (first < end) {
		const size_t middle = (first + end) / 2;

		if (run->weights[middle] - run->before < left)
			first = middle + 1;
		else
			end = middle;
	}
	first += first < run->count && run->weights[first] - run->before == left;
	*ret_weight = first ? run->weights[first - 1] - run->before : 0;
	return first;
}

/* The turn ends within a coalesced access: its remaining members are output one by one, in this turn and in
 * later ones. */
static int run_part(struct nm_interleave *i, struct stream *s, const struct nm_ref *r, const uint64_t *clock,
		    uint64_t *left)
{
	const struct nm_coalesced *group = nm_coalesced_at(i->coalesced, r->attr);
	int status = 0;

	for (; s->part < group->members && *left && !status; s->part++, --*left) {
		const struct nm_ref single = nm_coalesced_member_ref(r, &group->member[s->part]);

		status = nm_output_put(i, s, &single, clock, 1);
	}
	if (s->part == group->members) {
		nm_stream_pass(i, s, 1);
		s->part = 0;
	}
	return status;
}

/* Outputs references up to the end of the turn or the next mark. 1, 0 if there are none, or an error. */
static int run_refs(struct nm_interleave *i, struct stream *s, uint64_t *left)
{
	const struct run next = nm_stream_next(s);
	uint64_t weight;
	size_t n;
	int status;

	if (!next.count)
		return 0;
	n = s->part ? 0 : measure_run(&next, *left, &weight);
	if (!n) {
		status = run_part(i, s, next.refs, next.clock, left);
		return status ? status : 1;
	}
	status = nm_output_put(i, s, next.refs, next.clock, n);
	*left -= weight;
	nm_stream_pass(i, s, n);
	return status ? status : 1;
}

static int is_bound(const struct stream *s)
{
	const struct mark *front = nm_stream_front(s);

	return front && front->kind == MARK_TOGETHER;
}

/* Passes the marks up to the next reference. `first`: a new recorded turn may begin. 1, 0 if the thread has
 * to wait or the recorded turn ends, or an error. Sets *ran if it passed a mark that may matter to others. */
static int pass_marks(struct nm_interleave *i, struct stream *s, int first, int *ran)
{
	const struct mark *front;
	int status = 1;

	while (status > 0 && (front = nm_stream_front(s))) {
		const int seen = front->kind != MARK_AFTER;

		if (front->kind == MARK_TURN && !first)
			return 0;
		status = pass_mark(i, s, front);
		*ran |= status > 0 && seen;
	}
	return status;
}

static int begins_turn(const struct stream *s)
{
	const struct mark *front = nm_stream_front(s);

	return front && front->kind == MARK_TURN;
}

/* A turn of the thread, which ends at the latest with the recorded turn. 1 if it advanced, 0 if its stream is
 * empty or it has to wait, or an error. */
static int run_stream(struct nm_interleave *i, struct stream *s)
{
	uint64_t left = i->quantum;
	int ran = 0, first = 1, status = 1;

	while (status > 0 && (left || is_bound(s))) {
		left += !left;
		status = pass_marks(i, s, first, &ran);
		if (status > 0)
			status = run_refs(i, s, &left);
		ran |= status > 0;
		first = 0;
	}
	return status < 0 ? status : ran;
}

/* The thread with the oldest recorded turn, of those that this core has not tried in this turn; or NULL. */
static struct stream *oldest_turn(const struct nm_interleave *m, const struct core *c)
{
	struct stream *oldest = NULL;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < c->streams.count; i++) {
		struct stream *s = c->streams.at[i];
		const uint64_t turn = begins_turn(s) ? nm_stream_front(s)->age : s->turn;

		if (s->tried != m->merged_time_slices && !nm_stream_is_empty(s) && turn < least) {
			oldest = s;
			least = turn;
		}
	}
	return oldest;
}

/* A turn of one of the core's threads. */
static int run_core(struct nm_interleave *i, struct core *c)
{
	struct stream *s;
	int status = 0;

	while (!status && (s = oldest_turn(i, c))) {
		s->tried = i->merged_time_slices;
		status = run_stream(i, s);
	}
	return status;
}

/* xorshift64* */
static uint64_t draw_random(struct nm_interleave *i)
{
	i->random ^= i->random >> 12;
	i->random ^= i->random << 25;
	i->random ^= i->random >> 27;
	return i->random * 0x2545f4914f6cdd1dull;
}

/* One of the cores not drawn in the previous i draws: so all cores that can run are equally likely. */
static size_t draw_core(struct nm_interleave *m, size_t i)
{
	const size_t drawn = i + (draw_random(m) >> 32) % (m->cores.count - i);
	const size_t core = m->drawing[drawn];

	assert(i < m->cores.count);
	m->drawing[drawn] = m->drawing[i];
	m->drawing[i] = (uint16_t)core;
	return core;
}

/* A turn of the first core that can run. 1, 0 if all wait, or an error. */
static int take_time_slice(struct nm_interleave *m)
{
	const size_t cores = m->cores.count, last = m->last_core;
	int status = 0;

	m->merged_time_slices++;
	for (size_t i = 0; i < cores && !status; i++) {
		m->last_core = m->setup.order.random ? draw_core(m, i) : (last + 1 + i) % cores;
		status = run_core(m, &m->cores.at[m->last_core]);
	}
	return status;
}

int nm_schedule_owed(struct nm_interleave *i)
{
	int status = 1;

	while (i->owed && status > 0)
		status = take_time_slice(i);
	return status < 0 ? status : 0;
}

int nm_schedule_possible(struct nm_interleave *i)
{
	int status = 1;

	while (i->held_back && status > 0)
		status = take_time_slice(i);
	return status < 0 ? status : 0;
}

/* All threads wait, so the release of a lock is missing from the input. The thread that waits at the oldest
 * mark continues without waiting. It waits for a lock: any other wait is for references older than the mark,
 * and the thread of these would wait at a still older mark. */
static void force_progress(struct nm_interleave *m)
{
	struct stream *oldest = NULL;

	for (size_t i = 0; i < m->live.count; i++) {
		struct stream *s = m->live.at[i];
		const struct mark *front = nm_stream_front(s);

		if (front && (!oldest || front->age < nm_stream_front(oldest)->age))
			oldest = s;
	}
	assert(oldest &&
	       (nm_stream_front(oldest)->kind == MARK_LOCK || nm_stream_front(oldest)->kind == MARK_SHARE));
	nm_stream_pass_mark(m, oldest);
	m->stalls++;
}

int nm_schedule_until(struct nm_interleave *i, uint64_t held_back)
{
	while (i->held_back > held_back) {
		int status = take_time_slice(i);

		if (status < 0)
			return status;
		if (!status)
			force_progress(i);
	}
	return 0;
}
