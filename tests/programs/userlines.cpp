// SPDX-License-Identifier: MIT
//
// userlines.cpp - lines of the standard library that work for lines of the user: inlined ones (std::map) and
// ones that are called (memcpy).
#include <cstdio>
#include <cstring>
#include <map>

enum { KEYS = 20000, BYTES = 4 << 20 };

static char from[BYTES], to[BYTES];

int main()
{
	std::map<int, double> table;
	double sum = 0;

	for (int i = 0; i < KEYS; i++)
		table[i * 7919 % KEYS] = i; // @insert
	for (int i = 0; i < KEYS; i++)
		sum += table.find(i * 104729LL % KEYS)->second; // @find
	memcpy(to, from, std::strlen("x") + BYTES - 1);         // @copy
	std::printf("%g %d\n", sum, to[BYTES - 1]);
	return 0;
} // @end
