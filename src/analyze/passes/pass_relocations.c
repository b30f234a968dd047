/* SPDX-License-Identifier: MIT
 *
 * pass_relocations.c - how many misses there would be if memory lay elsewhere: K times each area (areas.h) is
 * shifted as a whole, at random, and the caches are simulated again, all over the one decoded stream.
 *
 * Shifts are those that a loader, the kernel or an allocator could have given: any multiple of 16 for the heap
 * of brk, whose first block may be of any size, and for the first thread's stack, above which the environment
 * lies; whole pages for all else.
 *
 * What hits wherever memory lies is stripped from the references (strip.h) by grains, the least shift.
 * Relocations whose shifts agree modulo the line are a *group*: for it more is stripped, by lines. Then each
 * relocation runs the rest in caches that count misses alone (lru_misses.h). Groups are distributed over threads,
 * each for a chunk of references; the results do not depend on that.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "areas.h"
#include "lru_misses.h"
#include "pass.h"
#include "relocations.h"
#include "strip.h"

enum {
	GROUPS = 4,
	GRAIN = 16, /* bytes; of which GROUPS are a unit, in which references are stripped: */
	UNIT = GROUPS * GRAIN,
	CHUNK = 1 << 16, /* references */
	RECENT = 1 << 9, /* pages whose areas are remembered */
};

struct group {
	struct relocations *of;
	unsigned number;
	struct nm_strip strip;
	uint64_t *shifts; /* of each area: modulo the unit */
	int status;
};

struct relocations {
	const struct nm_areas *areas;
	const struct nm_coalesced_table *coalesced;
	unsigned levels, threads, count;
	struct group groups[GROUPS];
	struct nm_lru_misses *caches[NM_RELOCATIONS];
	uint64_t *shifts[NM_RELOCATIONS]; /* of each area: in whole units, beyond its group's */
	size_t area_count;                /* that have shifts, from number 0: what is in no area */
	struct nm_strip chunk;            /* its `out`: references in the parts of their areas */
	struct {
		uint64_t page; /* + 1 */
		uint32_t area;
		int by_pages;
		uint64_t shift; /* to its part */
	} recent[RECENT];
};

static void release(void *self)
{
	struct relocations *r = self;

	for (unsigned k = 0; k < r->count; k++) {
		nm_lru_misses_free(r->caches[k]);
		free(r->shifts[k]);
	}
	for (unsigned g = 0; g < GROUPS; g++) {
		nm_strip_done(&r->groups[g].strip);
		free(r->groups[g].shifts);
	}
	nm_strip_done(&r->chunk);
	free(r);
}

static unsigned needs(const struct nm_engine_options *options)
{
	return options->relocations ? NM_PASS_AREAS : 0u;
}

/* Lines may be shorter than the usual unit. */
static unsigned unit_of(const struct nm_machine *machine)
{
	unsigned unit = UNIT;

	for (unsigned i = 0; i < machine->count; i++)
		unit = machine->levels[i].line < unit ? machine->levels[i].line : unit;
	return unit;
}

static int make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	const struct nm_engine_options *options = setup->options;
	const struct nm_machine *machine = options->machine;
	const unsigned unit = unit_of(machine);
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
	r->threads = options->threads < 2 ? 1 : options->threads < GROUPS ? options->threads : GROUPS;
	for (unsigned g = 0; g < GROUPS; g++) {
		r->groups[g].of = r;
		r->groups[g].number = g;
		nm_strip_init(&r->groups[g].strip, machine, unit, unit);
	}
	nm_strip_init(&r->chunk, machine, unit < GRAIN ? unit : GRAIN, unit);
	for (; r->count < options->relocations && !status; r->count++)
		if (!(r->caches[r->count] = nm_lru_misses_new(machine)))
			status = nm_fail_memory(err);
	if (status)
		release(r);
	else
		*ret_self = r;
	return status;
}

/* ---- shifts --------------------------------------------------------------------------------------- */

/* Of the group, modulo the unit: those of heap and stack are not the same. */
static uint64_t phase_of(const struct nm_area *area, unsigned group)
{
	static const uint8_t of_stack[GROUPS] = {0, 2, 3, 1};

	return area->kind == NM_AREA_HEAP    ? GRAIN * group
	       : area->kind == NM_AREA_STACK ? (uint64_t)GRAIN * of_stack[group]
					     : 0;
}

static int moves_by_grain(const struct nm_area *area)
{
	return area->kind == NM_AREA_HEAP || area->kind == NM_AREA_STACK;
}

/* Of relocation k, in whole units; pages where the area moves by pages. */
static uint64_t random_shift(const struct nm_area *area, unsigned k)
{
	enum { BITS = 20, PAGE_BITS = 12 };
	const uint64_t random = nm_mix64((uint64_t)area->number << 32 | (k + 1)) >> (64 - BITS);

	static_assert((UINT64_C(1) << (BITS + PAGE_BITS)) + UNIT <= NM_AREA_ROOM, "areas do not meet");
	return moves_by_grain(area) ? random * UNIT : random << PAGE_BITS;
}

uint64_t nm_relocated(const struct nm_areas *areas, uint64_t address, unsigned k)
{
	const struct nm_area *area = nm_areas_find(areas, address);

	return area ? address + area->shift + phase_of(area, k % GROUPS) + random_shift(area, k) : address;
}

