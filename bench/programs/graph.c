/* SPDX-License-Identifier: MIT
 *
 * graph.c - a graph as adjacency lists of heap nodes: shortest paths by relaxation of a queue, then connected
 * parts.
 *
 * Arguments: vertices, edges for each.
 */
#include "lots.h"

struct edge {
	struct edge *next;
	struct vertex *to;
	int length;
};

struct vertex {
	struct edge *edges;
	struct vertex *next; /* in the queue */
	long distance;
	int queued, part;
};

struct queue {
	struct vertex *first, *last;
};

static void connect(struct vertex *from, struct vertex *to, int length)
{
	struct edge *e = (struct edge *)need(malloc(sizeof *e));

	*e = (struct edge){from->edges, to, length};
	from->edges = e;
}

static void enqueue(struct queue *q, struct vertex *v)
{
	v->next = NULL;
	v->queued = 1;
	if (q->first)
		q->last->next = v;
	else
		q->first = v;
	q->last = v;
}

static struct vertex *dequeue(struct queue *q)
{
	struct vertex *v = q->first;

	q->first = v->next;
	v->queued = 0;
	return v;
}

/* Moore's queue for Bellman and Ford's relaxation. */
static long relax_from(struct vertex *start)
{
	struct queue q = {NULL, NULL};
	long steps = 0;

	start->distance = 0;
	enqueue(&q, start);
	while (q.first) {
		struct vertex *v = dequeue(&q);

		for (const struct edge *e = v->edges; e; e = e->next, steps++) {
			long distance = v->distance + e->length;

			if (distance >= e->to->distance)
				continue;
			e->to->distance = distance;
			if (!e->to->queued)
				enqueue(&q, e->to);
		}
	}
	return steps;
}

/* Marks what is reached from a vertex. */
static void mark_part(struct vertex *v, int part)
{
	struct queue q = {NULL, NULL};

	v->part = part;
	enqueue(&q, v);
	while (q.first)
		for (const struct edge *e = dequeue(&q)->edges; e; e = e->next)
			if (!e->to->part) {
				e->to->part = part;
				enqueue(&q, e->to);
			}
}

int main(int argc, char **argv)
{
	uint32_t count = (uint32_t)argument(argc, argv, 1);
	long degree = argument(argc, argv, 2), sum = 0, steps;
	struct vertex **all = (struct vertex **)need(calloc(count, sizeof *all));
	int parts = 0;

	for (uint32_t i = 0; i < count; i++) {
		all[i] = (struct vertex *)need(calloc(1, sizeof **all));
		all[i]->distance = 1 << 30;
	}
	for (long i = 0; i < degree * count; i++)
		connect(all[draw_below(count)], all[draw_below(count)], 1 + (int)draw_below(1000));
	steps = relax_from(all[0]);
	for (uint32_t i = 0; i < count; i++) {
		sum += all[i]->distance;
		if (!all[i]->part)
			mark_part(all[i], ++parts);
	}
	printf("%ld steps, distances %ld, %d parts\n", steps, sum, parts);
	return 0;
}
