// SPDX-License-Identifier: MIT
//
// typed.cpp - a structure with fields of many types, of which two are used: what a declaration of each looks like.
#include <array>
#include <cstdio>

enum { ELEMENTS = 4000, WALKS = 10 };

namespace app
{
template <typename T> struct pair {
	T left, right;
};

struct record {
	char name[40];
	double (*price)(double);
	const record *next;
	pair<long> *place;
	double (*grid)[3];
	unsigned count;
	short marks[6];
	char text[96];
	std::array<long, 7> parts;
};
} // namespace app

static app::record records[ELEMENTS];

static double twice(double x) { return 2 * x; }

int main()
{
	double sum = 0;

	for (auto &record : records)
		record.price = twice;
	for (int w = 0; w < WALKS; w++)
		for (const auto &record : records)
			sum += record.price(w) * record.count;
	std::printf("%g\n", sum);
}
