/* SPDX-License-Identifier: MIT
 *
 * shards.c - SHARDS: curves of fully associative LRU caches from sampled lines (Waldspurger et al., FAST
 * 2015).
 *
 * A line is sampled if a hash of its number is below a threshold. Its weight is 1 / the sampling rate. The
 * stack distance of a touch is the sum of the weights of the lines touched since, at most the number of touches
 * since. The touch counts `weight` times. Where hot lines are sampled by chance, or not, touches are too many or
 * too few: shards_counts.c corrects for that. A reference that touches two lines counts both, minus one touch with
 * the smaller distance (Horvitz and Thompson 1952).
 *
 * Extension: each object has its own rate. It is halved, down to the requested rate, while the object has
 * more than SMALL lines, so small objects are exact. A line of several objects is sampled at their highest
 * rate; a touch has the weight of its own object. Beyond MOST_LINES lines in all, shards-size lowers the
 * requested rate, then SMALL. A key has a row for each quarter of an octave of distances; if there are
 * MOST_ROWS rows, touches without one count in the total, and their group's interval is wider. So shards-size
 * needs less than 16 MB for any run.
 *
 * An object's first touch of a line looks cold if only objects of lower rates touched the line before. Such
 * touches are distributed like those of lines that all rates sample, whose true distance is known.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "bins.h"
#include "errors.h"
#include "estimator.h"
#include "map.h"
#include "shards_counts.h"
#include "sort.h"

enum {
	SMALL = 4096,
	MOST_LINES = 1 << 14,
	MOST_ROWS = 1 << 16,
	ONE = 1024, /* units of a weight */
	FIRST_TIMES = 1 << 12,
	FILTER = 1 << 18
};

/* A sampled line. */
struct followed {
	uint64_t line, hash;
	uint64_t last;           /* number of its last touch, among those of all lines */
	uint32_t time;           /* of its last touch, among those of sampled lines; 0: the entry is free */
	uint32_t owner;          /* the object with the highest rate of those that touched it */
	uint32_t next, previous; /* of its owner, or of the free ones: 1 + index; 0: none */
	uint64_t weight;         /* of its owner's lines */
};

struct object {
	uint64_t threshold; /* lines with smaller hashes are sampled */
	uint64_t weight;    /* of these lines */
	uint32_t first;     /* of these lines: 1 + index */
	uint32_t lines;
};

/* Weights of lines, summed, and the variance of the number of lines that they stand for. */
struct lines_sum {
	uint64_t weight, variance;
};

/* What is known of a touch from the sampled lines. */
struct found {
	unsigned bin;    /* of its distance, */
	double distance; /* which is this */
	double blur;     /* the variance of the distance */
	uint64_t most;   /* the distance is at most that */
	uint64_t before; /* the weight of the line's former owner */
};

/* A touch that was counted. */
struct counted {
	double weight; /* 0: no touch was counted */
	unsigned bin;
	double distance;
	unsigned part; /* of its line */
	double alike;  /* as in a row */
	double blur;   /* variance of the distance */
	uint64_t most; /* as in a row */
};

struct shards {
	double rate;    /* the lowest that an object may have */
	int bounded;    /* shards-size: memory is bounded */
	uint32_t small; /* lines that an object may have at a higher rate */
	struct nm_vec(struct object) objects;
	struct nm_vec(uint32_t) object_of; /* [key] */
	uint64_t lowest, heaviest;         /* threshold and weight at the lowest rate of any object */
	struct nm_vec(struct followed) lines;
	uint32_t free, count;   /* of lines */
	struct nm_map by_line;  /* line -> index */
	uint8_t filter[FILTER]; /* number of sampled lines, by hash; counters saturate */
	struct lines_sum *sums; /* Fenwick tree by time */
	uint32_t times, now;    /* capacity, a power of two; the latest time */
	struct nm_shards_counts counts;
	struct nm_map by_bin;   /* key and bin -> row */
	uint64_t seen;          /* touches of all lines */
	struct counted largest; /* of the last reference */
};

/* ---- weights by time ---- */

/* Of a line: it stands for as many as its weight, each sampled or not. */
static uint64_t variance_of(uint64_t weight) { return weight * (weight - ONE) / ((uint64_t)ONE * ONE); }

/* The weight of a line that was touched at this time changes; 0: none. */
static void change_weight(struct shards *s, uint32_t time, uint64_t from, uint64_t to)
{
	const uint64_t variance = (to ? variance_of(to) : 0) - (from ? variance_of(from) : 0);

	for (; time <= s->times; time += time & -time) {
		s->sums[time].weight += to - from;
		s->sums[time].variance += variance;
	}
}

static struct lines_sum sum_up_to(const struct shards *s, uint32_t time)
{
	struct lines_sum sum = {0};

