/* SPDX-License-Identifier: MIT
 *
 * namer.h - what names of objects are made of: an address space, the chains that allocated its blocks, and the
 * modules' debug information. The engine has one for its process, and so have samples (samples.h).
 */
#ifndef NM_NAMER_H
#define NM_NAMER_H

#include "attribution.h"
#include "contexts.h"
#include "result.h"
#include "site_facts.h"
#include "space.h"
#include "stored.h"

struct nm_namer {
	/* Borrowed. */
	struct nm_symbols *symbols;
	struct nm_space *space;
	const struct nm_contexts *contexts;
	const struct nm_attributions *attrs;
	const char *const *allocators, *const *pools; /* engine.h */
	size_t allocator_count, pool_count;
	/* Its own. */
	struct nm_stores stores;
	struct nm_site_table site_table;
};

void nm_namer_done(struct nm_namer *namer);

/* Gives all objects unique names; (*ret_index)[object] is the index of the merged object in result->objects. 0 or
 * NM_ENOMEM. */
int nm_namer_objects(struct nm_namer *namer, struct nm_result *result, uint32_t **ret_index);

/* The name that an object would have if the stream ended now: interned. 0 or NM_ENOMEM. */
int nm_namer_unique_name(struct nm_namer *namer, uint32_t object, const char **ret_name);

/* call_names.c: the structure that an object's blocks of `bytes` bytes, or its mapping, are made of, or NULL. */
const struct nm_type *nm_namer_allocated_type(struct nm_namer *namer, const struct nm_object *object,
					      uint64_t bytes);

/* The type of its largest block or mapping as reports show it, "struct node", "double[]"; or NULL. */
const char *nm_namer_allocated_text(struct nm_namer *namer, const struct nm_object *object);

#endif
