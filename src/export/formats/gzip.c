/* SPDX-License-Identifier: MIT
 *
 * gzip.c - see gzip.h. zlib's own gzopen wants to own the file. The header holds no time, so equal
 * contents give equal files.
 */
#include "gzip.h"

#include <stdlib.h>
#include <zlib.h>

struct nm_gzip {
	z_stream z;
	FILE *out;
	unsigned char buffer[65536];
};

enum { WINDOW = 15, GZIP = 16, MEMORY = 8 }; /* zlib's defaults, with a gzip header */

struct nm_gzip *nm_gzip_new(FILE *out)
{
	struct nm_gzip *gzip = calloc(1, sizeof *gzip);

	if (gzip && deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW + GZIP, MEMORY,
				 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return NULL;
	}
	if (gzip)
		gzip->out = out;
	return gzip;
}

static void deflate_pending(struct nm_gzip *gzip, int flush)
{
	do {
		gzip->z.next_out = gzip->buffer;
		gzip->z.avail_out = sizeof gzip->buffer;
		deflate(&gzip->z, flush);
		fwrite(gzip->buffer, 1, sizeof gzip->buffer - gzip->z.avail_out, gzip->out);
	} while (!gzip->z.avail_out);
}

void nm_gzip_write(struct nm_gzip *gzip, const void *bytes, size_t n)
{
	gzip->z.next_in = (unsigned char *)bytes;
	gzip->z.avail_in = (unsigned)n; /* a message of ours is short */
	deflate_pending(gzip, Z_NO_FLUSH);
}

void nm_gzip_end(struct nm_gzip *gzip)
{
	if (!gzip)
		return;
	gzip->z.avail_in = 0;
	deflate_pending(gzip, Z_FINISH);
	deflateEnd(&gzip->z);
	free(gzip);
}
