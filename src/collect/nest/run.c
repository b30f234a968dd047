/* SPDX-License-Identifier: MIT
 *
 * run.c - executes a nest, and sends its references as records of the wire.
 *
 * Nearly all time goes into innermost loops over one block. There each address moves by a constant in each
 * iteration, so only the subscripts of the first and the last iteration are checked; between them everything
 * is affine. All other loops and blocks evaluate every subscript and check it against its dimension.
 *
 * A walk visits the same references and reports them with their loop indices instead of sending them;
 * innermost loops before the first one wanted are counted, not evaluated, where possible.
 *
 * Each reference is an instruction of four bytes. If a nest has warm-up loops, blocks and instructions exist
 * twice: the caches see the same references, but warm-up counts go to separate sites.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "encode.h"
#include "nest_priv.h"

enum {
	CHUNK_WORDS = 16384,
	ITERATIONS = 1 << 16, /* after which the sink is called, whatever there is */
	CODE = 0x1000,        /* pc of the first reference */
	CODE_BYTES = 4
};

struct run {
	struct nm_nest *nest;
	const struct nm_nest_sink *sink;
	struct nm_error *err;
	int64_t slots[NM_NEST_SLOTS];
	const char *index[NM_NEST_DEPTH]; /* of the open loops */
	unsigned depth, warming;
	uint64_t iterations;                   /* since the sink was called */
	const struct nm_nest_visitor *visitor; /* of a walk, or NULL */
	uint64_t number, first, last;          /* references before now; those to be shown */
	size_t count;
	uint64_t words[CHUNK_WORDS];
};
_Static_assert(CHUNK_WORDS > NM_NEST_BLOCK + NM_NEST_STATEMENT, "a block fits");

static int send_words(struct run *r)
{
	int status = r->visitor ? 0 : r->sink->take(r->sink->self, r->words, r->count, r->err);

	r->count = 0;
	r->iterations = 0;
	return status;
}

/* ---- what is told once ---- */

static int define_block(struct nm_wire_words *to, const struct nm_nest *nest, const struct nm_nest_block *b,
			int warm)
{
	struct nm_vec(uint64_t) instructions = {0}, accesses = {0};
	struct nm_wire_block_info info = {.id = NM_NEST_ID(b->number, warm)};
	char name[4200], *file = nest->path;
	int status = 0;

	for (uint32_t i = 0; i < b->count && !status; i++) {
		const struct nm_nest_reference *r = &nest->references.at[b->first + i];
		uint64_t pc = CODE + 2ull * CODE_BYTES * (b->first + i) + (warm ? CODE_BYTES : 0);
		struct nm_wire_place place = {.pc = pc, .function = name, .file = file};
		unsigned column;

		nm_nest_position(&nest->source, r->at, &place.line, &column);
		snprintf(name, sizeof name, "%.4000s%s", r->name, warm ? NM_NEST_WARM_UP : "");
		status =
		    nm_wire_place_encode(to, &place) ||
		    nm_vec_push(&instructions, pc | (uint64_t)CODE_BYTES << 48) ||
		    nm_vec_push(&accesses, r->array->element | (uint64_t)i << 16 |
					       (uint64_t)(r->is_write ? NM_WIRE_WRITE : NM_WIRE_READ) << 32);
	}
	if (!status && b->count) {
		info.instructions = instructions.at;
		info.accesses = accesses.at;
		info.def = (struct nm_wire_block_def){.pc = nm_wire_instruction_pc(instructions.at[0]),
						      .instructions = (uint16_t)b->count,
						      .accesses = (uint16_t)b->count,
						      .end = NM_WIRE_JUMP};
		status = nm_wire_block_def_encode(to, &info);
	}
	nm_vec_free(&instructions);
	nm_vec_free(&accesses);
	return status ? NM_ENOMEM : 0;
}

