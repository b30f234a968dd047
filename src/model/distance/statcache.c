/* SPDX-License-Identifier: MIT
 *
 * statcache.c - StatCache: fully associative caches with random replacement, from reuse samples (Berg and
 * Hagersten, ISPASS 2004).
 *
 * A line is out of a cache of L lines after n misses with probability f(n) = 1 - (1 - 1/L)^n (equation 1). A
 * reference of reuse distance A that comes at miss ratio R has seen A * R misses, so in each time slot R N =
 * sum of h(A) f(A R) (equation 6). N is the number of samples that started in the slot and h their histogram,
 * so that lines which are not touched again count in N alone. R = 0 is a root always; the right side is
 * concave in R, so there is at most one other, and it is there if the slope at 0 is larger than N.
 *
 * The paper's caches are always full. Here a cache evicts nothing before it has been filled: of a reuse
 * distance only the part behind that moment counts. It is the moment when so many samples wait for their
 * lines that, divided by the rate, they are L. Also beyond the paper: references of a slot whose line is not
 * touched again bring in lines that evict others as misses do, so their share is added to R in the argument
 * of f. There are as many of them as cold misses, which are told apart.
 *
 * Intervals: those of independent samples (estimator.h), which they are because they are drawn at random from
 * all references. An error of R in a slot acts on f too, which makes it 1 / (1 - slope) times as large (the
 * delta method).
 */
#include <math.h>
#include <stdlib.h>

#include "bins.h"
#include "errors.h"
#include "estimator.h"
#include "vector.h"

static const struct nm_model_error model_error = {.part = 0.1, .least = 0.0008};
static const double LEAST_LOG = -700;     /* of 1 - 1/L with L = 1, so that products are numbers */
static const double LEAST_DAMPING = 0.05; /* of 1 - slope */

