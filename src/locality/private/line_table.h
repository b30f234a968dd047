/* SPDX-License-Identifier: MIT
 *
 * line_table.h - a hash table of the lines of memory that were touched, with linear probing.
 *
 * A slot has 24 bytes. The table grows by a quarter when it is 80 % full, so it is at least 64 % full. The
 * slots are in the order of the hashes: a line is at hash * room / 2^64 or a few slots behind. So growing
 * copies from start to end, and the memory of the old table is freed along the way.
 */
#ifndef NM_LINE_TABLE_H
#define NM_LINE_TABLE_H

#include <stdint.h>

#include "map.h"

struct nm_line {
	uint64_t name; /* 1 + number of the line; 0: a free slot */
	uint64_t last; /* number of the reference that touched it last */
	uint32_t time; /* its time in the timeline; 0: it has none */
	uint32_t key;  /* of that reference */
};

struct nm_line_table {
	struct nm_line *at;
	uint64_t room, count;
};

static inline uint64_t line_home(const struct nm_line_table *t, uint64_t line)
{
	return (uint64_t)((unsigned __int128)nm_mix64(line) * t->room >> 64);
}

/* The slot of a line; NULL: it is not there. */
static inline struct nm_line *line_find(const struct nm_line_table *t, uint64_t line)
{
	if (!t->room)
		return NULL;
	for (uint64_t i = line_home(t, line); t->at[i].name; i = i + 1 == t->room ? 0 : i + 1)
		if (t->at[i].name == line + 1)
			return &t->at[i];
	return NULL;
}

/* A search looks at two or three slots, so they lie in two cache lines. Always inline: gcc 12 takes a
 * function that only prefetches for one without effect, and drops the call. */
__attribute__((always_inline)) static inline void nm_line_prefetch(const struct nm_line_table *t,
								   uint64_t line)
{
	if (t->room) {
		const char *home = (const char *)&t->at[line_home(t, line)];

		__builtin_prefetch(home, 1);
		__builtin_prefetch(home + 64, 1);
	}
}

/* Adds a line that is not there; all slots may move.  NULL: out of memory. */
struct nm_line *line_add(struct nm_line_table *table, uint64_t line);

/* Calls visit(arg, line) for each line, in the order of the slots. What it returns is ignored. */
void line_visit(struct nm_line_table *table, int (*visit)(void *arg, struct nm_line *line), void *arg);

/* Keeps the lines for which keep(arg, line) is not 0; all slots may move.  0 or NM_ENOMEM. */
int line_keep(struct nm_line_table *table, int (*keep)(void *arg, struct nm_line *line), void *arg);

void line_table_free(struct nm_line_table *table);

#endif
