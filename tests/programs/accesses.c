/* SPDX-License-Identifier: MIT
 *
 * accesses.c - every kind of memory access that x86-64 code makes, on data whose counts are known:
 * compare-and-swap, locked addition, exchange, string moves, 16-byte vectors, x87, and an
 * access that spans two lines. Each of the N rounds of a loop makes one of them.
 */
#include <stdint.h>
#include <stdio.h>

enum { N = 1000 };

typedef int vector __attribute__((vector_size(16)));
typedef uint32_t unaligned __attribute__((aligned(1), may_alias));

static _Alignas(64) int64_t swapped, added, exchanged;
static _Alignas(64) char from[4096], to[4096];
_Alignas(64) vector vectors[N];
_Alignas(64) long double extended[N];
_Alignas(64) unsigned char straddled[N * 64 + 64];

static __attribute__((noinline)) void do_swaps(void)
{
	for (int64_t i = 0; i < N; i++)
		__sync_bool_compare_and_swap(&swapped, i, i + 1); /* @swap */
}

static __attribute__((noinline)) void do_adds(void)
{
	for (int i = 0; i < N; i++)
		__sync_fetch_and_add(&added, 3); /* @add */
}

static __attribute__((noinline)) void do_exchanges(void)
{
	for (int i = 0; i < N; i++)
		__atomic_exchange_n(&exchanged, i, __ATOMIC_SEQ_CST); /* @exchange */
}

static __attribute__((noinline)) void do_string(void)
{
	char *d = to;
	const char *s = from;
	unsigned long n = sizeof from / 8;

	__asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(n) : : "memory"); /* @string */
}

static __attribute__((noinline)) vector do_vectors(void)
{
	vector sum = {0};

	for (int i = 0; i < N; i++)
		sum += vectors[i]; /* @vector */
	return sum;
}

static __attribute__((noinline)) long double do_extended(void)
{
	long double sum = 0;

	for (int i = 0; i < N; i++)
		sum += extended[i]; /* @extended */
	return sum;
}

static __attribute__((noinline)) uint32_t do_straddles(void)
{
	uint32_t sum = 0;

	for (int i = 0; i < N; i++)
		sum += *(const unaligned *)(straddled + i * 64 + 62); /* @straddle */
	return sum;
}

int main(void)
{
	vector v;

	do_swaps();
	do_adds();
	do_exchanges();
	do_string();
	v = do_vectors();
	printf("%ld %ld %ld %d %d %Lf %u\n", (long)swapped, (long)added, (long)exchanged, to[9], v[0],
	       do_extended(), do_straddles());
	return 0;
}
