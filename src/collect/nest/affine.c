/* SPDX-License-Identifier: MIT
 *
 * The range of each loop's index follows from the ranges of those around it, that of a sum from its variables'.
 * They may be too wide: then less is known than is true.
 */
#include "affine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define LARGE ((__int128)1 << 61) /* sums of this size are none that are sure not to overflow */

struct range {
	__int128 low, high;
};

struct prover {
	const struct nm_nest *nest;
	struct nm_affine_reference *references;
	struct range slots[NM_NEST_DEPTH];
};

/* 0: a part of the sum may be large. */
static int range_of_sum(const struct prover *p, const struct nm_nest_sum *sum, struct range *ret)
{
	__int128 magnitude = sum->constant < 0 ? -(__int128)sum->constant : sum->constant;
	struct range r = {sum->constant, sum->constant};

	for (unsigned i = 0; i < sum->count; i++) {
		const struct range *slot = &p->slots[sum->term[i].slot];
		const __int128 factor = sum->term[i].factor;
		const __int128 low = factor * (factor > 0 ? slot->low : slot->high);
		const __int128 high = factor * (factor > 0 ? slot->high : slot->low);

		r.low += low;
		r.high += high;
		magnitude += (low < 0 ? -low : low) + (high < 0 ? -high : high);
		if (magnitude > LARGE)
			return 0;
	}
	*ret = r;
	return magnitude <= LARGE;
}

static int range_of_value(const struct prover *p, const struct nm_nest_value *v, struct range *ret)
{
	for (unsigned i = 0; i < v->arms; i++) {
		struct range r = {0};

		if (!range_of_sum(p, &v->arm[i], &r))
			return 0;
		if (!i || (v->kind == NM_NEST_MIN ? r.low < ret->low : r.low > ret->low))
			ret->low = r.low;
		if (!i || (v->kind == NM_NEST_MIN ? r.high < ret->high : r.high > ret->high))
			ret->high = r.high;
	}
	return 1;
}

/* Flattens a reference. 0: it may leave its array. */
static int prove_reference(struct prover *p, uint32_t number)
{
	const struct nm_nest_reference *n = &p->nest->references.at[number];
	const struct nm_nest_array *a = n->array;
	struct nm_affine_reference *to = &p->references[number];

	assert(number < p->nest->references.count);
	to->base = a->address;
	for (unsigned d = 0; d < a->dimensions; d++) {
		const struct nm_nest_sum *sum = &n->subscript[d];
		const uint64_t bytes = (uint64_t)a->dimension[d].stride * a->element;
		struct range r = {0};

		if (!range_of_sum(p, sum, &r) || r.low < a->dimension[d].low || r.high > a->dimension[d].high)
			return 0;
		to->base += ((uint64_t)sum->constant - (uint64_t)a->dimension[d].low) * bytes;
		for (unsigned i = 0; i < sum->count; i++) {
			int64_t *factor = &to->factor[sum->term[i].slot];

			*factor = (int64_t)((uint64_t)*factor + (uint64_t)sum->term[i].factor * bytes);
		}
	}
	return 1;
}

static int prove_node(struct prover *p, const struct nm_nest_node *n);

static int prove_block(struct prover *p, const struct nm_nest_block *b)
{
	int proved = !b->indirect;

	for (uint32_t i = 0; i < b->count && proved; i++)
		proved = prove_reference(p, b->first + i);
	return proved;
}

/* The values that an index has: only whole steps from its start, if that is known. */
static struct range range_of_index(const struct range *from, const struct range *to, __int128 step)
{
	struct range r = step > 0 ? (struct range){from->low, to->high} : (struct range){to->low, from->high};
	const __int128 rest = from->low == from->high ? (r.high - r.low) % (step > 0 ? step : -step) : 0;

	if (r.low <= r.high && step > 0)
		r.high -= rest;
	else if (r.low <= r.high)
		r.low += rest;
	return r;
}

static int prove_loop(struct prover *p, const struct nm_nest_node *loop)
{
	struct range from = {0}, to = {0}, *slot = &p->slots[loop->slot];

	if (loop->block || !range_of_value(p, loop->from, &from) || !range_of_value(p, loop->to, &to))
		return 0;
	*slot = range_of_index(&from, &to, loop->step);
	return slot->low > slot->high || prove_node(p, loop->body); /* or it never runs */
}

static int prove_node(struct prover *p, const struct nm_nest_node *n)
{
	int proved = 1;

	for (; n && proved; n = n->next) {
		if (n->kind == NM_NEST_RUN)
			proved = prove_block(p, n->block);
		else
			proved = n->kind == NM_NEST_LOOP ? prove_loop(p, n) : prove_node(p, n->body);
	}
	return proved;
}

