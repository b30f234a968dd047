/* SPDX-License-Identifier: MIT
 *
 * varint.h - variable-length numbers: seven bits per byte, lowest first; bit 7 is set in all bytes but the
 * last.
 */
#ifndef NM_VARINT_H
#define NM_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { NM_VARINT_BYTES = 10 }; /* length of the longest */

/* Returns the number of bytes written. */
static inline size_t nm_varint_put(uint8_t to[NM_VARINT_BYTES], uint64_t n)
{
	size_t count = 0;

	for (; n >= 0x80; n >>= 7)
		to[count++] = (uint8_t)(n | 0x80);
	to[count++] = (uint8_t)n;
	return count;
}

/* Reads a number and moves *at behind it. 0 if it is not complete before `end`, or longer than
 * NM_VARINT_BYTES. */
static inline int nm_varint_get(const uint8_t **at, const uint8_t *end, uint64_t *ret_number)
{
	uint64_t n = 0;

	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_number = n;
			return 1;
		}
	}
	return 0;
}

#endif
