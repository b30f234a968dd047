// SPDX-License-Identifier: MIT
//
// containers.cpp - a vector, a map, new[] and a template with a very long name.
//
// The vector has 1,000,000 ints (62,500 lines); the map's nodes come from operator new within libstdc++'s
// headers, three inlined functions below the line that the programmer wrote.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shop
{
template <typename Key, typename Value, typename... Rest> struct catalogue {
	std::map<Key, std::pair<Value, std::map<std::string, std::vector<Value>>>> entries;

	__attribute__((noinline)) void fill(int n)
	{
		for (int i = 0; i < n; i++)
			entries[i * 7919 % n].first = i; // @map
	}

	__attribute__((noinline)) long total() const
	{
		long sum = 0;

		for (const auto &entry : entries)
			sum += entry.second.first; // @total
		return sum;
	}
};
} // namespace shop

static __attribute__((noinline)) long sum_vector(const std::vector<int> &v)
{
	long sum = 0;

	for (int x : v)
		sum += x; // @vector
	return sum;
}

static __attribute__((noinline)) double sum_strided(const double *table, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i += 8)
		sum += table[i]; // @table
	return sum;
}

int main()
{
	std::vector<int> v(1000000, 1);
	shop::catalogue<int, long, std::pair<std::string, std::vector<std::map<int, long>>>, unsigned> c;
	auto table = std::make_unique<double[]>(400000);

	c.fill(10000);
	std::printf("%ld %ld %g\n", sum_vector(v), c.total(), sum_strided(table.get(), 400000));
}
