/* SPDX-License-Identifier: MIT
 *
 * symbols.cpp - templates, namespaces and statics for the symbol room to find; see symbols.c.
 */
#include <cstdio>
#include <vector>

namespace app
{
namespace
{
int hidden[10];
}

struct point {
	double x, y;
	static point origin;
};
point point::origin;

std::vector<point> cloud;

template <class T> struct pool {
	static T slots[64];
	__attribute__((noinline)) T *get(int i)
	{
		static int hits;
		hits++;
		return &slots[i];
	}
};
template <class T> T pool<T>::slots[64];

struct base {
	virtual ~base() {}
	virtual int f() { return 1; }
};
struct derived : base {
	int f() override { return 2; }
};

__attribute__((noinline)) int use(int n)
{
	static thread_local int depth;
	depth++;
	hidden[n % 10]++;
	cloud.push_back({1, 2});
	return *pool<int>().get(n) + (int)pool<point>().get(n)->x + hidden[0] + depth;
}

static inline __attribute__((always_inline)) int twice(int i) { return hidden[i % 10] * 2; }

__attribute__((noinline)) int sum(int n)
{
	auto each = [&](int i) __attribute__((noinline)) { return twice(i) + n; };
	int all = 0;
	for (int i = 0; i < n; i++)
		all += each(i);
	return all;
}

__attribute__((noinline)) base *make(int n)
{
	if (n > 1)
		return new derived;
	return new base;
}
} // namespace app

int main(int argc, char **)
{
	app::base *made = app::make(argc);
	std::printf("%d\n", app::use(argc) + app::sum(argc) + made->f() + (int)app::point::origin.x);
	delete made;
}
