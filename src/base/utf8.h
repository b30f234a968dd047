/* SPDX-License-Identifier: MIT
 *
 * utf8.h - turns bytes from binaries into UTF-8 without control characters, as terminals and file formats
 * need it.
 */
#ifndef NM_UTF8_H
#define NM_UTF8_H

#include <stddef.h>

/* Columns of a valid text on a terminal (wcwidth). */
size_t nm_utf8_width(const char *text);
/* Length in bytes of what fits into so many columns. */
size_t nm_utf8_bytes(const char *text, size_t columns);
/* A malloc'ed copy, with U+FFFD in place of control characters and invalid UTF-8. */
char *nm_utf8_clean(const char *text);

#endif
