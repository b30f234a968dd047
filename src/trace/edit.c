/* SPDX-License-Identifier: MIT
 *
 * A slice is decoded and encoded again, since it gets records of its own: MEASURE off behind the PROCESS
 * record, and the program's own setting where the range begins.
 *
 * Dropped: leaving out blocks before the range that neither call nor return. Their writes show which
 * functions are allocation wrappers.
 */
#include "edit.h"

#include <assert.h>
#include <stdlib.h>

#include "encode.h"

/* A stream being sliced. */
struct cut {
	uint32_t stream;
	uint64_t at;         /* addresses so far */
	int measuring;       /* the program's own setting */
	int inside, outside; /* the range has begun; has ended */
};

struct slicer {
	struct nm_trace *trace;
	const struct nm_trace_part *slice;
	struct nm_trace_writer *writer;
	struct nm_vec(struct cut) cuts;
	struct nm_wire_words out;
};

static struct cut *cut_of(struct slicer *s, uint32_t stream)
{
	for (size_t i = 0; i < s->cuts.count; i++)
		if (s->cuts.at[i].stream == stream)
			return &s->cuts.at[i];
	return nm_vec_push(&s->cuts, (struct cut){stream, 0, 1, !s->slice->from, 0})
		   ? NULL
		   : &s->cuts.at[s->cuts.count - 1];
}

/* The range begins or ends in front of the next block. */
static int turn_range(struct slicer *s, struct cut *c)
{
	if (!c->inside && c->at >= s->slice->from) {
		c->inside = 1;
		if (c->measuring)
			return nm_wire_measure_encode(&s->out, &(struct nm_wire_measure){1});
	}
	c->outside = c->at >= s->slice->to;
	return 0;
}

static int slice_record(struct slicer *s, struct cut *c, const struct nm_wire_record *r)
{
	int status = 0;

	if (r->kind == NM_WIRE_BLOCK) {
		status = turn_range(s, c);
		c->at += r->words;
	}
	if (status || (c->outside && r->kind != NM_WIRE_EXIT))
		return status;
	if (r->kind == NM_WIRE_MEASURE) {
		c->measuring = r->arg != 0;
		if (!c->inside)
			return 0;
	}
	status = nm_wire_encode(&s->out, r->kind, r->arg, r->payload, r->words);
	if (!status && r->kind == NM_WIRE_PROCESS && s->slice->from)
		status = nm_wire_measure_encode(&s->out, &(struct nm_wire_measure){0});
	return status;
}

static int slice_words(struct slicer *s, struct cut *c, const uint64_t *words, size_t count,
		       struct nm_error *err)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	int status;

	s->out.count = 0;
	while ((status = nm_wire_scan_next(&scan, &r, err)) > 0)
		if (slice_record(s, c, &r))
			return nm_fail_memory(err);
	if (!status && s->out.count)
		status = nm_trace_writer_feed(s->writer, c->stream, s->out.at, s->out.count, err);
	return status;
}

static int slice_chunk(struct slicer *s, const struct nm_trace_chunk *chunk, struct nm_error *err)
{
	struct cut *c = cut_of(s, chunk->stream);
	const uint64_t *words;
	size_t count;
	int status;

	if (!c)
		return nm_fail_memory(err);
	if (chunk->kind == NM_TRACE_END)
		return nm_trace_writer_end(s->writer, chunk->stream, err);
	status = nm_trace_begin(s->trace, chunk, err);
	while (!status && (status = nm_trace_next(s->trace, &words, &count, err)) > 0)
		status = slice_words(s, c, words, count, err);
	return status;
}

/* Names and facts as they are; streams if they are wanted. */
static int slice_all(struct slicer *s, struct nm_error *err)
{
	struct nm_trace_chunk chunk;
	int status = 0;

	for (size_t i = 0; !status && (status = nm_trace_chunk(s->trace, i, &chunk, err)) > 0; i++) {
		int of_stream = chunk.kind == NM_TRACE_WORDS || chunk.kind == NM_TRACE_END;

		status = 0;
		if (!of_stream)
			status = nm_trace_writer_copy(s->writer, s->trace, &chunk, 0, err);
		else if (s->slice->stream == NM_ALL_STREAMS || s->slice->stream == chunk.stream)
			status = slice_chunk(s, &chunk, err);
	}
	return status;
}

int nm_trace_slice(struct nm_trace *trace, const struct nm_trace_part *slice, const char *path,
		   struct nm_error *err)
{
	struct slicer s = {.trace = trace, .slice = slice};
	int status = nm_trace_writer_new(&s.writer, path, err);

	if (status)
		return status;
	status = slice_all(&s, err);
	if (!status)
		status = nm_trace_writer_close(s.writer, err);
	nm_trace_writer_free(s.writer);
	nm_vec_free(&s.cuts);
	nm_vec_free(&s.out);
	return status;
}

/* ---- merging ---- */

static int merge_one(struct nm_trace_writer *writer, struct nm_trace *trace, uint32_t *streams,
		     struct nm_error *err)
{
	struct nm_trace_chunk chunk;
	uint32_t first = *streams;
	int status = 0;

	for (size_t i = 0; !status && (status = nm_trace_chunk(trace, i, &chunk, err)) > 0; i++) {
		int of_stream = chunk.kind == NM_TRACE_WORDS || chunk.kind == NM_TRACE_END;
		uint32_t stream = of_stream ? first + chunk.stream : 0;

		if (of_stream && stream >= *streams)
			*streams = stream + 1;
		status = nm_trace_writer_copy(writer, trace, &chunk, stream, err);
	}
	return status;
}

int nm_trace_merge(struct nm_trace *const *traces, size_t count, const char *path, struct nm_error *err)
{
	struct nm_trace_writer *writer;
	uint32_t streams = 0;
	int status = nm_trace_writer_new(&writer, path, err);

	assert(count > 0);
	if (status)
		return status;
	for (size_t i = 0; i < count && !status; i++)
		status = merge_one(writer, traces[i], &streams, err);
	if (!status)
		status = nm_trace_writer_close(writer, err);
	nm_trace_writer_free(writer);
	return status;
}
