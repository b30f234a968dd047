/* SPDX-License-Identifier: MIT
 *
 * name_cache.h - what a store that keeps its answers for later runs knows: where they came from, and those of earlier runs.
 */
#ifndef NM_SYMBOL_NAME_CACHE_H
#define NM_SYMBOL_NAME_CACHE_H

#include "symbol_priv.h"

/* A file as it was when it was looked for. */
struct stamp {
	const char *path;         /* interned */
	uint64_t bytes, modified; /* ns since 1970; both UINT64_MAX: there was none */
};

struct name_cache {
	struct nm_vec(struct stamp) stamps;
	struct nm_vec(uint8_t) notes; /* of earlier runs */
	int unfit;                    /* a stamp is missing */
};

/* stamps.c: whether all files are still as they were stamped; whether stamps tell all that answers depend on. */
int stamps_fit(const struct name_cache *cache);
int stamps_vouch(const struct nm_symbols *symbols);

#endif
