/* SPDX-License-Identifier: MIT
 *
 * free.c - on how many processors may this program run?  It asks 1,000 times, after 4,096 accesses each, and says the
 * lowest and the highest answer.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>

enum { QUESTIONS = 1000, WORDS = 4096 };

static volatile int data[WORDS];

int main(void)
{
	int lowest = CPU_SETSIZE, highest = 0;

	for (int i = 0; i < QUESTIONS; i++) {
		cpu_set_t mask;
		int count;

		for (int k = 0; k < WORDS; k++)
			data[k] = i;
		if (sched_getaffinity(0, sizeof mask, &mask))
			return 1;
		count = CPU_COUNT(&mask);
		lowest = count < lowest ? count : lowest;
		highest = count > highest ? count : highest;
	}
	printf("%d %d\n", lowest, highest);
	return 0;
}
