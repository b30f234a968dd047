/* SPDX-License-Identifier: MIT
 *
 * stream.c - a large buffer is written from end to end, and nothing of it is in a cache when it is handed on.
 * REPAIRED: a small buffer is filled and handed on again and again. REPAIRED=2: non-temporal stores.
 */
#include <emmintrin.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES = 6000000 };
#if REPAIRED == 1
enum { ROOM = 2000 };
#else
enum { ROOM = SAMPLES };
#endif

static double samples[ROOM];

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, out = open("/dev/null", O_WRONLY);

	for (int round = 0; round < rounds; round++)
		for (int done = 0; done < SAMPLES; done += ROOM) {
			for (int i = 0; i < ROOM; i++)
#if REPAIRED == 2
				_mm_stream_si64((long long *)&samples[i],
						_mm_cvtsi128_si64(
						    _mm_castpd_si128(_mm_set_sd((done + i) * 0.25 + round))));
#else
				samples[i] = (done + i) * 0.25 + round;
#endif
			if (write(out, samples, sizeof samples) != (ssize_t)sizeof samples)
				return 1;
		}
	printf("%g\n", samples[ROOM - 1]);
	return 0;
}
