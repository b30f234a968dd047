/* SPDX-License-Identifier: MIT
 *
 * clock.h - a monotonic clock.
 */
#ifndef NM_CLOCK_H
#define NM_CLOCK_H

#include <time.h>

/* Milliseconds since an arbitrary fixed moment. */
static inline double nm_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#endif
