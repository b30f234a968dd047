/* SPDX-License-Identifier: MIT
 *
 * elsewhere.h - what a file is that is in no trace format, and what to do with it.
 */
#ifndef NM_IMPORT_ELSEWHERE_H
#define NM_IMPORT_ELSEWHERE_H

#include <stddef.h>
#include <stdint.h>

/* "is ...: do this", to follow the name of a file that begins with these bytes; NULL: it is not known. */
const char *known_elsewhere(const uint8_t *bytes, size_t count);

#endif
