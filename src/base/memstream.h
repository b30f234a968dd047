/* SPDX-License-Identifier: MIT
 *
 * memstream.h - a stream that writes into memory, as open_memstream() does, and knows when memory ran out.
 *
 * glibc's own loses what no longer fits, and says so neither in ferror() nor from fclose().
 */
#ifndef NM_MEMSTREAM_H
#define NM_MEMSTREAM_H

#include <stdio.h>

/* *ret_text, malloc'ed and the caller's, is what was written when the stream was flushed or closed last, and a
 * zero; *ret_bytes (may be NULL) its length without the zero. NULL: no memory. */
FILE *nm_memstream_open(char **ret_text, size_t *ret_bytes);

/* Closes the stream. 0, or NM_ENOMEM if anything written was lost. Then *text is freed and set to NULL. */
int nm_memstream_close(FILE *stream, char **text);

#endif
