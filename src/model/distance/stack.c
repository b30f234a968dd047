/* SPDX-License-Identifier: MIT
 *
 * stack.c - see stack.h.
 *
 * Lines in the array of recent ones have a slot of it each, and an entry in the hash without a time. `recent`
 * runs ahead of the hash: it is up to date at the last touch, the hash, and `entry` with it, at the last
 * touch that was resolved.
 */
#include "stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "line_table.h"
#include "timeline.h"

enum {
	MIN_TIMES = 1 << 16,
	TIMES_A_LINE = 4,
	AHEAD = 16,     /* touches that are fetched before they are resolved */
	SEEN_LINES = 32 /* a value of nm_map cannot be 64 ones */
};

#define NO_LINE UINT64_MAX

struct recent {
	uint64_t last;
	uint32_t key, slot;
};

/* A touch of a line that was not among the recent ones, and who leaves for it. */
struct entering {
	uint64_t left_last;
	uint32_t left_key, touch;
};

struct nm_stack {
	uint64_t lines[NM_RECENT]; /* the one touched last is first */
	struct recent recent[NM_RECENT];
	struct nm_line *entry[NM_RECENT]; /* of each slot */
	uint64_t slot_line[NM_RECENT];
	struct nm_line_table table;
	struct nm_timeline timeline;
	struct nm_map seen; /* with a limit: a bit for each line that was touched */
	uint64_t limit;
	struct nm_touch touches[NM_STACK_ROOM];
	struct entering entering[NM_STACK_ROOM];
	size_t count, entering_count;
};

struct nm_stack *nm_stack_new(uint64_t limit)
{
	struct nm_stack *s = calloc(1, sizeof *s);

	if (!s || nm_timeline_new(&s->timeline, MIN_TIMES)) {
		free(s);
		return NULL;
	}
	s->limit = limit;
	for (uint32_t i = 0; i < NM_RECENT; i++) {
		s->lines[i] = s->slot_line[i] = NO_LINE;
		s->recent[i].slot = i;
	}
	return s;
}

void nm_stack_free(struct nm_stack *s)
{
	if (!s)
		return;
	nm_line_table_free(&s->table);
	nm_timeline_free(&s->timeline);
	nm_map_done(&s->seen);
	free(s);
}

uint64_t nm_stack_lines(const struct nm_stack *s) { return s->table.count; }

uint64_t nm_stack_bytes(const struct nm_stack *s)
{
	return sizeof *s + s->table.room * sizeof *s->table.at + nm_timeline_bytes(&s->timeline) +
	       (s->seen.slots ? (s->seen.mask + 1) * sizeof *s->seen.slots : 0);
}

/* ---- the recent lines ---- */

void nm_stack_touch_again(struct nm_stack *s, uint64_t reference, uint32_t key)
{
	s->recent[0].last = reference;
	s->recent[0].key = key;
}

/* Moves the lines before `line` one place down, and the last one out if it is not there. Returns where it
 * was, or NM_RECENT; *ret_left is what stood there, or last. */
static unsigned move_down(struct nm_stack *s, uint64_t line, struct recent *ret_left)
{
	uint64_t above = line;
	struct recent down = {0};
	unsigned at = 0;

	for (; at < NM_RECENT; at++) {
		const uint64_t here = s->lines[at];
		const struct recent r = s->recent[at];

		s->lines[at] = above;
		s->recent[at] = down;
		above = here;
		down = r;
		if (here == line)
			break;
	}
	*ret_left = down;
	return at;
}

int nm_stack_touch(struct nm_stack *s, uint64_t line, uint64_t reference, uint32_t key)
{
	struct nm_touch *t = &s->touches[s->count++];
	struct recent left;
	const unsigned at = move_down(s, line, &left);

	assert(s->count <= NM_STACK_ROOM);
	t->line = line;
	t->reference = reference;
	t->key = key;
	t->stack = at;
	t->reuse = reference - left.last - 1;
	t->previous = left.key;
	if (at == NM_RECENT) {
		t->previous = 0;
		t->slot = left.slot;
		s->entering[s->entering_count++] =
		    (struct entering){left.last, left.key, (uint32_t)(s->count - 1)};
	}
	s->recent[0] = (struct recent){reference, key, left.slot};
	return s->count == NM_STACK_ROOM;
}

/* ---- the others ---- */

/* After slots of the table have moved. */
static void find_entries(struct nm_stack *s)
{
	for (unsigned i = 0; i < NM_RECENT; i++)
		if (s->entry[i])
			s->entry[i] = nm_line_find(&s->table, s->slot_line[i]);
}

