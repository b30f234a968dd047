// SPDX-License-Identifier: MIT
//
// layouts.cpp - structures with holes, bases and arrays. Of a session two threads each write their own counter ROUNDS
// times, and read its key as often, which nobody writes after the start.
#include <cstdio>
#include <thread>

constexpr long rounds = 20000;

struct session {
	char state;
	long key;
	volatile long first;
	void (*notify)(struct session *, int);
	char name[29];
	short kind;
	double weights[3][2];
	volatile long second;
	struct session *next;
	char last;
};

class base
{
      public:
	virtual ~base() = default;
	long id = 1;
	char mark = 2;
};

class shape : public base
{
      public:
	int kind = 3;
	double points[2] = {1, 2};
	shape *next = nullptr;
};

alignas(64) static session table;
static volatile long keep;

static void count(volatile long *counter)
{
	for (long i = 0; i < rounds; i++) {
		*counter = *counter + 1; // @count
		keep = *const_cast<volatile long *>(&table.key);
	}
}

int main()
{
	shape *shapes = nullptr;

	table.key = 7;
	for (int i = 0; i < 1000; i++) {
		shape *one = new shape; // @shape
		one->next = shapes;
		shapes = one;
	}
	std::thread first(count, &table.first), second(count, &table.second);
	first.join();
	second.join();
	for (shape *one = shapes; one; one = one->next)
		keep = keep + one->kind;
	std::printf("%ld\n", table.first + table.second);
}
