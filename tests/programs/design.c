/* SPDX-License-Identifier: MIT
 *
 * design.c - a plug-in that is what a level is without one: sets by modulo, LRU. FAULT breaks its promises.
 */
#include <nearmiss/plugin.h>
#include <stdlib.h>

#define FAULT_VERSION 1
#define FAULT_NAME 2
#define FAULT_FUNCTION 3
#define FAULT_PLACE 4
#ifndef FAULT
#define FAULT 0
#endif

struct design {
	uint64_t sets, now;
	uint32_t ways;
	uint64_t stamps[]; /* by place: when it was last referenced; 0: no line */
};

static void *start(const struct nearmiss_plugin_level *level, const char **ret_why)
{
	struct design *d = calloc(1, sizeof *d + level->places * sizeof d->stamps[0]);

	*ret_why = "out of memory";
	if (d) {
		d->sets = level->sets;
		d->ways = level->ways;
	}
	return d;
}

static void touch(void *self, uint64_t line, uint64_t place)
{
	struct design *d = self;

	(void)line;
	d->stamps[place] = ++d->now;
}

static uint64_t load(void *self, uint64_t line)
{
	struct design *d = self;
	uint64_t first = line % d->sets * d->ways, oldest = first;

	for (uint64_t place = first; place < first + d->ways; place++)
		if (d->stamps[place] < d->stamps[oldest])
			oldest = place;
	d->stamps[oldest] = ++d->now;
	return FAULT == FAULT_PLACE ? d->sets * d->ways : oldest;
}

static void leave(void *self, uint64_t line, uint64_t place)
{
	struct design *d = self;

	(void)line;
	d->stamps[place] = 0;
}

#if FAULT == FAULT_NAME
#define DEFINED another_name
#else
#define DEFINED nearmiss_plugin
#endif
const struct nearmiss_plugin DEFINED = {.version = FAULT == FAULT_VERSION ? NEARMISS_PLUGIN_VERSION + 1
									  : NEARMISS_PLUGIN_VERSION,
					.start = start,
					.end = free,
					.touch = FAULT == FAULT_FUNCTION ? NULL : touch,
					.load = load,
					.leave = leave};
