/* SPDX-License-Identifier: MIT
 *
 * statcache.c - StatCache: fully associative caches with random replacement, from reuse samples (Berg and
 * Hagersten, ISPASS 2004).
 *
 * After n misses, a line has left a cache of L lines with probability f(n) = 1 - (1 - 1/L)^n (equation 1). A
 * reference of reuse distance A at miss ratio R has seen A * R misses, so in each time slot R N = sum of
 * h(A) f(A R) (equation 6). N is the number of references in the slot that the samples stand for, h the
 * histogram of their distances; lines that are not touched again count in N alone. R = 0 is always a root.
 * The right side is concave in R, so there is at most one other root, which exists if the slope at 0 is
 * larger than N.
 *
 * Beyond the paper: a cache evicts nothing before it is full, so only the part of a reuse distance behind
 * that moment counts. It is the moment when the samples that wait for their lines, divided by the rate, are
 * L. And references whose line is not touched again load lines that evict others as misses do, so their share
 * is added to R in the argument of f. Their number is that of the cold misses, which are told apart.
 *
 * Intervals: those of independent samples (estimator.h), because samples are drawn at random from all
 * references. An error of R in a slot acts on f too, which makes it 1 / (1 - slope) times as large (the delta
 * method).
 */
#include <math.h>
#include <stdlib.h>

#include "bins.h"
#include "errors.h"
#include "reuse_sums.h"

static const struct nm_model_errors errors = {.whole = {.part = 0.05, .least = 0.0004},
					      .group = {.part = 0.1, .least = 0.0008}};
static const double LEAST_LOG = -700;     /* of 1 - 1/L with L = 1, so that products are numbers */
static const double LEAST_DAMPING = 0.05; /* of 1 - slope */

/* The samples of a slot: samples[first] and the next ones. */
struct slot {
	size_t first, count;
	double references; /* that they stand for */
	double fresh;      /* per reference, touches that nothing followed */
	double ratio;      /* R of the cache, */
	double error;      /* and its standard deviation */
};

struct statcache {
	struct nm_reuse_samples *samples;
	struct nm_vec(struct slot) slots; /* with samples */
	struct nm_vec(double) touched;    /* lines that were touched up to the end of each slot */
	struct nm_reuse_pairs pairs;
	/* The cache of the last estimate, whatever the groups: */
	uint64_t lines;   /* 0: none yet */
	double log_stay;  /* log(1 - 1/L) */
	double *exposure; /* of each sample, */
	double *misses;   /* f of it, */
	double *slope;    /* and its derivative by R */
};

static int make(void **ret_self, const struct nm_estimator_setup *setup)
{
	struct statcache *s = calloc(1, sizeof *s);

	if (!s)
		return NM_ENOMEM;
	s->samples = setup->samples;
	*ret_self = s;
	return 0;
}

/* f(n); its derivative is (f(n) - 1) log_stay. */
static double leaves(double log_stay, double misses) { return misses > 0 ? -expm1(misses * log_stay) : 0; }

/* References between the touches of a sample, as the middle of its bin. */
static double distance_of(const struct nm_kept_sample *at)
{
	return ((double)nm_bin_low(at->bin) + (double)nm_bin_high(at->bin)) / 2;
}

/* So far as a cache is full then, which this reference fills. */
static double exposure(const struct nm_reuse_samples *samples, const struct nm_kept_sample *at, double full)
{
	const double distance = distance_of(at),
		     behind = (at->slot + 0.5) * (double)samples->slot + distance - full;

	return behind >= distance ? distance : behind > 0 ? behind : 0;
}

/* The sum of h(A) f(A r) / N - R, and its derivative; r: misses and new lines per reference. */
static double excess(const struct statcache *s, const struct slot *slot, double ratio, double *ret_slope)
{
	const struct nm_kept_sample *at = &s->samples->at[slot->first];
	const double *distance = &s->exposure[slot->first];
	double sum = 0, slope = 0;

	for (size_t i = 0, end; i < slot->count && at[i].bin < NM_BINS; i = end) {
		const double f = leaves(s->log_stay, distance[i] * (ratio + slot->fresh));
		double weight = 0;

		for (end = i; end < slot->count && at[end].bin == at[i].bin; end++)
			weight += at[end].weight;
		sum += weight * f;
		slope += weight * distance[i] * (f - 1) * s->log_stay;
	}
	*ret_slope = slope / slot->references - 1;
	return sum / slot->references - ratio;
}

