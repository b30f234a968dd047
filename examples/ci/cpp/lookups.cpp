// SPDX-License-Identifier: MIT
//
// lookups.cpp - looks entries up in a tree: a Google Benchmark whose misses docs/howto/ci.md guards. Simulated misses need
// few iterations.
#include <benchmark/benchmark.h>

#include <map>

static std::map<long, long> entries;

static long look_up()
{
	long sum = 0;

	for (long i = 0; i < 4000; i++)
		sum += entries.find(i * 7 % 4000)->second;
	return sum;
}

static void BM_LookUp(benchmark::State &state)
{
	for (long i = 0; i < 4000; i++)
		entries[i] = i;
	for (auto _ : state)
		benchmark::DoNotOptimize(look_up());
}
BENCHMARK(BM_LookUp)->Iterations(4);
BENCHMARK_MAIN();
