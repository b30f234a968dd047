/* SPDX-License-Identifier: MIT
 *
 * sources.h - the program's source files in a profile: times, digests, and texts on request.
 */
#ifndef NM_PROFILE_SOURCES_H
#define NM_PROFILE_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "reader.h"

enum { NM_DIGEST_ROOM = 33, NM_SOURCE_LARGEST = 64 << 20 };

/* The sources whose texts a recording stores. */
struct nm_source_choice {
	int embed;                /* any at all */
	const char *const *roots; /* those below one of these folders, links followed; empty: all */
	size_t root_count;
};

struct nm_stored_source {
	char digest[NM_DIGEST_ROOM];   /* MD5, in hexadecimal */
	char compiled[NM_DIGEST_ROOM]; /* MD5 of the file that was compiled; "": unknown */
	int is_newer;                  /* newer than a program or library built from it */
	char *text;                    /* with a NUL behind it; NULL: not embedded */
	size_t bytes;
};

/* Looks a file up, named as in `counts`: 1 if found, 0 if not, or a code. */
int nm_profile_source(struct nm_profile *profile, const char *file, struct nm_stored_source *ret_source,
		      struct nm_error *err);

void nm_source_digest(const void *text, size_t bytes, char *ret_digest);

/* All of a regular file of at most NM_SOURCE_LARGEST bytes, malloc'ed, with a NUL behind it. 0, NM_ENOENT
 * (there is no such file that could be read) or NM_ENOMEM. */
int nm_source_read(const char *path, char **ret_text, size_t *ret_bytes, int64_t *ret_modified);

#endif
