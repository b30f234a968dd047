/* SPDX-License-Identifier: MIT
 *
 * annotated.c - a user of client.h: named ranges of one pool, and measurement off for a part of the run.
 *
 * Three walks of 1024 lines each: over "left", over "right", and an unmeasured one over the whole pool. Then
 * two over an array of 128 lines: the first is not measured, the second finds its lines in the cache.
 */
#include <nearmiss/client.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 1024, FEW = 128 };

static long warm[FEW * 8] __attribute__((aligned(64)));

static __attribute__((noinline)) long walk(const long *p, int lines)
{
	long sum = 0;

	for (int i = 0; i < lines; i++)
		sum += p[i * 8]; /* @walk */
	return sum;
}

int main(void)
{
	size_t half = LINES * 64;
	char *pool = aligned_alloc(64, 2 * half);
	long sum;

	if (!pool)
		return 1;
	for (size_t i = 0; i < 2 * half; i++)
		pool[i] = 0;
	NEARMISS_NAME(pool, half, "left");
	NEARMISS_NAME(pool + half, half, "right");
	NEARMISS_REGION_BEGIN("walks");
	sum = walk((long *)pool, LINES) + walk((long *)(pool + half), LINES);
	NEARMISS_REGION_END("walks");
	NEARMISS_MEASURE_OFF();
	sum += walk((long *)pool, 2 * LINES);
	sum += walk(warm, FEW);
	NEARMISS_MEASURE_ON();
	sum += walk(warm, FEW);
	NEARMISS_UNNAME(pool);
	printf("%ld %d\n", sum, NEARMISS_RUNNING());
	free(pool);
	return 0;
}
