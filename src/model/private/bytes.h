/* SPDX-License-Identifier: MIT
 *
 * bytes.h - structures as flat bytes, for another process of the same build.
 */
#ifndef NM_MODEL_BYTES_H
#define NM_MODEL_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "errors.h"

struct nm_bytes {
	const char *at;
	size_t left;
};

/* Reads `count` elements. 0, or NM_EINVAL: there are fewer. */
static inline int bytes_read(struct nm_bytes *from, void *to, uint64_t count, size_t each)
{
	if (count > from->left / each)
		return NM_EINVAL;
	if (count)
		memcpy(to, from->at, count * each);
	from->at += count * each;
	from->left -= count * each;
	return 0;
}

/* Writes `count` elements; `from` may be NULL if there are none. */
static inline void bytes_write(FILE *to, const void *from, size_t count, size_t each)
{
	if (count)
		fwrite(from, each, count, to);
}

#endif
