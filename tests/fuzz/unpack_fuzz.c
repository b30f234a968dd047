/* SPDX-License-Identifier: MIT
 *
 * unpack_fuzz.c - libFuzzer over what unpacks gzip, bzip2, zstd and xz for the importers.
 *
 * Checksums let few changed files through, so the input is packed here: its first byte chooses how, the
 * second how much is done to the result, the next ones what (a byte changed, the rest cut off), the rest is
 * what is packed, in two pieces. What is undamaged must come back, by lines and by records; what is damaged
 * must give a fault at most.
 *
 *     build-fuzz/tests/fuzz/unpack_fuzz CORPUS tests/data/import
 */
#include <bzlib.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 17, ROOM = 2 * MOST + 4096, CHANGE_BYTES = 3, RECORD = 64 };
enum { GZIP_ONLY = 16 + 15, MEM_LEVEL = 8 };

struct packed {
	uint8_t bytes[ROOM];
	size_t count;
};

static void demand(int holds)
{
	if (!holds)
		abort();
}

static void pack_gzip(struct packed *p, const uint8_t *data, size_t size)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};

	demand(deflateInit2(&z, 1, Z_DEFLATED, GZIP_ONLY, MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_out = p->bytes + p->count;
	z.avail_out = (uInt)(ROOM - p->count);
	demand(deflate(&z, Z_FINISH) == Z_STREAM_END);
	p->count += z.total_out;
	deflateEnd(&z);
}

static void pack_zstd(struct packed *p, const uint8_t *data, size_t size)
{
	size_t n = ZSTD_compress(p->bytes + p->count, ROOM - p->count, data, size, 1);

	demand(!ZSTD_isError(n));
	p->count += n;
}

static void pack_xz(struct packed *p, const uint8_t *data, size_t size)
{
	demand(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, data, size, p->bytes, &p->count, ROOM) ==
	       LZMA_OK);
}

static void pack_bzip2(struct packed *p, const uint8_t *data, size_t size)
{
	unsigned room = (unsigned)(ROOM - p->count);

	demand(BZ2_bzBuffToBuffCompress((char *)p->bytes + p->count, &room, (char *)(uintptr_t)data,
					(unsigned)size, 1, 0, 0) == BZ_OK);
	p->count += room;
}

enum { PACKERS = 4 };
static void (*const packers[PACKERS])(struct packed *, const uint8_t *, size_t) = {pack_gzip, pack_zstd,
										   pack_xz, pack_bzip2};

/* Three bytes: where, and what is put there; or that the rest is cut off. */
static void change(struct packed *p, const uint8_t *how)
{
	size_t at = p->count ? (size_t)(how[0] | how[1] << 8) % p->count : 0;

	if (how[2] == 'c')
		p->count = at;
	else if (p->count)
		p->bytes[at] ^= how[2];
}

static struct nm_input *open_bytes(const uint8_t *bytes, size_t count, int *ret_fd)
{
	struct nm_input *input;
	struct nm_error err;
	char path[64];

	*ret_fd = memfd_create("packed", MFD_CLOEXEC);
	demand(*ret_fd >= 0 && write(*ret_fd, bytes, count) == (ssize_t)count);
	snprintf(path, sizeof path, "/proc/self/fd/%d", *ret_fd);
	demand(!input_open(&input, path, &err));
	return input;
}

/* Lines and records in turn; the bytes that came, or -1 after a fault. */
static long long take(struct nm_input *input, int by_lines, const uint8_t *expected, size_t size)
{
	const uint8_t *record;
	struct nm_error err;
	size_t at = 0, n;
	char *line;
	int status;

	for (;;) {
		status =
		    by_lines ? input_line(input, &line, &err) : input_bytes(input, RECORD, &record, &err);
		if (status <= 0)
			break;
		if (!expected) {
			at++;
			continue;
		}
		demand(input_offset(input) == at);
		n = by_lines ? strcspn((const char *)expected + at, "\n") : RECORD;
		demand(at + n <= size && !memcmp(expected + at, by_lines ? (uint8_t *)line : record, n));
		at += n + (by_lines && at + n < size);
	}
	demand(!status || err.code == NM_EFORMAT);
	return status ? -1 : (long long)at;
}

/* Text only, so that a line's length says where it ends. */
static uint8_t *text_of(const uint8_t *data, size_t size)
{
	uint8_t *text = malloc(size + 1);

	demand(text != NULL);
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] && data[i] != '\r' ? data[i] : '.';
	text[size] = 0;
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct packed p;
	size_t changes, half;
	struct nm_input *input;
	uint8_t *text;
	int fd;

	if (size < 2 || size > MOST)
		return 0;
	changes = data[1] % 4;
	if (size < 2 + changes * CHANGE_BYTES)
		return 0;
	text = text_of(data + 2 + changes * CHANGE_BYTES, size -= 2 + changes * CHANGE_BYTES);
	half = size / 2 * (data[1] / 4 % 2);
	p.count = 0;
	if (half)
		packers[data[0] / 8 % PACKERS](&p, text, half);
	packers[data[0] / 8 % PACKERS](&p, text + half, size - half);
	for (size_t i = 0; i < changes; i++)
		change(&p, data + 2 + i * CHANGE_BYTES);
	input = open_bytes(p.bytes, p.count, &fd);
	if (changes)
		take(input, data[0] & 4, NULL, 0);
	else if (data[0] & 4)
		demand(take(input, 1, text, size) == (long long)size);
	else
		demand(take(input, 0, text, size) == (size % RECORD ? -1 : (long long)size));
	input_close(input);
	close(fd);
	free(text);
	return 0;
}
