/* SPDX-License-Identifier: MIT */
#include "texts.h"

#include <stdlib.h>
#include <string.h>

/* Interns each line of a text without the blanks at its ends. */
static int split_lines(struct nm_diff_source *source, const char *text, struct nm_strings *pool,
		       struct nm_arena *arena)
{
	size_t count = 1, i = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		count++;
	source->lines = nm_arena_alloc(arena, count * sizeof *source->lines);
	if (!source->lines)
		return NM_ENOMEM;
	for (const char *at = text; i < count; i++) {
		size_t all = strcspn(at, "\n"), from = strspn(at, " \t\r\f"), bytes = all;

		if (from > all)
			from = all;
		while (bytes > from && strchr(" \t\r\f", at[bytes - 1]))
			bytes--;
		source->lines[i] = nm_intern_n(pool, at + from, bytes - from);
		if (!source->lines[i])
			return NM_ENOMEM;
		at += all + (at[all] == '\n');
	}
	source->line_count = count;
	return 0;
}

/* The file as it is now, if it is still the one that was recorded. */
static void read_file(struct nm_stored_source *stored, const char *path)
{
	char digest[NM_DIGEST_ROOM], *text;
	int64_t modified;
	size_t bytes;

	if (stored->text || nm_source_read(path, &text, &bytes, &modified))
		return;
	nm_source_digest(text, bytes, digest);
	if (!strcmp(digest, stored->digest))
		stored->text = text;
	else
		free(text);
}

int nm_diff_source_of(struct nm_diff_texts *texts, struct nm_profile *profile, const char *path,
		      struct nm_strings *pool, const struct nm_diff_source **ret_source, struct nm_error *err)
{
	struct nm_diff_source *source = (void *)(uintptr_t)nm_map_get(&texts->source_of, (uintptr_t)path, 0);
	struct nm_stored_source stored = {.text = NULL};
	int found, status = 0;

	*ret_source = source;
	if (source)
		return 0;
	source = nm_arena_alloc(&texts->arena, sizeof *source);
	if (!source || nm_map_put(&texts->source_of, (uintptr_t)path, (uintptr_t)source))
		return nm_fail_memory(err);
	*ret_source = source;
	found = path ? nm_profile_source(profile, path, &stored, err) : 0;
	if (found <= 0)
		return found;
	if (*stored.digest) {
		source->digest = nm_intern(pool, stored.digest);
		read_file(&stored, path);
	}
	if (stored.text)
		status = split_lines(source, stored.text, pool, &texts->arena);
	free(stored.text);
	return status || (*stored.digest && !source->digest) ? nm_fail_memory(err) : 0;
}

void nm_diff_texts_done(struct nm_diff_texts *texts)
{
	nm_arena_done(&texts->arena);
	nm_map_done(&texts->source_of);
}
