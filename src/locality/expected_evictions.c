/* SPDX-License-Identifier: MIT
 *
 * The sum over f is concave in R, so there is one root, beside R = 0 where no line is fresh: Newton's steps find
 * the largest. Within a window touches come evenly, so all of a cell are taken to end in its middle.
 */
#include "expected_evictions.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bins.h"
#include "errors.h"

enum {
	PATHS = 1 + NM_REPLICATES,
	FIRST_MOMENTS = 64, /* in the first window, evenly spread over its octaves */
	MOMENTS = 4,        /* in each other window */
	BINS_A_CELL = 4,    /* from the octaves on */
	CELLS = NM_BINS_SINGLE + (NM_BINS - NM_BINS_SINGLE) / BINS_A_CELL
};

static const double LEAST_LOG = -700; /* of 1 - 1/L with L = 1, so that products are numbers */

struct nm_eviction_cell {
	double distance; /* the mean of its samples */
	double weight[PATHS];
};

/* ---- what samples tell, whatever the cache ---- */

static unsigned cell_of(uint64_t distance)
{
	const unsigned bin = nm_bin_of(distance);

	return bin < NM_BINS_SINGLE ? bin : NM_BINS_SINGLE + (bin - NM_BINS_SINGLE) / BINS_A_CELL;
}

/* Fills the cells of a window: all[], which are zeros before and after. */
static int keep_cells(struct nm_evictions *e, struct nm_eviction_cell all[CELLS], uint32_t window)
{
	for (unsigned i = 0; i < CELLS; i++) {
		if (!(all[i].weight[0] > 0))
			continue;
		all[i].distance /= all[i].weight[0];
		if (nm_vec_push(&e->cells, all[i]))
			return NM_ENOMEM;
		all[i] = (struct nm_eviction_cell){0};
	}
	e->first[window + 1] = e->cells.count;
	return 0;
}

static void add_to_cell(struct nm_eviction_cell *cell, const struct nm_kept_sample *at)
{
	const double more = at->weight * nm_replicate_loss(at) / (NM_REPLICATES - 1);

	cell->distance += at->weight * (double)at->distance;
	cell->weight[0] += at->weight;
	for (unsigned r = 1; r < PATHS; r++)
		cell->weight[r] += at->weight + more;
	cell->weight[nm_replicate_without(at)] -= more * NM_REPLICATES;
}

static int make_cells(struct nm_evictions *e, const struct nm_footprint *f)
{
	const struct nm_reuse_samples *samples = f->samples;
	struct nm_eviction_cell *all = calloc(CELLS, sizeof *all);
	uint32_t *next = malloc((samples->count + 1) * sizeof *next), last[NM_WINDOWS];
	int status = all && next ? 0 : NM_ENOMEM;

	memset(last, 0xff, sizeof last);
	for (uint32_t i = 0; i < samples->count && !status; i++) {
		const struct nm_kept_sample *at = &samples->at[i];

		if (at->distance != NM_NO_REUSE) {
			const uint32_t window = footprint_window(f, (double)(at->start + at->distance));

			next[i] = last[window];
			last[window] = i;
		}
	}
	for (uint32_t window = 0; window < f->windows && !status; window++) {
		for (uint32_t i = last[window]; i != UINT32_MAX; i = next[i])
			add_to_cell(&all[cell_of(samples->at[i].distance)], &samples->at[i]);
		status = keep_cells(e, all, window);
	}
	free(all);
	free(next);
	return status;
}

static int make_moments(struct nm_evictions *e)
{
	int status = nm_vec_push(&e->at, 0);

	for (unsigned i = 0; i < FIRST_MOMENTS && !status; i++)
		status = nm_vec_push(&e->at, pow(e->length, (i + 1.0) / FIRST_MOMENTS));
	for (uint32_t window = 1; window < e->windows; window++)
		for (unsigned i = 1; i <= MOMENTS && !status; i++)
			status = nm_vec_push(&e->at, e->length * (window + (double)i / MOMENTS));
	return status;
}

