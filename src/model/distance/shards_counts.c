/* SPDX-License-Identifier: MIT
 *
 * shards_counts.c - see shards_counts.h.
 *
 * Intervals: the variance between buckets of lines gives the design effect, the ratio to the variance of
 * independent touches. Beyond chance of the touches, a distance is off by the sum of w (w - 1) over its lines'
 * weights w (Horvitz and Thompson 1952), taken for each key on average, so touches near a cache's size may be
 * on either side; and touches that look cold may miss or not (Agresti and Coull 1998).
 */
#include "shards_counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

static const double FARTHEST = 2.5; /* standard deviations by which a distance is off */
static const struct nm_model_error model_error = {.part = 0, .least = 0.00001};

static int misses_at(const struct nm_shards_row *r, unsigned bin) { return r->bin >= bin; }

/* The ratio of the variance of all misses to that of independent touches. */
static double design_effect(const struct nm_shards_counts *c, unsigned bin)
{
	double sum = 0, squares = 0, independent = 0, variance;

	for (unsigned b = 0; b < NM_SHARDS_BUCKETS; b++) {
		double misses = 0;

		for (unsigned i = bin; i < NM_SHARDS_BINS; i++)
			misses += c->buckets[b][i];
		sum += misses;
		squares += misses * misses;
	}
	for (unsigned i = bin; i < NM_SHARDS_BINS; i++)
		independent += c->rows.at[i].variance;
	variance = (squares - sum * sum / NM_SHARDS_BUCKETS) * NM_SHARDS_BUCKETS / (NM_SHARDS_BUCKETS - 1);
	return independent > 0 ? fmax(1, variance / independent) : 1;
}

/* Sums over the rows of a group. */
struct group {
	double variance;     /* of its misses, */
	double below, above; /* touches whose distance is below, or above, the cache's size by chance, */
	double doubtful;     /* touches that look cold but may not be, */
	double lost;         /* touches without a row, */
	double known;        /* number of touches as in `struct nm_shards_row`, */
	double alike;        /* number of touches that they represent, */
	double alike_misses, alike_cold; /* of these, misses and cold touches */
};

/* Distances of a key's touches, near a cache's size: sums over touches. */
struct blur {
	double weight, variance;
	double off; /* a distance is off by at most so many lines */
};

/* An array by key of distances up to twice the size; NULL: out of memory. */
static struct blur *blurs_of_keys(const struct nm_shards_counts *c, uint64_t lines, double step)
{
	const unsigned far = nm_bin_of(2 * lines + (uint64_t)step);
	struct blur *blurs = calloc(c->doubtful.count + 1, sizeof *blurs);

	for (size_t i = 0; blurs && i < c->rows.count; i++) {
		const struct nm_shards_row *r = &c->rows.at[i];

		if (r->bin <= far && r->most > nm_bin_low(r->bin)) {
			blurs[r->key].weight += r->weight;
			blurs[r->key].variance += r->blur;
		}
	}
	for (size_t key = 0; blurs && key < c->doubtful.count; key++) {
		struct blur *b = &blurs[key];

		if (b->variance > 0 && b->weight > 0)
			b->off = FARTHEST * sqrt(b->variance / b->weight) + step;
	}
	return blurs;
}

/* The part of a quarter of an octave that lies within [from, to). */
static double part_within(unsigned bin, double from, double to)
{
	const uint64_t distance = nm_bin_low(bin);
	const double low = (double)distance;
	const double width = distance < 4 ? 1 : (double)(1ull << (61 - __builtin_clzll(distance)));

	return fmax(0, fmin(to, low + width) - fmax(from, low)) / width;
}

static void add_blurred(struct group *g, const struct nm_shards_row *r, uint64_t lines, double off)
{
	const double size = (double)lines;

	if (r->bin >= NM_BINS || !(off > 0))
		return;
	g->above += r->weight * part_within(r->bin, size, size + off);
	if (r->most >= lines)
		g->below += r->weight * part_within(r->bin, size - off, size);
}

