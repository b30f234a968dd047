/* SPDX-License-Identifier: MIT
 *
 * encoder.c - see codec.h. Keeps the executions of a chunk until it is complete: bases, forms and ranks are
 * chosen when all of them are known, so the decoder need not learn anything.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "decode.h"
#include "encoder_priv.h"

int encoder_new(struct nm_encoder **ret_encoder, struct nm_error *err)
{
	struct nm_encoder *e = calloc(1, sizeof *e);

	if (!e || columns_new(&e->columns) || nm_vec_reserve(&e->paths, 1024) ||
	    nm_vec_reserve(&e->addresses, 1024) || nm_vec_reserve(&e->edges, 1024)) {
		encoder_free(e);
		return nm_fail_memory(err);
	}
	encoder_reset(e);
	*ret_encoder = e;
	return 0;
}

static void forget_chunk(struct nm_encoder *e)
{
	nm_map_done(&e->path_of);
	nm_map_done(&e->block_of);
	nm_map_done(&e->edge_of);
	e->path_of = e->block_of = e->edge_of = (struct nm_map){0};
}

void encoder_free(struct nm_encoder *e)
{
	if (!e)
		return;
	forget_chunk(e);
	nm_map_done(&e->calls);
	nm_vec_free(&e->paths);
	nm_vec_free(&e->blocks);
	nm_vec_free(&e->edges);
	nm_vec_free(&e->steps);
	nm_vec_free(&e->addresses);
	for (unsigned i = 0; i < NM_PARTS; i++)
		nm_vec_free(&e->parts[i]);
	columns_free(e->columns);
	free(e);
}

void encoder_reset(struct nm_encoder *e)
{
	forget_chunk(e);
	e->paths.at[0] = (struct path){0};
	e->edges.at[0] = (struct edge){0};
	e->paths.count = e->edges.count = 1;
	e->blocks.count = e->steps.count = e->addresses.count = 0;
	for (unsigned i = 0; i < NM_PARTS; i++)
		e->parts[i].count = 0;
	e->path = 0;
	e->words = 0;
}

uint64_t encoder_words(const struct nm_encoder *e) { return e->words; }
uint64_t encoder_references(const struct nm_encoder *e) { return e->addresses.count; }

/* ---- steps ---- */

static int add_path(struct nm_encoder *e, uint64_t header, uint32_t count, uint32_t *ret_path)
{
	uint32_t id = nm_wire_arg(header);
	uint64_t block = nm_map_get(&e->block_of, id, UINT64_MAX);
	struct path p = {.header = header, .count = count};

	if (block == UINT64_MAX) {
		block = e->blocks.count;
		if (nm_vec_push(&e->blocks, (struct block){.id = id}) || nm_map_put(&e->block_of, id, block))
			return NM_ENOMEM;
	}
	p.block = (uint32_t)block;
	p.anchor = count && nm_map_get(&e->calls, id, 0) == count;
	if (count > e->blocks.at[block].count)
		e->blocks.at[block].count = count;
	*ret_path = (uint32_t)e->paths.count;
	return nm_vec_push(&e->paths, p);
}

static int find_path(struct nm_encoder *e, uint64_t header, uint32_t count, uint32_t *ret_path)
{
	uint64_t key = (uint64_t)nm_wire_arg(header) << 32 | count;

	*ret_path = (uint32_t)nm_map_get(&e->path_of, key, 0);
	if (*ret_path)
		return 0;
	return add_path(e, header, count, ret_path) || nm_map_put(&e->path_of, key, *ret_path) ? NM_ENOMEM
											       : 0;
}

static int find_edge(struct nm_encoder *e, uint32_t to, uint32_t *ret_edge)
{
	uint64_t key = (uint64_t)e->path << 32 | to;
	struct path *from = &e->paths.at[e->path];

	assert(to < e->paths.count);
	*ret_edge = (uint32_t)nm_map_get(&e->edge_of, key, 0);
	if (*ret_edge)
		return 0;
	*ret_edge = (uint32_t)e->edges.count;
	if (nm_vec_push(&e->edges, (struct edge){.to = to, .sibling = from->first_edge}) ||
	    nm_map_put(&e->edge_of, key, *ret_edge))
		return NM_ENOMEM;
	from->first_edge = *ret_edge;
	return 0;
}

/* Takes the edge from the last path to the one that the header and count mean; header 0: a record. */
static int encode_step(struct nm_encoder *e, uint64_t header, uint32_t count)
{
	uint32_t edge = e->paths.at[e->path].edge, to = e->edges.at[edge].to;

	assert(header || !count);
	if (!edge || e->paths.at[to].header != header || e->paths.at[to].count != count) {
		to = 0;
		if ((header && find_path(e, header, count, &to)) || find_edge(e, to, &edge))
			return NM_ENOMEM;
		e->paths.at[e->path].edge = edge;
	}
	assert(edge && e->edges.at[edge].to == to);
	e->edges.at[edge].taken++;
	e->paths.at[to].executions++;
	e->path = to;
	return nm_vec_push(&e->steps, edge);
}

