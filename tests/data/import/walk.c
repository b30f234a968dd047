/* SPDX-License-Identifier: MIT
 *
 * walk.c - a program so small that other tools' traces of all of it can be kept: no C library, no kernel but to exit.
 *
 * A matrix is filled along its rows and summed down its columns; numbers that lie across lines are read; a piece is
 * copied by a string instruction.  tests/data/import holds its traces by the tools of docs/format/import.md:
 *
 *     gcc -O1 -static -nostdlib -fno-stack-protector -fcf-protection=none -mno-sse -o walk walk.c
 */
enum { ROWS = 16, COLUMNS = 20, USED = 8, STRADDLING = 12 };

static int matrix[ROWS][COLUMNS];
static char bytes[STRADDLING * 64 + 64];

static __attribute__((noinline)) void fill(void)
{
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < USED; j++)
			matrix[i][j] = i ^ j;
}

static __attribute__((noinline)) int sum(void)
{
	int sum = 0;

	for (int j = 0; j < USED; j++)
		for (int i = 0; i < ROWS; i++)
			sum += matrix[i][j];
	return sum;
}

static __attribute__((noinline)) long straddle(void)
{
	long sum = 0;

	for (int i = 0; i < STRADDLING; i++)
		sum += *(const volatile long __attribute__((aligned(1))) *)&bytes[64 * i + 60];
	return sum;
}

static __attribute__((noinline)) void copy(void)
{
	const void *from = matrix;
	void *to = bytes;
	long count = 20;

	__asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
}

__attribute__((used, noreturn)) void _start(void)
{
	int status;

	fill();
	copy();
	status = (int)(sum() + straddle()) & 1;
	__asm__ volatile("syscall" : : "a"(60), "D"(status) : "memory");
	__builtin_unreachable();
}
