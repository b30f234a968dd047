/* SPDX-License-Identifier: MIT
 *
 * manifest.h - what a hermetic recording pinned, and what it could not: facts for the profile and the trace.
 */
#ifndef NM_MANIFEST_H
#define NM_MANIFEST_H

#include <stddef.h>

#include "environment.h"
#include "errors.h"

enum { NM_MANIFEST_FACTS = 6 };

/* Keys of the view info, in both. */
extern const char *const nm_manifest_keys[NM_MANIFEST_FACTS];

struct nm_manifest {
	char *values[NM_MANIFEST_FACTS]; /* owned; NULL: not known */
};

/* log: the collector's, when the program has ended. 0 or NM_ENOMEM. */
int nm_manifest_make(struct nm_manifest *manifest, const struct nm_environment *environment, int log,
		     struct nm_error *err);
void nm_manifest_done(struct nm_manifest *manifest);

#endif
