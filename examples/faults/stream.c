/* SPDX-License-Identifier: MIT
 *
 * stream.c - a large buffer is written from end to end, and nothing of it is in a cache when it is handed on.
 * REPAIRED: a small buffer is filled and handed on again and again.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SAMPLES = 6000000 };
#ifdef REPAIRED
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
				samples[i] = (done + i) * 0.25 + round;
			if (write(out, samples, sizeof samples) != (ssize_t)sizeof samples)
				return 1;
		}
	printf("%g\n", samples[ROOM - 1]);
	return 0;
}
