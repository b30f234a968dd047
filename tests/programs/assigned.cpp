// SPDX-License-Identifier: MIT
//
// assigned.cpp - allocations assigned to all kinds of targets, several on a line, and a home-made container.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

// clang-format off
enum { COUNT = 1000, NODES = 10 };

struct node { node *next; long key; };
static struct { double *grid; } all;
static double *hot, *cold;

template <class T> struct growing {
	T *data = nullptr;
	int size = 0, room = 0;
	void push(const T &value)
	{
		if (size == room) {
			room = room ? 2 * room : 4;
			data = static_cast<T *>(std::realloc(data, room * sizeof(T)));
		}
		data[size++] = value;
	}
};

struct Solver {
	growing<int> assigns;
	growing<double> activity;
	__attribute__((noinline)) void add(int i) { assigns.push(i); activity.push(i); } // @push
};

/* Writes to what it hands out, so that no evidence tells that it only forwards. */
__attribute__((noinline)) static double *hand_out(long n)
{
	double *block = static_cast<double *>(std::malloc(n * sizeof(double))); // @block

	for (long i = 0; i < n; i++)
		block[i] = static_cast<double>(i);
	return block;
}

__attribute__((noinline)) static void *forward(long n) { return std::malloc(n); }

int main()
{
	node **nodes = static_cast<node **>(std::malloc(NODES * sizeof *nodes));
	Solver solver;

	hot = (double *)std::malloc(COUNT * 8), cold = (double *)std::malloc(COUNT * 8); // @pair
	all.grid = static_cast<double *>(std::malloc(COUNT * sizeof(double))); // @member
	for (int i = 0; i < NODES; i++) {
		nodes[i] = (node *)std::malloc(sizeof(node)); nodes[i]->next = (node *)std::malloc(sizeof(node)); // @nodes
		nodes[i]->next->key = i;
	}
	for (int i = 0; i < COUNT; i++)
		solver.add(i);
	std::vector<double> a(COUNT), b(COUNT); // @declared
	std::vector<std::unique_ptr<node>> made;
	for (int i = 0; i < NODES; i++)
		made.push_back(std::make_unique<node>()); // @made
	double *handed = static_cast<double *>(forward(COUNT * sizeof(double))); // @handed
	double *given = hand_out(COUNT); // @given
	for (int i = 0; i < COUNT; i++)
		hot[i] = cold[i] = all.grid[i] = handed[i] = a[i] + b[i] + given[i];
	std::printf("%g %ld\n", hot[1] + solver.activity.data[3], nodes[3]->next->key + made[3]->key);
	return 0;
}
