/* SPDX-License-Identifier: MIT
 *
 * pass_distances.c - stack and reuse distances (stack.h) of every reference, by its attribution and that of
 * the previous touch of the line. Lines are those of the first data level.
 *
 * The references of all threads are one stream. References at distance 0, to the line touched last, are not
 * counted: their number is that of all references of an attribution less those at other distances.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bins.h"
#include "histograms.h"
#include "pass.h"
#include "set_associative.h"
#include "stack.h"
#include "vector.h"

enum {
	DEFAULT_SHIFT = 6 /* of machines without data caches */,
	TOUCHES = 256 /* that are counted at a time */
};

struct distances {
	const struct nm_coalesced_table *coalesced;
	struct nm_lru_stack *stack;
	struct nm_histograms *histograms;
	/* without their distances yet; the line of the last one may be touched again */
	struct nm_vec(struct nm_touch) touches;
	const struct nm_machine *machine;
	uint64_t limit;      /* lines; 0: none */
	unsigned shift;      /* of addresses to lines */
	uint64_t references; /* so far */
};

static void distances_release(void *self)
{
	struct distances *d = self;

	nm_stack_free(d->stack);
	nm_histograms_free(d->histograms);
	nm_vec_free(&d->touches);
	free(d);
}

static int distances_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	const struct nm_engine_options *options = setup->options;
	const struct nm_level_spec *level = nm_machine_data_cache(options->machine);
	struct distances *d;

	if (!options->distances)
		return 0;
	d = calloc(1, sizeof *d);
	if (!d)
		return nm_fail_memory(err);
	d->coalesced = setup->coalesced;
	d->machine = options->machine;
	d->shift = level ? (unsigned)__builtin_ctz(level->line) : DEFAULT_SHIFT;
	d->limit = options->distance_limit >> d->shift;
	d->stack = nm_stack_new(d->limit);
	d->histograms = nm_histograms_new();
	if (!d->stack || !d->histograms) {
		distances_release(d);
		return nm_fail_memory(err);
	}
	*ret_self = d;
	return 0;
}

static int count_references(struct distances *d, size_t n)
{
	if (nm_stack_touch(d->stack, d->touches.at, n) || nm_histograms_add(d->histograms, d->touches.at, n))
		return NM_ENOMEM;
	memmove(d->touches.at, d->touches.at + n, (d->touches.count - n) * sizeof *d->touches.at);
	d->touches.count -= n;
	return 0;
}

/* Counts all touches but those of the last reference. */
static int count_most(struct distances *d)
{
	const struct nm_touch *at = d->touches.at;
	size_t n = d->touches.count - 1;

	while (n && at[n - 1].first == at[n].first)
		n--;
	return count_references(d, n);
}

static int is_top(const struct distances *d, uint64_t line)
{
	return d->touches.count && d->touches.at[d->touches.count - 1].line == line;
}

/* The line touched last was touched again; the latest time by the last reference, of `key`. */
static void touch_again(struct distances *d, uint32_t key)
{
	struct nm_touch *top = &d->touches.at[d->touches.count - 1];

	top->last = d->references;
	top->last_key = key;
}

static int touch_line(struct distances *d, uint64_t line, uint32_t key)
{
	struct nm_touch *t;

	if (is_top(d, line)) {
		touch_again(d, key);
		return 0;
	}
	if (nm_vec_reserve(&d->touches, 1))
		return NM_ENOMEM;
	t = &d->touches.at[d->touches.count++];
	t->line = line;
	t->first = t->last = d->references;
	t->key = t->last_key = key;
	return 0;
}

/* A reference that is not coalesced, to all of its lines. */
static int touch_lines(struct distances *d, const struct nm_ref *r)
{
	const uint64_t end = (r->address + r->size - 1) >> d->shift;
	int status = d->touches.count < TOUCHES ? 0 : count_most(d);

	d->references++;
	for (uint64_t line = r->address >> d->shift; line <= end && !status; line++)
		status = touch_line(d, line, r->attr);
	return status;
}

/* A coalesced access within one line: only its first and last reference matter. */
static int touch_once(struct distances *d, const struct nm_ref *r)
{
	const struct nm_coalesced *c = nm_coalesced_at(d->coalesced, r->attr);

	if (d->touches.count >= TOUCHES && count_most(d))
		return NM_ENOMEM;
	d->references++;
	if (touch_line(d, r->address >> d->shift, c->member[0].attr))
		return NM_ENOMEM;
	d->references += c->members - 1;
	touch_again(d, c->member[c->members - 1].attr);
	return 0;
}

static int touch_each(struct distances *d, const struct nm_ref *r)
{
	struct nm_ref refs[NM_COALESCED_MAX];
	const unsigned n = nm_pass_expand(d->coalesced, r, refs);
	int status = 0;

	for (unsigned k = 0; k < n && !status; k++)
		status = touch_lines(d, &refs[k]);
	return status;
}

/* The key of its last reference. */
static uint32_t last_key(const struct distances *d, const struct nm_ref *r)
{
	const struct nm_coalesced *c;

	if (!nm_ref_is_coalesced(r))
		return r->attr;
	c = nm_coalesced_at(d->coalesced, r->attr);
	return c->member[c->members - 1].attr;
}

