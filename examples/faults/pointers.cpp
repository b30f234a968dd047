/* SPDX-License-Identifier: MIT
 *
 * pointers.cpp - a vector of pointers to bodies that were sorted since they were allocated: each is somewhere
 * else. REPAIRED: the vector holds the bodies themselves.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace
{
constexpr int bodies = 100000;
unsigned long state = 1;

long draw()
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return static_cast<long>(state >> 33);
}

struct Body {
	long position, mass, force;
};

#ifdef REPAIRED
std::vector<Body> world;

void add(long position) { world.push_back({position, 1, 2}); }
void sort()
{
	std::sort(world.begin(), world.end(),
		  [](const Body &a, const Body &b) { return a.position < b.position; });
}
Body &body(Body &entry) { return entry; }
#else
std::vector<std::unique_ptr<Body>> world;

void add(long position) { world.push_back(std::make_unique<Body>(Body{position, 1, 2})); }
void sort()
{
	std::sort(world.begin(), world.end(),
		  [](const auto &a, const auto &b) { return a->position < b->position; });
}
Body &body(std::unique_ptr<Body> &entry) { return *entry; }
#endif
} // namespace

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
	long sum = 0;

	for (int i = 0; i < bodies; i++)
		add(draw());
	sort();
	for (int round = 0; round < rounds; round++)
		for (auto &entry : world)
			sum += body(entry).mass * body(entry).force;
	std::printf("%ld\n", sum);
	return 0;
}