static int begin_process(struct nm_wire_words *to, const struct nm_nest *nest, const char *const *argv)
{
	struct nm_wire_process p = {.start = NM_WIRE_STARTED,
				    .version = NM_WIRE_VERSION,
				    .pid = 1,
				    .executable = nest->path,
				    .directory = "/"};
	int status;

	while (argv[p.argc])
		p.argc++;
	status = nm_wire_process_encode(to, &p, argv) ||
		 nm_wire_thread_start_encode(to, &(struct nm_wire_thread_start){.thread = 1}) ||
		 nm_wire_thread_encode(to, &(struct nm_wire_thread){1});
	for (size_t i = 0; i < nest->arrays.count && !status; i++) {
		const struct nm_nest_array *a = nest->arrays.at[i];

		status = nm_wire_name_encode(
		    to, &(struct nm_wire_name){a->address, a->elements * a->element, a->name});
	}
	for (size_t i = 0; i < nest->blocks.count && !status; i++) {
		status = define_block(to, nest, nest->blocks.at[i], 0);
		if (!status && nest->warms)
			status = define_block(to, nest, nest->blocks.at[i], 1);
	}
	return status;
}

static int send_all(struct run *r, const char *const *argv, int is_end)
{
	struct nm_wire_words words = {0};
	int status = is_end ? nm_wire_exit_encode(&words, &(struct nm_wire_exit){0})
			    : begin_process(&words, r->nest, argv);

	status =
	    status ? nm_fail_memory(r->err) : r->sink->take(r->sink->self, words.at, words.count, r->err);
	nm_vec_free(&words);
	return status;
}

/* ---- addresses ---- */

/* "i = 3, j = 100" */
static void tell_indices(const struct run *r, char *text, size_t room)
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned d = 0; d < r->depth && n < room; d++)
		n += (size_t)snprintf(text + n, room - n, "%s%.60s = %lld", d ? ", " : " at ", r->index[d],
				      (long long)r->slots[d]);
}

static int left_array(const struct run *r, const struct nm_nest_reference *n, unsigned d, int known,
		      int64_t value)
{
	const struct nm_nest_dimension *dimension = &n->array->dimension[d];
	char indices[200], number[32] = "too large";

	assert(d < NM_NEST_DIMENSIONS);
	tell_indices(r, indices, sizeof indices);
	if (known)
		snprintf(number, sizeof number, "%lld", (long long)value);
	return nm_nest_fault_in(&r->nest->source, r->err, n->at,
				"subscript %u is %s%s, but dimension %u of %s goes from %lld to %lld", d + 1,
				number, indices, d + 1, n->array->name, (long long)dimension->low,
				(long long)dimension->high);
}

/* Number of the element in the order of memory, for the values that the slots have. */
static int find_element(const struct run *r, const struct nm_nest_reference *n, uint64_t *ret)
{
	const struct nm_nest_array *a = n->array;
	uint64_t element = 0;

	for (unsigned d = 0; d < a->dimensions; d++) {
		const struct nm_nest_dimension *dimension = &a->dimension[d];
		int64_t value = 0;
		int known = nm_nest_sum_at(&n->subscript[d], r->slots, &value);

		if (__builtin_expect(!known || value < dimension->low || value > dimension->high, 0))
			return left_array(r, n, d, known, value);
		element += (uint64_t)(value - dimension->low) * (uint64_t)dimension->stride;
	}
	*ret = element;
	return 0;
}

/* ---- blocks ---- */

enum { WALKED = 1 }; /* a walk has shown its last reference */

/* A walk comes to a reference. */
static int show_reference(struct run *r, uint32_t reference, uint64_t address)
{
	struct nm_nest_step step = {.number = ++r->number,
				    .reference = reference,
				    .address = address,
				    .loops = r->depth,
				    .index = r->index,
				    .value = r->slots,
				    .warms_up = r->warming != 0};
	int status = r->number < r->first ? 0 : r->visitor->see(r->visitor->self, &step, r->err);

	return status ? status : r->number >= r->last ? WALKED : 0;
}

