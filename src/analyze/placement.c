/* SPDX-License-Identifier: MIT
 *
 * placement.c - see placement.h.  What the host refuses is not done, and no error.
 */
#include "placement.h"

#include <sched.h>

/* Of a decoder. */
static _Thread_local struct {
	unsigned modellers;
	cpu_set_t allowed; /* to it and them */
	int apart;         /* it and its only modeller are bound */
	pthread_t modeller;
} here;

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

static void bind(pthread_t modeller, int apart)
{
	cpu_set_t mine = apart ? one_of(&here.allowed, 0) : here.allowed;
	cpu_set_t other = apart ? one_of(&here.allowed, 1) : here.allowed;

	here.apart = apart;
	here.modeller = modeller;
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

void nm_placement_review(pthread_t modeller)
{
	if (!here.apart && here.modellers == 1 && CPU_COUNT(&here.allowed) == 2)
		bind(modeller, 1);
}

void nm_placement_leave(void)
{
	if (here.apart)
		sched_setaffinity(0, sizeof here.allowed, &here.allowed);
	here.apart = 0;
	here.modellers--;
}
