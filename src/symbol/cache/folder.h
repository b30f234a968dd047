/* SPDX-License-Identifier: MIT
 *
 * folder.h - the symbol cache of one program: the answers of earlier runs and the files that they depend on.
 */
#ifndef NM_SYMBOL_FOLDER_H
#define NM_SYMBOL_FOLDER_H

#include "symbol_priv.h"

/* A file when it was looked for. */
struct fingerprint {
	const char *path;         /* interned */
	uint64_t bytes, modified; /* ns since 1970; both UINT64_MAX: there was none */
};

struct symbol_cache {
	struct nm_vec(struct fingerprint) fingerprints;
	struct nm_vec(uint8_t) items; /* of earlier runs */
	int incomplete;               /* a fingerprint is missing */
};

/* fingerprints.c: are all files unchanged? Do the fingerprints cover all files that the answers depend on? */
int fingerprints_match(const struct symbol_cache *cache);
int fingerprints_suffice(const struct nm_symbols *symbols);

#endif
