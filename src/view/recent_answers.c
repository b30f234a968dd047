/* SPDX-License-Identifier: MIT */
#include "recent_answers.h"

#include <stdlib.h>
#include <string.h>

const char *nm_view_cache_find(struct nm_view_cache *cache, const char *key, size_t *ret_bytes)
{
	for (unsigned i = 0; i < NM_CACHED_ANSWERS; i++)
		if (cache->at[i].key && !strcmp(cache->at[i].key, key)) {
			cache->at[i].used = ++cache->clock;
			*ret_bytes = cache->at[i].bytes;
			return cache->at[i].text;
		}
	return NULL;
}

void nm_view_cache_keep(struct nm_view_cache *cache, char *key, char *text, size_t bytes)
{
	unsigned oldest = 0;

	for (unsigned i = 1; i < NM_CACHED_ANSWERS; i++)
		if (cache->at[i].used < cache->at[oldest].used)
			oldest = i;
	free(cache->at[oldest].key);
	free(cache->at[oldest].text);
	cache->at[oldest].key = key;
	cache->at[oldest].text = text;
	cache->at[oldest].bytes = bytes;
	cache->at[oldest].used = ++cache->clock;
}

void nm_view_cache_done(struct nm_view_cache *cache)
{
	for (unsigned i = 0; i < NM_CACHED_ANSWERS; i++) {
		free(cache->at[i].key);
		free(cache->at[i].text);
	}
}
