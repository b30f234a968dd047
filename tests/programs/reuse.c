/* SPDX-License-Identifier: MIT
 *
 * reuse.c - the loops by which Weidendorfer and Trinitis introduced the reuse metrics (tables 1 and 2 of
 * their "Collecting and Exploiting Cache-Reuse Metrics"), laid out in memory as their figures were made.
 *
 *     reuse right | wrong | unblocked | placed | blocked
 *
 * Which lines share a set of an 8-way cache of 1 MiB depends on addresses modulo 128 KiB, so the arrays are
 * placed by that: at its start and one after the other, or (placed, blocked) where a program of 2006 had
 * them: b and then a from 0x8049720, and one line of the stack at 0xbffffe00 that every iteration reads.
 * In the loops everything else lives in registers, and `a[i][j] +=` is one instruction.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000, BLOCK = 50, WAY = 128 * 1024 };

typedef int row[N];

static char room[2 * sizeof(row[N]) + 3 * WAY];

/* The first address of the room that is `offset` modulo 128 KiB, `ways` times 128 KiB further on. */
static void *place(uintptr_t address, size_t ways)
{
	uintptr_t base = ((uintptr_t)room + WAY - 1) / WAY * WAY;

	return (void *)(base + ways * WAY + address % WAY);
}

static __attribute__((noinline)) void fill(row *a, row *b)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = i + j;
			if (b != a)
				b[i][j] = i - j;
		}
}

static __attribute__((noinline)) long sum_right(row *matrix)
{
	long sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += matrix[i][j]; /* @right */
	return sum;
}

static __attribute__((noinline)) long sum_wrong(row *matrix)
{
	long sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			sum += matrix[j][i]; /* @wrong */
	return sum;
}

static __attribute__((noinline)) void unblocked(row *a, row *b)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a[i][j] += b[i][j] * b[j][i]; /* @unblocked */
}

/* The same beside a variable on the stack. Its value is used, because Valgrind drops loads in vain. */
static __attribute__((noinline)) long placed(row *a, row *b, const volatile int *stack)
{
	long sum = 0;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			sum += *stack;
			a[i][j] += b[i][j] * b[j][i]; /* @placed */
		}
	return sum;
}

static __attribute__((noinline)) long blocked(row *a, row *b, const volatile int *stack)
{
	long sum = 0;

	for (int ii = 0; ii < N; ii += BLOCK)
		for (int jj = 0; jj < N; jj += BLOCK)
			for (int i = ii; i < ii + BLOCK; i++)
				for (int j = jj; j < jj + BLOCK; j++) {
					sum += *stack;
					a[i][j] += b[i][j] * b[j][i]; /* @blocked */
				}
	return sum;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	row *matrix = place(0, 1), *b = place(0x8049720, 1), *a = b + N;
	int *stack = place(0xbffffe00, 0);

	if (!strcmp(what, "right") || !strcmp(what, "wrong")) {
		fill(matrix, matrix);
		printf("%ld\n", *what == 'r' ? sum_right(matrix) : sum_wrong(matrix));
	} else if (!strcmp(what, "unblocked")) {
		fill(matrix + N, matrix);
		unblocked(matrix + N, matrix);
	} else if (!strcmp(what, "placed") || !strcmp(what, "blocked")) {
		fill(a, b);
		printf("%ld\n", *what == 'p' ? placed(a, b, stack) : blocked(a, b, stack));
	} else {
		fprintf(stderr, "reuse: right, wrong, unblocked, placed or blocked\n");
		return 2;
	}
	return 0;
}
