/* SPDX-License-Identifier: MIT
 *
 * queue.c - a simulation of events in a priority queue of heap nodes: a pairing heap.
 *
 * Fredman, Sedgewick, Sleator and Tarjan, "The Pairing Heap" (1986). Arguments: events that wait, events in
 * all.
 */
#include "lots.h"

struct event {
	uint64_t time;
	struct event *child, *next;
	uint32_t station;
};

static struct event *meld(struct event *a, struct event *b)
{
	struct event *below;

	if (!a || !b)
		return a ? a : b;
	if (b->time < a->time) {
		below = a;
		a = b;
	} else {
		below = b;
	}
	below->next = a->child;
	a->child = below;
	return a;
}

/* Melds children by pairs, then the pairs from the last to the first. */
static struct event *take_first(struct event *first)
{
	struct event *pairs = NULL, *heap = NULL, *next;

	for (struct event *a = first->child; a; a = next) {
		struct event *b = a->next, *pair;

		next = b ? b->next : NULL;
		a->next = NULL;
		if (b)
			b->next = NULL;
		pair = meld(a, b);
		pair->next = pairs;
		pairs = pair;
	}
	for (; pairs; pairs = next) {
		next = pairs->next;
		pairs->next = NULL;
		heap = meld(heap, pairs);
	}
	return heap;
}

static struct event *schedule(struct event *heap, uint64_t time, uint32_t station)
{
	struct event *e = (struct event *)need(malloc(sizeof *e));

	*e = (struct event){time, NULL, NULL, station};
	return meld(heap, e);
}

int main(int argc, char **argv)
{
	enum { STATIONS = 1 << 16 };
	long waiting = argument(argc, argv, 1);
	uint32_t *served = (uint32_t *)need(calloc(STATIONS, sizeof *served));
	struct event *heap = NULL, *e;
	uint64_t sum = 0;

	for (long i = 0; i < waiting; i++)
		heap = schedule(heap, draw_below(1u << 30), draw_below(STATIONS));
	for (long i = argument(argc, argv, 2); i; i--) {
		e = heap;
		heap = take_first(e);
		sum += e->time ^ ++served[e->station];
		heap = schedule(heap, e->time + 1 + draw_below(1u << 29), draw_below(STATIONS));
		free(e);
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
