/* SPDX-License-Identifier: MIT
 *
 * exact_loader.h - reads from a profile what each instruction accesses (exact.h).
 */
#ifndef NM_EXACT_LOADER_H
#define NM_EXACT_LOADER_H

#include "exact.h"

/* NM_EINVAL: a profile without instructions; else what opening and reading a profile give. */
int nm_exact_load(struct nm_exact **ret_exact, const char *path, struct nm_symbols *symbols,
		  struct nm_error *err);

/* Whether it could be loaded, by its first rows: 0 or the same. */
int nm_exact_check(const char *path, struct nm_error *err);

#endif
