/* SPDX-License-Identifier: MIT
 *
 * size.h - numbers of bytes as people write them.
 */
#ifndef NM_SIZE_H
#define NM_SIZE_H

#include <stdint.h>

/* A size, such as 64K, 256M or 2G. 1, or 0: it is none. */
int nm_read_size(const char *text, uint64_t *ret_bytes);

#endif
