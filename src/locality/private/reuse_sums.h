/* SPDX-License-Identifier: MIT
 *
 * reuse_sums.h - what reuse samples tell of groups of keys: sums of weights, which estimate numbers.
 *
 * Each reference starts a sample, beside those of its further lines, and each that is not cold ends one, beside
 * those that it ends aside. A sample may start with a reference of one group and end with one of another. So
 * cold misses are samples that start here less those that end here, and misses are those that start less hits
 * that end. Sums of w (w - 1) are the variances and covariances of these numbers (Horvitz and Thompson 1952);
 * they are 0 where every reference was chosen. References that are not counted have key 0: they move lines, so
 * that others find them nearer or farther.
 *
 * Only the two keys of a sample decide to which groups it belongs. So samples are summed once by pairs of keys,
 * which are few, and the pairs for each grouping.
 */
#ifndef NM_REUSE_SUMS_H
#define NM_REUSE_SUMS_H

#include "estimator.h"
#include "vector.h"

struct nm_reuse_sum {
	uint64_t samples;
	double starts, ends, hits;
	double starts_squared, starts_ends, starts_hits; /* sums of w (w - 1) */
	double fewer, more; /* hits that may be misses, and misses that may be hits, all at once */
	/* Losses of each replicate: */
	double lost_starts[NM_REPLICATES], lost_hits[NM_REPLICATES];
	double changes[NM_REPLICATES]; /* of misses, by what the samples do not tell, in each replicate */
};

/* Samples that start with one key and end with another. */
struct nm_reuse_pair {
	uint32_t starter, key;
	struct nm_reuse_sum sum;
};

struct nm_reuse_pairs {
	struct nm_vec(struct nm_reuse_pair) list;
	uint32_t *of_sample; /* numbers in the list */
};

/* Finds the pairs of samples, which must not change from then on.  0 or NM_ENOMEM. */
int reuse_pairs_make(struct nm_reuse_pairs *ret_pairs, const struct nm_reuse_samples *samples);
void reuse_pairs_done(struct nm_reuse_pairs *pairs);

/* Sums the samples up anew. Sample i, if it ended, missed with probability miss[i]. */
void reuse_pairs_sum(struct nm_reuse_pairs *pairs, const struct nm_reuse_samples *samples,
		     const double *miss);

/* Sample i, if it ended as a hit, may be a miss with probability `fewer`, or the other way round. */
void reuse_pairs_add_doubt(struct nm_reuse_pairs *pairs, const struct nm_reuse_samples *samples, size_t i,
			   double fewer, double more);

/* Sample i, if it ended, misses with a probability that is larger by so much in each replicate. */
void reuse_pairs_add_changes(struct nm_reuse_pairs *pairs, const struct nm_reuse_samples *samples, size_t i,
			     const double changes[NM_REPLICATES]);

/* Adds them to sums[group] of each group that they belong to, and of group 0, which is all keys. */
void reuse_pairs_add(const struct nm_reuse_pairs *pairs, const struct nm_groups *groups,
		     struct nm_reuse_sum *sums);

/* From sums to an estimate of each group, with these errors of the model. If it is known how many references a
 * group has, misses are corrected by how many too few or too many the samples stand for: the regression
 * estimator (Cochran, Sampling Techniques, 1977, section 7.3); else they are divided by the references that the
 * samples stand for (section 6.3). The interval is that of either, but at least Wilson's (1927) of as many
 * independent samples as would tell as much. */
void reuse_conclude(const struct nm_reuse_sum *sums, const struct nm_groups *groups,
		    const struct nm_model_errors *errors, struct nm_estimate *ret_estimates);

#endif
