/* SPDX-License-Identifier: MIT
 *
 * quiet.c - code without memory accesses, wherever it might get lost: in a measured and an unmeasured loop, in an
 * allocation wrapper after the allocation, around a trap and in its handler, which returns or
 * jumps out.
 *
 * make_number allocates 200 numbers of 64 bytes through keep, which forwards malloc's block after 1,000 iterations
 * in registers. With an argument the program never ends: after 20 million iterations it prints "ready".
 */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include <nearmiss/client.h>

enum { NUMBERS = 200, TURNS = 1000, LONG = 100000, READY = 20000000, BYTES = 64 };

static sigjmp_buf escape;
static volatile int leaps;

/* All of it is in registers. A turn has five instructions. */
static inline __attribute__((always_inline)) unsigned long turn(unsigned long x, unsigned long turns)
{
	for (unsigned long i = 0; i < turns; i++) {
		x = x * 3 + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static __attribute__((noinline)) void *keep(size_t bytes)
{
	char *p = malloc(bytes);

	turn(1, TURNS);
	return p;
}

static __attribute__((noinline)) long *make_number(long value)
{
	long *number = keep(BYTES); /* @number */

	if (number)
		*number = value; /* @value */
	return number;
}

static void on_trap(int number)
{
	(void)number;
	turn(2, TURNS);
	if (leaps)
		siglongjmp(escape, 1);
}

static __attribute__((noinline)) unsigned long trapped(void)
{
	unsigned long x = turn(3, TURNS);

	__asm__ volatile("int3");
	return turn(x, TURNS);
}

static __attribute__((noinline)) void leave(void)
{
	if (!sigsetjmp(escape, 1))
		trapped();
	turn(5, TURNS);
}

static __attribute__((noinline)) void never_end(void)
{
	static const char ready[] = "ready\n";
	unsigned long x = 1;

	for (unsigned long i = 0;; i++) {
		x = x * 3 + i;
		if (i == READY) {
			long result = 1; /* write */

			__asm__ volatile("syscall"
					 : "+a"(result)
					 : "D"(1), "S"(ready), "d"(sizeof ready - 1)
					 : "rcx", "r11", "memory");
		}
		__asm__ volatile("" : "+r"(x));
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_trap};
	long *numbers[NUMBERS];

	(void)argv;
	if (argc > 1)
		never_end();
	sigaction(SIGTRAP, &action, NULL);
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = make_number(i);
	turn(7, LONG);
	NEARMISS_MEASURE_OFF();
	turn(11, LONG);
	NEARMISS_MEASURE_ON();
	trapped();
	leaps = 1;
	leave();
	turn(13, LONG);
	for (int i = 0; i < NUMBERS; i++)
		free(numbers[i]);
	return 0;
}