/* ---- areas ---- */

static int by_address(const void *a, const void *b)
{
	const struct nm_nest_array *n = *(struct nm_nest_array *const *)a;
	const struct nm_nest_array *y = *(struct nm_nest_array *const *)b;

	return (n->address > y->address) - (n->address < y->address);
}

static uint64_t last_byte(const struct nm_nest_array *a) { return a->address + a->elements * a->element - 1; }

/* Gives each reference its array's area. */
static int find_areas(const struct nm_nest *nest, uint64_t line, uint64_t limit, unsigned most,
		      struct nm_affine *to)
{
	const size_t count = nest->arrays.count;
	struct nm_nest_array **sorted = calloc(count + 1, sizeof *sorted);
	int status = 0;

	if (!sorted)
		return NM_ENOMEM;
	if (count)
		memcpy(sorted, nest->arrays.at, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, by_address);
	for (size_t i = 0; i < count; i++) {
		to->areas += !i || last_byte(sorted[i - 1]) / line != sorted[i]->address / line;
		for (size_t r = 0; r < nest->references.count; r++)
			if (nest->references.at[r].array == sorted[i])
				to->references[r].area = to->areas - 1;
		if (last_byte(sorted[i]) >= limit)
			status = NM_NEST_SIMULATE;
	}
	free(sorted);
	return to->areas > most ? NM_NEST_SIMULATE : status;
}

int nm_affine_new(const struct nm_nest *nest, uint64_t line, uint64_t limit, unsigned most,
		  struct nm_affine *ret)
{
	struct prover p = {.nest = nest,
			   .references = calloc(nest->references.count + 1, sizeof *p.references)};
	struct nm_affine affine = {.references = p.references};
	int status = p.references ? 0 : NM_ENOMEM;

	assert(line && !(line & (line - 1)));
	if (!status)
		status = prove_node(&p, nest->body) ? find_areas(nest, line, limit, most, &affine)
						    : NM_NEST_SIMULATE;
	if (status)
		free(p.references);
	else
		*ret = affine;
	return status;
}

/* ---- motion ---- */

struct motion {
	const struct nm_affine *affine;
	uint64_t slots[NM_NEST_DEPTH]; /* that indices move by */
	uint8_t *is_touched;
	int64_t *moves;
};

/* Whether all sums of a bound move alike. */
static int bound_moves(const struct motion *m, const struct nm_nest_value *v, uint64_t *move)
{
	for (unsigned i = 0; i < v->arms; i++) {
		uint64_t sum = 0;

		for (unsigned k = 0; k < v->arm[i].count; k++)
			sum += (uint64_t)v->arm[i].term[k].factor * m->slots[v->arm[i].term[k].slot];
		if (i && sum != *move)
			return 0;
		*move = sum;
	}
	return 1;
}

static int block_moves(struct motion *m, const struct nm_nest_block *b, unsigned depth)
{
	for (uint32_t i = 0; i < b->count; i++) {
		const struct nm_affine_reference *r = &m->affine->references[b->first + i];
		uint64_t move = 0;

		for (unsigned d = 0; d < depth; d++)
			move += (uint64_t)r->factor[d] * m->slots[d];
		if (m->is_touched[r->area] && m->moves[r->area] != (int64_t)move)
			return 0;
		m->is_touched[r->area] = 1;
		m->moves[r->area] = (int64_t)move;
	}
	return 1;
}

static int body_moves(struct motion *m, const struct nm_nest_node *n, unsigned depth)
{
	int alike = 1;

	for (; n && alike; n = n->next) {
		uint64_t from = 0, to = 0;

		if (n->kind == NM_NEST_RUN) {
			alike = block_moves(m, n->block, depth);
			continue;
		}
		if (n->kind == NM_NEST_WARM) {
			alike = body_moves(m, n->body, depth);
			continue;
		}
		alike = bound_moves(m, n->from, &from) && bound_moves(m, n->to, &to) && from == to;
		m->slots[n->slot] = from;
		alike = alike && body_moves(m, n->body, depth + 1);
	}
	return alike;
}

int nm_affine_moves(const struct nm_affine *affine, const struct nm_nest_node *loop, uint8_t *is_touched,
		    int64_t *moves)
{
	struct motion m = {.affine = affine, .is_touched = is_touched, .moves = moves};

	memset(is_touched, 0, affine->areas);
	m.slots[loop->slot] = (uint64_t)loop->step;
	return body_moves(&m, loop->body, loop->slot + 1);
}
