/* SPDX-License-Identifier: MIT */
#include "base64.h"

void nm_base64_write(const void *bytes, size_t count, FILE *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *at = bytes;

	for (size_t i = 0; i < count; i += 3) {
		const unsigned left = count - i < 3 ? (unsigned)(count - i) : 3;
		const unsigned word = (unsigned)at[i] << 16 | (left > 1 ? (unsigned)at[i + 1] << 8 : 0) |
				      (left > 2 ? at[i + 2] : 0);

		for (unsigned k = 0; k < 4; k++)
			fputc(k <= left ? digits[word >> (18 - 6 * k) & 63] : '=', out);
	}
}
