/* SPDX-License-Identifier: MIT
 *
 * texts.h - the text of source lines, for matching them: from the profile if it has the source, else from the
 * file if that is still the one that was recorded (by its digest).
 */
#ifndef NM_DIFF_TEXTS_H
#define NM_DIFF_TEXTS_H

#include "arena.h"
#include "map.h"
#include "sources.h"
#include "vector.h"

struct nm_diff_source {
	const char *digest; /* interned; NULL: unknown */
	const char **lines; /* interned, without blanks at the ends; NULL: not known */
	size_t line_count;
};

/* The sources of one profile, each read once. Initialise with {0}. */
struct nm_diff_texts {
	struct nm_arena arena;
	struct nm_map source_of; /* interned path -> struct nm_diff_source of the arena */
};

/* The source of a path, which is interned in `pool`. 0, or a code. */
int nm_diff_source_of(struct nm_diff_texts *texts, struct nm_profile *profile, const char *path,
		      struct nm_strings *pool, const struct nm_diff_source **ret_source,
		      struct nm_error *err);
void nm_diff_texts_done(struct nm_diff_texts *texts);

/* The text of a line, from 1; NULL: unknown. */
static inline const char *nm_diff_text_at(const struct nm_diff_source *source, int64_t line)
{
	return line > 0 && (uint64_t)line <= source->line_count ? source->lines[line - 1] : NULL;
}

#endif
