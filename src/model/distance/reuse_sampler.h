/* SPDX-License-Identifier: MIT
 *
 * reuse_sampler.h - chooses references at random and watches their lines until they are touched again (Berg
 * and Hagersten 2004, section 2.3).
 *
 * The gaps between references that are chosen are geometric, so each is chosen with the same probability
 * whatever the others are. A reference that touches several lines has the first one watched. A line may be
 * watched for several samples at a time.
 */
#ifndef NM_REUSE_SAMPLER_H
#define NM_REUSE_SAMPLER_H

#include "estimator.h"

struct nm_reuse_sampler;

/* rate: in (0, 1]; the samples are borrowed.  NULL: out of memory. */
struct nm_reuse_sampler *nm_reuse_sampler_new(struct nm_reuse_samples *samples, double rate, uint64_t seed);
void nm_reuse_sampler_free(struct nm_reuse_sampler *sampler);

/* The next reference, with the lines that it touches; `first` only of the first of them.  0 or NM_ENOMEM. */
int nm_reuse_sampler_touch(struct nm_reuse_sampler *sampler, uint64_t line, uint32_t key, int first);

/* The end: lines that are still watched were not touched again. */
int nm_reuse_sampler_finish(struct nm_reuse_sampler *sampler);

#endif
