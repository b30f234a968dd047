/* SPDX-License-Identifier: MIT
 *
 * schedules.h - further orders in which the threads of a program might have run: the same references, merged
 * with other seeds and simulated in hierarchies of their own, so that coherence can be reported as a range.
 *
 * Everything here belongs to the decoding thread: a merged batch is simulated as soon as it is made.
 */
#ifndef NM_SCHEDULES_H
#define NM_SCHEDULES_H

#include "interleave.h"
#include "pass.h"

struct nm_schedules;

/* Makes the setup's options->schedules - 1 of them; *ret_schedules stays NULL if that is 0, or there is one core.
 * merge: of the first order, of which order, output and arg are replaced. */
int nm_schedules_new(struct nm_schedules **ret_schedules, const struct nm_pass_setup *setup,
		     const struct nm_interleave_setup *merge, struct nm_error *err);
void nm_schedules_free(struct nm_schedules *schedules);

/* As in interleave.h and pass.h; has_uncounted: from here on, references may have weight 0. With NULL they do
 * nothing. */
int nm_schedules_add(struct nm_schedules *schedules, const struct nm_thread_batch *batch, int has_uncounted);
int nm_schedules_drain(struct nm_schedules *schedules);
int nm_schedules_settle(struct nm_schedules *schedules);
int nm_schedules_are_over(const struct nm_schedules *schedules, uint32_t thread);
int nm_schedules_catch_up(struct nm_schedules *schedules); /* simulates what is merged */
int nm_schedules_memory(struct nm_schedules *schedules, const struct nm_range *ranges, size_t count);
int nm_schedules_keys(struct nm_schedules *schedules, const struct nm_attribution *attributions,
		      size_t count);
void nm_schedules_released(struct nm_schedules *schedules, uint64_t address, uint64_t size, uint32_t object);
int nm_schedules_ending(struct nm_schedules *schedules);
int nm_schedules_finish(struct nm_schedules *schedules, const struct nm_pass_merge *merge,
			struct nm_result *result);

#endif
