/* SPDX-License-Identifier: MIT
 *
 * placement.c - see placement.h.  What the host refuses is not done, and no error.
 */
#include "placement.h"

#include <sched.h>
#include <stdint.h>
#include <time.h>

/* Of a decoder. */
static _Thread_local struct {
	unsigned modellers;
	cpu_set_t allowed; /* to it and them */
	int apart;         /* it and its only modeller are bound */
	pthread_t modeller;
	uint64_t decoded, modelled; /* ns of processor time that they had spent at the last review */
	int feeder_apart;           /* what feeds the decoder goes on with the modeller */
} here;

/* The first or the second of the allowed processors. */
static int one_of(const cpu_set_t *allowed, int second)
{
	int cpu = 0;

	for (int skip = second; cpu < CPU_SETSIZE && (!CPU_ISSET(cpu, allowed) || skip--); cpu++)
		;
	return cpu;
}

static cpu_set_t only(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return one;
}

static uint64_t spent(clockid_t clock)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t spent_by(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) ? 0 : spent(clock);
}

static void bind(pthread_t modeller, int apart)
{
	cpu_set_t mine = apart ? only(one_of(&here.allowed, 0)) : here.allowed;
	cpu_set_t other = apart ? only(one_of(&here.allowed, 1)) : here.allowed;

	here.apart = apart;
	here.modeller = modeller;
	here.feeder_apart = 0;
	here.decoded = spent(CLOCK_THREAD_CPUTIME_ID);
	here.modelled = spent_by(modeller);
	sched_setaffinity(0, sizeof mine, &mine);
	pthread_setaffinity_np(modeller, sizeof other, &other);
}

void nm_placement_enter(void)
{
	if (here.apart)
		bind(here.modeller, 0);
	if (!here.modellers++ && sched_getaffinity(0, sizeof here.allowed, &here.allowed))
		CPU_ZERO(&here.allowed);
}

/* Who has had more to do since the last look. */
static void compare(void)
{
	const uint64_t decoded = spent(CLOCK_THREAD_CPUTIME_ID), modelled = spent_by(here.modeller);
	const uint64_t mine = decoded - here.decoded, other = modelled - here.modelled;

	if (mine > other / 8 * 9)
		here.feeder_apart = 1;
	else if (mine < other)
		here.feeder_apart = 0;
	here.decoded = decoded;
	here.modelled = modelled;
}

void nm_placement_review(pthread_t modeller)
{
	if (!here.apart && here.modellers == 1 && CPU_COUNT(&here.allowed) == 2)
		bind(modeller, 1);
	else if (here.apart)
		compare();
}

int nm_placement_of_feeder(int *ret_apart)
{
	*ret_apart = here.apart && here.feeder_apart;
	return here.apart ? one_of(&here.allowed, here.feeder_apart) : -1;
}

void nm_placement_leave(void)
{
	if (here.apart)
		sched_setaffinity(0, sizeof here.allowed, &here.allowed);
	here.apart = 0;
	here.modellers--;
}
