/* SPDX-License-Identifier: MIT
 *
 * hints.c - prefetches and non-temporal stores, N of each form. The addresses are in registers that the code sets
 * just before and again just after, as compilers do, so that a collector must see them at the instruction.
 */
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 100, LINE = 64 };

static _Alignas(4096) char table[N][LINE];
static _Alignas(4096) int32_t words[N][LINE / 4];
static _Alignas(4096) float vectors[N][LINE / 4];
static _Alignas(4096) char past[N][LINE];

/* At each level, through base and index with a displacement. */
static __attribute__((noinline)) void prefetch_levels(void)
{
	for (long i = 0; i < N; i++)
		__asm__ volatile("lea -16(%0), %%rax\n\t"
				 "mov %1, %%rdx\n\t"
				 "shl $6, %%rdx\n\t"
				 "prefetcht0 16(%%rax,%%rdx)\n\t"
				 "prefetcht1 16(%%rax,%%rdx,1)\n\t"
				 "prefetcht2 16(%%rax,%%rdx)\n\t"
				 "prefetchnta 16(%%rax,%%rdx)\n\t"
				 "prefetchw 16(%%rax,%%rdx)\n\t"
				 "mov $1, %%eax\n\t"
				 "mov $2, %%edx"
				 :
				 : "r"(table), "r"(i)
				 : "rax", "rdx");
}

/* Nothing can be at these addresses: no cache sees them. */
static __attribute__((noinline)) void prefetch_nothing(void)
{
	const char *null = NULL, *wild = (const char *)-1l;

	__asm__ volatile("" : "+r"(null), "+r"(wild));
	for (int i = 0; i < N; i++)
		__asm__ volatile("prefetcht0 (%0)\n\tprefetcht0 8(%0)\n\tprefetcht0 (%1)"
				 :
				 : "r"(null), "r"(wild));
}

static __attribute__((noinline)) void store_past(void)
{
	for (int i = 0; i < N; i++) {
		_mm_stream_si32(&words[i][0], i);
		_mm_stream_ps(vectors[i], _mm_setzero_ps());
		_mm_stream_si128((__m128i *)past[i], _mm_setzero_si128());
	}
}

int main(void)
{
	prefetch_levels();
	prefetch_nothing();
	store_past();
	printf("%d\n", words[N - 1][0]);
	return 0;
}