static int distances_batch(void *self, const struct nm_pass_batch *b)
{
	struct distances *d = self;
	const struct nm_ref *again = NULL;
	int status = 0;

	for (size_t i = 0; i < b->count && !status; i++) {
		const struct nm_ref *r = &b->refs[i];
		const uint64_t line = r->address >> d->shift;
		const int within = (r->address + r->size - 1) >> d->shift == line;

		if (r->kind == NM_REF_FETCH)
			continue;
		if (within && is_top(d, line)) {
			d->references += r->weight;
			again = r;
			continue;
		}
		if (again)
			touch_again(d, last_key(d, again));
		again = NULL;
		if (!nm_ref_is_coalesced(r))
			status = touch_lines(d, r);
		else
			status = within ? touch_once(d, r) : touch_each(d, r);
	}
	if (again)
		touch_again(d, last_key(d, again));
	return status;
}

/* ---- the result ----------------------------------------------------------------------------------- */

static void add_row(struct nm_result *result, struct nm_result_distance row)
{
	if (row.count)
		result->distances[result->distance_count++] = row;
}

/* `references` of each attribution; those that no row counts have distance 0. */
static void fill_histograms(struct nm_result *result, const struct nm_pass_merge *merge,
			    const struct nm_bin_count *rows, size_t count, uint64_t *references)
{
	for (size_t i = 0; i < count; i++) {
		const uint32_t attr = merge->keys[rows[i].key];

		if (!nm_pass_counts_key(merge, result, rows[i].key))
			continue;
		add_row(result, (struct nm_result_distance){
				    .attr = attr,
				    .previous = rows[i].previous ? merge->keys[rows[i].previous] : UINT32_MAX,
				    .bin = rows[i].bin,
				    .unit = rows[i].unit,
				    .count = rows[i].count});
		if (rows[i].unit == NM_DISTANCE_LINES) {
			assert(references[attr] >= rows[i].count);
			references[attr] -= rows[i].count;
		}
	}
	for (uint32_t attr = 0; attr < result->attr_count; attr++)
		for (uint8_t unit = NM_DISTANCE_LINES; unit <= NM_DISTANCE_REFERENCES; unit++)
			add_row(result,
				(struct nm_result_distance){attr, UINT32_MAX, 0, unit, references[attr]});
}

/* Of a reference whose distance is in the middle of a bin. */
static double miss_probability(const struct nm_level_spec *level, unsigned bin)
{
	if (bin >= NM_BINS)
		return 1;
	return nm_set_associative_miss(nm_bin_low(bin) + (nm_bin_high(bin) - nm_bin_low(bin)) / 2,
				       level->sets, level->ways);
}

/* Adds the misses of each object that its distances predict at a level with LRU sets: view `predictions`. */
static int predict_level(struct nm_result *result, const struct nm_level_spec *level)
{
	double *misses = calloc(result->object_count + 1, sizeof *misses);
	int status = misses ? 0 : NM_ENOMEM;

	for (size_t i = 0; i < result->distance_count && !status; i++) {
		const struct nm_result_distance *r = &result->distances[i];

		if (r->unit == NM_DISTANCE_LINES)
			misses[result->attrs[r->attr].object] +=
			    (double)r->count * miss_probability(level, r->bin);
	}
	for (uint32_t o = 0; o < result->object_count && !status; o++)
		if (misses[o] >= 0.5)
			status = nm_result_add_figure(result, "predicted misses", level->name, o,
						      (uint64_t)llround(misses[o]));
	free(misses);
	return status;
}

static int predict_levels(struct nm_result *result, const struct nm_machine *machine)
{
	int status = 0;

	for (unsigned i = 0; i < machine->count && machine->cores <= 1 && !status; i++) {
		const struct nm_level_spec *level = &machine->levels[i];

		if (!level->policy && !level->pages && !*level->plugin && level->side != NM_SIDE_INSTRUCTION)
			status = predict_level(result, level);
	}
	return status;
}

static int distances_finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct distances *d = self;
	struct nm_bin_count *rows;
	uint64_t *references;
	size_t count_of_rows;
	int status = 0;

	if (count_references(d, d->touches.count) || nm_histograms_list(d->histograms, &rows, &count_of_rows))
		return NM_ENOMEM;
	references = nm_pass_references(merge, result);
	result->distances = calloc(count_of_rows + 2 * result->attr_count + 1, sizeof *result->distances);
	if (references && result->distances) {
		fill_histograms(result, merge, rows, count_of_rows, references);
		result->distance_line = 1u << d->shift;
		result->distance_limit = d->limit;
		status = predict_levels(result, d->machine);
	} else {
		status = NM_ENOMEM;
	}
	free(references);
	free(rows);
	return status;
}

const struct nm_pass nm_pass_distances = {.name = "distances",
					  .separate = 1,
					  .make = distances_make,
					  .batch = distances_batch,
					  .finish = distances_finish,
					  .free = distances_release};
