/* SPDX-License-Identifier: MIT
 *
 * peek.h - an input whose first bytes were read to identify it.
 *
 * A pipe delivers its bytes once, so a reader that takes over the input starts with these bytes and then
 * reads on.
 */
#ifndef NM_PEEK_H
#define NM_PEEK_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

enum { NM_PEEK_BYTES = 16 };

struct nm_peeked_input {
	int fd;
	size_t count; /* less than NM_PEEK_BYTES only if the input is shorter */
	uint8_t bytes[NM_PEEK_BYTES];
};

/* Opens path ("-": standard input) and reads its first bytes. The caller closes fd. */
int nm_peek_input(struct nm_peeked_input *ret_peeked, const char *path, struct nm_error *err);

/* Reads `count` bytes, or fewer if the input ends before; *ret_count is how many. */
int nm_read_full(int fd, void *to, size_t count, size_t *ret_count, struct nm_error *err);

#endif
