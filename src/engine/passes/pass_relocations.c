/* SPDX-License-Identifier: MIT
 *
 * pass_relocations.c - how many misses there would be if memory lay elsewhere: K times each area (areas.h) is
 * shifted as a whole, at random, and the caches are simulated again, all over the one decoded stream.
 *
 * Shifts are those that a loader, the kernel or an allocator could have given: any multiple of 16 for the heap
 * of brk, whose first block may be of any size, and for the first thread's stack, above which the environment
 * lies; whole pages for all else.
 *
 * References are collected in chunks, without those that touch a grain, the least shift, again: they hit wherever
 * memory lies. Each relocation runs a chunk in caches that count misses alone (lru_misses.h). Relocations are
 * distributed over threads, each for a chunk; the results do not depend on that.
 *
 * Dropped: leaving out all that hits wherever memory lies. To find it cost more than simulating it, for fifteen
 * relocations too.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "areas.h"
#include "lru_misses.h"
#include "pass.h"
#include "relocations.h"
#include "tasks.h"
#include "vector.h"

enum {
	PHASES = 4,
	GRAIN = 16, /* bytes, of which PHASES are a unit: */
	UNIT = PHASES * GRAIN,
	CHUNK = 1 << 16, /* references */
	RECENT = 1 << 9, /* pages whose areas are remembered */
};

#define NO_GRAIN UINT64_MAX

struct relocation {
	struct nm_lru_misses *caches;
	uint64_t *shifts; /* of each area */
};

struct relocations {
	const struct nm_areas *areas;
	const struct nm_coalesced_table *coalesced;
	unsigned levels, threads, count;
	struct relocation each[NM_RELOCATIONS];
	size_t area_count; /* that have shifts, from number 0: what is in no area */
	unsigned grain_shift;
	uint64_t latest; /* the grain touched last, or NO_GRAIN */
	int latest_fetch;
	struct nm_vec(struct nm_lru_misses_ref) chunk; /* in the parts of their areas */
	struct {
		uint64_t page; /* + 1 */
		uint32_t area;
		uint64_t shift; /* to its part */
	} recent[RECENT];
};

static void relocations_release(void *self)
{
	struct relocations *r = self;

	for (unsigned k = 0; k < r->count; k++) {
		nm_lru_misses_free(r->each[k].caches);
		free(r->each[k].shifts);
	}
	nm_vec_free(&r->chunk);
	free(r);
}

static unsigned relocations_needs(const struct nm_engine_options *options)
{
	return options->relocations ? NM_PASS_AREAS : 0u;
}

/* Lines may be shorter than the least shift. */
static unsigned grain_of(const struct nm_machine *machine)
{
	unsigned grain = GRAIN;

	for (unsigned i = 0; i < machine->count; i++)
		grain = machine->levels[i].line < grain ? machine->levels[i].line : grain;
	return grain;
}

static int relocations_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	const struct nm_engine_options *options = setup->options;
	const struct nm_machine *machine = options->machine;
	struct relocations *r;
	int status;

	if (!options->relocations)
		return 0;
	status = nm_lru_misses_check(machine, "relocations", err);
	r = status ? NULL : calloc(1, sizeof *r);
	if (!r)
		return status ? status : nm_fail_memory(err);
	assert(options->relocations <= NM_RELOCATIONS);
	r->areas = setup->areas;
	r->coalesced = setup->coalesced;
	r->levels = machine->count;
	r->threads = options->threads;
	r->grain_shift = (unsigned)__builtin_ctz(grain_of(machine));
	r->latest = NO_GRAIN;
	for (; r->count < options->relocations && !status; r->count++) {
		r->each[r->count] = (struct relocation){.caches = nm_lru_misses_new(machine)};
		if (!r->each[r->count].caches)
			status = nm_fail_memory(err);
	}
	if (status)
		relocations_release(r);
	else
		*ret_self = r;
	return status;
}

/* ---- shifts --------------------------------------------------------------------------------------- */

/* Modulo the unit: those of heap and stack are not the same. */
static uint64_t phase_of(const struct nm_area *area, unsigned phase)
{
	static const uint8_t of_stack[PHASES] = {0, 2, 3, 1};

	return area->kind == NM_AREA_HEAP    ? GRAIN * phase
	       : area->kind == NM_AREA_STACK ? (uint64_t)GRAIN * of_stack[phase]
					     : 0;
}

static int moves_by_grain(const struct nm_area *area)
{
	return area->kind == NM_AREA_HEAP || area->kind == NM_AREA_STACK;
}

/* The shift of relocation k: by pages where the area moves by pages. */
static uint64_t shift_of(const struct nm_area *area, unsigned k)
{
	enum { BITS = 20, PAGE_BITS = 12 };
	const uint64_t random = nm_mix64((uint64_t)area->number << 32 | (k + 1)) >> (64 - BITS);

	static_assert((UINT64_C(1) << (BITS + PAGE_BITS)) + UNIT <= NM_AREA_ROOM, "areas do not meet");
	return moves_by_grain(area) ? random * UNIT + phase_of(area, k % PHASES) : random << PAGE_BITS;
}

