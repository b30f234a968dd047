/* SPDX-License-Identifier: MIT
 *
 * source.h - finds the text of a source file that a profile names.
 */
#ifndef NM_SOURCE_H
#define NM_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "sources.h"

/* Where to look before the path in the debug information. */
struct nm_source_search {
	const char *const *maps; /* "OLD=NEW": a path that starts with OLD is under NEW */
	size_t map_count;
	const char *const *folders;
	size_t folder_count;
};

struct nm_source {
	char *path;       /* of the file that was read */
	int64_t modified; /* seconds since 1970; 0 of an embedded one */
	char digest[NM_DIGEST_ROOM];
	char *text;         /* lines, each ended by a NUL */
	size_t bytes;       /* of the file */
	const char **lines; /* [line_count] */
	size_t line_count;
};

/* Reads the first candidate for a path that can be read: for each map that fits, the mapped path; in each
 * folder, the path, then the path without more and more of its leading folders; with `as_it_is` the path
 * itself last. 0, NM_ENOENT (there is none) or NM_ENOMEM. */
int nm_source_find(struct nm_source *ret_source, const char *path, const struct nm_source_search *search,
		   int as_it_is);

/* Makes a source of text that was read from `path`. Takes over text (malloc'ed, with room for a NUL behind
 * it). 0 or NM_ENOMEM. */
int nm_source_take(struct nm_source *ret_source, const char *path, char *text, size_t bytes);
void nm_source_done(struct nm_source *source);

/* Line `number`, from 1, or NULL beyond the end. */
const char *nm_source_line(const struct nm_source *source, int64_t number);

/* Whether `map` is OLD=NEW with neither of them empty. */
int nm_source_map_is_valid(const char *map);

#endif
