/* SPDX-License-Identifier: MIT
 *
 * estimator.h - miss ratios of caches of any size, estimated from a part of the references.
 *
 * An estimator stands on one of two kinds of samples:
 *   - *reuse samples*: references chosen at random, each with the reuse distance to the next touch of its
 *     line. A sampler that is given every reference takes them (reuse_sampler.h), or a collector that sends
 *     nothing else;
 *   - *lines* chosen at random, of which it gets every touch: `touch`.
 * One estimator is a file with a const struct nm_estimator, and a row in estimators.c.
 *
 * Intervals are 95 % ones of two independent errors: what chance of sampling does, and what the model gets
 * wrong however many samples there are. Each file says how it finds the first, and how large the second is,
 * as measured (docs/evaluation/curves.md).
 */
#ifndef NM_ESTIMATOR_H
#define NM_ESTIMATOR_H

#include <stddef.h>
#include <stdint.h>

#define NM_NO_REUSE UINT64_MAX

struct nm_reuse_sample {
	uint64_t start; /* number of the reference where the watch of its line began, from 1 on */
	/* references between it and the next touch (bins.h keeps them); NM_NO_REUSE: none came */
	uint64_t distance;
	uint32_t starter; /* key of that reference */
	uint32_t key;     /* of the one that touched the line next; 0: none did */
	double weight;    /* references that it stands for: 1 / the probability that it was chosen */
	/* Of references that touch several lines: it starts with a further line of one, which has a sample for
	 * its first line too; it ends with a line that is not the one whose last touch is longest ago, by which
	 * a reference hits or misses. */
	int further, aside;
};

/* ---- reuse_samples.c: a list of samples, shared by all estimators that stand on them ---- */

struct nm_kept_sample {
	uint64_t start, distance;
	uint32_t starter, key;
	float weight;
	uint8_t further, aside;
};

struct nm_reuse_samples {
	struct nm_kept_sample *at;
	size_t count, room;
	uint64_t references; /* of the run, as far as the samples tell; whoever knows more may set it */
};

/* In any order.  0 or NM_ENOMEM. */
int nm_reuse_samples_add(struct nm_reuse_samples *samples, const struct nm_reuse_sample *sample);
/* How many samples of equal weights tell as much of the whole (Kish, Survey Sampling, 1965). */
double nm_reuse_samples_effective(const struct nm_reuse_samples *samples);
void nm_reuse_samples_free(struct nm_reuse_samples *samples);

/* What chance does to a figure tells how it changes when a part of the samples is left out, drawn at random: the
 * delete-a-group jackknife (Kott, Journal of Official Statistics 17, 2001). Weights change by less the more
 * probable it was to draw a sample, and not at all where every reference was drawn. */
enum { NM_REPLICATES = 16 };

/* The replicate that leaves a sample out, from 1 on. */
unsigned nm_replicate_without(const struct nm_kept_sample *sample);
/* The part of its weight that a sample loses there. */
double nm_replicate_loss(const struct nm_kept_sample *sample);
/* Its weight in any replicate; replicate 0 has all samples. */
double nm_replicate_weight(const struct nm_kept_sample *sample, unsigned replicate);
/* The variance of a figure, from its changes in the replicates, from the first on. */
double nm_replicate_variance(const double changes[NM_REPLICATES]);

/* ---- estimators ---------------------------------------------------------------------------------- */

/* Whose curve is asked for: of_key[key] is the group of a key, from 1 on, or 0: none. Group 0 of the answer
 * is all keys. */
struct nm_groups {
	const uint32_t *of_key;
	size_t keys;                /* keys are below */
	uint32_t count;             /* of groups, group 0 included */
	const uint64_t *references; /* of each group; NULL: not known, as in sampled recordings */
};

struct nm_estimate {
	double miss_ratio; /* of the group's references, cold misses included; NaN: no sample of it */
	double cold_ratio; /* the part of it that is cold misses */
	double low, high;  /* 95 % interval of miss_ratio */
	uint64_t samples;  /* on which it stands: references, of the group */
};

/* A line that a reference touches. */
struct nm_line_touch {
	uint64_t line;
	uint32_t key;  /* 0: it is not counted */
	uint32_t same; /* 1: by the reference that made the touch before */
};

struct nm_estimator_setup {
	double rate; /* of lines, in (0, 1]; for `touch` */
	/* for those without `touch`; borrowed, complete before the first estimate */
	struct nm_reuse_samples *samples;
};

struct nm_estimator {
	const char *name;    /* as users type it */
	const char *policy;  /* of the caches that it estimates: "lru" or "random" */
	const char *summary; /* a line for --help and documents */
	int (*make)(void **ret_self, const struct nm_estimator_setup *setup); /* 0 or NM_ENOMEM */

	/* Touches of lines, in order; those of the line touched last may be left out. NULL: it stands on
	 * reuse samples. 0 or NM_ENOMEM. */
	int (*touch)(void *self, const struct nm_line_touch *touches, size_t count);

	/* The objects that the next keys are for, from the first that was not announced (key 0, which is
	 * none, is the first of all), before the touches that have them. May be NULL. 0 or NM_ENOMEM. */
	int (*keys)(void *self, const uint32_t *objects, size_t count);

	/* Fully associative caches of so many lines, at least 1: an estimate for each group. 0 or
	 * NM_ENOMEM. Ask for one size of all groupings before you ask for the next larger: what does not
	 * depend on groups is computed once for a size, and starts from the size before. */
	int (*estimate)(void *self, const struct nm_groups *groups, uint64_t lines,
			struct nm_estimate *ret_estimates);
	void (*free)(void *self);
};

extern const struct nm_estimator nm_estimator_statcache, nm_estimator_statstack, nm_estimator_shards,
    nm_estimator_shards_size;

/* All of them; ends with NULL.  By name: NULL if there is none. */
extern const struct nm_estimator *const nm_estimators[];
const struct nm_estimator *nm_estimator_named(const char *name);

/* ---- helpers for estimators ------------------------------------------------------------------------ */

static inline uint32_t nm_group_of(const struct nm_groups *groups, uint32_t key)
{
	return key < groups->keys ? groups->of_key[key] : 0;
}

/* 97.5 % of a normal distribution lie below. */
#define NM_NORMAL_975 1.96
/* And of Student's distribution with NM_REPLICATES - 1 degrees of freedom. */
#define NM_STUDENT_975 2.131

/* The standard deviation of a model's error: a part of the misses that are not cold, and a miss ratio. */
struct nm_model_error {
	double part, least;
};

/* Of the whole, in which the errors of groups cancel, and of a group. */
struct nm_model_errors {
	struct nm_model_error whole, group;
};

/* Widens low and high by that error, within [0, 1]: errors add as their squares. */
void nm_estimate_widen(struct nm_estimate *estimate, const struct nm_model_error *error);

/* Sets low and high to the interval of this variance of the miss ratio, known from as many parts as replicates,
 * within [0, 1]; 0: the ratio itself. */
void nm_estimate_spread(struct nm_estimate *estimate, double variance);

#endif