	for (; time; time -= time & -time) {
		sum.weight += s->sums[time].weight;
		sum.variance += s->sums[time].variance;
	}
	return sum;
}

/* Renumbers times in their order, with room for more. */
static int renumber_times(struct shards *s)
{
	struct nm_keyed *order = calloc(s->count + 1, sizeof *order);
	uint32_t times = FIRST_TIMES, n = 0;
	struct lines_sum *sums;

	while (times < 4 * (uint64_t)s->count)
		times *= 2;
	sums = calloc((size_t)times + 1, sizeof *sums);
	for (uint32_t i = 0; order && i < s->lines.count; i++)
		if (s->lines.at[i].time)
			order[n++] = (struct nm_keyed){s->lines.at[i].time, i};
	if (!order || !sums || nm_sort_by_key(order, n)) {
		free(order);
		free(sums);
		return NM_ENOMEM;
	}
	free(s->sums);
	s->sums = sums;
	s->times = times;
	for (s->now = 0; s->now < n; s->now++) {
		struct followed *f = &s->lines.at[order[s->now].value];

		f->time = s->now + 1;
		change_weight(s, f->time, 0, f->weight);
	}
	free(order);
	return 0;
}

/* ---- rates ---- */

static uint8_t *filter_of(struct shards *s, uint64_t hash) { return &s->filter[hash % FILTER]; }

static void link_line(struct shards *s, uint32_t index, uint32_t owner)
{
	struct followed *f = &s->lines.at[index];
	struct object *o = &s->objects.at[owner];

	assert(index < s->lines.count);
	f->owner = owner;
	f->next = o->first;
	f->previous = 0;
	if (o->first)
		s->lines.at[o->first - 1].previous = index + 1;
	o->first = index + 1;
	o->lines++;
}

static void unlink_line(struct shards *s, uint32_t index)
{
	const struct followed *f = &s->lines.at[index];
	struct object *o = &s->objects.at[f->owner];

	assert(index < s->lines.count);
	if (f->previous)
		s->lines.at[f->previous - 1].next = f->next;
	else
		o->first = f->next;
	if (f->next)
		s->lines.at[f->next - 1].previous = f->previous;
	o->lines--;
}

static void drop_line(struct shards *s, uint32_t index)
{
	struct followed *f = &s->lines.at[index];
	uint8_t *filter = filter_of(s, f->hash);

	assert(index < s->lines.count);
	unlink_line(s, index);
	change_weight(s, f->time, f->weight, 0);
	nm_map_remove(&s->by_line, f->line);
	*filter = (uint8_t)(*filter - (*filter < UINT8_MAX));
	f->time = 0;
	f->next = s->free;
	s->free = index + 1;
	s->count--;
}

/* Halves the rate of an object, or lowers it to the lowest rate. */
static void lower_rate(struct shards *s, struct object *o)
{
	const double rate = fmax(s->rate, (double)ONE / (double)o->weight / 2);
	uint32_t at = o->first;

	o->weight = (uint64_t)llround(ONE / rate);
	o->threshold = (uint64_t)(rate * 0x1p64);
	if (o->threshold < s->lowest) {
		s->lowest = o->threshold;
		s->heaviest = o->weight;
	}
	while (at) {
		const uint32_t index = at - 1;
		struct followed *f = &s->lines.at[index];

		at = f->next;
		if (f->hash >= o->threshold) {
			drop_line(s, index);
			continue;
		}
		change_weight(s, f->time, f->weight, o->weight);
		f->weight = o->weight;
	}
}

static int is_large(const struct shards *s, const struct object *o)
{
	return o->lines > s->small && (double)o->weight < ONE / s->rate - 0.5;
}

/* If memory is bounded: lowers the rates of all objects until at most MOST_LINES lines are sampled. */
static void lower_rates(struct shards *s)
{
	while (s->bounded && s->count > MOST_LINES) {
		const uint32_t before = s->count;

		s->rate /= 2;
		for (size_t i = 0; i < s->objects.count; i++)
			while (is_large(s, &s->objects.at[i]))
				lower_rate(s, &s->objects.at[i]);
		if (s->count == before)
			s->small /= 2;
	}
}

/* ---- touches ---- */

static int shards_make(void **ret_self, const struct nm_estimator_setup *setup)
{
	struct shards *s = calloc(1, sizeof *s);

	if (!s)
		return NM_ENOMEM;
	s->rate = setup->rate;
	s->small = SMALL;
	s->lowest = UINT64_MAX;
	s->heaviest = ONE;
	if (nm_vec_reach(&s->counts.rows, NM_SHARDS_BINS) || renumber_times(s)) {
		nm_vec_free(&s->counts.rows);
		free(s);
		return NM_ENOMEM;
	}
	for (uint32_t bin = 0; bin < NM_SHARDS_BINS; bin++)
		s->counts.rows.at[bin].bin = bin;
	*ret_self = s;
	return 0;
}

