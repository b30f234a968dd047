/* SPDX-License-Identifier: MIT
 *
 * Loads that each name the address of the next follow a random cycle through a part of a buffer: they wait for
 * the level that the part lies in. Of a part that is n times as large as the level before, one load in n still
 * hits there, which is taken out. The buffer has huge pages, so that no page walks are measured; those are what
 * the same cycle through many pages takes more in pages of 4K. For memory, lines are flushed before they are
 * visited. The least of several rounds counts, since other work only adds, of the thread's own time.
 *
 * A cycle is a third of a multiplication that waits for the one before: 3 cycles on every x86-64 of the last
 * fifteen years (Agner Fog, instruction tables). Elsewhere nothing is measured.
 */
#include "measure.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "map.h"

#if defined(__x86_64__)
#include <emmintrin.h>

enum {
	BUFFER = 64 << 20,
	HUGE_PAGE = 2 << 20,
	PAGE = 4096,
	LINE = 64,
	COLOURS = 32, /* pages after which lines of a second level of 2048 sets repeat */
	ROUNDS = 5,
	MEMORY_LINES = 8192,
	MULTIPLICATIONS = 1 << 20,
	CYCLES_OF_ONE = 3,
	L1_CYCLES = 5,
};

/* Places that a chase visits: count of them, step bytes apart; of pages, in lines that a second level can hold
 * together. */
struct places {
	char *buffer;
	size_t count, step;
};

static char *place_at(const struct places *p, size_t i)
{
	return p->buffer + i * p->step + (p->step > LINE ? i / COLOURS % (PAGE / LINE) * LINE : 0);
}

/* ns of this thread. */
static double time_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns of a cycle. */
static double cycle_time(void)
{
	double least = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		const double begin = time_now();
		uint64_t x = 3;

		for (unsigned i = 0; i < MULTIPLICATIONS; i++) {
			x *= x;
			__asm__ volatile("" : "+r"(x));
		}
		const double each = (time_now() - begin) / MULTIPLICATIONS / CYCLES_OF_ONE;
		if (!round || each < least)
			least = each;
	}
	return least;
}

/* Makes each place hold the address of another, so that all are one cycle (Sattolo). 0: no memory. */
static int lay_cycle(const struct places *p)
{
	uint32_t *order = malloc(p->count * sizeof *order);
	uint64_t seed = 1;

	if (!order)
		return 0;
	for (size_t i = 0; i < p->count; i++)
		order[i] = (uint32_t)i;
	for (size_t i = p->count - 1; i; i--) {
		const size_t k = (seed = nm_mix64(seed + i)) % i;
		const uint32_t other = order[k];

		order[k] = order[i];
		order[i] = other;
	}
	for (size_t i = 0; i < p->count; i++)
		*(char **)place_at(p, i) = place_at(p, order[i]);
	free(order);
	return 1;
}

/* ns of a load, in the round that took least. flushed: from memory each time. */
static double chase_time(const struct places *p, int flushed)
{
	double least = 0;

	for (unsigned round = 0; round <= ROUNDS; round++) {
		for (size_t i = 0; flushed && i < p->count; i++)
			_mm_clflush(place_at(p, i));
		_mm_mfence();
		const double begin = time_now();
		const char *at = place_at(p, 0);
		for (size_t i = 0; i < p->count; i++) {
			at = *(const char *const *)at;
			__asm__ volatile("" : "+r"(at));
		}
		const double each = (time_now() - begin) / (double)p->count;
		if (round < 2 || each < least) /* the first round loads */
			least = each;
	}
	return least;
}

/* BUFFER bytes of pages of a kind, touched; NULL: there are none. */
static char *map_buffer(int advice)
{
	char *all =
	    mmap(NULL, BUFFER + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return NULL;
	char *buffer = all + (HUGE_PAGE - (uintptr_t)all % HUGE_PAGE) % HUGE_PAGE;
	if (buffer > all)
		munmap(all, (size_t)(buffer - all));
	munmap(buffer + BUFFER, (size_t)(all + HUGE_PAGE - buffer));
	madvise(buffer, BUFFER, advice);
	for (size_t i = 0; i < BUFFER; i += PAGE)
		buffer[i] = 1;
	return buffer;
}

static uint32_t round_cycles(double cycles)
{
	return cycles >= 1 && cycles < NM_MAX_LATENCY ? (uint32_t)(cycles + 0.5) : 0;
}

/* The latency of a level of `size` bytes behind one of `before` bytes, which takes before_cycles; 0: unknown. */
static double level_cycles(char *huge, double size, double before, double before_cycles, double ns)
{
	double bytes = size / 2 < 8 * before ? size / 2 : 8 * before;

	if (bytes > BUFFER)
		bytes = BUFFER;
	const struct places lines = {huge, (size_t)(bytes / LINE), LINE};
	if (bytes < 2 * before || !lay_cycle(&lines))
		return 0;
	const double hits = before / bytes;
	return (chase_time(&lines, 0) / ns - hits * before_cycles) / (1 - hits);
}

/* Cycles that a load waits longer in pages of 4K that the TLB does not hold. */
static double walk_cycles(char *huge, char *small, double ns)
{
	const struct places in_huge = {huge, BUFFER / PAGE, PAGE}, in_small = {small, BUFFER / PAGE, PAGE};

	return lay_cycle(&in_huge) && lay_cycle(&in_small)
		   ? (chase_time(&in_small, 0) - chase_time(&in_huge, 0)) / ns
		   : 0;
}

static void measure_levels(struct nm_machine *m, char *huge, double ns)
{
	const struct nm_level_spec *before = nm_machine_data_cache(m);
	const struct places lines = {huge, MEMORY_LINES, BUFFER / MEMORY_LINES};
	double cycles = L1_CYCLES;

	for (unsigned i = 0; before && i < m->count; i++) {
		struct nm_level_spec *level = &m->levels[i];

		if (level <= before || level->side == NM_SIDE_INSTRUCTION || level->size <= before->size)
			continue;
		const double found =
		    level_cycles(huge, (double)level->size, (double)before->size, cycles, ns);
		if (found <= cycles)
			return;
		level->latency = round_cycles(found);
		cycles = found;
		before = level;
	}
	if (lay_cycle(&lines)) {
		const double found = chase_time(&lines, 1) / ns;

		m->memory_latency = round_cycles(found > cycles ? found : cycles);
	}
}

void nm_measure_latencies(struct nm_machine *machine)
{
	const double ns = cycle_time();
	char *huge = map_buffer(MADV_HUGEPAGE), *small = map_buffer(MADV_NOHUGEPAGE);

	if (huge && small && ns > 0) {
		measure_levels(machine, huge, ns);
		machine->walk_latency = round_cycles(walk_cycles(huge, small, ns));
	}
	if (huge)
		munmap(huge, BUFFER);
	if (small)
		munmap(small, BUFFER);
}

#else

void nm_measure_latencies(struct nm_machine *machine) { (void)machine; }

#endif
