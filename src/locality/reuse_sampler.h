/* SPDX-License-Identifier: MIT
 *
 * reuse_sampler.h - chooses references at random and watches their lines until they are touched again (Berg
 * and Hagersten 2004, section 2.3).
 *
 * Beside the paper: each object has a rate of its own. It starts at 1 and is halved whenever the object has
 * `enough` samples, down to the rate that was asked for; its samples are then thinned to as many as if the
 * rate had been that low from the start. So an object of up to `enough` references has all of them as samples,
 * and another one at least half of `enough`.
 *
 * The gaps between references of an object that are chosen are geometric, so each is chosen with the same
 * probability whatever the others are. All lines that a reference touches are watched, each for a sample of
 * its own: where unaligned accesses walk on, the second line is the one that misses. A line has one watch at
 * most, because its next touch ends it.
 */
#ifndef NM_REUSE_SAMPLER_H
#define NM_REUSE_SAMPLER_H

#include "estimator.h"

struct nm_reuse_sampler;

enum { NM_REUSE_ENOUGH = 4096 /* samples of an object, of analyses */ };

/* rate: in (0, 1]; enough: at least 2; the samples are borrowed.  NULL: out of memory. */
struct nm_reuse_sampler *nm_reuse_sampler_new(struct nm_reuse_samples *samples, double rate, uint32_t enough,
					      uint64_t seed);
void nm_reuse_sampler_free(struct nm_reuse_sampler *sampler);

/* The objects that the next keys are for, from key 0 on, before the touches that have them. 0 or NM_ENOMEM. */
int nm_reuse_sampler_keys(struct nm_reuse_sampler *sampler, const uint32_t *objects, size_t count);

/* The next reference, with the lines that it touches, from `first` to `last`.  0 or NM_ENOMEM. */
int nm_reuse_sampler_touch(struct nm_reuse_sampler *sampler, uint64_t first, uint64_t last, uint32_t key);

/* The end: lines that are still watched were not touched again. */
int nm_reuse_sampler_finish(struct nm_reuse_sampler *sampler);

#endif
