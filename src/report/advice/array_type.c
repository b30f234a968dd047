/* SPDX-License-Identifier: MIT
 *
 * array_type.c - the extents of an array from its type as its language writes it.
 *
 * C and C++ write "double [512][256]", the last subscript runs through memory fastest; Fortran writes
 * "real(kind=8)(0:9,5)", the first one does.  What has no bounds has no array; neither has Rust's "[T; N]",
 * whose nesting is not followed: one dimension says nothing that the number of bytes does not.
 */
#include <stdlib.h>
#include <string.h>

#include "advice.h"

static int64_t product(const char *list, char end, int64_t *ret_first, int64_t *ret_last, unsigned *ret_count)
{
	int64_t elements = 1;

	*ret_count = 0;
	while (*list && *list != end) {
		char *stop;
		int64_t low = strtoll(list, &stop, 10), n = low;

		if (stop != list && *stop == ':') { /* LOW:HIGH */
			const char *high = stop + 1;

			n = strtoll(high, &stop, 10);
			if (stop == high || llabs(low / 2) > INT32_MAX || llabs(n / 2) > INT32_MAX)
				return 0;
			n = n - low + 1;
		}
		if (stop == list || n <= 0 || n > INT32_MAX || elements > INT64_MAX / n)
			return 0;
		elements *= n;
		if (!(*ret_count)++)
			*ret_first = n;
		*ret_last = n;
		list = stop + (*stop == ',');
		if (*stop == ']' && stop[1] == '[')
			list = stop + 2;
		else if (*stop != ',' && *stop != end)
			return 0;
	}
	return *ret_count ? elements : 0;
}

struct nm_array_type nm_array_type_parse(const char *type)
{
	struct nm_array_type array = {0};
	int64_t first = 0, last = 0;
	size_t n = type ? strlen(type) : 0;
	const char *open;

	if (!n)
		return array;
	if (type[n - 1] == ']' && (open = strchr(type, '[')) && !strchr(open, ';')) {
		array.elements = product(open + 1, ']', &first, &last, &array.dimensions);
		array.fastest = last;
	} else if (type[n - 1] == ')' && (open = strrchr(type, '(')) && open > type) {
		array.elements = product(open + 1, ')', &first, &last, &array.dimensions);
		array.fastest = first;
		array.first_is_fastest = 1;
	}
	if (!array.elements)
		array.dimensions = 0;
	return array;
}
