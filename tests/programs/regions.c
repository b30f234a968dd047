/* SPDX-License-Identifier: MIT
 *
 * regions.c - regions that are nested, recursive, of two threads, and in a forked child.
 *
 * `lines` walks read one word of each of LINES lines; the comments say in which region.
 */
#include <nearmiss/client.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES = 1000 };

static long table[LINES * 8] __attribute__((aligned(64)));

static __attribute__((noinline)) void walk(void)
{
	for (int i = 0; i < LINES; i++)
		__asm__ volatile("" ::"r"(((volatile long *)table)[i * 8])); /* @walk */
}

static __attribute__((noinline)) void descend(int depth)
{
	NEARMISS_REGION_BEGIN("tree");
	walk(); /* step/tree, at each depth */
	if (depth)
		descend(depth - 1);
	NEARMISS_REGION_END("tree");
}

static void *work(void *unused)
{
	walk(); /* outside of all */
	NEARMISS_REGION_BEGIN("step");
	walk(); /* step */
	return unused;
}

int main(void)
{
	pthread_t thread;

	walk(); /* outside of all */
	NEARMISS_REGION_END("step");
	NEARMISS_REGION_BEGIN("step");
	walk(); /* step */
	descend(2);
	walk(); /* step */
	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 1;
	if (!fork()) {
		walk(); /* step, of the child */
		_exit(0);
	}
	NEARMISS_REGION_BEGIN("left open");
	walk(); /* step/left open */
	NEARMISS_REGION_END("step");
	walk(); /* outside of all */
	return wait(NULL) == -1;
}