static int run_block(struct run *r, const struct nm_nest_block *b)
{
	uint64_t *out, element;
	int status = r->count + 1 + b->count > CHUNK_WORDS ? send_words(r) : 0;

	if (status || !b->count)
		return status;
	out = r->words + r->count;
	*out++ = nm_wire_header(NM_WIRE_BLOCK, NM_NEST_ID(b->number, r->warming), 0);
	for (uint32_t i = 0; i < b->count; i++) {
		const struct nm_nest_reference *n = &r->nest->references.at[b->first + i];

		status = find_element(r, n, &element);
		if (status)
			return status;
		if (n->slot)
			r->slots[n->slot] = n->array->values[element];
		*out = n->array->address + element * n->array->element;
		if (r->visitor && (status = show_reference(r, b->first + i, *out)))
			return status;
		out++;
	}
	r->count += r->visitor ? 0 : 1 + b->count;
	return 0;
}

/* `trips` executions of a block without index arrays, each address moving by a constant. */
static int repeat_block(struct run *r, const struct nm_nest_block *b, uint64_t *address, const uint64_t *move,
			uint64_t trips)
{
	const uint64_t header = nm_wire_header(NM_WIRE_BLOCK, NM_NEST_ID(b->number, r->warming), 0);
	const uint32_t n = b->count;

	while (trips) {
		uint64_t fitting = (CHUNK_WORDS - r->count) / (1 + n), *out = r->words + r->count;
		int status;

		if (fitting > trips)
			fitting = trips;
		for (uint64_t k = 0; k < fitting; k++) {
			*out++ = header;
			for (uint32_t i = 0; i < n; i++) {
				*out++ = address[i];
				address[i] += move[i];
			}
		}
		r->count = (size_t)(out - r->words);
		trips -= fitting;
		if (trips && (status = send_words(r)))
			return status;
	}
	return 0;
}

/* ---- loops ---- */

static int run_nodes(struct run *r, const struct nm_nest_node *n);

static int too_large(const struct run *r, const struct nm_nest_node *loop)
{
	return nm_nest_fault_in(&r->nest->source, r->err, loop->at, "a bound of the loop is too large");
}

static int evaluate_bound(const struct run *r, const struct nm_nest_node *loop, const struct nm_nest_value *v,
			  int64_t *ret)
{
	int64_t best = 0, value;

	for (unsigned i = 0; i < v->arms; i++) {
		if (!nm_nest_sum_at(&v->arm[i], r->slots, &value))
			return too_large(r, loop);
		if (!i || (v->kind == NM_NEST_MIN ? value < best : value > best))
			best = value;
	}
	*ret = best;
	return 0;
}

/* How often the loop runs. */
static int count_trips(struct run *r, const struct nm_nest_node *loop, int64_t *ret_from, uint64_t *ret_trips)
{
	int64_t to = 0;
	uint64_t size = loop->step > 0 ? (uint64_t)loop->step : (uint64_t)-loop->step, span;
	int status = loop->block ? run_block(r, loop->block) : 0;

	if (!status)
		status = evaluate_bound(r, loop, loop->from, ret_from);
	if (!status)
		status = evaluate_bound(r, loop, loop->to, &to);
	*ret_trips = 0;
	if (status || (loop->step > 0 ? to < *ret_from : to > *ret_from))
		return status;
	span = loop->step > 0 ? (uint64_t)to - (uint64_t)*ret_from : (uint64_t)*ret_from - (uint64_t)to;
	if (span > INT64_MAX)
		return too_large(r, loop);
	*ret_trips = span / size + 1;
	return 0;
}

static int is_simple(const struct nm_nest_node *loop)
{
	const struct nm_nest_node *n = loop->body;

	return n && !n->next && n->kind == NM_NEST_RUN && !n->block->indirect &&
	       n->block->count <= 2 * NM_NEST_BLOCK;
}