static int put_block(struct nm_encoder *e, uint64_t header, const uint64_t *addresses, uint32_t count)
{
	assert(count <= NM_MAX_ADDRESSES);
	if (nm_vec_reserve(&e->addresses, count) || encode_step(e, header, count))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		e->addresses.at[e->addresses.count + i] = addresses[i];
	e->addresses.count += count;
	return 0;
}

/* ---- records ---- */

/* Where calls and returns keep the return address tells where the stack is. */
static int note_call(struct nm_encoder *e, const uint64_t *words, size_t count)
{
	struct nm_wire_record r = {NM_WIRE_BLOCK_DEF, nm_wire_arg(*words), words + 1, count - 1, 0};
	struct nm_wire_block_info info;

	if (nm_wire_block_decode(&r, &info, NULL) || info.def.end == NM_WIRE_JUMP)
		return 0;
	return nm_map_put(&e->calls, info.id, info.groups);
}

static int put_record(struct nm_encoder *e, const uint64_t *words, size_t count)
{
	struct nm_chunk_bytes *to = &e->parts[NM_PART_RECORDS];

	if (nm_vec_reserve(to, count * sizeof *words) || encode_step(e, 0, 0) ||
	    (nm_wire_kind(*words) == NM_WIRE_BLOCK_DEF && note_call(e, words, count)))
		return NM_ENOMEM;
	memcpy(to->at + to->count, words, count * sizeof *words);
	to->count += count * sizeof *words;
	return 0;
}

static int add_block(struct nm_encoder *e, const uint64_t *words, const uint64_t *end, size_t *ret_taken,
		     struct nm_error *err)
{
	size_t n = 1;

	while (words + n < end && !nm_wire_is_header(words[n]))
		n++;
	*ret_taken = n;
	if (n - 1 > NM_MAX_ADDRESSES)
		return nm_fail(err, NM_EFORMAT, "block %u has %zu addresses", nm_wire_arg(*words), n - 1);
	return put_block(e, *words & ~(uint64_t)NM_WIRE_MAX_PAYLOAD, words + 1, (uint32_t)(n - 1))
		   ? nm_fail_memory(err)
		   : 0;
}

static int add_other(struct nm_encoder *e, const uint64_t *words, size_t left, size_t *ret_taken,
		     struct nm_error *err)
{
	size_t n = 1 + nm_wire_words(*words);

	if (n > left)
		return nm_fail(err, NM_EFORMAT, "a record is cut short");
	*ret_taken = n;
	return put_record(e, words, n) ? nm_fail_memory(err) : 0;
}

int encoder_add(struct nm_encoder *e, const uint64_t *words, size_t count, struct nm_error *err)
{
	const uint64_t *w = words, *end = words + count;

	while (w < end) {
		size_t n = 1;
		int status;

		if (!nm_wire_is_header(*w))
			return nm_fail(err, NM_EFORMAT, "a record begins with no header");
		if (*w >> 56 == NM_WIRE_HEADER_BIT >> 56) /* NM_WIRE_BLOCK */
			status = add_block(e, w, end, &n, err);
		else
			status = add_other(e, w, (size_t)(end - w), &n, err);
		if (status)
			return status;
		w += n;
		e->words += n;
	}
	return 0;
}

/* ---- the chunk ---- */

static int write_paths(struct nm_encoder *e)
{
	struct nm_chunk_bytes *to = &e->parts[NM_PART_TABLES];
	uint32_t known = 0, id = 0; /* known: blocks */

	if (put_varint(to, e->before) || put_varint(to, e->anchor) || put_varint(to, e->paths.count - 1))
		return NM_ENOMEM;
	for (size_t i = 1; i < e->paths.count; i++) {
		const struct path *p = &e->paths.at[i];

		if (put_varint(to, p->block))
			return NM_ENOMEM;
		if (p->block == known) {
			uint32_t next = e->blocks.at[known++].id;

			if (put_varint(to, trace_zigzag((uint64_t)next - id)))
				return NM_ENOMEM;
			id = next;
		}
		if (put_varint(to, 2ull * p->count + p->anchor) || put_varint(to, p->executions))
			return NM_ENOMEM;
	}
	return 0;
}

struct ranked {
	uint64_t taken;
	uint32_t edge;
};

static int by_use(const void *a, const void *b)
{
	const struct ranked *r = a, *y = b;

	return r->taken != y->taken ? (r->taken < y->taken) - (r->taken > y->taken)
				    : (r->edge > y->edge) - (r->edge < y->edge);
}