/* Lines are touched for good: where chance lets their number fall, moments share their mean (isotonic regression:
 * Barlow et al., Statistical Inference under Order Restrictions, 1972). */
static void find_touched(struct nm_evictions *e, const struct nm_footprint *f, double *touched)
{
	for (size_t i = 0; i < e->at.count; i++) {
		double sum = touched[i] = footprint_lines(f, 0, e->at.at[i]);
		size_t first = i;

		while (first && touched[first - 1] > sum / (double)(i - first + 1))
			sum += touched[--first];
		for (size_t k = first; k <= i; k++)
			touched[k] = sum / (double)(i - first + 1);
	}
}

int evictions_make(struct nm_evictions *e, struct nm_footprint *f)
{
	double all = 0, references = 0;

	assert(f->windows && f->length > 0);
	*e = (struct nm_evictions){.windows = f->windows, .length = f->length};
	for (size_t i = 0; i < f->samples->count; i++) {
		all += f->samples->at[i].weight;
		references += f->samples->at[i].further ? 0 : f->samples->at[i].weight;
	}
	e->touches = references > 0 ? all / references : 1;
	if (make_cells(e, f) || make_moments(e) ||
	    !(e->touched = malloc(PATHS * e->at.count * sizeof *e->touched)))
		return NM_ENOMEM;
	for (unsigned r = PATHS; r-- > 0;) {
		footprint_weigh(f, r);
		find_touched(e, f, e->touched + r * e->at.count);
	}
	return 0;
}

void evictions_done(struct nm_evictions *e)
{
	nm_vec_free(&e->cells);
	nm_vec_free(&e->at);
	free(e->touched);
}

/* ---- a cache ---- */

/* y at x on the line of segments through (from[i], to[i]), which ascend; beyond it: INFINITY. */
static double interpolate(const double *from, const double *to, size_t count, double x)
{
	size_t low = 1, high = count;

	while (low < high) {
		const size_t mid = (low + high) / 2;

		if (from[mid] < x)
			low = mid + 1;
		else
			high = mid;
	}
	if (low >= count)
		return INFINITY;
	return to[low - 1] + (to[low] - to[low - 1]) * (x - from[low - 1]) / (from[low] - from[low - 1]);
}

double evictions_leave(const struct nm_evictions *e, double evicted)
{
	assert(e->log_stay < 0);
	return evicted > 0 ? -expm1(evicted * e->log_stay) : 0;
}

double evictions_by(const struct nm_evictions *e, unsigned replicate, double reference)
{
	const struct nm_eviction_path *path = &e->paths[replicate];
	const double at = reference / e->length;
	const uint32_t window = at < e->windows ? (uint32_t)at : e->windows - 1;
	const double start = fmax(window * e->length, path->full);

	assert(replicate <= NM_REPLICATES);
	return reference > start ? path->evicted[window] + path->ratio[window] * (reference - start)
				 : path->evicted[window];
}

/* The touches that end in a window once the cache is full, all in the middle of that time. */
struct stretch {
	const struct nm_eviction_cell *cells;
	size_t count;
	unsigned replicate;
	const double *before; /* evictions that a cell's touches have seen before the window */
	double within;        /* references of the window up to the middle */
	double fresh, others; /* lines touched for the first time per reference, and other touches */
	double weight;        /* of all cells */
};

/* By how much the misses that a ratio lets expect exceed it, and the derivative. */
static double excess_misses(const struct nm_evictions *e, const struct stretch *s, double ratio,
			    double *ret_slope)
{
	double sum = 0, slope = 0;

	for (size_t i = 0; i < s->count; i++) {
		const double within = fmin(s->cells[i].distance, s->within);
		const double stays = exp((s->before[i] + within * ratio) * e->log_stay);
		const double weight = s->cells[i].weight[s->replicate];

		sum += weight * (1 - stays);
		slope -= weight * stays * within * e->log_stay;
	}
	*ret_slope = (s->weight > 0 ? s->others * slope / s->weight : 0) - 1;
	return s->fresh + (s->weight > 0 ? s->others * sum / s->weight : 0) - ratio;
}

