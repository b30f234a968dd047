/* SPDX-License-Identifier: MIT
 *
 * radix.c - sorts keys by radix 256: each thread counts the digits of its keys, learns from the counts of all
 * where its keys go, and scatters them among those of the others.
 */
#include <stdio.h>

#include "crew.h"

enum { KEYS = 1 << 14, OWN = KEYS / CREW, BITS = 8, RADIX = 1 << BITS };

static _Alignas(64) uint32_t keys[2][KEYS], counts[CREW][RADIX];

static void sort_by(int id, const uint32_t *from, uint32_t *to, int shift)
{
	uint32_t place[RADIX], sum = 0;

	for (int d = 0; d < RADIX; d++)
		counts[id][d] = 0;
	for (int i = id * OWN; i < (id + 1) * OWN; i++)
		counts[id][from[i] >> shift & (RADIX - 1)]++;
	crew_wait();
	for (int d = 0; d < RADIX; d++)
		for (int t = 0; t < CREW; t++) {
			if (t == id)
				place[d] = sum;
			sum += counts[t][d];
		}
	for (int i = id * OWN; i < (id + 1) * OWN; i++)
		to[place[from[i] >> shift & (RADIX - 1)]++] = from[i];
	crew_wait();
}

static void *work(void *arg)
{
	const int id = (int)(intptr_t)arg;
	uint32_t state = (uint32_t)id + 1;

	for (int i = id * OWN; i < (id + 1) * OWN; i++)
		keys[0][i] = crew_random(&state, 1u << 16);
	crew_wait();
	sort_by(id, keys[0], keys[1], 0);
	sort_by(id, keys[1], keys[0], BITS);
	return NULL;
}

int main(void)
{
	crew_run(work);
	for (int i = 1; i < KEYS; i++)
		if (keys[0][i - 1] > keys[0][i])
			return 1;
	printf("sorted\n");
	return 0;
}