/* The edges of each path by how often they were taken. */
static int write_successors(struct nm_encoder *e)
{
	struct nm_chunk_bytes *to = &e->parts[NM_PART_TABLES];
	struct nm_vec(struct ranked) list = {0};
	int status = 0;

	for (size_t i = 0; i < e->paths.count && !status; i++) {
		list.count = 0;
		for (uint32_t k = e->paths.at[i].first_edge; k && !status; k = e->edges.at[k].sibling)
			status = nm_vec_push(&list, (struct ranked){e->edges.at[k].taken, k});
		if (list.count)
			qsort(list.at, list.count, sizeof *list.at, by_use);
		for (size_t k = 0; k < list.count; k++)
			e->edges.at[list.at[k].edge].rank = (uint32_t)(k < NM_MAX_RANKS ? k : NM_MAX_RANKS);
		if (list.count > NM_MAX_RANKS)
			list.count = NM_MAX_RANKS;
		status = status ? status : put_varint(to, list.count);
		for (size_t k = 0; k < list.count && !status; k++)
			status = put_varint(to, trace_zigzag(e->edges.at[list.at[k].edge].to - (uint64_t)i));
	}
	nm_vec_free(&list);
	return status;
}

static int write_flow(struct nm_encoder *e)
{
	struct nm_chunk_bytes *to = &e->parts[NM_PART_FLOW], *tables = &e->parts[NM_PART_TABLES];
	size_t escapes = 0;

	if (nm_vec_reserve(to, e->steps.count))
		return NM_ENOMEM;
	for (size_t i = 0; i < e->steps.count; i++) {
		uint32_t rank = e->edges.at[e->steps.at[i]].rank;

		to->at[to->count++] = (uint8_t)rank;
		escapes += rank == NM_MAX_RANKS;
	}
	if (put_varint(tables, escapes))
		return NM_ENOMEM;
	for (size_t i = 0; escapes && i < e->steps.count; i++)
		if (e->edges.at[e->steps.at[i]].rank == NM_MAX_RANKS &&
		    put_varint(tables, e->edges.at[e->steps.at[i]].to))
			return NM_ENOMEM;
	return 0;
}

int encoder_finish(struct nm_encoder *e, const struct nm_chunk_bytes *ret_parts[NM_PARTS])
{
	assert(encoder_words(e) > 0);
	NM_CHECK(encoder_is_valid(e));
	if (write_paths(e) || write_successors(e) || write_flow(e) || columns_write(e))
		return NM_ENOMEM;
	for (unsigned i = 0; i < NM_PARTS; i++) {
		if (nm_vec_reserve(&e->parts[i], NM_PART_SLACK))
			return NM_ENOMEM;
		ret_parts[i] = &e->parts[i];
	}
	return 0;
}

/* ---- invariants ---- */

/* Each path is of a known block, which has at least its addresses, and is found again. */
static int path_is_valid(const struct nm_encoder *e, size_t i)
{
	const struct path *p = &e->paths.at[i];
	const uint32_t id = nm_wire_arg(p->header);

	assert(i < e->paths.count);
	return p->block < e->blocks.count && e->blocks.at[p->block].id == id &&
	       p->count <= e->blocks.at[p->block].count &&
	       nm_map_get(&e->path_of, (uint64_t)id << 32 | p->count, 0) == i;
}

/* Each step takes an edge of the path that the step before it has reached. */
static int steps_are_valid(const struct nm_encoder *e)
{
	uint32_t path = 0;

	for (size_t i = 0; i < e->steps.count; i++) {
		const uint32_t edge = e->steps.at[i], to = edge < e->edges.count ? e->edges.at[edge].to : 0;

		if (!edge || edge >= e->edges.count || to >= e->paths.count ||
		    nm_map_get(&e->edge_of, (uint64_t)path << 32 | to, 0) != edge)
			return 0;
		path = to;
	}
	return path == e->path;
}

int encoder_is_valid(const struct nm_encoder *e)
{
	uint64_t addresses = 0, executions = 0, blocks = 0, taken = 0;

	for (size_t i = 0; i < e->paths.count; i++) {
		const struct path *p = &e->paths.at[i];

		if (i && !path_is_valid(e, i))
			return 0;
		executions += p->executions;
		blocks += i ? p->executions : 0;
		addresses += (uint64_t)p->executions * p->count;
	}
	for (size_t i = 1; i < e->edges.count; i++)
		taken += e->edges.at[i].taken;
	return executions == e->steps.count && taken == e->steps.count && addresses == e->addresses.count &&
	       blocks + addresses + e->parts[NM_PART_RECORDS].count / sizeof(uint64_t) == e->words &&
	       steps_are_valid(e);
}
