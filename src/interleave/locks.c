/* SPDX-License-Identifier: MIT
 *
 * locks.c - which thread holds which lock in the merged order. The owner may lock its lock again, and so
 * may the only thread that shares it.
 *
 * The time in which a thread holds a lock is a *section*; each lock numbers its sections in the recorded
 * order. A section may overtake older ones only if its end is recorded and nothing in it waits, neither for
 * a lock nor for another thread. So a thread that got a lock out of order can always reach the release of
 * the lock, and there is no cyclic wait.
 */
#include <assert.h>
#include <string.h>

#include "interleave_priv.h"

static struct lock *lock_at(struct nm_interleave *i, uint64_t object)
{
	uint64_t index = nm_map_get(&i->lock_of, object, UINT64_MAX);

	if (index == UINT64_MAX) {
		index = i->locks.count;
		if (nm_vec_push(&i->locks, (struct lock){0}) || nm_map_put(&i->lock_of, object, index))
			return NULL;
	}
	return &i->locks.at[index];
}

static struct section *section_at(const struct lock *l, uint64_t number)
{
	assert(number >= l->first && number - l->first < l->sections.count);
	return &l->sections.at[number - l->first];
}

/* ---- in the recorded order ------------------------------------------------------------------------ */

/* All open sections of the thread have to wait for something. */
static void note_wait(struct nm_interleave *m, struct stream *s)
{
	for (size_t i = 0; i < s->open.count; i++)
		section_at(lock_at(m, s->open.at[i].lock), s->open.at[i].section)->waits = 1;
}

int nm_locks_wait_for_thread(struct nm_interleave *i, struct stream *s, uint64_t thread, uint64_t position)
{
	note_wait(i, s);
	return nm_stream_mark(i, s, MARK_AFTER, thread, position);
}

int nm_locks_open(struct nm_interleave *i, struct stream *s, uint64_t object, int shared)
{
	struct lock *l = lock_at(i, object);
	const uint64_t number = l ? l->first + l->sections.count : 0;

	if (!l || nm_vec_push(&l->sections, (struct section){.shared = shared != 0}))
		return NM_ENOMEM;
	note_wait(i, s);
	return nm_vec_push(&s->open, (struct held){object, number}) ||
		       nm_stream_mark(i, s, shared ? MARK_SHARE : MARK_LOCK, object, number)
		   ? NM_ENOMEM
		   : 0;
}

/* Index of the latest entry of the list for the lock; `count`: there is none. */
static size_t find_held(const struct held *list, size_t count, uint64_t object)
{
	for (size_t i = count; i-- > 0;)
		if (list[i].lock == object)
			return i;
	return count;
}

static void drop_held(struct held *list, size_t *count, size_t i)
{
	memmove(&list[i], &list[i + 1], (--*count - i) * sizeof *list);
}

int nm_locks_close(struct nm_interleave *m, struct stream *s, uint64_t object)
{
	const size_t i = find_held(s->open.at, s->open.count, object);
	uint64_t number;

	if (i == s->open.count)
		return nm_stream_mark(m, s, MARK_SYNC, 0, 0);
	number = s->open.at[i].section;
	section_at(lock_at(m, object), number)->closed = 1;
	drop_held(s->open.at, &s->open.count, i);
	return nm_stream_mark(m, s, MARK_UNLOCK, object, number);
}

/* ---- in the merged order ------------------------------------------------------------------------- */

/* Whether all older sections of the lock that exclude this one are over. */
static int is_in_turn(const struct lock *l, uint64_t number)
{
	const int shared = section_at(l, number)->shared;

	for (uint64_t older = l->first + l->done; older < number; older++)
		if (!section_at(l, older)->over && !(shared && section_at(l, older)->shared))
			return 0;
	return 1;
}

static int may_overtake(const struct section *section) { return section->closed && !section->waits; }

int nm_locks_take(struct nm_interleave *i, struct stream *s, const struct mark *mark)
{
	struct lock *l = lock_at(i, mark->object);
	const int has_it = find_held(s->held.at, s->held.count, mark->object) < s->held.count;
	const int shared = mark->kind == MARK_SHARE;

	assert(mark->kind == MARK_LOCK || mark->kind == MARK_SHARE);
	if (!l)
		return NM_ENOMEM;
	if (!has_it && !may_overtake(section_at(l, mark->value)) && !is_in_turn(l, mark->value))
		return 0;
	if (l->owner && l->owner != s->number)
		return 0;
	if (!shared && l->sharers && !(l->sharers == 1 && has_it))
		return 0;
	if (nm_vec_push(&s->held, (struct held){mark->object, mark->value}))
		return NM_ENOMEM;
	if (shared) {
		l->sharers++;
	} else {
		l->owner = s->number;
		l->depth++;
	}
	return 1;
}

/* Drops the sections that are over, once they are at least half of all. */
static void compact_sections(struct lock *l)
{
	while (l->done < l->sections.count && l->sections.at[l->done].over)
		l->done++;
	if (l->done < 64 || l->done * 2 < l->sections.count)
		return;
	l->first += l->done;
	l->sections.count -= l->done;
	memmove(l->sections.at, l->sections.at + l->done, l->sections.count * sizeof *l->sections.at);
	l->done = 0;
}

/* The section is over. After a stall the thread does not hold the lock and has nothing to release. */
static void end_section(struct nm_interleave *m, struct stream *s, const struct held *h)
{
	struct lock *l = lock_at(m, h->lock); /* it exists */
	const int shared = section_at(l, h->section)->shared;
	size_t i = s->held.count;

	while (i-- > 0)
		if (s->held.at[i].lock == h->lock && s->held.at[i].section == h->section) {
			if (shared)
				l->sharers--;
			else if (--l->depth == 0)
				l->owner = 0;
			drop_held(s->held.at, &s->held.count, i);
			break;
		}
	section_at(l, h->section)->over = 1;
	compact_sections(l);
}

void nm_locks_leave(struct nm_interleave *i, struct stream *s, const struct mark *mark)
{
	assert(mark->kind == MARK_UNLOCK);
	end_section(i, s, &(struct held){mark->object, mark->value});
}

void nm_locks_leave_all(struct nm_interleave *i, struct stream *s)
{
	while (s->open.count) {
		const struct held h = s->open.at[--s->open.count];

		end_section(i, s, &h);
	}
}
