/* SPDX-License-Identifier: MIT
 *
 * names.c - sorts an index of names.  Fault: each comparison follows two pointers to strings of their own.  Repaired: the
 * first eight characters, as a number, lie beside the pointer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 60000 };

struct entry {
#ifdef REPAIRED
	uint64_t prefix;
#endif
	const char *name;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

#ifdef REPAIRED
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
#endif
	return strcmp(x->name, y->name);
}

int main(void)
{
	struct entry *names = malloc(sizeof *names * NAMES);
	unsigned state = 1;

	for (int i = 0; i < NAMES; i++) {
		char text[40];

		for (int k = 0; k < 24; k++) {
			state = state * 1664525 + 1013904223;
			text[k] = (char)('a' + (state >> 24) % 26);
		}
		text[24] = 0;
		names[i].name = strdup(text);
#ifdef REPAIRED
		for (int k = 0; k < 8; k++)
			names[i].prefix = names[i].prefix << 8 | (unsigned char)text[k];
#endif
	}
	qsort(names, NAMES, sizeof *names, compare);
	return puts(names[0].name) < 0;
}
