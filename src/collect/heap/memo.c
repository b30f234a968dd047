/* SPDX-License-Identifier: MIT
 *
 * memo.c - chains that were walked before, by where their walk began.
 *
 * A walk (chain.c) goes from each return address to the next by a noted distance. What it met is kept, in order: the
 * next time it is enough to see that the same return addresses stand in the same places. If they do, a walk would
 * find just these, so nothing is guessed; if a note changes, all is forgotten. Entries never change and are never
 * freed, so threads need no lock; when there is no room for more, other chains are walked.
 */
#include <string.h>

#include "heap_writer.h"

enum { ENTRIES = 1 << 12, WORDS = 1 << 16, PC_BITS = 48, UNIT = 8 };

struct entry {
	uint32_t number, count;
	uint64_t steps[]; /* [count]: a return address and, above it, its distance to the one before */
};

static struct entry **entries; /* [ENTRIES] */
static uint64_t *room;         /* [WORDS] */
static uint32_t used;

int heap_writer_open_memo(void)
{
	uint64_t *at = heap_writer_memory(ENTRIES * sizeof *entries + WORDS * sizeof *at);

	entries = (struct entry **)at;
	room = at ? at + ENTRIES : NULL;
	return at != NULL;
}

static struct entry **entry_of(uintptr_t frame, uint64_t pc)
{
	const uint64_t hash = (pc + ((uint64_t)frame << 32)) * 0x9e3779b97f4a7c15ull;

	return &entries[(hash >> 40) % ENTRIES];
}

uint32_t heap_writer_known(uintptr_t frame, uint64_t pc)
{
	const struct entry *e = __atomic_load_n(entry_of(frame, pc), __ATOMIC_ACQUIRE);

	if (!e || e->steps[0] != pc)
		return 0;
	for (uint32_t i = 1; i < e->count; i++) {
		frame += (e->steps[i] >> PC_BITS) * UNIT;
		if (((const uint64_t *)frame)[-1] != (e->steps[i] & ((1ull << PC_BITS) - 1)))
			return 0;
	}
	return e->number;
}

void heap_writer_keep(uintptr_t frame, const uint64_t *steps, uint32_t count, uint32_t number)
{
	const uint32_t words = 1 + count;
	struct entry *e;
	uint32_t at;

	if (__atomic_load_n(&used, __ATOMIC_RELAXED) + words > WORDS)
		return;
	at = __atomic_fetch_add(&used, words, __ATOMIC_RELAXED);
	if (at + words > WORDS)
		return;
	e = (struct entry *)&room[at];
	e->number = number;
	e->count = count;
	memcpy(e->steps, steps, count * sizeof *steps);
	__atomic_store_n(entry_of(frame, steps[0]), e, __ATOMIC_RELEASE);
}

void heap_writer_forget(void)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		__atomic_store_n(&entries[i], NULL, __ATOMIC_RELAXED);
}
