/* SPDX-License-Identifier: MIT
 *
 * frames.c - local variables: arrays of the running function, one that misses and one that does not; of its
 * caller; of a function that is inlined; one of variable length, and one that is too small to tell apart.
 */
enum { LARGE = 40000, SMALL = 1000, CALLS = 3, PARTS = 200, ROUNDS = 50 };

int sum;

static __attribute__((noinline)) void rank(int seed)
{
	int large[LARGE], small[SMALL];

	for (int i = 0; i < LARGE; i++)
		large[i] = seed * i & 1023;
	for (int i = 0; i < SMALL; i++)
		small[i] = i;
	for (int i = 0; i < LARGE; i++)
		sum += large[i * 577 % LARGE] + small[large[i] % SMALL]; /* @sum */
}

/* Reads each of its caller's parts. */
static __attribute__((noinline)) void add(const volatile int *parts)
{
	for (int i = 0; i < PARTS; i++)
		sum += parts[i]; /* @add */
}

static inline __attribute__((always_inline)) void split(int seed)
{
	volatile int parts[PARTS];

	for (int i = 0; i < PARTS; i++)
		parts[i] = seed + i; /* @split */
	add(parts);
}

static __attribute__((noinline)) void vary(int count)
{
	volatile int room[count], few[8];

	for (int i = 0; i < count; i++)
		room[i] = few[i % 8] = i; /* @vary */
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < CALLS; i++)
		rank(i + argc);
	for (int i = 0; i < ROUNDS; i++) {
		split(i);
		vary(PARTS + argc - 1);
	}
	return 0;
}
