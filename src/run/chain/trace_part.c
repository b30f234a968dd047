/* SPDX-License-Identifier: MIT
 *
 * trace_part.c - cuts a trace into parts of equally many words. The order is process by process, so that a forked
 * child comes behind what its parent did before. Pieces are cut alike by all ranks, since each chunk is cut from its
 * beginning: a piece is of the part in which it begins. Two ranks may read a chunk, and skip what is the other's.
 */
#include <stdlib.h>

#include "chain_priv.h"
#include "decode.h"

enum { PIECE = 1024 /* words, or one record more */ };

static int by_stream(const void *a, const void *b)
{
	const struct nm_trace_chunk *c = a, *d = b;

	if (c->stream != d->stream)
		return c->stream < d->stream ? -1 : 1;
	return c->offset < d->offset ? -1 : c->offset > d->offset;
}

int trace_part_init(struct trace_part *p, struct nm_trace *trace, unsigned rank, unsigned ranks,
		    struct nm_error *err)
{
	struct nm_trace_chunk chunk;

	*p = (struct trace_part){.trace = trace};
	for (size_t i = 0; nm_trace_chunk(trace, i, &chunk, err) > 0; i++) {
		if (chunk.kind != NM_TRACE_WORDS)
			continue;
		if (nm_vec_push(&p->chunks, chunk))
			return nm_fail_memory(err);
		p->words += chunk.words;
	}
	if (p->chunks.count)
		qsort(p->chunks.at, p->chunks.count, sizeof *p->chunks.at, by_stream);
	p->begin = p->words / ranks * rank;
	p->end = rank + 1 == ranks ? UINT64_MAX : p->words / ranks * (rank + 1);
	return 0;
}

void trace_part_done(struct trace_part *p) { nm_vec_free(&p->chunks); }

/* The length of a piece that begins the words. Negative: a code. */
static long cut_piece(const uint64_t *words, size_t count, struct nm_error *err)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	int status = 1;

	while (scan.at < PIECE && (status = nm_wire_scan_next(&scan, &r, err)) > 0)
		;
	return status < 0 ? status : (long)scan.at;
}

struct walk {
	struct trace_part *part;
	int (*take)(void *arg, uint32_t stream, const uint64_t *words, size_t count, struct nm_error *err);
	void *arg;
};

/* at: of the first word in the whole trace. */
static int take_words(const struct walk *w, uint32_t stream, uint64_t at, const uint64_t *words, size_t count,
		      struct nm_error *err)
{
	int status = 0;

	while (count && at < w->part->end && !status) {
		const long piece = cut_piece(words, count, err);

		if (piece < 0)
			return (int)piece;
		if (at >= w->part->begin)
			status = w->take(w->arg, stream, words, (size_t)piece, err);
		words += piece;
		at += (uint64_t)piece;
		count -= (size_t)piece;
	}
	return status;
}

static int take_chunk(const struct walk *w, const struct nm_trace_chunk *chunk, uint64_t at,
		      struct nm_error *err)
{
	const uint64_t *words;
	size_t count;
	int status = nm_trace_begin(w->part->trace, chunk, err);

	w->part->read_bytes += chunk->bytes;
	while (!status && (status = nm_trace_next(w->part->trace, &words, &count, err)) > 0) {
		status = take_words(w, chunk->stream, at, words, count, err);
		at += count;
		if (at >= w->part->end)
			break;
	}
	return status;
}

int trace_part_walk(struct trace_part *p,
		    int (*take)(void *arg, uint32_t stream, const uint64_t *words, size_t count,
				struct nm_error *err),
		    void *arg, struct nm_error *err)
{
	const struct walk walk = {p, take, arg};
	uint64_t at = 0;
	int status = 0;

	p->read_bytes = 0;
	for (size_t i = 0; i < p->chunks.count && at < p->end && !status; i++) {
		const struct nm_trace_chunk *chunk = &p->chunks.at[i];

		if (at + chunk->words > p->begin)
			status = take_chunk(&walk, chunk, at, err);
		at += chunk->words;
	}
	return status;
}
