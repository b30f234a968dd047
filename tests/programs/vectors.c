/* SPDX-License-Identifier: MIT
 *
 * vectors.c - both numbers of each pair are multiplied at once, by one instruction that reads 16 bytes and
 * one that writes them.
 */
#include <emmintrin.h>
#include <stdio.h>

enum { PAIRS = 4000, WALKS = 10 };

struct pair {
	double left, right;
	long others[6];
};

static struct pair pairs[PAIRS];

int main(void)
{
	const __m128d half = _mm_set1_pd(0.5);

	for (int walk = 0; walk < WALKS; walk++)
		for (int i = 0; i < PAIRS; i++)
			_mm_storeu_pd(&pairs[i].left, _mm_mul_pd(_mm_loadu_pd(&pairs[i].left), half));
	printf("%g\n", pairs[1].right);
	return 0;
}
