// SPDX-License-Identifier: MIT
//
// buckets.cpp - memory asked for in many ways; each function's blocks must bear its own name.
//
// What stands between the function and malloc differs: templates with a return type in their names, wrappers
// that were inlined, that write a header or clear the block, functions of the C library, inline functions of
// its headers. cleared() and grown() have their blocks filled inside calloc and realloc, before anybody knows
// the block's address: 64,000 bytes are 1000 lines.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#define APART __attribute__((noinline))

struct item {
	long words[6];
};

static volatile long sink;

APART static void pushed()
{
	std::vector<long> v;

	for (long i = 0; i < 2000; i++)
		v.push_back(i);
	sink = v[7];
}

APART static void queued()
{
	std::deque<item> d;

	for (int i = 0; i < 200; i++)
		d.push_back(item());
	sink = d[7].words[0];
}

APART static void listed()
{
	std::list<item> l;

	for (int i = 0; i < 200; i++)
		l.push_back(item());
	sink = l.back().words[0];
}

APART static void mapped()
{
	std::map<int, item> m;

	for (int i = 0; i < 200; i++)
		m[i].words[0] = i;
	sink = m[7].words[0];
}

APART static void shared()
{
	auto p = std::make_shared<item>();

	sink = p->words[0];
}

APART static void written()
{
	std::string s;

	for (int i = 0; i < 1000; i++)
		s += 'x';
	sink = s[7];
}

APART static void duplicated()
{
	char *p = strdup("a text that no small buffer holds");

	sink = p[7];
	free(p);
}

APART static void read_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = nullptr;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		sink = line[0];
	free(line);
	if (f)
		fclose(f);
}

static inline void *xmalloc(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		abort();
	return p;
}

APART static void *xzalloc(size_t bytes) { return memset(xmalloc(bytes), 0, bytes); }

APART static void *counted_malloc(size_t bytes)
{
	long *p = static_cast<long *>(xmalloc(bytes + sizeof *p));

	*p = static_cast<long>(bytes);
	return p + 1;
}

APART static void wrapped()
{
	auto a = static_cast<long *>(xzalloc(1000));
	auto b = static_cast<long *>(counted_malloc(1000));

	sink = a[7] + (b[7] = 1);
	free(a);
	free(b - 1);
}

APART static void cleared()
{
	void *hole = malloc(64000), *fence = malloc(2000);

	memset(hole, 1, 64000);
	free(hole); /* so that calloc gets used memory and has to clear it */
	auto p = static_cast<long *>(calloc(8000, sizeof(long)));
	sink = p[7];
	free(p);
	free(fence);
}

APART static void grown()
{
	auto p = static_cast<char *>(malloc(64000));
	void *fence = malloc(2000);

	memset(p, 1, 64000);
	p = static_cast<char *>(realloc(p, 96000)); /* the fence is in the way: it has to move */
	sink = p[7];
	free(p);
	free(fence);
}

int main(int, char **argv)
{
	grown(); // first: what others free would part a block from its fence
	cleared();
	pushed();
	queued();
	listed();
	mapped();
	shared();
	written();
	duplicated();
	read_lines(argv[0]);
	wrapped();
	std::thread([] {
		void *blocks[10];

		for (void *&block : blocks)
			block = malloc(3000);
		for (void *block : blocks) {
			sink = reinterpret_cast<long>(block);
			free(block);
		}
	}).join();
	return 0;
}