/* Gives shifts to areas that have come since. */
static int shift_areas(struct relocations *r)
{
	const size_t count = r->areas->at.count + 1;

	if (r->area_count == count)
		return 0;
	for (unsigned i = 0; i < GROUPS + r->count; i++) {
		uint64_t **shifts = i < GROUPS ? &r->groups[i].shifts : &r->shifts[i - GROUPS];
		uint64_t *more = realloc(*shifts, count * sizeof *more);

		if (!more)
			return NM_ENOMEM;
		*shifts = more;
		more[0] = 0;
		for (size_t a = 0; a < r->areas->at.count; a++) {
			const struct nm_area *area = &r->areas->at.at[a];

			more[area->number] = i < GROUPS ? phase_of(area, i) : random_shift(area, i - GROUPS);
		}
	}
	r->area_count = count;
	memset(r->recent, 0, sizeof r->recent); /* what was in no area may be in one now */
	return 0;
}

/* ---- a chunk -------------------------------------------------------------------------------------- */

static int run_group(struct group *g)
{
	struct relocations *r = g->of;
	int status = 0;

	for (size_t i = 0; i < r->chunk.out.count && !status; i++) {
		struct nm_lru_misses_ref ref = r->chunk.out.at[i];

		ref.address += g->shifts[ref.area];
		status = nm_strip_add(&g->strip, &ref);
	}
	if (!status)
		status = nm_strip_flush(&g->strip);
	for (unsigned k = g->number; k < r->count && !status; k += GROUPS)
		nm_lru_misses_run(r->caches[k], g->strip.out.at, g->strip.out.count, r->shifts[k]);
	g->strip.out.count = 0;
	return status;
}

/* Every threads-th group from this one on. */
static void *run_groups(void *first)
{
	struct group *g = first;
	struct relocations *r = g->of;

	for (unsigned i = g->number; i < GROUPS; i += r->threads)
		r->groups[i].status = run_group(&r->groups[i]);
	return NULL;
}

static int run_chunk(struct relocations *r)
{
	pthread_t threads[GROUPS];
	unsigned started = 1;
	int status = nm_strip_flush(&r->chunk);

	while (started < r->threads &&
	       !pthread_create(&threads[started], NULL, run_groups, &r->groups[started]))
		started++;
	run_groups(&r->groups[0]);
	for (unsigned i = started; i < r->threads; i++) /* those that the system gave no thread */
		run_groups(&r->groups[i]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(threads[i], NULL);
	for (unsigned g = 0; g < GROUPS && !status; g++)
		status = r->groups[g].status;
	r->chunk.out.count = 0;
	return status;
}

/* The reference in the part of its area. */
static struct nm_lru_misses_ref place(struct relocations *r, const struct nm_ref *ref)
{
	const uint64_t page = (ref->address >> 12) + 1;
	__typeof__(&r->recent[0]) recent = &r->recent[page % RECENT];

	if (recent->page != page) {
		const struct nm_area *area = nm_areas_find(r->areas, ref->address);

		recent->page = page;
		recent->area = area ? area->number : 0;
		recent->by_pages = !area || !moves_by_grain(area);
		recent->shift = area ? area->shift : 0;
	}
	return (struct nm_lru_misses_ref){.address = ref->address + recent->shift,
					  .key = ref->attr,
					  .area = recent->area,
					  .size = ref->size,
					  .is_fetch = ref->kind == NM_REF_FETCH,
					  .by_pages = (uint8_t)recent->by_pages};
}

static int batch(void *self, const struct nm_pass_batch *b)
{
	struct relocations *r = self;
	const size_t keys = atomic_load_explicit(&r->coalesced->attrs, memory_order_relaxed);
	struct nm_ref refs[NM_COALESCED_MAX];
	int status = shift_areas(r);

	for (unsigned k = 0; k < r->count && !status; k++)
		status = nm_lru_misses_reserve(r->caches[k], keys);
	for (size_t i = 0; i < b->count && !status; i++) {
		const unsigned n = nm_pass_expand(r->coalesced, &b->refs[i], refs);

		for (unsigned j = 0; j < n && !status; j++) {
			const struct nm_lru_misses_ref ref = place(r, &refs[j]);

			status = nm_strip_add(&r->chunk, &ref);
		}
	}
	return status || r->chunk.out.count < CHUNK ? status : run_chunk(r);
}

/* ---- the result ----------------------------------------------------------------------------------- */

static int finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct relocations *r = self;
	const size_t n = result->attr_count;
	uint64_t *to;

	if (run_chunk(r))
		return NM_ENOMEM;
	to = result->relocated = calloc(r->count * r->levels * n + 1, sizeof *to);
	if (!to)
		return NM_ENOMEM;
	result->relocations = r->count;
	for (unsigned k = 0; k < r->count; k++, to += r->levels * n) {
		for (unsigned level = 0; level < r->levels; level++) {
			const uint64_t *misses = nm_lru_misses_of(r->caches[k], level);

			for (size_t key = 1; key < nm_lru_misses_keys(r->caches[k]) && key < merge->key_count;
			     key++)
				if (nm_pass_counts_key(merge, result, key))
					to[level * n + merge->keys[key]] += misses[key];
		}
		nm_lru_misses_free(r->caches[k]);
		r->caches[k] = NULL;
	}
	return 0;
}

const struct nm_pass nm_pass_relocations = {.name = "relocations",
					    .separate = 1,
					    .needs = needs,
					    .make = make,
					    .batch = batch,
					    .finish = finish,
					    .free = release};
