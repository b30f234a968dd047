/* SPDX-License-Identifier: MIT
 *
 * strip.c - see strip.h.
 */
#include "strip.h"

#include <assert.h>
#include <string.h>

void nm_strip_init(struct nm_strip *s, unsigned ways, unsigned line)
{
	*s = (struct nm_strip){.ways = ways < NM_STRIP_MOST ? ways : NM_STRIP_MOST,
			       .shift = (unsigned)__builtin_ctz(line)};
	s->keep = s->ways / 2;
	assert(ways > 0 && line > 0);
}

void nm_strip_done(struct nm_strip *s) { nm_vec_free(&s->out); }

/* Index in the window; s->count: it is not there. */
static inline unsigned find(const struct nm_strip *s, uint64_t line)
{
	unsigned i = 0;

	while (i < s->count && s->at[i].line != line)
		i++;
	return i;
}

/* Makes entry i the latest. */
static inline void move_first(struct nm_strip *s, unsigned i)
{
	const __typeof__(s->at[0]) entry = s->at[i];

	for (; i > 0; i--)
		s->at[i] = s->at[i - 1];
	s->at[0] = entry;
}

/* Touches lines from the oldest on, from the first that was kept later than the one behind it. */
static int restore(struct nm_strip *s)
{
	unsigned i = s->count;

	while (i > 1 && s->at[i - 1].kept < s->at[i - 2].kept)
		i--;
	for (i -= i > 0; i-- > 0;) {
		const struct nm_lru_misses_ref touch = {.address = s->at[i].line >> 1 << s->shift,
							.area = s->at[i].area,
							.size = 1,
							.is_fetch = s->at[i].line & 1};

		if (nm_vec_push(&s->out, touch))
			return NM_ENOMEM;
		s->at[i].kept = ++s->clock;
	}
	return 0;
}

int nm_strip_flush(struct nm_strip *s)
{
	if (restore(s))
		return NM_ENOMEM;
	s->count = 0;
	return 0;
}

/* Whether all lines of the reference are in the window, which then knows of the touch. */
static inline int is_hit(struct nm_strip *s, uint64_t first, uint64_t last)
{
	unsigned i = find(s, first), j;

	if (i == s->count)
		return 0;
	if (first == last) {
		move_first(s, i);
		return 1;
	}
	j = last == first + 2 ? find(s, last) : s->count;
	if (j == s->count)
		return 0;
	move_first(s, i);
	move_first(s, find(s, last));
	return 1;
}

/* A reference that is kept touches its lines now. */
static int keep(struct nm_strip *s, const struct nm_lru_misses_ref *ref, uint64_t first, uint64_t last)
{
	for (uint64_t line = first; line <= last; line += 2) {
		unsigned i = find(s, line);

		if (i == s->count) {
			s->at[s->count++] = (__typeof__(s->at[0])){.line = line};
			assert(s->count <= s->ways);
		}
		move_first(s, i);
		s->at[0].kept = ++s->clock;
		s->at[0].area = ref->area;
	}
	return nm_vec_push(&s->out, *ref);
}

int nm_strip_add(struct nm_strip *s, const struct nm_lru_misses_ref *ref)
{
	const uint64_t first = ref->address >> s->shift << 1 | ref->is_fetch,
		       last = (ref->address + ref->size - 1) >> s->shift << 1 | ref->is_fetch,
		       lines = (last - first) / 2 + 1;

	if (is_hit(s, first, last))
		return 0;
	if (s->count + lines > s->ways) {
		if (restore(s))
			return NM_ENOMEM;
		s->count = s->count < s->keep ? s->count : s->keep;
	}
	if (s->count + lines > s->ways) { /* as large as a window */
		s->count = 0;
		return nm_vec_push(&s->out, *ref);
	}
	return keep(s, ref, first, last);
}
