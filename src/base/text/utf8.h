/* SPDX-License-Identifier: MIT
 *
 * utf8.h - texts from binaries are bytes; terminals and file formats want UTF-8 without control characters.
 */
#ifndef NM_UTF8_H
#define NM_UTF8_H

#include <stddef.h>

/* Columns that a valid text takes on a terminal, one for each code point. */
size_t nm_utf8_width(const char *text);
/* Bytes of the first `columns` code points. */
size_t nm_utf8_bytes(const char *text, size_t columns);
/* A copy in which control characters and what is no UTF-8 are replaced by U+FFFD; malloc'ed. */
char *nm_utf8_clean(const char *text);

#endif