static void add_row(struct nm_estimate *e, struct group *g, const struct nm_shards_row *r, unsigned bin)
{
	e->samples += (uint64_t)r->touches;
	g->known += r->known;
	g->alike += r->alike;
	if (r->bin == NM_BIN_COLD) {
		e->cold_ratio += r->weight;
		g->alike_cold += r->alike;
	}
	if (misses_at(r, bin)) {
		e->miss_ratio += r->weight;
		g->variance += r->variance;
		g->alike_misses += r->alike;
	}
}

/* Distributes the touches that look cold; returns the variance of the number of those that miss. */
static double resolve_doubtful(struct nm_estimate *e, const struct group *g)
{
	const double missing = g->alike > 0 ? g->alike_misses / g->alike : 1;
	const double cold = g->alike > 0 ? g->alike_cold / g->alike : 1;
	const double n = g->known + 4, share = (missing * g->known + 2) / n;

	e->miss_ratio -= g->doubtful * (1 - missing);
	e->cold_ratio -= g->doubtful * (1 - cold);
	return g->known > 0 ? g->doubtful * g->doubtful * share * (1 - share) / n : 0;
}

/* Touches without a row are taken to miss as often as the others; they may all hit, or miss. */
static void add_lost(struct nm_estimate *e, double lost)
{
	const double scale = lost < 1 ? 1 / (1 - lost) : 1;

	e->high = fmin(1, e->high + lost);
	e->miss_ratio = fmin(e->high, e->miss_ratio * scale);
	e->cold_ratio = fmin(e->miss_ratio, e->cold_ratio * scale);
}

static void conclude(struct nm_estimate *e, uint64_t references, const struct group *g, double effect)
{
	const double n = (double)references;
	double variance;

	if (!references || !e->samples) {
		*e = (struct nm_estimate){.miss_ratio = NAN, .cold_ratio = NAN, .low = 0, .high = 1};
		return;
	}
	variance = g->variance * effect + resolve_doubtful(e, g);
	e->cold_ratio = fmin(1, fmax(0, e->cold_ratio / n));
	e->miss_ratio = fmin(1, fmax(e->cold_ratio, e->miss_ratio / n));
	nm_estimate_spread(e, variance / (n * n));
	nm_estimate_widen(e, &model_error);
	e->low = fmax(0, e->miss_ratio - hypot(e->miss_ratio - e->low, g->above / n));
	e->high = fmin(1, e->miss_ratio + hypot(e->high - e->miss_ratio, g->below / n));
	if (!(g->known > 0))
		e->low = fmax(0, e->low - g->doubtful / n);
	add_lost(e, fmax(0, g->lost / n));
}

static void add_unsure(const struct nm_shards_counts *c, const struct nm_groups *groups, struct group *known)
{
	for (uint32_t key = 1; key < c->doubtful.count; key++) {
		const uint32_t group = nm_group_of(groups, key);

		known[0].doubtful += c->doubtful.at[key];
		if (group) {
			known[group].doubtful += c->doubtful.at[key];
			known[group].lost += c->lost.at[key];
		}
	}
}

int nm_shards_estimate(const struct nm_shards_counts *c, const struct nm_groups *groups, uint64_t lines,
		       double step, struct nm_estimate *ret)
{
	const unsigned bin = nm_bin_of(lines);
	const double effect = design_effect(c, bin);
	struct group *known = calloc(groups->count, sizeof *known);
	struct blur *blurs = blurs_of_keys(c, lines, step);

	if (!known || !blurs) {
		free(known);
		free(blurs);
		return NM_ENOMEM;
	}
	memset(ret, 0, groups->count * sizeof *ret);
	for (size_t i = 0; i < c->rows.count; i++) {
		const struct nm_shards_row *r = &c->rows.at[i];
		const uint32_t group = r->key ? nm_group_of(groups, r->key) : 0;

		if (!r->key || group)
			add_row(&ret[group], &known[group], r, bin);
		if (r->key)
			add_blurred(&known[0], r, lines, blurs[r->key].off);
		if (group)
			add_blurred(&known[group], r, lines, blurs[r->key].off);
	}
	add_unsure(c, groups, known);
	for (uint32_t group = 0; group < groups->count; group++)
		conclude(&ret[group], groups->references[group], &known[group], effect);
	free(known);
	free(blurs);
	return 0;
}
