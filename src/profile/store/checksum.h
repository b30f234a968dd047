/* SPDX-License-Identifier: MIT
 *
 * checksum.h - a checksum of a profile, in sixteen bytes after its pages.
 *
 * "nmpsum1\n", the file change counter of SQLite's header, and the CRC-32 of the pages, both big-endian.
 * SQLite ignores bytes after its pages. When it changes the file, it also changes the counter, which
 * invalidates the checksum.
 */
#ifndef NM_PROFILE_CHECKSUM_H
#define NM_PROFILE_CHECKSUM_H

#include <stdint.h>

/* Appends the trailer to a whole profile. 0, or -1 with errno. */
int nm_checksum_append(int fd);

/* 1: the first `pages_bytes` bytes are as they were written, or there is no trailer that applies; 0: they are
 * not; -1: they cannot be read. */
int nm_checksum_holds(int fd, uint64_t pages_bytes);

#endif
