/* SPDX-License-Identifier: MIT
 *
 * begun.h - an input whose first bytes have been read, to see what it is: those of a pipe come once.  Who takes it
 * on gives these bytes before what the file has.
 */
#ifndef NM_BEGUN_H
#define NM_BEGUN_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

enum { NM_BEGUN_BYTES = 16 };

struct nm_begun {
	int fd;
	size_t count; /* less than NM_BEGUN_BYTES: that is all that there is */
	uint8_t bytes[NM_BEGUN_BYTES];
};

/* path "-" is standard input. */
int nm_begin(struct nm_begun *ret_begun, const char *path, struct nm_error *err);

/* Reads until `count` bytes are there or the input ends; *ret_count is how many there are. */
int nm_read_full(int fd, void *to, size_t count, size_t *ret_count, struct nm_error *err);

#endif
