// SPDX-License-Identifier: MIT
//
// threads.cpp - two threads, each with its own half of a table and a thread-local scratch area.
//
// A thread reads every line of its half (4096 lines of 64 bytes) once; the main thread touches none.
#include <cstdio>
#include <thread>

constexpr int lines = 4096;

alignas(64) static volatile int table[2][lines * 16];
alignas(64) static thread_local int scratch[lines * 16];

static void work(int half, long *ret_sum)
{
	long sum = 0;

	for (int i = 0; i < lines; i++)
		sum += table[half][i * 16]; // @table
	for (int i = 0; i < lines; i++)
		sum += scratch[i * 16]++; // @scratch
	*ret_sum = sum;
}

int main()
{
	long sums[2];
	std::thread first(work, 0, &sums[0]);
	first.join();
	std::thread second(work, 1, &sums[1]);
	second.join();
	std::printf("%ld\n", sums[0] + sums[1]);
}
