/* SPDX-License-Identifier: MIT
 *
 * base64.h - bytes as text (RFC 4648).
 */
#ifndef NM_VIEW_BASE64_H
#define NM_VIEW_BASE64_H

#include <stddef.h>
#include <stdio.h>

static inline size_t nm_base64_length(size_t bytes) { return (bytes + 2) / 3 * 4; }

void nm_base64_write(const void *bytes, size_t count, FILE *out);

#endif
