/* SPDX-License-Identifier: MIT
 *
 * below.c - see below.h.
 */
#include "below.h"

#include <stdlib.h>
#include <string.h>

int nm_is_below(const char *path, const char *folder)
{
	char *inner = realpath(path, NULL), *outer = realpath(folder, NULL);
	size_t n = outer ? strlen(outer) : 0;
	int is_below = 0;

	if (n && outer[n - 1] == '/') /* the root */
		n--;
	if (inner && outer)
		is_below = !strncmp(inner, outer, n) && inner[n] == '/';
	free(inner);
	free(outer);
	return is_below;
}

int nm_stays_below(const char *tail)
{
	long depth = 0;

	while (*tail) {
		size_t n = strcspn(tail, "/");

		if (n == 2 && tail[0] == '.' && tail[1] == '.')
			depth--;
		else if (n && !(n == 1 && tail[0] == '.'))
			depth++;
		if (depth < 0)
			return 0;
		tail += n + (tail[n] == '/');
	}
	return 1;
}
