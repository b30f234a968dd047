/* SPDX-License-Identifier: MIT
 *
 * tar.h - the file in a tar archive (POSIX.1-2017, pax: ustar headers of 512 bytes, then the data in blocks of
 * 512), as a filter of a stream.
 */
#ifndef NM_IMPORT_TAR_H
#define NM_IMPORT_TAR_H

#include <stddef.h>
#include <stdint.h>

enum { NM_TAR_BLOCK = 512 };

struct nm_tar {
	uint8_t header[NM_TAR_BLOCK];
	size_t have;            /* bytes of the header */
	uint64_t data, padding; /* bytes that follow of this member */
	int wanted;             /* the member is a file */
	unsigned files;         /* that are not empty */
};

/* Whether a stream that begins with these bytes is a tar archive. */
int import_is_tar(const uint8_t *bytes, size_t count);

/* Moves the data of the first file to the start of the bytes. Returns how many there are; *ret_fault, if the
 * bytes are no tar archive or a second file begins, says so. */
size_t tar_filter(struct nm_tar *tar, uint8_t *bytes, size_t count, const char **ret_fault);

#endif
