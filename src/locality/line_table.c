/* SPDX-License-Identifier: MIT */
#include "line_table.h"
#include "checks.h"

#include <stddef.h>
#include <string.h>

#include "errors.h"
#include "lazy_array.h"

enum { FIRST_ROOM = 1 << 10, GIVE_BACK = 1 << 16 /* slots */ };

static struct nm_line *free_slot(const struct nm_line_table *t, uint64_t line)
{
	uint64_t i = line_home(t, line);

	while (t->at[i].name)
		i = i + 1 == t->room ? 0 : i + 1;
	return &t->at[i];
}

static int keep_all(void *arg, struct nm_line *line)
{
	(void)arg;
	(void)line;
	return 1;
}

/* Into a table of `room` slots, in order. */
static int move_lines(struct nm_line_table *t, uint64_t room, int (*keep)(void *arg, struct nm_line *line),
		      void *arg)
{
	struct nm_line_table to = {.at = nm_lazy_array(room, sizeof *to.at), .room = room};

	if (!to.at)
		return NM_ENOMEM;
	nm_lazy_array_use_all(to.at, room, sizeof *to.at);
	for (uint64_t i = 0; i < t->room; i++) {
		if (i % GIVE_BACK == 0 && i)
			nm_lazy_array_release_pages(t->at, t->room, sizeof *t->at, i - GIVE_BACK, i);
		if (t->at[i].name && keep(arg, &t->at[i])) {
			*free_slot(&to, t->at[i].name - 1) = t->at[i];
			to.count++;
		}
	}
	line_table_free(t);
	*t = to;
	return 0;
}

struct nm_line *line_add(struct nm_line_table *t, uint64_t line)
{
	struct nm_line *slot;

	NM_CHECK(!line_find(t, line));
	if (t->count >= t->room / 5 * 4 &&
	    move_lines(t, t->room ? t->room / 4 * 5 : FIRST_ROOM, keep_all, NULL))
		return NULL;
	slot = free_slot(t, line);
	*slot = (struct nm_line){.name = line + 1};
	t->count++;
	return slot;
}

void line_visit(struct nm_line_table *t, int (*visit)(void *arg, struct nm_line *line), void *arg)
{
	for (uint64_t i = 0; i < t->room; i++)
		if (t->at[i].name)
			visit(arg, &t->at[i]);
}

int line_keep(struct nm_line_table *t, int (*keep)(void *arg, struct nm_line *line), void *arg)
{
	return t->room ? move_lines(t, t->room, keep, arg) : 0;
}

void line_table_free(struct nm_line_table *t)
{
	nm_lazy_array_free(t->at, t->room, sizeof *t->at);
	memset(t, 0, sizeof *t);
}
