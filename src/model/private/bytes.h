/* SPDX-License-Identifier: MIT
 *
 * bytes.h - reads structures from flat bytes that a process of the same build has written.
 */
#ifndef NM_MODEL_BYTES_H
#define NM_MODEL_BYTES_H

#include <stddef.h>
#include <stdint.h>
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

#endif
