/* SPDX-License-Identifier: MIT
 *
 * map.cpp - a std::map is walked from begin to end: each of its nodes lies where malloc had room when its key
 * came. REPAIRED: the pairs stand in a sorted vector.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

namespace
{
constexpr int orders = 100000;
unsigned long state = 1;

int draw()
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return static_cast<int>(state >> 33);
}

#ifdef REPAIRED
std::vector<std::pair<int, double>> prices;

void add(int order, double price) { prices.emplace_back(order, price); }
void ready() { std::sort(prices.begin(), prices.end()); }
#else
std::map<int, double> prices;

void add(int order, double price) { prices[order] = price; }
void ready() {}
#endif

double total()
{
	double sum = 0;

	for (const auto &entry : prices)
		sum += entry.second;
	return sum;
}
} // namespace

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
	double sum = 0;

	for (int i = 0; i < orders; i++)
		add(draw(), i);
	ready();
	for (int round = 0; round < rounds; round++)
		sum += total();
	std::printf("%g\n", sum);
	return 0;
}