static int make_bounded(void **ret_self, const struct nm_estimator_setup *setup)
{
	const int status = shards_make(ret_self, setup);

	if (!status)
		((struct shards *)*ret_self)->bounded = 1;
	return status;
}

static void shards_release(void *self)
{
	struct shards *s = self;

	nm_vec_free(&s->objects);
	nm_vec_free(&s->object_of);
	nm_vec_free(&s->counts.doubtful);
	nm_vec_free(&s->counts.lost);
	nm_vec_free(&s->counts.told);
	nm_vec_free(&s->lines);
	nm_vec_free(&s->counts.rows);
	nm_map_done(&s->by_line);
	nm_map_done(&s->by_bin);
	free(s->sums);
	free(s);
}

static int shards_keys(void *self, const uint32_t *objects, size_t count)
{
	struct shards *s = self;

	for (size_t i = 0; i < count; i++) {
		if (nm_vec_push(&s->object_of, objects[i]) || nm_vec_push(&s->counts.doubtful, 0) ||
		    nm_vec_push(&s->counts.lost, 0) || nm_vec_push(&s->counts.told, 0))
			return NM_ENOMEM;
		while (s->objects.count <= objects[i])
			if (nm_vec_push(&s->objects, (struct object){.threshold = UINT64_MAX, .weight = ONE}))
				return NM_ENOMEM;
	}
	return 0;
}

/* touches: 1, or -1 to subtract one. */
static void add_to_row(struct nm_shards_row *r, const struct counted *c, int touches)
{
	r->touches += touches;
	r->weight += touches * c->weight;
	r->blur += touches * c->weight * c->blur;
	r->distance += touches * c->weight * c->distance;
	r->squares += touches * c->weight * c->distance * c->distance;
	r->most = c->most > r->most ? c->most : r->most;
	r->known += c->alike > 0;
	r->alike += (float)c->alike;
	r->parts[c->part] += (float)(touches * c->weight * sqrt(1 - 1 / fmax(c->weight, 1)));
}

/* The first bin of the quarter of an octave that has this bin. */
static unsigned quarter_of(unsigned bin)
{
	const uint64_t distance = bin < NM_BINS ? nm_bin_low(bin) : 0;

	if (distance < 4)
		return bin;
	return nm_bin_of(distance & ~0ull << (61 - __builtin_clzll(distance)));
}

/* *ret_row: the row of a key and a bin; NULL: there is no room for it. */
static int row_of(struct shards *s, uint32_t key, unsigned bin, struct nm_shards_row **ret_row)
{
	const uint64_t name = (uint64_t)key << 16 | bin;
	uint64_t row = nm_map_get(&s->by_bin, name, 0);

	*ret_row = NULL;
	if (!row && s->bounded && s->counts.rows.count == MOST_ROWS)
		return 0;
	if (!row) {
		row = s->counts.rows.count;
		if (nm_vec_push(&s->counts.rows, (struct nm_shards_row){.key = key, .bin = bin}) ||
		    nm_map_put(&s->by_bin, name, row))
			return NM_ENOMEM;
	}
	*ret_row = &s->counts.rows.at[row];
	return 0;
}

static int count_touches(struct shards *s, uint32_t key, const struct counted *c, int touches)
{
	struct nm_shards_row *row;

	add_to_row(&s->counts.rows.at[c->bin], c, touches);
	if (row_of(s, key, quarter_of(c->bin), &row))
		return NM_ENOMEM;
	if (row)
		add_to_row(row, c, touches);
	else
		s->counts.lost.at[key] += touches * c->weight;
	return 0;
}

/* A touch of a line with this hash, by an object with this weight. */
static int count_touch(struct shards *s, uint32_t key, const struct found *f, uint64_t hash, uint64_t weight)
{
	const double more = f->before > weight ? (double)(f->before - weight) / ONE : 0;
	const int doubtful = f->bin == NM_BIN_COLD && hash >= s->lowest;
	const struct counted now = {.weight = (double)weight / ONE,
				    .bin = f->bin,
				    .distance = f->distance,
				    .part = (unsigned)(hash % NM_SHARDS_PARTS),
				    .alike = doubtful ? 0 : more,
				    .blur = f->blur,
				    .most = f->most};
	struct counted both = f->bin < s->largest.bin ? now : s->largest;

	both.weight = now.weight * s->largest.weight;
	both.alike = 0;
	if (doubtful)
		s->counts.doubtful.at[key] += now.weight;
	if (both.weight > 0 && count_touches(s, key, &both, -1))
		return NM_ENOMEM;
	if (!(both.weight > 0) || f->bin > s->largest.bin)
		s->largest = now;
	return count_touches(s, key, &now, 1);
}