/* The largest root in [0, 1]: Newton's steps from above, within a bracket, which is halved where they leave it.
 * The excess is concave, not below 0 at 0 and not above 0 at 1. */
static double solve(const struct statcache *s, const struct slot *slot, double above)
{
	enum { STEPS = 100 };
	static const double precision = 1e-9;
	double low = 0, high = 1, x = above, slope;

	for (unsigned i = 0; i < STEPS; i++) {
		const double last = x, y = excess(s, slot, x, &slope);

		if (y > 0)
			low = x;
		else
			high = x;
		x -= y / slope;
		if (!(x > low && x < high))
			x = (low + high) / 2;
		if (fabs(x - last) < precision)
			break;
	}
	return x;
}

/* The slot that begins with a sample. */
static struct slot slot_at(const struct nm_reuse_samples *samples, size_t first)
{
	struct slot slot = {.first = first, .ratio = 1};

	for (size_t i = first; i < samples->count && samples->at[i].slot == samples->at[first].slot; i++) {
		slot.count++;
		slot.references += samples->at[i].further ? 0 : samples->at[i].weight;
		slot.fresh += samples->at[i].bin < NM_BINS ? 0 : samples->at[i].weight;
	}
	slot.fresh /= slot.references;
	return slot;
}

/* In a slot, the weight of samples that wait becomes `more` more. */
static int add_waiting(struct statcache *s, double slot, double more)
{
	const uint64_t last = (s->samples->last - 1) / s->samples->slot;
	const size_t at = slot < (double)last ? (size_t)slot : (size_t)last;

	if (nm_vec_reach(&s->touched, at + 1))
		return NM_ENOMEM;
	s->touched.at[at] += more;
	return 0;
}

/* From changes in the weight of samples that wait to lines: a line that was touched stays so. scale: of
 * weights. */
static void accumulate(struct statcache *s, double scale)
{
	double waiting = 0, most = 0;

	for (size_t slot = 0; slot < s->touched.count; slot++) {
		waiting += s->touched.at[slot];
		most = fmax(most, waiting * scale);
		s->touched.at[slot] = most;
	}
}

static int find_slots(struct statcache *s)
{
	int status = 0;

	for (size_t i = 0; i < s->samples->count && !status; i += s->slots.at[s->slots.count - 1].count)
		status = nm_vec_push(&s->slots, slot_at(s->samples, i));
	return status;
}

static int find_touched(struct statcache *s)
{
	double references = 0;
	int status = 0;

	for (size_t i = 0; i < s->samples->count && !status; i++) {
		const struct nm_kept_sample *at = &s->samples->at[i];

		references += at->further ? 0 : at->weight;
		status = add_waiting(s, at->slot, at->weight);
		if (at->bin < NM_BINS && !status)
			status = add_waiting(s, at->slot + 0.5 + distance_of(at) / (double)s->samples->slot,
					     -(double)at->weight);
	}
	if (references > 0)
		accumulate(s, (double)s->samples->last / references);
	return status;
}

static int prepare(struct statcache *s)
{
	const size_t bytes = (s->samples->count + 1) * sizeof(double);

	nm_reuse_samples_sort(s->samples);
	s->exposure = malloc(bytes);
	s->misses = malloc(bytes);
	s->slope = malloc(bytes);
	return s->exposure && s->misses && s->slope && !find_slots(s) && !find_touched(s) &&
		       !nm_reuse_pairs_make(&s->pairs, s->samples)
		   ? 0
		   : NM_ENOMEM;
}

/* The reference by which so many lines have been touched; none: infinity. */
static double reference_of(const struct statcache *s, double lines)
{
	double before = 0;
	size_t slot = 0;

	while (slot < s->touched.count && s->touched.at[slot] < lines)
		before = s->touched.at[slot++];
	if (slot == s->touched.count)
		return INFINITY;
	return ((double)slot + (lines - before) / (s->touched.at[slot] - before)) * (double)s->samples->slot;
}

