/* SPDX-License-Identifier: MIT
 *
 * moments.c - mean, variance, smallest and largest of samples.  Fault: each has a loop of its own over all samples.
 * Repaired: one loop computes all.
 */
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 1000000 };

static void moments(const double *x, double *mean, double *square, double *least, double *most)
{
	*mean = *square = 0;
	*least = *most = x[0];
#ifdef REPAIRED
	for (int i = 0; i < SAMPLES; i++) {
		*mean += x[i] / SAMPLES;
		*square += x[i] * x[i] / SAMPLES;
		*least = x[i] < *least ? x[i] : *least;
		*most = x[i] > *most ? x[i] : *most;
	}
#else
	for (int i = 0; i < SAMPLES; i++)
		*mean += x[i] / SAMPLES;
	for (int i = 0; i < SAMPLES; i++)
		*square += x[i] * x[i] / SAMPLES;
	for (int i = 0; i < SAMPLES; i++)
		*least = x[i] < *least ? x[i] : *least;
	for (int i = 0; i < SAMPLES; i++)
		*most = x[i] > *most ? x[i] : *most;
#endif
}

int main(void)
{
	double *samples = malloc(sizeof *samples * SAMPLES), mean, square, least, most;

	for (int i = 0; i < SAMPLES; i++)
		samples[i] = i % 1000;
	moments(samples, &mean, &square, &least, &most);
	return printf("%g %g %g %g\n", mean, square, least, most) < 0;
}
