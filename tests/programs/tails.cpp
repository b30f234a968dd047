// SPDX-License-Identifier: MIT
//
// tails.cpp - blocks that are more than their elements: a count before objects with a destructor, an array without a
// size behind a header.
#include <cstdio>
#include <cstdlib>

struct base {
	virtual ~base() {}
	int id;
};
struct leaf : base {
	double weight;
};
struct flex {
	long count;
	int tail[];
};

int main()
{
	const int n = 40000;
	auto *leaves = new leaf[5000];
	auto *list = static_cast<flex *>(calloc(1, sizeof(flex) + n * sizeof(int)));
	auto *plain = static_cast<double *>(malloc(n * sizeof(double)));
	double sum = 0;

	list->count = n;
	for (int i = 0; i < n; i++)
		list->tail[i] = i, plain[i] = i;
	for (int walk = 0; walk < 20; walk++)
		for (int i = 0; i < list->count; i++)
			sum += list->tail[i] + plain[i] + leaves[i % 5000].weight;
	printf("%f\n", sum);
	delete[] leaves;
}
