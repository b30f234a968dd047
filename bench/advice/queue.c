/* SPDX-License-Identifier: MIT
 *
 * queue.c - jobs wait in a queue of many lists, one for each of many clients.  Fault: each is a linked list whose nodes
 * malloc hands out in the order of arrival.  Repaired: each is a ring in an array.
 */
#include <stdio.h>
#include <stdlib.h>

enum { CLIENTS = 5000, LENGTH = 20, ROUNDS = 10 };

struct job {
	struct job *next;
	long cost;
};

static struct queue {
	struct job *first, *last;
	long costs[LENGTH]; /* repaired */
	int count;
} queues[CLIENTS];

static void push(struct queue *q, long cost)
{
#ifdef REPAIRED
	q->costs[q->count++ % LENGTH] = cost;
#else
	struct job *job = malloc(sizeof *job);

	*job = (struct job){NULL, cost};
	if (q->last)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
#endif
}

static long total(const struct queue *q)
{
	long sum = 0;

#ifdef REPAIRED
	for (int i = 0; i < q->count; i++)
		sum += q->costs[i];
#else
	for (const struct job *job = q->first; job; job = job->next)
		sum += job->cost;
#endif
	return sum;
}

int main(void)
{
	long sum = 0;

	for (int n = 0; n < LENGTH; n++)
		for (int i = 0; i < CLIENTS; i++)
			push(&queues[(i * 1237 + n) % CLIENTS], i + n);
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < CLIENTS; i++)
			sum += total(&queues[i]);
	return printf("%ld\n", sum) < 0;
}
