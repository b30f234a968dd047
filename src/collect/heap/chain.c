/* SPDX-License-Identifier: MIT
 *
 * chain.c - the chain of calls that led to an allocation.
 *
 * The unwinder finds the frames by the program's unwind tables, which takes microseconds. So it is noted how far
 * above the stack pointer behind each return the next return address stands: at one instruction a function's frame
 * has nearly always one size. From then on a walk is a look-up and a load for each frame. It ends at an address that
 * was not met before, and the unwinder runs; so it does at one whose frames differ (alloca), that has a frame of
 * another kind (a signal's handler), and now and then to see whether all is as noted. Walks are kept (memo.c).
 *
 * Of recursion the innermost call at each return address is kept: so the number of chains is bounded by the
 * program's text.
 */
#include <stddef.h>
#include <unwind.h>

#include "heap_writer.h"

enum {
	NOTES = 1 << 15,
	PROBES = 4,
	CHAINS = 1 << 12,
	PC_BITS = 48,
	ENDS = 0, /* nothing is above */
	VARIES = 0xffff,
	UNIT = 8,          /* bytes of a distance */
	MOST_WALKED = 128, /* frames */
	CHECK_EVERY = 1 << 12
};

static uint64_t *notes; /* [NOTES]: a return address and, above it, the distance to the next one */
static uint64_t
    *chains; /* [CHAINS]: a chain's number in the low NM_HEAP_BYTES bits, the rest of its hash above */

struct chain {
	uint64_t words[1 + NM_HEAP_FRAMES]; /* the time, then return addresses */
	uint64_t steps[MOST_WALKED + 1];    /* of a walk, as memo.c keeps them */
	uint32_t count, walked;
	uint64_t seen; /* one bit for each return address, by its hash */
	uint64_t hash;
};

int heap_writer_open_chains(void)
{
	uint64_t *at = heap_writer_memory((NOTES + CHAINS) * sizeof *at);

	notes = at;
	chains = at ? at + NOTES : NULL;
	return at != NULL;
}

static uint64_t mix_hash(uint64_t a)
{
	a *= 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

static void empty_chain(struct chain *c)
{
	c->count = c->walked = 0;
	c->seen = c->hash = 0;
}

/* hash: of pc. 0 when the chain is long enough. */
static inline int add_frame(struct chain *c, uint64_t pc, uint64_t hash)
{
	const uint64_t bit = 1ull << (hash & 63);

	if (c->seen & bit)
		for (uint32_t i = 1; i <= c->count; i++)
			if (c->words[i] == pc)
				return ++c->walked < MOST_WALKED;
	c->seen |= bit;
	c->words[++c->count] = pc;
	c->hash = (c->hash << 7 | c->hash >> 57) ^ hash;
	return ++c->walked < MOST_WALKED && c->count < NM_HEAP_FRAMES;
}

/* ---- what is noted of return addresses ---------------------------------------------------------- */

static inline uint64_t *note_of(uint64_t pc, uint64_t hash)
{
	for (unsigned i = 0; i < PROBES; i++) {
		uint64_t *note = &notes[(hash + i) % NOTES];

		if ((__atomic_load_n(note, __ATOMIC_RELAXED) & ((1ull << PC_BITS) - 1)) == pc)
			return note;
	}
	return NULL;
}

static void note_distance(uint64_t pc, uint64_t distance)
{
	const uint64_t hash = mix_hash(pc);
	uint64_t *old = note_of(pc, hash), *at = old;

	for (unsigned i = 0; !at && i < PROBES; i++)
		if (!notes[(hash + i) % NOTES])
			at = &notes[(hash + i) % NOTES];
	at = at ? at : &notes[hash % NOTES];
	if (old && *old >> PC_BITS != distance) {
		if (*old >> PC_BITS != VARIES)
			heap_writer_forget();
		distance = VARIES;
	}
	__atomic_store_n(at, distance << PC_BITS | pc, __ATOMIC_RELAXED);
}

/* ---- the unwinder ------------------------------------------------------------------------------- */

struct unwinding {
	struct chain *chain;
	uintptr_t frame, above; /* of the last return address: where its frame began; the wanted one */
	uint64_t pc;            /* 0: none yet */
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *arg)
{
	struct unwinding *u = arg;
	const uint64_t pc = _Unwind_GetIP(context);
	const uintptr_t frame = _Unwind_GetCFA(context);

	if (frame < u->above) /* our own */
		return _URC_NO_REASON;
	if (!pc && u->pc)
		note_distance(u->pc, ENDS);
	if (!pc)
		return _URC_NORMAL_STOP;
	if (u->pc) {
		const uint64_t distance = (frame - u->frame) / UNIT;
		int fits = 0;
#ifdef __x86_64__
		fits = frame > u->frame && distance < VARIES && ((const uint64_t *)frame)[-1] == pc;
#endif
		note_distance(u->pc, fits ? distance : VARIES);
	}
	u->pc = pc;
	u->frame = frame;
	return add_frame(u->chain, pc, mix_hash(pc)) ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

static void unwind_frame(struct chain *c, uintptr_t frame, uint64_t pc)
{
	struct unwinding u = {.chain = c, .above = frame};

	_Unwind_Backtrace(take_frame, &u);
	if (!c->count)
		add_frame(c, pc, mix_hash(pc));
}

/* The number of steps; 0 where the notes do not suffice. */
static uint32_t walk_frames(struct chain *c, uintptr_t frame, uint64_t pc)
{
	uint32_t steps = 0;

	c->steps[steps++] = pc;
	for (uint64_t hash = mix_hash(pc); add_frame(c, pc, hash); hash = mix_hash(pc)) {
		const uint64_t *noted = note_of(pc, hash);
		const uint64_t distance = noted ? *noted >> PC_BITS : VARIES;

		if (distance == VARIES)
			return 0;
		if (distance == ENDS)
			return steps;
		frame += distance * UNIT;
		pc = ((const uint64_t *)frame)[-1];
		if (!pc || pc >> PC_BITS)
			return 0;
		c->steps[steps++] = distance << PC_BITS | pc;
	}
	return steps;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

static uint32_t number_of(struct heap_writer *w, const struct chain *c)
{
	const uint64_t mask = (1ull << NM_HEAP_BYTES) - 1;
	const uint64_t hash = mix_hash(c->hash);
	uint64_t *known = &chains[hash % CHAINS];
	uint32_t id;

	if (((*known ^ hash) & ~mask) == 0 && (*known & mask))
		return (uint32_t)(*known & mask);
	id = heap_writer_new_chain() & (uint32_t)mask;
	heap_writer_put(w, (uint64_t)NM_HEAP_CHAIN << NM_HEAP_KIND | (uint64_t)c->count << 32 | id, c->words,
			1 + c->count);
	__atomic_store_n(known, (hash & ~mask) | id, __ATOMIC_RELAXED);
	return id;
}

uint32_t heap_writer_chain(struct heap_writer *w, uintptr_t frame, uintptr_t pc, uint64_t time)
{
	static __thread unsigned walks __attribute__((tls_model("initial-exec")));
	const int checks = ++walks % CHECK_EVERY == 0;
	const uint32_t known = checks ? 0 : heap_writer_known(frame, pc);
	uint32_t steps = 0, number;
	struct chain c;

	if (known)
		return known;
	empty_chain(&c);
	if (!checks)
		steps = walk_frames(&c, frame, pc);
	if (!steps) {
		empty_chain(&c);
		unwind_frame(&c, frame, pc);
	}
	c.words[0] = time;
	number = number_of(w, &c);
	if (steps)
		heap_writer_keep(frame, c.steps, steps, number);
	return number;
}
