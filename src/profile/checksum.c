/* SPDX-License-Identifier: MIT */
#include "checksum.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static const char magic[8] = {'n', 'm', 'p', 's', 'u', 'm', '1', '\n'};

enum {
	COUNTER_AT = 24,
	COUNTER_BYTES = 4,
	SUM_BYTES = 4,
	TRAILER = sizeof magic + COUNTER_BYTES + SUM_BYTES
};

static int read_full(int fd, void *bytes, size_t count, off_t at)
{
	size_t n = 0;

	while (n < count) {
		ssize_t more = pread(fd, (char *)bytes + n, count - n, at + (off_t)n);

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return -1;
		n += (size_t)more;
	}
	return 0;
}

/* The trailer of the first `bytes` bytes of the file. */
static int make_trailer(int fd, uint64_t bytes, unsigned char *ret_trailer)
{
	unsigned char buffer[65536];
	uLong sum = crc32(0, NULL, 0);

	for (uint64_t at = 0; at < bytes;) {
		size_t n = bytes - at < sizeof buffer ? (size_t)(bytes - at) : sizeof buffer;

		if (read_full(fd, buffer, n, (off_t)at))
			return -1;
		sum = crc32(sum, buffer, (uInt)n);
		at += n;
	}
	memcpy(ret_trailer, magic, sizeof magic);
	if (read_full(fd, ret_trailer + sizeof magic, COUNTER_BYTES, COUNTER_AT))
		return -1;
	for (unsigned i = 0; i < SUM_BYTES; i++)
		ret_trailer[sizeof magic + COUNTER_BYTES + i] = (unsigned char)(sum >> (24 - 8 * i));
	return 0;
}

int nm_checksum_append(int fd)
{
	unsigned char trailer[TRAILER];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || make_trailer(fd, (uint64_t)st.st_size, trailer))
		return -1;
	n = pwrite(fd, trailer, sizeof trailer, st.st_size);
	if ((n >= 0 && n < (ssize_t)sizeof trailer) ||
	    (n < 0 && errno == EFBIG)) /* a limit is no room, too */
		errno = ENOSPC;
	return n == (ssize_t)sizeof trailer ? 0 : -1;
}

int nm_checksum_holds(int fd, uint64_t pages_bytes)
{
	unsigned char stored[TRAILER], counter[COUNTER_BYTES], now[TRAILER];

	assert(fd >= 0);
	if (read_full(fd, stored, sizeof stored, (off_t)pages_bytes) || memcmp(stored, magic, sizeof magic))
		return 1;
	if (read_full(fd, counter, sizeof counter, COUNTER_AT))
		return -1;
	if (memcmp(counter, stored + sizeof magic, sizeof counter)) /* SQLite has changed it since */
		return 1;
	if (make_trailer(fd, pages_bytes, now))
		return -1;
	return !memcmp(stored, now, sizeof now);
}
