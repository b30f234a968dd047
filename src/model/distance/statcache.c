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
#include "estimator.h"
#include "vector.h"

/* Errors of objects are larger than that of the whole, in which they cancel. */
static const struct nm_model_error error_of_whole = {.part = 0.05, .least = 0.0004},
				   error_of_group = {.part = 0.1, .least = 0.0008};
static const double LEAST_LOG = -700;     /* of 1 - 1/L with L = 1, so that products are numbers */
static const double LEAST_DAMPING = 0.05; /* of 1 - slope */

/* The samples of a slot. */
struct slot {
	const struct nm_kept_sample *at;
	size_t count;
	double references; /* that they stand for */
	double fresh;      /* of their touches, those that nothing followed */
};

/* A cache of so many lines. */
struct cache {
	uint64_t lines;
	double log_stay; /* log(1 - 1/L) */
	double full;     /* the number of the reference that fills it */
	double slot;     /* references of a slot */
	double *ratios;  /* R of each slot with samples: the same whatever the groups */
};

struct statcache {
	struct nm_reuse_samples *samples;
	struct nm_vec(struct cache) caches;
	size_t slots;                  /* with samples */
	struct nm_vec(double) touched; /* lines that were touched up to the end of each slot */
};

/* What one estimate works with. */
struct work {
	const struct nm_groups *groups;
	const struct cache *cache;
	double *slope;            /* [groups->count]: of f by R, summed over a slot; zeros between slots */
	struct nm_reuse_sum *sum; /* [groups->count] */
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

/* f(n), and its derivative. */
static double leaves(double log_stay, double misses) { return misses > 0 ? -expm1(misses * log_stay) : 0; }

static double leaves_slope(double log_stay, double misses) { return -log_stay * exp(misses * log_stay); }

/* References between the touches of a sample, as the middle of its bin, so far as the cache is full then. */
static double exposure(const struct cache *c, const struct nm_kept_sample *at)
{
	const double distance = ((double)nm_bin_low(at->bin) + (double)nm_bin_high(at->bin)) / 2;

	return fmax(0, fmin(distance, (at->slot + 0.5) * c->slot + distance - c->full));
}

/* The sum of h(A) f(A r) / N - R, and its derivative; r: misses and new lines per reference. */
static double excess(const struct cache *c, const struct slot *slot, double ratio, double *ret_slope)
{
	const double fresh = slot->fresh / slot->references;
	const struct nm_kept_sample *at = slot->at;
	double sum = 0, slope = 0;

	for (size_t i = 0, end; i < slot->count && at[i].bin < NM_BINS; i = end) {
		const double distance = exposure(c, &at[i]), misses = distance * (ratio + fresh);
		double weight = 0;

		for (end = i; end < slot->count && at[end].bin == at[i].bin; end++)
			weight += at[end].weight;
		sum += weight * leaves(c->log_stay, misses);
		slope += weight * distance * leaves_slope(c->log_stay, misses);
	}
	*ret_slope = slope / slot->references - 1;
	return sum / slot->references - ratio;
}

/* The largest root in [0, 1]: Newton's steps within a bracket, which is halved where they leave it. The
 * excess is concave and not above 0 at 1, so there is no root but 0 if it does not rise there. */
static double solve(const struct cache *c, const struct slot *slot)
{
	enum { STEPS = 100 };
	static const double precision = 1e-9;
	double low = 0, high = 1, x = 1, slope, y = excess(c, slot, 0, &slope);

	if (y <= 0 && slope <= 0)
		return 0;
	for (unsigned i = 0; i < STEPS; i++) {
		const double last = x;

		y = excess(c, slot, x, &slope);
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
static struct slot slot_at(const struct nm_reuse_samples *samples, size_t at)
{
	struct slot slot = {.at = &samples->at[at]};

	for (; at < samples->count && samples->at[at].slot == slot.at->slot; at++) {
		slot.count++;
		slot.references += samples->at[at].further ? 0 : samples->at[at].weight;
		slot.fresh += samples->at[at].bin < NM_BINS ? 0 : samples->at[at].weight;
	}
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

static int prepare(struct statcache *s)
{
	const struct cache always = {.slot = (double)s->samples->slot};
	double references = 0;
	int status = 0;

	nm_reuse_samples_sort(s->samples);
	for (size_t i = 0; i < s->samples->count; i += slot_at(s->samples, i).count)
		s->slots++;
	for (size_t i = 0; i < s->samples->count && !status; i++) {
		const struct nm_kept_sample *at = &s->samples->at[i];

		references += at->further ? 0 : at->weight;
		status = add_waiting(s, at->slot, at->weight);
		if (at->bin < NM_BINS && !status)
			status = add_waiting(s, at->slot + 0.5 + exposure(&always, at) / always.slot,
					     -(double)at->weight);
	}
	if (references > 0)
		accumulate(s, (double)s->samples->last / references);
	return status;
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

/* A cache of so many lines, solved at most once.  NULL: out of memory. */
static const struct cache *solution(struct statcache *s, uint64_t lines)
{
	struct cache c = {.lines = lines,
			  .log_stay = fmax(log1p(-1 / (double)lines), LEAST_LOG),
			  .slot = (double)s->samples->slot};
	size_t solved = 0;

	for (size_t i = 0; i < s->caches.count; i++)
		if (s->caches.at[i].lines == lines)
			return &s->caches.at[i];
	if (!s->slots && prepare(s))
		return NULL;
	c.full = reference_of(s, (double)lines);
	c.ratios = malloc((s->slots + 1) * sizeof *c.ratios);
	if (!c.ratios || nm_vec_push(&s->caches, c)) {
		free(c.ratios);
		return NULL;
	}
	for (size_t i = 0; i < s->samples->count;) {
		const struct slot slot = slot_at(s->samples, i);

		c.ratios[solved++] = solve(&c, &slot);
		i += slot.count;
	}
	return &s->caches.at[s->caches.count - 1];
}

/* A sample's f in a slot with this ratio of misses and new lines, and its derivative by R. */
static double miss_of(const struct cache *c, const struct nm_kept_sample *at, double ratio, double *ret_slope)
{
	const double distance = at->bin < NM_BINS ? exposure(c, at) : 0;

	*ret_slope = distance * leaves_slope(c->log_stay, distance * ratio);
	return leaves(c->log_stay, distance * ratio);
}

/* Adds the samples of a slot to all sums; returns the standard error of the slot's R. */
static double add_samples(struct work *w, const struct slot *slot, double ratio)
{
	const double fresh = slot->fresh / slot->references;
	double variance = 0, slopes = 0, slope = 0, f = 0;

	for (size_t i = 0; i < slot->count; i++) {
		const struct nm_kept_sample *at = &slot->at[i];

		if (!i || at->bin != at[-1].bin)
			f = miss_of(w->cache, at, ratio + fresh, &slope);
		nm_reuse_sum_add(w->sum, w->groups, at, f);
		variance += at->weight * (at->weight - 1) * (f - ratio) * (f - ratio);
		slopes += at->weight * slope;
		if (at->key)
			w->slope[0] += at->weight * slope;
		if (nm_group_of(w->groups, at->key))
			w->slope[nm_group_of(w->groups, at->key)] += at->weight * slope;
	}
	return sqrt(variance) / slot->references / fmax(1 - slopes / slot->references, LEAST_DAMPING);
}

/* The variance of a group's hits grows by that of a slot, whose slope is cleared. error: the deviation of R
 * there. */
static void add_variance(struct work *w, uint32_t group, double error)
{
	w->sum[group].variance += pow(w->slope[group] * error, 2);
	w->slope[group] = 0;
}

static void add_slot(struct work *w, const struct slot *slot, double ratio)
{
	const double error = add_samples(w, slot, ratio);

	add_variance(w, 0, error);
	for (size_t i = 0; i < slot->count; i++)
		add_variance(w, nm_group_of(w->groups, slot->at[i].key), error);
}

static int estimate(void *self, const struct nm_groups *groups, uint64_t lines, struct nm_estimate *ret)
{
	struct statcache *s = self;
	struct work w = {.groups = groups, .cache = solution(s, lines)};
	const double *ratio = w.cache ? w.cache->ratios : NULL;

	w.slope = calloc(groups->count, sizeof *w.slope);
	w.sum = calloc(groups->count, sizeof *w.sum);
	if (!ratio || !w.slope || !w.sum) {
		free(w.slope);
		free(w.sum);
		return NM_ENOMEM;
	}
	for (size_t i = 0; i < s->samples->count;) {
		const struct slot slot = slot_at(s->samples, i);

		add_slot(&w, &slot, *ratio++);
		i += slot.count;
	}
	for (uint32_t group = 0; group < groups->count; group++) {
		nm_reuse_conclude(&w.sum[group], groups->references ? groups->references[group] : 0,
				  &ret[group]);
		nm_estimate_widen(&ret[group], group ? &error_of_group : &error_of_whole);
	}
	free(w.slope);
	free(w.sum);
	return 0;
}

static void release(void *self)
{
	struct statcache *s = self;

	for (size_t i = 0; i < s->caches.count; i++)
		free(s->caches.at[i].ratios);
	nm_vec_free(&s->caches);
	nm_vec_free(&s->touched);
	free(s);
}

const struct nm_estimator nm_estimator_statcache = {
    .name = "statcache",
    .policy = "random",
    .summary = "random replacement, from reuse distances (Berg 2004)",
    .make = make,
    .estimate = estimate,
    .free = release};
