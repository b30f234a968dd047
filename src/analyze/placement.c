/* SPDX-License-Identifier: MIT
 *
 * placement.c - see placement.h.  What the host refuses is not done, and no error.
 */
#include "placement.h"

#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The first or the second of the allowed processors. */
static cpu_set_t one_of(const cpu_set_t *allowed, int second)
{
	cpu_set_t one;
	int cpu = 0;

	CPU_ZERO(&one);
	for (int skip = second; cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, allowed) || skip--); cpu++)
		;
	CPU_SET(cpu, &one);
	return one;
}

void nm_placement_begin(struct nm_placement *p)
{
	*p = (struct nm_placement){0};
	p->possible = !sched_getaffinity(0, sizeof p->allowed, &p->allowed) && CPU_COUNT(&p->allowed) == 2;
}

static void bind(struct nm_placement *p, pthread_t modeller, int apart)
{
	cpu_set_t mine = apart ? one_of(&p->allowed, 0) : p->allowed;
	cpu_set_t other = apart ? one_of(&p->allowed, 1) : p->allowed;

	p->apart = apart;
	sched_setaffinity(0, sizeof mine, &mine);
	pthread_setaffinity_np(modeller, sizeof other, &other);
}

void nm_placement_review(struct nm_placement *p, pthread_t modeller, int alone)
{
	clockid_t clock;
	uint64_t decoder, model, mine, other;

	if (!p->possible || pthread_getcpuclockid(modeller, &clock))
		return;
	decoder = read_clock(CLOCK_THREAD_CPUTIME_ID);
	model = read_clock(clock);
	mine = decoder - p->decoder;
	other = model - p->modeller;
	p->decoder = decoder;
	p->modeller = model;
	if (nm_placement_wants(p->apart, alone, mine, other) != p->apart)
		bind(p, modeller, !p->apart);
}

void nm_placement_end(struct nm_placement *p)
{
	if (p->apart)
		sched_setaffinity(0, sizeof p->allowed, &p->allowed);
	p->apart = 0;
}
