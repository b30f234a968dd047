/* SPDX-License-Identifier: MIT
 *
 * `recent` is always up to date. What happened to it is kept as *events*, from which the table and the
 * timeline catch up. All lines are in the table; those that are recent have no time.
 */
#include "stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "line_table.h"
#include "recent.h"
#include "touch_times.h"

enum {
	EVENTS = 512,
	MIN_TIMES = 1 << 16,
	TIMES_A_LINE = 4,
	AHEAD = 24,     /* events whose lines are fetched before they are resolved, */
	TIME_AHEAD = 8, /* and whose times are */
	SEEN_LINES = 32 /* a value of nm_map cannot be 64 ones */
};

/* A touch makes a line recent, or a line is no longer recent. */
struct event {
	struct nm_recent_line line; /* of a touch only its number is set */
	struct nm_touch *touch;     /* NULL: no longer */
};

struct nm_lru_stack {
	struct nm_recent recent;
	struct nm_line_table table;
	struct nm_touch_times timeline;
	struct nm_map seen; /* with a limit: a bit for each line that was touched */
	uint64_t limit;     /* UINT64_MAX: none */
	struct event events[EVENTS];
	size_t event_count;
};

struct nm_lru_stack *nm_stack_new(uint64_t limit)
{
	struct nm_lru_stack *s = aligned_alloc(_Alignof(struct nm_lru_stack), sizeof *s);

	if (!s)
		return NULL;
	memset(s, 0, sizeof *s);
	if (touch_times_new(&s->timeline, MIN_TIMES)) {
		free(s);
		return NULL;
	}
	s->limit = limit ? limit : UINT64_MAX;
	recent_init(&s->recent);
	return s;
}

void nm_stack_free(struct nm_lru_stack *s)
{
	if (!s)
		return;
	line_table_free(&s->table);
	touch_times_free(&s->timeline);
	nm_map_done(&s->seen);
	free(s);
}

uint64_t nm_stack_lines(const struct nm_lru_stack *s) { return s->table.count; }

uint64_t nm_stack_bytes(const struct nm_lru_stack *s)
{
	return sizeof *s + s->table.room * sizeof *s->table.at + touch_times_bytes(&s->timeline) +
	       (s->seen.slots ? (s->seen.mask + 1) * sizeof *s->seen.slots : 0);
}

/* ---- events ---- */

static void set_unknown(struct nm_touch *t, uint64_t distance)
{
	t->stack = t->reuse = distance;
	t->previous = 0;
}

struct numbering {
	const struct nm_touch_times *old;
	uint32_t kept; /* times that stay: the latest ones become 1 ... kept */
};

static int number_line(void *arg, struct nm_line *line)
{
	const struct numbering *n = arg;
	uint32_t later;

	if (!line->time)
		return 1;
	later = touch_times_later(n->old, line->time);
	if (later >= n->kept)
		return 0;
	line->time = n->kept - later;
	return 1;
}

/* Renumbers the times; forgets lines beyond the limit. */
static int renumber_times(struct nm_lru_stack *s)
{
	const uint32_t live = s->timeline.live;
	struct numbering numbering = {&s->timeline, s->limit < live ? (uint32_t)s->limit : live};
	const uint64_t times = (uint64_t)TIMES_A_LINE * numbering.kept;
	struct nm_touch_times timeline;

	if (touch_times_new(&timeline, times > MIN_TIMES ? times : MIN_TIMES))
		return NM_ENOMEM;
	if (numbering.kept == live) {
		line_visit(&s->table, number_line, &numbering);
	} else if (line_keep(&s->table, number_line, &numbering)) {
		touch_times_free(&timeline);
		return NM_ENOMEM;
	}
	touch_times_fill(&timeline, numbering.kept);
	touch_times_free(&s->timeline);
	s->timeline = timeline;
	return 0;
}

/* A line is no longer recent: of those that are not, it was touched last. */
static int leave_recent(struct nm_lru_stack *s, const struct nm_recent_line *line)
{
	struct nm_line *entry;

	if (touch_times_is_full(&s->timeline) && renumber_times(s))
		return NM_ENOMEM;
	entry = line_find(&s->table, line->line);
	assert(entry && !entry->time);
	entry->last = line->last;
	entry->key = line->key;
	entry->time = touch_times_add(&s->timeline);
	return 0;
}

