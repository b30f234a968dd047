/* SPDX-License-Identifier: MIT
 *
 * distinct.c - see distinct.h.
 */
#include "distinct.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The interned text of a name shortened to leave room for " #number", with that; 1: without. */
static const char *numbered_name(struct nm_distinct *d, nm_shorten_function *shorten, const char *name,
				 size_t width, const char *ellipsis, uint64_t number)
{
	char mark[32] = "", *text, *whole = NULL;
	const char *kept = NULL;
	size_t n = 0;

	if (number > 1)
		n = (size_t)snprintf(mark, sizeof mark, " #%llu", (unsigned long long)number);
	text = shorten(name, width > n ? width - n : 1, ellipsis);
	if (text && asprintf(&whole, "%s%s", text, mark) >= 0)
		kept = nm_intern(&d->pool, whole);
	free(whole);
	free(text);
	return kept;
}

const char *nm_distinct_name(struct nm_distinct *d, nm_shorten_function *shorten, const char *name,
			     size_t width, const char *ellipsis)
{
	const char *key = nm_intern(&d->pool, name), *plain, *shown;
	uint64_t number;

	if (!key)
		return NULL;
	shown = (const char *)(uintptr_t)nm_map_get(&d->shown, (uintptr_t)key, 0);
	if (shown)
		return shown;
	plain = shown = numbered_name(d, shorten, name, width, ellipsis, 1);
	if (!plain)
		return NULL;
	number = nm_map_get(&d->numbers, (uintptr_t)plain, 0);
	while (number && shown && nm_map_get(&d->numbers, (uintptr_t)shown, 0))
		shown = numbered_name(d, shorten, name, width, ellipsis, ++number);
	if (!shown || nm_map_put(&d->numbers, (uintptr_t)plain, number ? number : 1) ||
	    (shown != plain && nm_map_put(&d->numbers, (uintptr_t)shown, 1)) ||
	    nm_map_put(&d->shown, (uintptr_t)key, (uintptr_t)shown))
		return NULL;
	return shown;
}

void nm_distinct_done(struct nm_distinct *d)
{
	nm_strings_done(&d->pool);
	nm_map_done(&d->shown);
	nm_map_done(&d->numbers);
}
