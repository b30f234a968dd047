/* SPDX-License-Identifier: MIT
 *
 * recent_answers.h - a cache of recent answers: profiles do not change while they are viewed, and pages
 * repeat requests.
 */
#ifndef NM_RECENT_ANSWERS_H
#define NM_RECENT_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

/* Number of answers that are kept, and the largest size of each. */
enum { NM_CACHED_ANSWERS = 32, NM_CACHED_BYTES = 1 << 20 };

struct nm_view_cache {
	struct {
		char *key, *text;
		size_t bytes;
		uint64_t used; /* by the clock */
	} at[NM_CACHED_ANSWERS];
	uint64_t clock;
};

/* The text, which is valid until the next change, or NULL. */
const char *nm_view_cache_find(struct nm_view_cache *cache, const char *key, size_t *ret_bytes);

/* Takes over key and text (malloc'ed), in place of the least recently used answer. */
void nm_view_cache_keep(struct nm_view_cache *cache, char *key, char *text, size_t bytes);
void nm_view_cache_done(struct nm_view_cache *cache);

#endif
