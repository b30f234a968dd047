/* SPDX-License-Identifier: MIT
 *
 * memstream.h - closes a stream of open_memstream(), with all errors.
 */
#ifndef NM_MEMSTREAM_H
#define NM_MEMSTREAM_H

#include <stdio.h>

/* Closes the stream. 0, or NM_ENOMEM if anything written was lost: fclose() alone does not report that. Then
 * *text is freed and set to NULL. */
int nm_memstream_close(FILE *stream, char **text);

#endif
