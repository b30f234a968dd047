/* SPDX-License-Identifier: MIT
 *
 * pass.h - a pass: one analysis, fed the same batches of references as every other.
 *
 * A pass feeds models and holds their results until the stream ends.  A new analysis is one file
 * pass_<topic>.c and one row in the table of passes.c.  Batches come in program order, from one thread at
 * a time.
 */
#ifndef NM_PASS_H
#define NM_PASS_H

#include <stddef.h>

#include "engine.h"
#include "hierarchy.h"
#include "result.h"

struct nm_pass {
	const char *name;
	int (*make)(void **ret_self, const struct nm_engine_options *options, struct nm_error *err);
	/* next: where the batch lies that comes next, or NULL.  0 or NM_ENOMEM. */
	int (*batch)(void *self, const struct nm_ref *refs, size_t count, const struct nm_ref *next);
	/* Between batches: the memory that can have huge pages is now this.  0 or NM_ENOMEM; NULL: it is no
	 * matter. */
	int (*memory)(void *self, const struct nm_range *ranges, size_t count);
	/* Between batches: another core runs.  NULL: it is no matter. */
	void (*core)(void *self, unsigned core);
	/* Between batches: the instructions of the next attribution keys.  0 or NM_ENOMEM; NULL: they are no
	 * matter. */
	int (*instructions)(void *self, const uint32_t *instructions, size_t count);
	/* The last batch was run, and the engine still knows what its addresses are.  0 or NM_ENOMEM. */
	int (*ending)(void *self);
	/* Adds its part to a result whose attribution keys are the engine's.  attr_count is set already. */
	int (*finish)(void *self, struct nm_result *result);
	void (*free)(void *self);
};

extern const struct nm_pass nm_pass_cache;

const struct nm_pass *const *nm_passes(size_t *ret_count);

#endif