/* With a limit: whether a line was ever touched before; notes that it was. -1: out of memory. */
static int see_line(struct nm_lru_stack *s, uint64_t line)
{
	const uint64_t bit = 1ull << line % SEEN_LINES, seen = nm_map_get(&s->seen, line / SEEN_LINES, 0);

	if (seen & bit)
		return 1;
	return nm_map_put(&s->seen, line / SEEN_LINES, seen | bit) ? -1 : 0;
}

/* A line that is not known. */
static int meet_line(struct nm_lru_stack *s, struct nm_touch *t)
{
	const int seen = s->limit < UINT64_MAX ? see_line(s, t->line) : 0;

	if (seen < 0 || !line_add(&s->table, t->line))
		return NM_ENOMEM;
	set_unknown(t, seen ? NM_STACK_BEYOND : NM_STACK_COLD);
	return 0;
}

static int make_recent(struct nm_lru_stack *s, struct nm_touch *t)
{
	struct nm_line *entry = line_find(&s->table, t->line);

	if (!entry)
		return meet_line(s, t);
	assert(entry->time);
	t->stack += touch_times_later(&s->timeline, entry->time);
	t->reuse = t->first - entry->last - 1;
	t->previous = entry->key;
	if (t->stack >= s->limit)
		set_unknown(t, NM_STACK_BEYOND);
	touch_times_remove(&s->timeline, entry->time);
	entry->time = 0;
	return 0;
}

/* Prefetches for later events: first the slot of a line, then what its time, which is there, needs. */
static void fetch_ahead(const struct nm_lru_stack *s, size_t i)
{
	const struct nm_line *line;

	if (i + AHEAD < s->event_count)
		nm_line_prefetch(&s->table, s->events[i + AHEAD].line.line);
	if (i + TIME_AHEAD >= s->event_count || !s->events[i + TIME_AHEAD].touch)
		return;
	line = line_find(&s->table, s->events[i + TIME_AHEAD].line.line);
	if (line)
		nm_timeline_prefetch(&s->timeline, line->time);
}

static int resolve_touches(struct nm_lru_stack *s)
{
	int status = 0;

	for (size_t i = 0; i < s->event_count && !status; i++) {
		const struct event *e = &s->events[i];

		fetch_ahead(s, i);
		status = e->touch ? make_recent(s, e->touch) : leave_recent(s, &e->line);
	}
	s->event_count = 0;
	return status;
}

/* ---- touches ---- */

static void enter_recent(struct nm_lru_stack *s, uint64_t line)
{
	struct nm_recent_line left;

	if (recent_enter(&s->recent, line, &left))
		s->events[s->event_count++] = (struct event){left, NULL};
}

/* A touch of a recent line. */
static void touch_recent(struct nm_lru_stack *s, struct nm_touch *t, unsigned slot)
{
	t->reuse = t->first - s->recent.lines[slot].last - 1;
	t->previous = s->recent.lines[slot].key;
	if (slot < NM_RECENT_FRONT) {
		t->stack = recent_move(&s->recent, slot);
	} else {
		t->stack = recent_take(&s->recent, slot);
		enter_recent(s, t->line);
	}
	if (t->stack >= s->limit)
		set_unknown(t, NM_STACK_BEYOND);
}

/* A touch of another line. All recent lines were touched since; the event adds the others. */
static void touch_other(struct nm_lru_stack *s, struct nm_touch *t)
{
	t->stack = recent_count(&s->recent);
	s->events[s->event_count++] = (struct event){{.line = t->line}, t};
	enter_recent(s, t->line);
}

int nm_stack_touch(struct nm_lru_stack *s, struct nm_touch *touches, size_t count)
{
	for (struct nm_touch *t = touches; t < touches + count; t++) {
		const unsigned slot = recent_find(&s->recent, t->line);
		struct nm_recent_line *top;

		if (slot < NM_RECENT)
			touch_recent(s, t, slot);
		else
			touch_other(s, t);
		top = recent_first(&s->recent);
		top->last = t->last;
		top->key = t->last_key;
		if (s->event_count + 2 > EVENTS && resolve_touches(s))
			return NM_ENOMEM;
	}
	return resolve_touches(s);
}
