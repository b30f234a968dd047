/* SPDX-License-Identifier: MIT
 *
 * source.h - finds the text of a source file that a profile names.
 */
#ifndef NM_SOURCE_H
#define NM_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "sources.h"

/* Where else to look than where the debug information says. */
struct nm_source_search {
	const char *const *maps; /* "OLD=NEW": what begins with OLD lies under NEW */
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

/* Reads the first of the candidates for a path that can be read: for each map that fits, the mapped path; in
 * each folder, the path and what is left of it when leading folders are dropped, the longest first. With
 * `as_it_is` the path itself too, at the end. 0, NM_ENOENT (none is there) or NM_ENOMEM. */
int nm_source_find(struct nm_source *ret_source, const char *path, const struct nm_source_search *search,
		   int as_it_is);

/* Takes over text (malloc'ed, with room for a NUL behind it), which lies at `path` now. 0 or NM_ENOMEM. */
int nm_source_take(struct nm_source *ret_source, const char *path, char *text, size_t bytes);
void nm_source_done(struct nm_source *source);

/* Line `number`, from 1, or NULL beyond the end. */
const char *nm_source_line(const struct nm_source *source, int64_t number);

/* Whether `map` is OLD=NEW with neither of them empty. */
int nm_source_map_is_valid(const char *map);

#endif
