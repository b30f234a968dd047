/* SPDX-License-Identifier: MIT */
#include "tar.h"

#include <string.h>

enum { SIZE_AT = 124, SIZE_BYTES = 12, SUM_AT = 148, SUM_BYTES = 8, TYPE_AT = 156, MAGIC_AT = 257 };

static const char magic[] = {'u', 's', 't', 'a', 'r'};

/* Octal digits, or, from 8 GiB on, GNU's base 256 behind a byte of 0x80. */
static uint64_t header_number(const uint8_t *at, size_t bytes)
{
	uint64_t n = 0;

	if (at[0] == 0x80) {
		for (size_t i = bytes - sizeof n; i < bytes; i++)
			n = n << 8 | at[i];
		return n;
	}
	for (size_t i = 0; i < bytes; i++)
		if (at[i] >= '0' && at[i] <= '7')
			n = n << 3 | (uint64_t)(at[i] - '0');
	return n;
}

static int is_zero(const uint8_t *header)
{
	return !header[0] && !memcmp(header, header + 1, NM_TAR_BLOCK - 1);
}

static int sum_holds(const uint8_t *header)
{
	uint64_t sum = ' ' * SUM_BYTES;

	for (unsigned i = 0; i < NM_TAR_BLOCK; i++)
		if (i < SUM_AT || i >= SUM_AT + SUM_BYTES)
			sum += header[i];
	return sum == header_number(header + SUM_AT, SUM_BYTES);
}

int import_is_tar(const uint8_t *bytes, size_t count)
{
	return count >= NM_TAR_BLOCK && !memcmp(bytes + MAGIC_AT, magic, sizeof magic) && sum_holds(bytes);
}

static const char *begin_member(struct nm_tar *tar)
{
	const uint8_t *h = tar->header;
	const uint8_t type = h[TYPE_AT];

	tar->have = 0;
	if (is_zero(h)) /* the end, padded with zeros */
		return NULL;
	if (!import_is_tar(h, NM_TAR_BLOCK))
		return "the tar archive is damaged";
	tar->data = header_number(h + SIZE_AT, SIZE_BYTES);
	tar->padding = -tar->data % NM_TAR_BLOCK;
	tar->wanted = (type == '0' || !type) && tar->data;
	tar->files += (unsigned)tar->wanted;
	return tar->files > 1 ? "the tar archive holds several files: unpack it, and name one" : NULL;
}

static size_t least_of(uint64_t a, size_t b) { return a < b ? (size_t)a : b; }

size_t tar_filter(struct nm_tar *tar, uint8_t *bytes, size_t count, const char **ret_fault)
{
	size_t kept = 0;

	*ret_fault = NULL;
	for (size_t at = 0, n; at < count && !*ret_fault; at += n) {
		if (tar->data) {
			n = least_of(tar->data, count - at);
			if (tar->wanted)
				memmove(bytes + kept, bytes + at, n);
			kept += tar->wanted ? n : 0;
			tar->data -= n;
		} else if (tar->padding) {
			n = least_of(tar->padding, count - at);
			tar->padding -= n;
		} else {
			n = least_of(NM_TAR_BLOCK - tar->have, count - at);
			memcpy(tar->header + tar->have, bytes + at, n);
			tar->have += n;
			if (tar->have == NM_TAR_BLOCK)
				*ret_fault = begin_member(tar);
		}
	}
	return kept;
}
