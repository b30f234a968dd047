/* SPDX-License-Identifier: MIT
 *
 * arena.h - arenas, whose memory is freed all at once, and pools of interned strings.
 *
 * An arena serves one lifetime (a run, a pass, a request). Interned strings live in an arena of the
 * pool: equal texts have equal addresses, so they are compared by pointer.
 */
#ifndef NM_ARENA_H
#define NM_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_index.h"

struct nm_arena_block;

struct nm_arena {
	struct nm_arena_block *blocks; /* newest first */
	size_t used;                   /* of the newest */
};

/* Zeroed memory aligned to 16 bytes, or NULL.  {0} is an empty arena. */
void *nm_arena_alloc(struct nm_arena *arena, size_t bytes);
void nm_arena_done(struct nm_arena *arena);

struct nm_strings {
	struct nm_arena arena;
	struct nm_hash_index index; /* of the list */
	const char **list;
	size_t room;
};

/* The stored copy of text (its first n bytes, or less if it ends before), or NULL when memory is
 * exhausted.  {0} is an empty pool. */
const char *nm_intern(struct nm_strings *pool, const char *text);
const char *nm_intern_n(struct nm_strings *pool, const char *text, size_t n);

/* The same of what printf would write, however long. */
const char *nm_intern_format(struct nm_strings *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *nm_intern_vformat(struct nm_strings *pool, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void nm_strings_done(struct nm_strings *pool);

#endif