/* Sets f and its derivative of the samples of a solved slot. */
static void set_misses(struct statcache *s, const struct slot *slot)
{
	const double ratio = slot->ratio + slot->fresh;

	for (size_t i = slot->first; i < slot->first + slot->count; i++) {
		const int again = i > slot->first && s->samples->at[i].bin == s->samples->at[i - 1].bin;

		s->misses[i] = again ? s->misses[i - 1] : leaves(s->log_stay, s->exposure[i] * ratio);
		s->slope[i] = s->exposure[i] * (s->misses[i] - 1) * s->log_stay;
	}
}

/* The standard deviation of a slot's R. */
static double error_of(const struct statcache *s, const struct slot *slot)
{
	double variance = 0, slopes = 0;

	for (size_t i = slot->first; i < slot->first + slot->count; i++) {
		const double weight = s->samples->at[i].weight, off = s->misses[i] - slot->ratio;

		variance += weight * (weight - 1) * off * off;
		slopes += weight * s->slope[i];
	}
	return sqrt(variance) / slot->references / fmax(1 - slopes / slot->references, LEAST_DAMPING);
}

/* Solves for a cache of so many lines. A larger cache misses no more often. */
static void solve_slots(struct statcache *s, uint64_t lines)
{
	const int larger = lines > s->lines;
	const double full = reference_of(s, (double)lines);

	s->lines = lines;
	s->log_stay = fmax(log1p(-1 / (double)lines), LEAST_LOG);
	for (size_t i = 0; i < s->samples->count; i++)
		s->exposure[i] =
		    s->samples->at[i].bin < NM_BINS ? exposure(s->samples, &s->samples->at[i], full) : 0;
	for (size_t i = 0; i < s->slots.count; i++) {
		struct slot *slot = &s->slots.at[i];

		slot->ratio = solve(s, slot, larger ? slot->ratio : 1);
		set_misses(s, slot);
		slot->error = error_of(s, slot);
	}
	nm_reuse_pairs_sum(&s->pairs, s->samples, s->misses);
}

/* The variance of a group's hits grows by that of a slot. slopes: [groups->count], of f by R, summed over a
 * slot; zeros between slots. */
static void add_variance(const struct statcache *s, const struct slot *slot, const struct nm_groups *groups,
			 double *slopes, struct nm_reuse_sum *sums)
{
	const struct nm_kept_sample *at = &s->samples->at[slot->first];
	const double *slope = &s->slope[slot->first];

	double all = 0;

	for (size_t i = 0; i < slot->count; i++) {
		all += at[i].key ? at[i].weight * slope[i] : 0;
		slopes[nm_group_of(groups, at[i].key)] += at[i].weight * slope[i];
	}
	sums[0].variance += pow(all * slot->error, 2);
	slopes[0] = 0;
	for (size_t i = 0; i < slot->count; i++) {
		const uint32_t group = nm_group_of(groups, at[i].key);

		sums[group].variance += pow(slopes[group] * slot->error, 2);
		slopes[group] = 0;
	}
}

static int estimate(void *self, const struct nm_groups *groups, uint64_t lines, struct nm_estimate *ret)
{
	struct statcache *s = self;
	double *slopes = calloc(groups->count, sizeof *slopes);
	struct nm_reuse_sum *sums = calloc(groups->count, sizeof *sums);
	int status = slopes && sums && (s->exposure || !prepare(s)) ? 0 : NM_ENOMEM;

	if (!status) {
		if (lines != s->lines)
			solve_slots(s, lines);
		nm_reuse_pairs_add(&s->pairs, groups, sums);
		for (size_t i = 0; i < s->slots.count; i++)
			add_variance(s, &s->slots.at[i], groups, slopes, sums);
		nm_reuse_conclude(sums, groups, &errors, ret);
	}
	free(slopes);
	free(sums);
	return status;
}

static void release(void *self)
{
	struct statcache *s = self;

	nm_vec_free(&s->slots);
	nm_vec_free(&s->touched);
	nm_reuse_pairs_done(&s->pairs);
	free(s->exposure);
	free(s->misses);
	free(s->slope);
	free(s);
}

const struct nm_estimator nm_estimator_statcache = {
    .name = "statcache",
    .policy = "random",
    .summary = "random replacement, from reuse distances (Berg 2004)",
    .make = make,
    .estimate = estimate,
    .free = release};
