/* SPDX-License-Identifier: MIT
 *
 * contended.h - for the cache pass: which variables and fields cores contend for, and the coherence
 * figures.
 *
 * A touch (contention.h) has an address, where another object may lie when the run is over. So the variable
 * of each new touch is found as soon as its batch is simulated, which is at most a queue of batches late,
 * as in the fields pass.
 */
#ifndef NM_CONTENDED_H
#define NM_CONTENDED_H

#include "pass.h"

struct nm_contended;

/* *ret_contended remains NULL if no level of the machine is coherent. one_machine: as in pass.h. 0 or NM_ENOMEM. */
int nm_contended_new(struct nm_contended **ret_contended, const struct nm_hierarchy *hierarchy,
		     unsigned levels, const struct nm_one_machine *one_machine);
void nm_contended_free(struct nm_contended *contended);

/* See the callbacks of a pass (pass.h). */
void nm_contended_released(struct nm_contended *contended, uint64_t address, uint64_t size, uint32_t object);
int nm_contended_retired(struct nm_contended *contended, struct nm_engine *program);
int nm_contended_ending(struct nm_contended *contended, struct nm_engine *program);

/* Adds the figures to the result, before the hierarchy is freed; nm_contended_merge then replaces the
 * batches' attribution keys. 0 or NM_ENOMEM. */
int nm_contended_take(const struct nm_contended *contended, struct nm_result *result);
void nm_contended_merge(const struct nm_pass_merge *merge, struct nm_result *result);

#endif
