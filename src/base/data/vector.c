/* SPDX-License-Identifier: MIT
 *
 * vector.c - see vector.h. Room doubles, so a push costs O(1) on average.
 */
#include "vector.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int nm_vec_grow(void **at, size_t *room, size_t count, size_t more, size_t size)
{
	size_t want = *room ? *room : 8;
	void *bigger;

	assert(count <= *room && size > 0);
	if (*room - count >= more)
		return 0;
	if (more > SIZE_MAX / 2 - count)
		return NM_ENOMEM;
	while (want < count + more)
		want *= 2;
	if (want > SIZE_MAX / size)
		return NM_ENOMEM;
	bigger = realloc(*at, want * size);
	if (!bigger)
		return NM_ENOMEM;
	*at = bigger;
	*room = want;
	return 0;
}

int nm_vec_extend(void **at, size_t *count, size_t *room, size_t want, size_t size)
{
	assert(*count <= want && size > 0);
	if (nm_vec_grow(at, room, *count, want - *count, size))
		return NM_ENOMEM;
	memset((char *)*at + *count * size, 0, (want - *count) * size);
	*count = want;
	return 0;
}

void nm_vec_release(void **at, size_t *count, size_t *room)
{
	free(*at);
	*at = NULL;
	*count = *room = 0;
}