/* A loop over one block without index arrays. */
static int run_simple(struct run *r, const struct nm_nest_node *loop, int64_t from, uint64_t trips)
{
	const struct nm_nest_block *b = loop->body->block;
	uint64_t address[2 * NM_NEST_BLOCK], move[2 * NM_NEST_BLOCK], element, warm = loop->warm;
	int status;

	if (!b->count)
		return 0;
	for (int last = 1; last >= 0; last--) { /* so that the first addresses remain */
		r->slots[loop->slot] = from + (last ? (int64_t)(trips - 1) * loop->step : 0);
		for (uint32_t i = 0; i < b->count; i++) {
			const struct nm_nest_reference *n = &r->nest->references.at[b->first + i];
			uint64_t elements = 0;

			status = find_element(r, n, &element);
			if (status)
				return status;
			address[i] = n->array->address + element * n->array->element;
			for (unsigned d = 0; d < n->array->dimensions; d++)
				elements += (uint64_t)nm_nest_factor(&n->subscript[d], loop->slot) *
					    (uint64_t)n->array->dimension[d].stride;
			move[i] = elements * (uint64_t)loop->step * n->array->element;
		}
	}
	if (warm > trips)
		warm = trips;
	r->warming++;
	status = repeat_block(r, b, address, move, warm);
	r->warming--;
	return status ? status : repeat_block(r, b, address, move, trips - warm);
}

/* Does the first reference of a walk lie behind all of these iterations? */
static int can_skip(const struct run *r, const struct nm_nest_node *loop, uint64_t trips)
{
	uint64_t references;

	return !__builtin_mul_overflow(trips, (uint64_t)loop->body->block->count, &references) &&
	       r->first > r->number && r->first - r->number > references;
}

static int run_loop(struct run *r, const struct nm_nest_node *loop)
{
	uint64_t trips, i;
	int64_t from = 0;
	int status = count_trips(r, loop, &from, &trips);

	if (status || !trips)
		return status;
	r->index[r->depth++] = loop->index;
	if (r->visitor && is_simple(loop) && can_skip(r, loop, trips)) {
		r->number += trips * loop->body->block->count;
	} else if (!r->visitor && is_simple(loop)) {
		status = run_simple(r, loop, from, trips);
		r->iterations++;
	} else {
		for (i = 0; i < trips && !status; i++) {
			int warm = i < loop->warm;

			r->slots[loop->slot] = from + (int64_t)i * loop->step;
			r->warming += (unsigned)warm;
			status = run_nodes(r, loop->body);
			r->warming -= (unsigned)warm;
			if (!status && ++r->iterations > ITERATIONS)
				status = send_words(r);
		}
	}
	r->depth--;
	return status;
}

static int run_nodes(struct run *r, const struct nm_nest_node *n)
{
	int status = 0;

	for (; n && !status; n = n->next) {
		if (n->kind == NM_NEST_RUN) {
			status = run_block(r, n->block);
		} else if (n->kind == NM_NEST_LOOP) {
			status = run_loop(r, n);
		} else {
			r->warming++;
			status = run_nodes(r, n->body);
			r->warming--;
		}
	}
	return status;
}

int nm_nest_run(struct nm_nest *nest, const char *const *argv, const struct nm_nest_sink *sink,
		struct nm_error *err)
{
	struct run r = {.nest = nest, .sink = sink, .err = err};
	int status = send_all(&r, argv, 0);

	if (!status)
		status = run_nodes(&r, nest->body);
	if (!status)
		status = send_words(&r);
	return status ? status : send_all(&r, argv, 1);
}

int nm_nest_walk(struct nm_nest *nest, uint64_t first, uint64_t last, const struct nm_nest_visitor *visitor,
		 struct nm_error *err)
{
	struct run r = {.nest = nest, .visitor = visitor, .first = first, .last = last, .err = err};
	int status = first > last ? 0 : run_nodes(&r, nest->body);

	return status == WALKED ? 0 : status;
}
