/* SPDX-License-Identifier: MIT
 *
 * Intervals: the variance between parts of the lines, drawn by hash. Beyond chance of the touches, a distance is
 * off by the sum of w (w - 1) over its lines' weights w (Horvitz and Thompson 1952), or as much as those of its
 * key on average, so touches near a cache's size may be on either side; and touches that look cold may miss or not
 * (Agresti and Coull 1998).
 */
#include "shards_counts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"

static const double FARTHEST = 2.5; /* standard deviations by which a distance is off */
static const struct nm_model_errors errors = {.whole = {.part = 0.01, .least = 0.0004},
					      .group = {.part = 0.01, .least = 0.0008}};

static int misses_at(const struct nm_shards_row *r, unsigned bin) { return r->bin >= bin; }

/* Sums over the rows of a group. */
struct group {
	double weight, told; /* references, by its touches and in truth */
	/* as in a row: all, those that miss, and those that are cold */
	double parts[NM_SHARDS_PARTS], missing[NM_SHARDS_PARTS], cold[NM_SHARDS_PARTS];
	double below, above; /* touches whose distance is below, or above, the cache's size by chance, */
	double doubtful;     /* touches that look cold but may not be, */
	double lost;         /* touches without a row, */
	int sampled;         /* not all lines are */
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

/* The part of a row's distances that lies within [from, to): they are taken to be evenly spread, about their mean
 * as far as they are, within the row's quarter of an octave; those of a loop are all there. */
static double part_within(const struct nm_shards_row *r, double from, double to)
{
	const double mean = r->distance / r->weight;
	const double half = sqrt(3 * fmax(0, r->squares / r->weight - mean * mean)) + 0.5;
	const uint64_t distance = nm_bin_low(r->bin);
	const double width = distance < 4 ? 1 : (double)(1ull << (61 - __builtin_clzll(distance)));
	const double low = fmax(mean - half, (double)distance - 0.5);
	const double high = fmin(mean + half, (double)distance + width - 0.5);

	return high > low ? fmax(0, fmin(to, high) - fmax(from, low)) / (high - low) : 0;
}

/* usual: by which distances of the key are off on average; the row's own may be off by more. */
static void add_blurred(struct group *g, const struct nm_shards_row *r, uint64_t lines, double usual)
{
	const double size = (double)lines;
	double off;

	if (r->bin >= NM_BINS || !(usual > 0) || !(r->weight > 0))
		return;
	off = fmax(usual, FARTHEST * sqrt(fmax(0, r->blur / r->weight)));
	g->above += r->weight * part_within(r, size - 0.5, size + off);
	if (r->most >= lines)
		g->below += r->weight * part_within(r, size - off, size - 0.5);
}

static void add_row(struct nm_estimate *e, struct group *g, const struct nm_shards_row *r, unsigned bin)
{
	e->samples += (uint64_t)r->touches;
	g->known += r->known;
	g->alike += r->alike;
	if (r->bin == NM_BIN_COLD) {
		for (unsigned i = 0; i < NM_SHARDS_PARTS; i++)
			g->cold[i] += r->parts[i];
		e->cold_ratio += r->weight;
		g->alike_cold += r->alike;
	}
	g->weight += r->weight;
	for (unsigned i = 0; i < NM_SHARDS_PARTS; i++)
		g->parts[i] += r->parts[i];
	if (misses_at(r, bin)) {
		for (unsigned i = 0; i < NM_SHARDS_PARTS; i++)
			g->missing[i] += r->parts[i];
		e->miss_ratio += r->weight;
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

/* How misses follow touches from part to part of the lines. */
struct spread {
	double touches; /* the standard deviation of all touches */
	double slope;   /* more misses for each touch that a part has more */
	double rest;    /* the variance of all misses beside that */
};

static struct spread find_spread(const double parts[NM_SHARDS_PARTS], const double missing[NM_SHARDS_PARTS])
{
	double touches = 0, misses = 0, squares = 0, products = 0;
	struct spread s = {0};

	for (unsigned i = 0; i < NM_SHARDS_PARTS; i++) {
		touches += parts[i] / NM_SHARDS_PARTS;
		misses += missing[i] / NM_SHARDS_PARTS;
	}
	for (unsigned i = 0; i < NM_SHARDS_PARTS; i++) {
		squares += (parts[i] - touches) * (parts[i] - touches);
		products += (parts[i] - touches) * (missing[i] - misses);
	}
	s.slope = squares > 0 ? fmin(fmax(products / squares, 0), 1) : 0;
	for (unsigned i = 0; i < NM_SHARDS_PARTS; i++)
		s.rest += pow(missing[i] - misses - s.slope * (parts[i] - touches), 2);
	s.rest *= (double)NM_SHARDS_PARTS / (NM_SHARDS_PARTS - 2);
	s.touches = sqrt(squares * NM_SHARDS_PARTS / (NM_SHARDS_PARTS - 1));
	return s;
}

/* Corrects misses by the touches that are too many or too few (the regression estimator: Cochran, Sampling
 * Techniques, 1977, section 7.3). More are missing than the parts differ by where hot lines were not sampled. Those
 * are taken to hit, as in SHARDS-adj. Returns the variance of the misses. */
static double correct_misses(struct nm_estimate *e, struct group *g)
{
	const struct spread misses = find_spread(g->parts, g->missing), cold = find_spread(g->parts, g->cold);
	const double missing = g->told - g->weight, usual = fmin(missing, 2 * misses.touches);

	e->miss_ratio += misses.slope * usual;
	e->cold_ratio += cold.slope * usual;
	g->below = hypot(g->below, misses.slope * (missing - usual));
	g->sampled = misses.touches > 0;
	return misses.rest;
}

static void conclude_group(struct nm_estimate *e, uint64_t references, struct group *g,
			   const struct nm_model_error *error)
{
	const double n = (double)references;
	double variance;

	if (!references || !e->samples) {
		*e = (struct nm_estimate){.miss_ratio = NAN, .cold_ratio = NAN, .low = 0, .high = 1};
		return;
	}
	variance = correct_misses(e, g) + resolve_doubtful(e, g);
	e->cold_ratio = fmin(1, fmax(0, e->cold_ratio / n));
	e->miss_ratio = fmin(1, fmax(e->cold_ratio, e->miss_ratio / n));
	nm_estimate_spread(e, variance / (n * n));
	if (g->sampled)
		nm_estimate_widen(e, error);
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
		known[0].told += (double)c->told.at[key];
		if (group) {
			known[group].told += (double)c->told.at[key];
			known[group].doubtful += c->doubtful.at[key];
			known[group].lost += c->lost.at[key];
		}
	}
}

int shards_estimate(const struct nm_shards_counts *c, const struct nm_groups *groups, uint64_t lines,
		    double step, struct nm_estimate *ret)
{
	const unsigned bin = nm_bin_of(lines);
	struct group *known = calloc(groups->count, sizeof *known);
	struct blur *blurs = blurs_of_keys(c, lines, step);

	assert(lines > 0 && groups->count > 0);
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
		conclude_group(&ret[group], groups->references[group], &known[group],
			       group ? &errors.group : &errors.whole);
	free(known);
	free(blurs);
	return 0;
}
