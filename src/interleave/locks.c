/* SPDX-License-Identifier: MIT
 *
 * locks.c - who holds which lock in the merged order. A lock may be taken again by its owner, and by one that
 * shares it alone.
 */
#include <string.h>

#include "interleave_priv.h"

static struct lock *lock_at(struct nm_interleave *m, uint64_t object)
{
	uint64_t index = nm_map_get(&m->lock_of, object, UINT64_MAX);

	if (index == UINT64_MAX) {
		index = m->locks.count;
		if (nm_vec_push(&m->locks, (struct lock){0}) || nm_map_put(&m->lock_of, object, index))
			return NULL;
	}
	return &m->locks.at[index];
}

/* Index of what the thread took last of the lock, or the number of all that it has. */
static size_t find_held(const struct stream *s, uint64_t object)
{
	for (size_t i = s->held.count; i-- > 0;)
		if (s->held.at[i].lock == object)
			return i;
	return s->held.count;
}

static int shares_alone(const struct stream *s, const struct lock *l, uint64_t object)
{
	return l->sharers == 1 && find_held(s, object) < s->held.count;
}

int nm_locks_take(struct nm_interleave *m, struct stream *s, uint64_t object, int shared)
{
	struct lock *l = lock_at(m, object);

	if (!l)
		return NM_ENOMEM;
	if (l->owner && l->owner != s->number)
		return 0;
	if (!shared && l->sharers && !shares_alone(s, l, object))
		return 0;
	if (nm_vec_push(&s->held, (struct held){object, shared}))
		return NM_ENOMEM;
	if (shared) {
		l->sharers++;
	} else {
		l->owner = s->number;
		l->depth++;
	}
	return 1;
}

static void leave(struct nm_interleave *m, struct stream *s, size_t i)
{
	struct lock *l = lock_at(m, s->held.at[i].lock); /* it is there */

	if (s->held.at[i].shared)
		l->sharers--;
	else if (--l->depth == 0)
		l->owner = 0;
	memmove(&s->held.at[i], &s->held.at[i + 1], (--s->held.count - i) * sizeof s->held.at[0]);
}

/* Of a lock that it does not have, since it went on without, there is nothing to leave. */
void nm_locks_leave(struct nm_interleave *m, struct stream *s, uint64_t object)
{
	size_t i = find_held(s, object);

	if (i < s->held.count)
		leave(m, s, i);
}

void nm_locks_leave_all(struct nm_interleave *m, struct stream *s)
{
	while (s->held.count)
		leave(m, s, s->held.count - 1);
}