uint64_t nm_relocated(const struct nm_areas *areas, uint64_t address, unsigned k)
{
	const struct nm_area *area = nm_areas_find(areas, address);

	return area ? address + area->shift + shift_of(area, k) : address;
}

/* Gives shifts to areas that have come since. */
static int shift_areas(struct relocations *r)
{
	const size_t count = r->areas->at.count + 1;

	if (r->area_count == count)
		return 0;
	for (unsigned k = 0; k < r->count; k++) {
		uint64_t *more = realloc(r->each[k].shifts, count * sizeof *more);

		if (!more)
			return NM_ENOMEM;
		r->each[k].shifts = more;
		more[0] = 0;
		for (size_t a = 0; a < r->areas->at.count; a++)
			more[r->areas->at.at[a].number] = shift_of(&r->areas->at.at[a], k);
	}
	r->area_count = count;
	memset(r->recent, 0, sizeof r->recent); /* what was in no area may be in one now */
	r->latest = NO_GRAIN;
	return 0;
}

/* ---- a chunk -------------------------------------------------------------------------------------- */

static void run_relocation(void *self, unsigned k)
{
	const struct relocations *r = self;

	assert(k < NM_RELOCATIONS);
	nm_lru_misses_run(r->each[k].caches, r->chunk.at, r->chunk.count, r->each[k].shifts);
}

static void run_chunk(struct relocations *r)
{
	nm_run_tasks(r->threads, r->count, run_relocation, r);
	r->chunk.count = 0;
}

/* The reference in the part of its area. */
static struct nm_lru_misses_ref place_reference(struct relocations *r, const struct nm_ref *ref)
{
	const uint64_t page = (ref->address >> 12) + 1;
	__typeof__(&r->recent[0]) recent = &r->recent[page % RECENT];

	if (recent->page != page) {
		const struct nm_area *area = nm_areas_find(r->areas, ref->address);

		recent->page = page;
		recent->area = area ? area->number : 0;
		recent->shift = area ? area->shift : 0;
	}
	return (struct nm_lru_misses_ref){.address = ref->address + recent->shift,
					  .key = ref->attr,
					  .area = recent->area,
					  .size = ref->size,
					  .is_fetch = ref->kind == NM_REF_FETCH};
}

static int add_reference(struct relocations *r, const struct nm_ref *ref)
{
	const uint64_t first = ref->address >> r->grain_shift,
		       last = (ref->address + ref->size - 1) >> r->grain_shift;
	const int is_fetch = ref->kind == NM_REF_FETCH;

	if (first == last && first == r->latest && is_fetch == r->latest_fetch)
		return 0;
	r->latest = first == last ? first : NO_GRAIN;
	r->latest_fetch = is_fetch;
	return nm_vec_push(&r->chunk, place_reference(r, ref));
}

static int relocations_batch(void *self, const struct nm_pass_batch *b)
{
	struct relocations *r = self;
	const size_t keys = atomic_load_explicit(&r->coalesced->attrs, memory_order_relaxed);
	struct nm_ref refs[NM_COALESCED_MAX];
	int status = shift_areas(r);

	for (unsigned k = 0; k < r->count && !status; k++)
		status = nm_lru_misses_reserve(r->each[k].caches, keys);
	for (size_t i = 0; i < b->count && !status; i++) {
		const unsigned n = nm_pass_expand(r->coalesced, &b->refs[i], refs);

		for (unsigned j = 0; j < n && !status; j++)
			status = add_reference(r, &refs[j]);
	}
	if (r->chunk.count >= CHUNK)
		run_chunk(r);
	return status;
}

/* ---- the result ----------------------------------------------------------------------------------- */

static int relocations_finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct relocations *r = self;
	const size_t n = result->attr_count;
	uint64_t *to;

	run_chunk(r);
	to = result->relocated = calloc(r->count * r->levels * n + 1, sizeof *to);
	if (!to)
		return NM_ENOMEM;
	result->relocations = r->count;
	for (unsigned k = 0; k < r->count; k++, to += r->levels * n) {
		for (unsigned level = 0; level < r->levels; level++) {
			const uint64_t *misses = nm_lru_misses_by_key(r->each[k].caches, level);

			for (size_t key = 1;
			     key < nm_lru_misses_keys(r->each[k].caches) && key < merge->key_count; key++)
				if (nm_pass_counts_key(merge, result, key))
					to[level * n + merge->keys[key]] += misses[key];
		}
		nm_lru_misses_free(r->each[k].caches);
		r->each[k].caches = NULL;
	}
	return 0;
}

const struct nm_pass nm_pass_relocations = {.name = "relocations",
					    .separate = 1,
					    .needs = relocations_needs,
					    .make = relocations_make,
					    .batch = relocations_batch,
					    .finish = relocations_finish,
					    .free = relocations_release};
