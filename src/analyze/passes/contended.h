/* SPDX-License-Identifier: MIT
 *
 * contended.h - for the cache pass: which variables and fields cores contend for, and the coherence figures.
 *
 * A touch (contention.h) is an address, which may mean something else when the run is over. So each is looked
 * at as soon as it is new, a whole queue of batches late, as the fields pass does with its samples.
 */
#ifndef NM_CONTENDED_H
#define NM_CONTENDED_H

#include "pass.h"

struct nm_contended;

/* *ret_contended stays NULL if no level of the machine is coherent.  0 or NM_ENOMEM. */
int nm_contended_new(struct nm_contended **ret_contended, const struct nm_hierarchy *hierarchy,
		     unsigned levels);
void nm_contended_free(struct nm_contended *contended);

/* As the callbacks of a pass. */
void nm_contended_released(struct nm_contended *contended, uint64_t address, uint64_t size, uint32_t object);
int nm_contended_retired(struct nm_contended *contended, struct nm_engine *program);
int nm_contended_ending(struct nm_contended *contended, struct nm_engine *program);

/* While the hierarchy is still there; attribution keys are those of batches until nm_contended_merge. 0 or
 * NM_ENOMEM. */
int nm_contended_take(const struct nm_contended *contended, struct nm_result *result);
void nm_contended_merge(const struct nm_pass_merge *merge, struct nm_result *result);

#endif
