/* SPDX-License-Identifier: MIT
 *
 * words.c - the words of memory by which threads synchronise: those that an atomic instruction or a futex
 * call has used.
 *
 * From then on two accesses to such a word, plain ones too, keep their recorded order if one of them is a
 * write, so every thread reads the values that it read in the recorded run. Two updates that commute
 * (atomic add, and, or) may be reordered: counters and reference counts do not order threads.
 *
 * Each word has a list of its last write, and of each thread's last read and update since. An access waits
 * for the accesses that it conflicts with. Accesses that have been output are dropped from the list.
 *
 * A word is 4 bytes.
 */
#include <assert.h>
#include <stdlib.h>

#include "interleave_priv.h"

enum { WORD_SHIFT = 2 };

static int learn_word(struct nm_interleave *i, uint64_t word)
{
	const uint64_t bit = nm_word_line_bit(word << WORD_SHIFT);

	if (nm_map_get(&i->word_of, word, UINT64_MAX) != UINT64_MAX)
		return 0;
	if (!i->word_lines && !(i->word_lines = calloc(NM_WORD_LINES / 64, sizeof *i->word_lines)))
		return NM_ENOMEM;
	i->word_lines[bit / 64] |= 1ull << (bit % 64);
	return nm_map_put(&i->word_of, word, i->words.count) || nm_vec_push(&i->words, (struct word){{0}})
		   ? NM_ENOMEM
		   : 0;
}

int nm_words_learn(struct nm_interleave *i, uint64_t address, uint32_t bytes)
{
	int status = 0;

	assert(bytes > 0);
	for (uint64_t w = address >> WORD_SHIFT; w <= (address + bytes - 1) >> WORD_SHIFT && !status; w++)
		status = learn_word(i, w);
	return status;
}

/* Whether two accesses must keep their order. */
static int accesses_conflict(enum access a, enum access b) { return a != b || a == ACCESS_WRITE; }

/* Adds marks that wait for conflicting accesses of other threads which are not output yet. */
static int wait_for_word(struct nm_interleave *m, struct stream *s, struct word *w, enum access kind)
{
	size_t kept = 0;
	int status = 0;

	for (size_t i = 0; i < w->list.count; i++) {
		struct word_access a = w->list.at[i];

		if (nm_has_passed(m, a.thread, a.position))
			continue;
		if (a.thread != s->number && accesses_conflict(a.kind, kind) && !status)
			status = nm_locks_wait_for_thread(m, s, a.thread, a.position);
		w->list.at[kept++] = a;
	}
	w->list.count = kept;
	return status;
}

/* Lists this access, so that later conflicting ones wait for it. It replaces accesses that it has waited
 * for. */
static int note_access(struct stream *s, struct word *w, enum access kind)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->list.count; i++) {
		struct word_access a = w->list.at[i];

		if (kind != ACCESS_WRITE && (a.thread != s->number || a.kind != kind))
			w->list.at[kept++] = a;
	}
	w->list.count = kept;
	return nm_vec_push(&w->list, (struct word_access){s->added + 1, s->number, kind});
}

static struct word *word_at(const struct nm_interleave *i, uint64_t word)
{
	uint64_t index = nm_map_get(&i->word_of, word, UINT64_MAX);

	return index == UINT64_MAX ? NULL : &i->words.at[index];
}

int nm_words_wait(struct nm_interleave *i, struct stream *s, const struct nm_range_access *r)
{
	int status = 0;

	assert(r->bytes > 0);
	for (uint64_t n = r->address >> WORD_SHIFT; n <= (r->address + r->bytes - 1) >> WORD_SHIFT && !status;
	     n++) {
		struct word *w = word_at(i, n);

		status = w ? wait_for_word(i, s, w, r->kind) : 0;
	}
	return status;
}

int nm_words_note(struct nm_interleave *i, struct stream *s, const struct nm_range_access *r)
{
	int status = 0;

	assert(r->bytes > 0);
	for (uint64_t n = r->address >> WORD_SHIFT; n <= (r->address + r->bytes - 1) >> WORD_SHIFT && !status;
	     n++) {
		struct word *w = word_at(i, n);

		status = w ? note_access(s, w, r->kind) : 0;
	}
	return status;
}

int nm_words_touched(const struct nm_interleave *i, uint64_t address, uint32_t bytes)
{
	assert(bytes > 0);
	for (uint64_t n = address >> WORD_SHIFT; n <= (address + bytes - 1) >> WORD_SHIFT; n++)
		if (word_at(i, n))
			return 1;
	return 0;
}

int nm_words_order(struct nm_interleave *i, struct stream *s, const struct nm_range_access *r)
{
	int status = nm_words_wait(i, s, r);

	return status ? status : nm_words_note(i, s, r);
}