struct numbering {
	const struct nm_timeline *old;
	uint32_t kept; /* times that stay: the latest ones become 1 ... kept */
};

static int number(void *arg, struct nm_line *line)
{
	const struct numbering *n = arg;
	uint32_t later;

	if (!line->time)
		return 1;
	later = nm_timeline_later(n->old, line->time);
	if (later >= n->kept)
		return 0;
	line->time = n->kept - later;
	return 1;
}

/* Renumbers the times; forgets lines beyond the limit. */
static int renumber(struct nm_stack *s)
{
	const uint32_t live = s->timeline.live;
	struct numbering numbering = {&s->timeline, s->limit && s->limit < live ? (uint32_t)s->limit : live};
	const uint64_t times = (uint64_t)TIMES_A_LINE * numbering.kept;
	struct nm_timeline timeline;

	if (nm_timeline_new(&timeline, times > MIN_TIMES ? times : MIN_TIMES))
		return NM_ENOMEM;
	if (nm_line_keep(&s->table, number, &numbering)) {
		nm_timeline_free(&timeline);
		return NM_ENOMEM;
	}
	nm_timeline_fill(&timeline, numbering.kept);
	nm_timeline_free(&s->timeline);
	s->timeline = timeline;
	find_entries(s);
	return 0;
}

/* The line in a slot leaves the recent ones: it is the latest of the others. */
static int leave(struct nm_stack *s, uint32_t slot, const struct entering *e)
{
	struct nm_line *left = s->entry[slot];

	if (!left)
		return 0;
	if (nm_timeline_is_full(&s->timeline)) {
		if (renumber(s))
			return NM_ENOMEM;
		left = s->entry[slot];
	}
	left->last = e->left_last;
	left->key = e->left_key;
	left->time = nm_timeline_add(&s->timeline);
	s->entry[slot] = NULL;
	return 0;
}

/* With a limit: whether a line was touched ever before; it is from now on.  -1: out of memory. */
static int see(struct nm_stack *s, uint64_t line)
{
	const uint64_t bit = 1ull << line % SEEN_LINES, seen = nm_map_get(&s->seen, line / SEEN_LINES, 0);

	if (seen & bit)
		return 1;
	return nm_map_put(&s->seen, line / SEEN_LINES, seen | bit) ? -1 : 0;
}

/* A line that is not known. */
static int meet(struct nm_stack *s, struct nm_touch *t)
{
	int moved = 0, seen = s->limit ? see(s, t->line) : 0;
	struct nm_line *entry = seen < 0 ? NULL : nm_line_add(&s->table, t->line, &moved);

	if (!entry)
		return NM_ENOMEM;
	if (moved)
		find_entries(s);
	t->stack = t->reuse = seen ? NM_STACK_BEYOND : NM_STACK_COLD;
	s->entry[t->slot] = entry;
	return 0;
}

static int enter(struct nm_stack *s, const struct entering *e)
{
	struct nm_touch *t = &s->touches[e->touch];
	struct nm_line *entry;

	if (leave(s, t->slot, e))
		return NM_ENOMEM;
	s->slot_line[t->slot] = t->line;
	entry = nm_line_find(&s->table, t->line);
	if (!entry)
		return meet(s, t);
	assert(entry->time);
	/* The line that has just left is counted: without it, NM_RECENT - 1 others are recent. */
	t->stack = NM_RECENT - 1 + nm_timeline_later(&s->timeline, entry->time);
	t->reuse = t->reference - entry->last - 1;
	t->previous = entry->key;
	if (s->limit && t->stack >= s->limit) {
		t->stack = t->reuse = NM_STACK_BEYOND;
		t->previous = 0;
	}
	nm_timeline_remove(&s->timeline, entry->time);
	entry->time = 0;
	s->entry[t->slot] = entry;
	return 0;
}

int nm_stack_resolve(struct nm_stack *s, const struct nm_touch **ret_touches, size_t *ret_count)
{
	for (size_t i = 0; i < s->entering_count; i++) {
		if (i + AHEAD < s->entering_count)
			nm_line_prefetch(&s->table, s->touches[s->entering[i + AHEAD].touch].line);
		if (enter(s, &s->entering[i]))
			return NM_ENOMEM;
	}
	*ret_touches = s->touches;
	*ret_count = s->count;
	s->count = s->entering_count = 0;
	return 0;
}
