/* SPDX-License-Identifier: MIT
 *
 * array_shape.c - see array_shape.h.
 *
 * C and C++ write "double [512][256]", the last subscript runs through memory fastest; Fortran writes
 * "real(kind=8)(0:9,5)", the first one does. What has no bounds has no shape; neither has Rust's "[T; N]",
 * whose nesting is not followed.
 */
#include "array_shape.h"

#include <stdlib.h>
#include <string.h>

/* "5" or, as LOW:HIGH, "0:9". Moves *at behind it. 0: it is neither. low: where subscripts begin else. */
static int parse_bounds(const char **at, int64_t low, int64_t *ret_low, int64_t *ret_count)
{
	char *stop;
	int64_t high = strtoll(*at, &stop, 10);

	if (stop == *at || llabs(high / 2) > INT32_MAX)
		return 0;
	*ret_low = low;
	*ret_count = high;
	if (*stop == ':') {
		const char *from = stop + 1;

		*ret_low = high;
		high = strtoll(from, &stop, 10);
		if (stop == from || llabs(high / 2) > INT32_MAX)
			return 0;
		*ret_count = high - *ret_low + 1;
	}
	*at = stop;
	return *ret_count > 0 && *ret_count <= INT32_MAX;
}

/* "512][256]" or "0:9,5)". 0: it is not such a list. */
static int parse_list(const char *at, char end, struct nm_array_shape *shape)
{
	const int is_fortran = end == ')';

	for (;;) {
		int64_t low, count;

		if (shape->dimensions == NM_DIMENSIONS || !parse_bounds(&at, is_fortran, &low, &count) ||
		    shape->elements > INT64_MAX / count)
			return 0;
		shape->elements *= count;
		shape->dimension[shape->dimensions].low = low;
		shape->dimension[shape->dimensions++].count = count;
		if (*at == end && !at[1])
			return 1;
		if (is_fortran ? *at != ',' : strncmp(at, "][", 2) != 0)
			return 0;
		at += is_fortran ? 1 : 2;
	}
}

struct nm_array_shape nm_array_shape_parse(const char *type)
{
	const size_t n = type ? strlen(type) : 0;
	const char end = n ? type[n - 1] : '\0';
	const char *open = end == ']' ? strchr(type, '[') : end == ')' ? strrchr(type, '(') : NULL;
	struct nm_array_shape shape = {.elements = 1, .first_is_fastest = end == ')'};

	if (!open || (shape.first_is_fastest && open == type) || !parse_list(open + 1, end, &shape))
		return (struct nm_array_shape){0};
	shape.fastest = shape.dimension[shape.first_is_fastest ? 0 : shape.dimensions - 1].count;
	return shape;
}