/* Begins to sample a line. */
static int follow_line(struct shards *s, uint64_t line, uint64_t hash, uint32_t owner, uint32_t *ret_index)
{
	uint8_t *filter = filter_of(s, hash);
	uint32_t index = s->free - 1;

	if (s->free)
		s->free = s->lines.at[index].next;
	else if (nm_vec_push(&s->lines, (struct followed){0}))
		return NM_ENOMEM;
	else
		index = (uint32_t)s->lines.count - 1;
	s->lines.at[index] =
	    (struct followed){.line = line, .hash = hash, .weight = s->objects.at[owner].weight};
	link_line(s, index, owner);
	*filter = (uint8_t)(*filter + (*filter < UINT8_MAX));
	s->count++;
	*ret_index = index;
	return nm_map_put(&s->by_line, line, index);
}

/* Removes a line's latest time. If the object has a higher rate than the line's owner, it becomes the owner. */
static struct found take_latest(struct shards *s, uint32_t index, uint32_t object)
{
	struct followed *f = &s->lines.at[index];
	const struct object *o = &s->objects.at[object];
	const struct lines_sum all = sum_up_to(s, s->now), before = sum_up_to(s, f->time);
	const uint64_t most = s->seen - f->last - 1, sum = (all.weight - before.weight) / ONE;
	const uint64_t distance = sum < most ? sum : most;
	const struct found found = {.bin = nm_bin_of(distance),
				    .distance = (double)distance,
				    .blur = (double)(all.variance - before.variance),
				    .most = most,
				    .before = f->weight};

	change_weight(s, f->time, f->weight, 0);
	if (o->threshold > s->objects.at[f->owner].threshold) {
		unlink_line(s, index);
		link_line(s, index, object);
		f->weight = o->weight;
	}
	return found;
}

static int touch_line(struct shards *s, const struct nm_line_touch *t, uint64_t hash, uint32_t object)
{
	struct object *o = &s->objects.at[object];
	const int counts = hash < o->threshold;
	uint32_t index = (uint32_t)nm_map_get(&s->by_line, t->line, UINT32_MAX);
	struct found found = {.bin = NM_BIN_COLD, .before = s->heaviest};

	if (index == UINT32_MAX && !counts)
		return 0;
	if (s->now == s->times && renumber_times(s))
		return NM_ENOMEM;
	if (index != UINT32_MAX)
		found = take_latest(s, index, object);
	else if (follow_line(s, t->line, hash, object, &index))
		return NM_ENOMEM;
	s->lines.at[index].time = ++s->now;
	s->lines.at[index].last = s->seen;
	change_weight(s, s->now, 0, s->lines.at[index].weight);
	if (counts && t->key && count_touch(s, t->key, &found, hash, o->weight))
		return NM_ENOMEM;
	while (is_large(s, o))
		lower_rate(s, o);
	lower_rates(s);
	return 0;
}

static int shards_touch(void *self, const struct nm_line_touch *touches, size_t count)
{
	struct shards *s = self;

	for (size_t i = 0; i < count; i++) {
		const uint32_t object = s->object_of.at[touches[i].key];
		const uint64_t hash = nm_mix64(touches[i].line);

		s->seen++;
		s->counts.told.at[touches[i].key] += !touches[i].same;
		if (!touches[i].same)
			s->largest.weight = 0;
		if (hash >= s->objects.at[object].threshold && !*filter_of(s, hash))
			continue;
		if (touch_line(s, &touches[i], hash, object))
			return NM_ENOMEM;
	}
	return 0;
}

static int shards_estimate_ratios(void *self, const struct nm_groups *groups, uint64_t lines,
				  struct nm_estimate *ret)
{
	const struct shards *s = self;

	return shards_estimate(&s->counts, groups, lines, (double)s->heaviest / ONE, ret);
}

const struct nm_estimator nm_estimator_shards = {
    .name = "shards",
    .policy = "lru",
    .summary = "LRU, from some lines at a fixed rate (Waldspurger 2015)",
    .make = shards_make,
    .touch = shards_touch,
    .keys = shards_keys,
    .estimate = shards_estimate_ratios,
    .free = shards_release};

const struct nm_estimator nm_estimator_shards_size = {
    .name = "shards-size",
    .policy = "lru",
    .summary = "LRU, from some lines in a fixed size of memory (Waldspurger 2015)",
    .make = make_bounded,
    .touch = shards_touch,
    .keys = shards_keys,
    .estimate = shards_estimate_ratios,
    .free = shards_release};
