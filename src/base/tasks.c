/* SPDX-License-Identifier: MIT */
#include "tasks.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

struct tasks {
	void (*task)(void *arg, unsigned i);
	void *arg;
	unsigned count;
	atomic_uint next;
};

static void *run_some(void *arg)
{
	struct tasks *t = arg;

	for (unsigned i; (i = atomic_fetch_add(&t->next, 1)) < t->count;)
		t->task(t->arg, i);
	return NULL;
}

/* Where the system gives no further thread, those that there are do its part. */
void nm_run_tasks(unsigned threads, unsigned count, void (*task)(void *arg, unsigned i), void *arg)
{
	struct tasks tasks = {.task = task, .arg = arg, .count = count};
	pthread_t further[MOST_THREADS - 1];
	unsigned started = 0;

	assert(task);
	while (started + 1 < threads && started + 1 < count && started + 1 < MOST_THREADS &&
	       !pthread_create(&further[started], NULL, run_some, &tasks))
		started++;
	run_some(&tasks);
	while (started)
		pthread_join(further[--started], NULL);
}