/* The largest ratio at which both are equal. Above it the excess is negative, and falls: Newton's steps come down
 * to it. A guess that lies below is of no use where the excess rises. */
static double solve_ratio(const struct nm_evictions *e, const struct stretch *s, double guess)
{
	enum { STEPS = 100 };
	static const double precision = 1e-6;
	double x = guess, slope, y = guess > 0 ? excess_misses(e, s, guess, &slope) : 1;

	for (unsigned i = 0; i < STEPS; i++) {
		const double last = x;

		x = y > 0 ? e->touches : fmax(x - y / slope, s->fresh);
		if (last - x < precision * x && last >= x)
			break;
		y = fmin(excess_misses(e, s, x, &slope), 0);
	}
	return x;
}

/* The same in a replicate, near what it is for all samples: one step, unless the excess is too flat there. */
static double solve_near(const struct nm_evictions *e, const struct stretch *s, double whole)
{
	static const double steep = -0.1;
	double slope;
	const double y = excess_misses(e, s, whole, &slope);

	return slope < steep ? fmin(fmax(whole - y / slope, s->fresh), e->touches) : solve_ratio(e, s, whole);
}

/* Follows the cache through a window, in which it is full from `start` on. */
static void follow_window(struct nm_evictions *e, unsigned replicate, uint32_t window, double start,
			  double fresh)
{
	struct nm_eviction_path *path = &e->paths[replicate];
	double before[CELLS];
	struct stretch s = {.cells = &e->cells.at[e->first[window]],
			    .count = e->first[window + 1] - e->first[window],
			    .replicate = replicate,
			    .before = before,
			    .within = ((window + 1) * e->length - start) / 2,
			    .fresh = fresh,
			    .others = e->touches - fresh};

	for (size_t i = 0; i < s.count; i++) {
		const double earlier = s.cells[i].distance - s.within;

		before[i] = earlier > 0
				? path->evicted[window] - evictions_by(e, replicate, fmax(start - earlier, 0))
				: 0;
		s.weight += s.cells[i].weight[replicate];
	}
	path->ratio[window] = replicate && e->paths[0].full <= start
				  ? solve_near(e, &s, e->paths[0].ratio[window])
				  : solve_ratio(e, &s, path->ratio[window]);
	path->evicted[window + 1] =
	    path->evicted[window] + path->ratio[window] * ((window + 1) * e->length - start);
}

static void follow_run(struct nm_evictions *e, unsigned replicate, double lines)
{
	struct nm_eviction_path *path = &e->paths[replicate];
	const double *touched = e->touched + replicate * e->at.count;

	path->full = interpolate(touched, e->at.at, e->at.count, lines);
	path->evicted[0] = 0;
	for (uint32_t window = 0; window < e->windows; window++) {
		const double end = (window + 1) * e->length, start = fmax(window * e->length, path->full);

		path->evicted[window + 1] = path->evicted[window];
		if (start < end) {
			const double lines_before =
					 fmax(interpolate(e->at.at, touched, e->at.count, start), 0),
				     lines_after = interpolate(e->at.at, touched, e->at.count, end);

			follow_window(e, replicate, window, start,
				      fmin(fmax(lines_after - lines_before, 0) / (end - start), e->touches));
		}
	}
}

void evictions_solve(struct nm_evictions *e, uint64_t lines)
{
	assert(lines > 0);
	e->log_stay = fmax(log1p(-1 / (double)lines), LEAST_LOG);
	for (unsigned r = 0; r < PATHS; r++)
		follow_run(e, r, (double)lines);
}
