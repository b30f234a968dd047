/* SPDX-License-Identifier: MIT
 *
 * linked.c - variables of a page each, in all writable parts that a linker makes: pointers that are relocated and
 * then read-only, initialised data, .bss, and thread-local storage. Variable k is read 512 * (k + 1) times. With
 * LIBRARY it is a library with the same variables under other names; the program calls it.
 */
#include <errno.h>
#include <stdio.h>

#ifdef LIBRARY
#define NAME(x) lib_##x
#define ALIGNED _Alignas(4096) /* leaves a gap in thread-local storage, into which the C library's goes */
#else
#define NAME(x) x
#define ALIGNED
#endif

enum { N = 512 };

static int target;
#define TWO &target, &target
#define EIGHT TWO, TWO, TWO, TWO
#define SIXTY_FOUR EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT
#define ALL SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR, SIXTY_FOUR

int *const NAME(relocated)[N] = {ALL};
long NAME(data)[N] = {1}, NAME(more)[N] = {2};
long NAME(zeros)[N], NAME(noughts)[N];
static _Thread_local long ALIGNED NAME(own)[N] = {3}, NAME(empty)[N + 2];
const long NAME(constant)[N] = {4};

__attribute__((noinline)) static long walk(const void *p, int times)
{
	const long *at = p;
	long sum = 0;

	for (int k = 0; k < times; k++)
		for (int i = 0; i < N; i++)
			sum += at[i];
	return sum;
}

long NAME(visit)(void)
{
	return walk(NAME(relocated), 1) + walk(NAME(data), 2) + walk(NAME(more), 3) + walk(NAME(zeros), 4) +
	       walk(NAME(noughts), 5) + walk(NAME(own), 6) + walk(NAME(empty), 7) + walk(NAME(constant), 8);
}

#ifndef LIBRARY
#ifdef WITH_LIBRARY
long lib_visit(void);
#else
static long lib_visit(void) { return 0; }
#endif

int main(void)
{
	long sum = visit() + lib_visit();

	for (int i = 0; i < N; i++)
		sum += *(volatile int *)&errno;
	printf("%d\n", sum != 0);
	return 0;
}
#endif
