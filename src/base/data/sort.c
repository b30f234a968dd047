/* SPDX-License-Identifier: MIT
 *
 * sort.c - see sort.h. Radix sort by bytes of the key, lowest first, back and forth between the list and a
 * copy. Bytes that are the same in all keys are skipped, so short keys are cheap.
 */
#include "sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

enum { BYTES = sizeof(uint64_t), VALUES = 256 };

static unsigned byte_of(uint64_t key, unsigned byte) { return key >> (8 * byte) & (VALUES - 1); }

/* How many keys have each value of a byte becomes where the first of them goes. */
static void place_values(size_t places[VALUES])
{
	size_t sum = 0;

	for (unsigned v = 0; v < VALUES; v++) {
		size_t n = places[v];

		places[v] = sum;
		sum += n;
	}
}

int nm_sort_by_key(struct nm_keyed *list, size_t count)
{
	size_t places[BYTES][VALUES] = {{0}};
	struct nm_keyed *from = list, *to = NULL, *other = NULL;

	assert(list || !count);
	for (size_t i = 0; i < count; i++)
		for (unsigned byte = 0; byte < BYTES; byte++)
			places[byte][byte_of(list[i].key, byte)]++;
	for (unsigned byte = 0; count && byte < BYTES; byte++) {
		if (places[byte][byte_of(list->key, byte)] == count)
			continue;
		if (!other && !(to = other = malloc(count * sizeof *other)))
			return NM_ENOMEM;
		place_values(places[byte]);
		for (size_t i = 0; i < count; i++)
			to[places[byte][byte_of(from[i].key, byte)]++] = from[i];
		from = to;
		to = from == list ? other : list;
	}
	if (from != list)
		memcpy(list, from, count * sizeof *list);
	free(other);
	return 0;
}
