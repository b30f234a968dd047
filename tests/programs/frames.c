/* SPDX-License-Identifier: MIT
 *
 * frames.c - plain arrays in the frame of the running function: one that misses and one that does not.
 */
enum { LARGE = 40000, SMALL = 1000, CALLS = 3 };

int sum;

static __attribute__((noinline)) void rank(int seed)
{
	int large[LARGE], small[SMALL];

	for (int i = 0; i < LARGE; i++)
		large[i] = seed * i & 1023;
	for (int i = 0; i < SMALL; i++)
		small[i] = i;
	for (int i = 0; i < LARGE; i++)
		sum += large[i * 577 % LARGE] + small[large[i] % SMALL];
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < CALLS; i++)
		rank(i + argc);
	return 0;
}
