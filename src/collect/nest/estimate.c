/* SPDX-License-Identifier: MIT
 *
 * estimate.c - about how many references a nest makes, without executing it.
 *
 * The references of a loop are a sum over its iterations. Simpson's rule takes it from the first, the middle and the
 * last one: exact where all iterations make as many, close where their number is a polynomial of the index, as in
 * triangular loops.
 */
#include <math.h>

#include "nest_priv.h"

static int64_t bound(const struct nm_nest_value *v, const int64_t *slots)
{
	int64_t best = 0, value;

	for (unsigned i = 0; i < v->arms; i++)
		if (nm_nest_sum_at(&v->arm[i], slots, &value) &&
		    (!i || (v->kind == NM_NEST_MIN ? value < best : value > best)))
			best = value;
	return best;
}

/* Reads the index arrays of a block, where subscripts stay in them. */
static void read_values(const struct nm_nest *nest, const struct nm_nest_block *b, int64_t *slots)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct nm_nest_reference *r = &nest->references.at[b->first + i];
		uint64_t element = 0;
		int inside = r->slot != 0;

		for (unsigned d = 0; d < r->array->dimensions && inside; d++) {
			const struct nm_nest_dimension *dimension = &r->array->dimension[d];
			int64_t at;

			inside = nm_nest_sum_at(&r->subscript[d], slots, &at) && at >= dimension->low &&
				 at <= dimension->high;
			if (inside)
				element += (uint64_t)(at - dimension->low) * (uint64_t)dimension->stride;
		}
		if (inside)
			slots[r->slot] = r->array->values[element];
	}
}

static double count_list(const struct nm_nest *nest, const struct nm_nest_node *node, int64_t *slots);

static double count_loop(const struct nm_nest *nest, const struct nm_nest_node *loop, int64_t *slots)
{
	static const double weights[] = {1.0 / 6, 4.0 / 6, 1.0 / 6};
	const double step = (double)loop->step;
	double own = 0, from, trips, sum = 0;

	if (loop->block) {
		own = loop->block->count;
		read_values(nest, loop->block, slots);
	}
	from = (double)bound(loop->from, slots);
	trips = floor(((double)bound(loop->to, slots) - from) / step) + 1;
	for (int i = 0; i < 3 && trips >= 1; i++) {
		slots[loop->slot] = (int64_t)(from + step * floor((trips - 1) * i / 2));
		sum += weights[i] * count_list(nest, loop->body, slots);
	}
	return own + (trips >= 1 ? sum * trips : 0);
}

static double count_list(const struct nm_nest *nest, const struct nm_nest_node *node, int64_t *slots)
{
	double sum = 0;

	for (; node; node = node->next) {
		if (node->kind == NM_NEST_LOOP) {
			sum += count_loop(nest, node, slots);
		} else if (node->kind == NM_NEST_WARM) {
			sum += count_list(nest, node->body, slots);
		} else {
			sum += node->block->count;
			read_values(nest, node->block, slots);
		}
	}
	return sum;
}

double nm_nest_estimate(const struct nm_nest *nest)
{
	int64_t slots[NM_NEST_SLOTS] = {0};

	return count_list(nest, nest->body, slots);
}
