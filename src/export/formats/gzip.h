/* SPDX-License-Identifier: MIT
 *
 * gzip.h - a gzip stream into a file that is open already.
 */
#ifndef NM_EXPORT_GZIP_H
#define NM_EXPORT_GZIP_H

#include <stdio.h>

struct nm_gzip;

struct nm_gzip *nm_gzip_new(FILE *out); /* NULL: out of memory */
void nm_gzip_write(struct nm_gzip *gzip, const void *bytes, size_t n);
void nm_gzip_end(struct nm_gzip *gzip); /* writes what is left and frees; NULL is allowed */

#endif
