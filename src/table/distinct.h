/* SPDX-License-Identifier: MIT
 *
 * distinct.h - names that fit a width and differ where the whole names do.
 *
 * Of names that would be shortened to the same, the second and further ones get a number: "heap…insert #2".
 * The same name is shortened to the same each time.
 */
#ifndef NM_DISTINCT_H
#define NM_DISTINCT_H

#include <stddef.h>

#include "arena.h"
#include "map.h"

/* Initialise with {0}. All names must be requested with the same width. */
struct nm_distinct {
	struct nm_strings pool;
	struct nm_map shown;   /* interned name -> what is shown for it, interned */
	struct nm_map numbers; /* what is shown, interned -> the last number behind it */
};

typedef char *nm_shorten_function(const char *name, size_t width, const char *ellipsis);

/* What to show for a name, owned by `distinct`; NULL: out of memory. A number may make it wider than `width`
 * where it cannot be shortened any more. */
const char *nm_distinct_name(struct nm_distinct *distinct, nm_shorten_function *shorten, const char *name,
			     size_t width, const char *ellipsis);
void nm_distinct_done(struct nm_distinct *distinct);

#endif
