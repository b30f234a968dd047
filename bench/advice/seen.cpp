/* SPDX-License-Identifier: MIT
 *
 * seen.cpp - walks from many starts.  Fault: each walk makes a new array of marks of all places and uses few of them.
 * Repaired: the array stays, and a mark is the number of the walk.
 */
#include <cstdio>
#include <vector>

enum { PLACES = 400000, WALKS = 60, STEPS = 300 };

int main()
{
	unsigned state = 1;
	long steps = 0;
#ifdef REPAIRED
	std::vector<int> seen(PLACES);
#endif

	for (int walk = 1; walk <= WALKS; walk++) {
#ifdef REPAIRED
		const int mark = walk;
#else
		const int mark = 1;
		std::vector<int> seen(PLACES);
#endif
		for (int i = 0; i < STEPS; i++) {
			state = state * 1664525 + 1013904223;
			int &place = seen[(state >> 4) % PLACES];
			steps += place != mark;
			place = mark;
		}
	}
	std::printf("%ld\n", steps);
}
