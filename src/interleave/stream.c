/* SPDX-License-Identifier: MIT
 *
 * stream.c - a queue of references, in chunks, and of marks between them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interleave_priv.h"

static struct chunk *take_chunk(struct nm_interleave *i)
{
	struct chunk *c = i->spare;

	if (c)
		i->spare = c->next;
	else
		c = malloc(sizeof *c + (i->setup.clocked ? CHUNK * sizeof c->clock[0] : 0));
	if (c)
		c->next = NULL;
	return c;
}

static void give_chunk(struct nm_interleave *i, struct chunk *c)
{
	c->next = i->spare;
	i->spare = c;
}

/* Appends references to a chunk from its place `at` on. Returns their weight. One loop, since chunks are seldom
 * in the host's caches. */
static uint32_t append_to_chunk(struct chunk *c, size_t at, const struct nm_ref *refs, size_t count)
{
	const uint32_t before = at ? c->weights[at - 1] : 0;
	uint32_t weight = before;

	for (size_t i = 0; i < count; i++) {
		weight += nm_ref_weight(&refs[i]);
		c->refs[at + i] = refs[i];
		c->weights[at + i] = weight;
	}
	return weight - before;
}

int nm_stream_add(struct nm_interleave *i, struct stream *s, const struct nm_ref *refs, const uint64_t *clock,
		  size_t count)
{
	i->held_back += count;
	s->added += count;
	while (count) {
		size_t at = s->refs_added % CHUNK, n = CHUNK - at < count ? CHUNK - at : count;

		if (!at || !s->last) {
			struct chunk *c = take_chunk(i);

			if (!c)
				return NM_ENOMEM;
			*(s->last ? &s->last->next : &s->first) = c;
			s->last = c;
		}
		i->since += append_to_chunk(s->last, at, refs, n);
		if (clock) {
			memcpy(s->last->clock + at, clock, n * sizeof *clock);
			clock += n;
		}
		refs += n;
		s->refs_added += n;
		count -= n;
	}
	return 0;
}

/* Drops the marks that were passed, once they are at least half of all. */
static void compact_marks(struct stream *s)
{
	if (s->marks_passed < 64 || s->marks_passed * 2 < s->marks.count)
		return;
	s->marks.count -= s->marks_passed;
	memmove(s->marks.at, s->marks.at + s->marks_passed, s->marks.count * sizeof *s->marks.at);
	s->marks_passed = 0;
}

int nm_stream_mark(struct nm_interleave *i, struct stream *s, enum mark_kind kind, uint64_t object,
		   uint64_t value)
{
	struct mark mark = {s->added, object, value, i->ages++, kind};

	compact_marks(s);
	i->held_back++;
	s->added++;
	return nm_vec_push(&s->marks, mark);
}

struct run nm_stream_next(const struct stream *s)
{
	const uint64_t end =
	    s->marks_passed < s->marks.count ? s->marks.at[s->marks_passed].position : s->added;
	const size_t at = s->refs_passed % CHUNK;
	struct run run = {0};

	if (end == s->passed)
		return run;
	run.refs = s->first->refs + at;
	run.clock = s->first->clock + at;
	run.weights = s->first->weights + at;
	run.before = at ? s->first->weights[at - 1] : 0;
	run.count = end - s->passed < CHUNK - at ? end - s->passed : CHUNK - at;
	return run;
}

static void pass_references(struct nm_interleave *i, struct stream *s, size_t count)
{
	if (s->passed < s->owed)
		i->owed -= s->owed - s->passed < count ? s->owed - s->passed : count;
	s->passed += count;
	i->held_back -= count;
}

/* The host loads what the thread's next turn begins with, while other threads have theirs. */
static void prefetch_chunk(const struct chunk *c, size_t at)
{
	enum { AHEAD = 32 /* references */, IN_LINE = 4 };
	const size_t end = at + AHEAD < CHUNK ? at + AHEAD : CHUNK;

	__builtin_prefetch(c->weights + at);
	for (; at < end; at += IN_LINE)
		__builtin_prefetch(c->refs + at);
}

void nm_stream_pass(struct nm_interleave *i, struct stream *s, size_t count)
{
	assert(count && s->first && s->refs_passed + count <= s->refs_added);
	assert(s->refs_passed % CHUNK + count <= CHUNK);
	pass_references(i, s, count);
	s->refs_passed += count;
	if (s->refs_passed % CHUNK == 0) {
		struct chunk *c = s->first;

		s->first = c->next;
		if (!s->first)
			s->last = NULL;
		give_chunk(i, c);
	}
	if (s->first)
		prefetch_chunk(s->first, s->refs_passed % CHUNK);
}

void nm_stream_pass_mark(struct nm_interleave *i, struct stream *s)
{
	assert(nm_stream_front(s));
	pass_references(i, s, 1);
	s->marks_passed++;
}

void nm_stream_free(struct nm_interleave *i, struct stream *s)
{
	while (s->first) {
		struct chunk *c = s->first;

		s->first = c->next;
		give_chunk(i, c);
	}
	nm_vec_free(&s->marks);
	nm_vec_free(&s->hints);
	nm_vec_free(&s->open);
	nm_vec_free(&s->held);
	free(s);
}

/* ---- invariants ---- */

static int weights_are_valid(const struct chunk *c, size_t count)
{
	uint32_t weight = 0;

	for (size_t i = 0; i < count; i++) {
		weight += nm_ref_weight(&c->refs[i]);
		if (c->weights[i] != weight)
			return 0;
	}
	return 1;
}

/* As many chunks as the references from refs_passed to refs_added lie in. */
static int chunks_are_valid(const struct stream *s)
{
	uint64_t begin = s->refs_passed / CHUNK * CHUNK;
	const struct chunk *last = NULL;

	for (const struct chunk *c = s->first; c; last = c, c = c->next, begin += CHUNK) {
		if (begin >= s->refs_added)
			return 0;
		if (!weights_are_valid(c, s->refs_added - begin < CHUNK ? s->refs_added - begin : CHUNK))
			return 0;
	}
	return begin >= s->refs_added && last == s->last;
}

static int marks_are_valid(const struct stream *s)
{
	uint64_t position = s->passed;

	for (size_t i = s->marks_passed; i < s->marks.count; i++) {
		const struct mark *mark = &s->marks.at[i];

		if (mark->position < position || mark->position >= s->added)
			return 0;
		if (i > s->marks_passed && mark->age <= mark[-1].age)
			return 0;
		position = mark->position + 1;
	}
	return 1;
}

int nm_stream_is_valid(const struct stream *s)
{
	return s->passed <= s->added && s->refs_passed <= s->refs_added &&
	       s->marks_passed <= s->marks.count &&
	       s->added - s->passed == s->refs_added - s->refs_passed + (s->marks.count - s->marks_passed) &&
	       chunks_are_valid(s) && marks_are_valid(s);
}
