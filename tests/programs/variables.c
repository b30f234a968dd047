/* SPDX-License-Identifier: MIT
 *
 * variables.c - one array of every storage class, each walked once with a stride of a line.
 *
 * Each array has LINES lines of 64 bytes and is aligned to a line. A walk reads one integer of every
 * line: 2048 misses for each array (and 2048 loads), 128 KiB each, so nothing is left in a first level
 * of 32 KiB when the next walk starts. The stack array is written, which makes write misses instead.
 */
#include <stdio.h>

enum { LINES = 2048 };

struct particle {
	_Alignas(64) float x;
	float y, z;
	int next;
};

struct particle particles[LINES];
static _Alignas(64) int file_static[LINES * 16];
static _Thread_local _Alignas(64) int per_thread[LINES * 16];
const _Alignas(64) int constants[LINES * 16] = {1};

static __attribute__((noinline)) int walk_particles(void)
{
	int sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += particles[i].next; /* @particles */
	return sum;
}

static __attribute__((noinline)) int walk_static(void)
{
	int sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += file_static[i * 16]; /* @static */
	return sum;
}

static __attribute__((noinline)) int walk_function_static(void)
{
	static _Alignas(64) int bins[LINES * 16];
	int sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += bins[i * 16]++; /* @bins */
	return sum;
}

static __attribute__((noinline)) int walk_thread_local(void)
{
	int sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += per_thread[i * 16]; /* @thread_local */
	return sum;
}

static __attribute__((noinline)) int walk_constants(void)
{
	int sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += constants[i * 16]; /* @constants */
	return sum;
}

static __attribute__((noinline)) int walk_stack(void)
{
	_Alignas(64) volatile int local[LINES * 16];

	for (int i = 0; i < LINES; i++)
		local[i * 16] = i; /* @stack */
	return local[0];
}

int main(void)
{
	int sum = walk_particles() + walk_static() + walk_function_static() + walk_thread_local();

	file_static[0] = per_thread[0] = particles[0].next = 1;
	sum += walk_constants() + walk_stack();
	printf("%d\n", sum);
	return 0;
}
