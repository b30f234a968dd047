/* SPDX-License-Identifier: MIT */
#include "size.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nm_read_size(const char *text, uint64_t *ret)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || errno)
		return 0;
	suffix = *end ? strchr(suffixes, *end) : NULL;
	if (!suffix)
		return !*end;
	*ret <<= 10 * (suffix - suffixes + 1);
	return !end[1] && *ret >> 10 * (suffix - suffixes + 1) == strtoull(text, NULL, 10);
}