/* Sums over samples of a group in a slot. */
struct slot_sum {
	double f, squares, slope; /* of f, its squares, and its derivatives by R */
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
	struct slot_sum *slot;    /* [groups->count], zeros between slots */
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
static double excess(const struct cache *c, const struct nm_kept_sample *at, size_t n, double ratio,
		     double fresh, double *ret_slope)
{
	double sum = 0, slope = 0;

	for (size_t i = 0, end; i < n && at[i].bin < NM_BINS; i = end) {
		const double distance = exposure(c, &at[i]), misses = distance * (ratio + fresh);

		for (end = i + 1; end < n && at[end].bin == at[i].bin;)
			end++;
		sum += (double)(end - i) * leaves(c->log_stay, misses);
		slope += (double)(end - i) * distance * leaves_slope(c->log_stay, misses);
	}
	*ret_slope = slope / (double)n - 1;
	return sum / (double)n - ratio;
}

/* The largest root in [0, 1]: Newton's steps within a bracket, which is halved where they leave it. The
 * excess is concave and not above 0 at 1, so there is no root but 0 if it does not rise there. */
static double solve(const struct cache *c, const struct nm_kept_sample *at, size_t n, double fresh)
{
	enum { STEPS = 100 };
	static const double precision = 1e-9;
	double low = 0, high = 1, x = 1, slope, y = excess(c, at, n, 0, fresh, &slope);

	if (y <= 0 && slope <= 0)
		return 0;
	for (unsigned i = 0; i < STEPS; i++) {
		const double last = x;

		y = excess(c, at, n, x, fresh, &slope);
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

static void add_to_slot(struct slot_sum *sum, double f, double slope)
{
	sum->f += f;
	sum->squares += f * f;
	sum->slope += slope;
}

/* Adds the samples of a slot to all sums. */
static void add_samples(struct work *w, const struct nm_kept_sample *at, size_t n, double ratio)
{
	for (size_t i = 0; i < n; i++) {
		const uint32_t key = nm_group_of(w->groups, at[i].key);
		double distance, f, slope;

		nm_reuse_sum_start(w->sum, w->groups, at[i].starter);
		if (at[i].bin >= NM_BINS)
			continue;
		distance = exposure(w->cache, &at[i]);
		f = leaves(w->cache->log_stay, distance * ratio);
		slope = distance * leaves_slope(w->cache->log_stay, distance * ratio);
		nm_reuse_sum_end(w->sum, w->groups, &at[i], f);
		if (at[i].key)
			add_to_slot(&w->slot[0], f, slope);
		if (key)
			add_to_slot(&w->slot[key], f, slope);
	}
}

/* The variance of a group's misses grows by that of a slot, whose sums are cleared. error: the deviation of R
 * there. */
static void settle(struct work *w, uint32_t group, double error)
{
	w->sum[group].variance += pow(w->slot[group].slope * error, 2);
	w->slot[group] = (struct slot_sum){0};
}

/* How many of the samples from `at` on are of its slot; *ret_fresh: of those, how many nothing ended. */
static size_t slot_at(const struct nm_reuse_samples *samples, size_t at, size_t *ret_fresh)
{
	size_t end = at, fresh = 0;

	while (end < samples->count && samples->at[end].slot == samples->at[at].slot)
		end++;
	while (fresh < end - at && samples->at[end - 1 - fresh].bin >= NM_BINS)
		fresh++;
	*ret_fresh = fresh;
	return end - at;
}

/* In a slot, the samples that wait become `more` more. */
static int add_waiting(struct statcache *s, double slot, double more)
{
	const uint64_t last = (s->samples->last - 1) / s->samples->slot;
	const size_t at = slot < (double)last ? (size_t)slot : (size_t)last;

	if (nm_vec_reach(&s->touched, at + 1))
		return NM_ENOMEM;
	s->touched.at[at] += more;
	return 0;
}

/* From changes in the number of samples that wait to lines: a line that was touched stays so. */
static void accumulate(struct statcache *s)
{
	const double rate = (double)s->samples->count / (double)s->samples->last;
	double waiting = 0, most = 0;

	for (size_t slot = 0; slot < s->touched.count; slot++) {
		waiting += s->touched.at[slot];
		most = fmax(most, waiting / rate);
		s->touched.at[slot] = most;
	}
}

static int prepare(struct statcache *s)
{
	const struct cache always = {.slot = (double)s->samples->slot};
	int status = 0;
	size_t fresh;

	nm_reuse_samples_sort(s->samples);
	for (size_t i = 0; i < s->samples->count; i += slot_at(s->samples, i, &fresh))
		s->slots++;
	for (size_t i = 0; i < s->samples->count && !status; i++) {
		const struct nm_kept_sample *at = &s->samples->at[i];

		status = add_waiting(s, at->slot, 1);
		if (at->bin < NM_BINS && !status)
			status = add_waiting(s, at->slot + 0.5 + exposure(&always, at) / always.slot, -1);
	}
	accumulate(s);
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
	size_t slot = 0, fresh, n;

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
	for (size_t i = 0; i < s->samples->count; i += n) {
		n = slot_at(s->samples, i, &fresh);
		c.ratios[slot++] = solve(&c, &s->samples->at[i], n, (double)fresh / (double)n);
	}
	return &s->caches.at[s->caches.count - 1];
}

/* Adds the n samples of a slot, whose ratio of misses and new lines is given. */
static void add_slot(struct work *w, const struct nm_kept_sample *at, size_t n, double ratio)
{
	double error;

	add_samples(w, at, n, ratio);
	error = sqrt(fmax(w->slot[0].squares - w->slot[0].f * w->slot[0].f / (double)n, 0)) / (double)n /
		fmax(1 - w->slot[0].slope / (double)n, LEAST_DAMPING);
	for (size_t i = 0; i < n; i++) {
		settle(w, nm_group_of(w->groups, at[i].starter), error);
		settle(w, nm_group_of(w->groups, at[i].key), error);
	}
	settle(w, 0, error);
}

static int estimate(void *self, const struct nm_groups *groups, uint64_t lines, struct nm_estimate *ret)
{
	struct statcache *s = self;
	struct work w = {.groups = groups, .cache = solution(s, lines)};
	const double *ratio = w.cache ? w.cache->ratios : NULL;
	size_t fresh, n;

	w.slot = calloc(groups->count, sizeof *w.slot);
	w.sum = calloc(groups->count, sizeof *w.sum);
	if (!ratio || !w.slot || !w.sum) {
		free(w.slot);
		free(w.sum);
		return NM_ENOMEM;
	}
	for (size_t i = 0; i < s->samples->count; i += n) {
		n = slot_at(s->samples, i, &fresh);
		add_slot(&w, &s->samples->at[i], n, *ratio++ + (double)fresh / (double)n);
	}
	for (uint32_t group = 0; group < groups->count; group++) {
		nm_reuse_conclude(&w.sum[group], &ret[group]);
		nm_estimate_widen(&ret[group], &model_error);
	}
	free(w.slot);
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
