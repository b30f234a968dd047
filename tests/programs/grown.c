/* SPDX-License-Identifier: MIT
 *
 * grown.c - two arrays that one function enlarges, as those of containers do: it stores the memory through its
 * argument, and returns nothing. "evens" is enlarged 12 times and "odds" 14 times.
 */
#include <stdio.h>
#include <stdlib.h>

enum { EVENS = 1 << 14, ODDS = 1 << 16, FIRST = 8 };

struct array {
	long *at;
	size_t count, room;
};

__attribute__((noinline)) static void enlarge(struct array *array, size_t least)
{
	size_t room = array->room ? 2 * array->room : FIRST;

	if (room < least)
		room = least;
	array->at = realloc(array->at, room * sizeof *array->at);
	array->room = room;
}

__attribute__((noinline)) static void push_even(struct array *evens, long value)
{
	if (evens->count == evens->room)
		enlarge(evens, evens->count + 1);
	evens->at[evens->count++] = 2 * value;
}

__attribute__((noinline)) static void push_odd(struct array *odds, long value)
{
	if (odds->count == odds->room)
		enlarge(odds, odds->count + 1);
	odds->at[odds->count++] = 2 * value + 1;
}

int main(void)
{
	struct array evens = {0}, odds = {0};
	long sum = 0;

	for (long i = 0; i < EVENS; i++)
		push_even(&evens, i);
	for (long i = 0; i < ODDS; i++)
		push_odd(&odds, i);
	for (long i = 0; i < EVENS; i++)
		sum += evens.at[i] - odds.at[i];
	printf("%ld\n", sum);
	return 0;
}
