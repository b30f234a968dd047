/* SPDX-License-Identifier: MIT
 *
 * trace.h - trace files (*.nmt): the compressed streams of a recording, with everything that a replay needs.
 *
 * A trace is a sequence of chunks. Each holds records of one stream and is decoded without any other; names
 * (symbol.h, nm_symbols_noted) stand before the chunk that needs them. An index at the end serves seeking; a
 * file without one, because it is being written or was cut off, is scanned. docs/format/trace.md is the
 * specification.
 *
 * A writer never seeks back, so a trace can be read while it is written, and both ends may be pipes.
 */
#ifndef NM_TRACE_H
#define NM_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

#define NM_TRACE_VERSION 1u

/* ---- writing ---- */

struct nm_trace_writer;

/* path "-" is standard output. */
int nm_trace_writer_new(struct nm_trace_writer **ret_writer, const char *path, struct nm_error *err);

/* Appends whole records to a stream. A chunk that is full is written at the next call, so that its names can
 * be given before. */
int nm_trace_writer_feed(struct nm_trace_writer *writer, uint32_t stream, const uint64_t *words, size_t count,
			 struct nm_error *err);

/* Copies a chunk of another trace unchanged, under another stream's number. */
struct nm_trace;
struct nm_trace_chunk;
int nm_trace_writer_copy(struct nm_trace_writer *writer, struct nm_trace *from,
			 const struct nm_trace_chunk *chunk, uint32_t stream, struct nm_error *err);

/* Will the next feed or end of the stream write a chunk? */
int nm_trace_writer_full(const struct nm_trace_writer *writer, uint32_t stream);

/* The stream has ended. */
int nm_trace_writer_end(struct nm_trace_writer *writer, uint32_t stream, struct nm_error *err);

int nm_trace_writer_names(struct nm_trace_writer *writer, const uint8_t *bytes, size_t count,
			  struct nm_error *err);
int nm_trace_writer_info(struct nm_trace_writer *writer, const char *key, const char *value,
			 struct nm_error *err);

/* Writes what has been fed. */
int nm_trace_writer_flush(struct nm_trace_writer *writer, struct nm_error *err);

/* Writes the rest and the index. nm_trace_writer_free without it leaves a trace with its tail missing. */
int nm_trace_writer_close(struct nm_trace_writer *writer, struct nm_error *err);
void nm_trace_writer_free(struct nm_trace_writer *writer);

/* ---- reading ---- */

enum nm_trace_kind {
	NM_TRACE_WORDS = 1, /* records of a stream */
	NM_TRACE_END,       /* the stream has ended */
	NM_TRACE_NAMES,
	NM_TRACE_INFO, /* key and value, each ended by NUL */
	NM_TRACE_INDEX
};

struct nm_trace_chunk {
	enum nm_trace_kind kind;
	uint32_t stream;
	uint64_t offset;     /* in the file */
	uint64_t bytes;      /* there, with its header */
	uint64_t words;      /* NM_TRACE_WORDS: length of the records */
	uint64_t references; /* and their addresses */
};

struct nm_trace;

/* Is this the beginning of a trace? */
int nm_trace_probe(const uint8_t *bytes, size_t count);

/* path "-" is standard input. NM_EFORMAT if it is no trace, NM_EVERSION if it is one of another version. A
 * trace without its tail opens. */
int nm_trace_open(struct nm_trace **ret_trace, const char *path, struct nm_error *err);
void nm_trace_free(struct nm_trace *trace);

/* The same from a peeked input (files.h); takes over its descriptor. */
struct nm_peeked_input;
int nm_trace_take(struct nm_trace **ret_trace, const struct nm_peeked_input *peeked, const char *path,
		  struct nm_error *err);

/* Whether the trace is a pipe, read once and in order: then nothing is known of chunks that have not been
 * walked over. */
int nm_trace_is_piped(const struct nm_trace *trace);

/* Why the trace ends before its end ("cut off after ... bytes"), or NULL. */
const char *nm_trace_fault(const struct nm_trace *trace);
/* within a chunk, so not because its writer is still running */
int nm_trace_is_cut(const struct nm_trace *trace);

/* Walks over the chunks: 1 and the i-th, 0 behind the last, or a code. In a pipe they must be requested in
 * order, and one can be read until the next is requested. */
int nm_trace_chunk(struct nm_trace *trace, size_t i, struct nm_trace_chunk *ret_chunk, struct nm_error *err);

/* The latest value of a key, or NULL; valid until the next chunk is requested. */
const char *nm_trace_info(const struct nm_trace *trace, const char *key);

/* The contents of a chunk of names, information or index; valid until the next call. */
int nm_trace_payload(struct nm_trace *trace, const struct nm_trace_chunk *chunk, const uint8_t **ret_bytes,
		     size_t *ret_count, struct nm_error *err);

/* Reads the records of a chunk: begin, then next until it returns 0 (or a code: earlier records are good).
 * The words are valid until the next call of either. */
int nm_trace_begin(struct nm_trace *trace, const struct nm_trace_chunk *chunk, struct nm_error *err);
int nm_trace_next(struct nm_trace *trace, const uint64_t **ret_words, size_t *ret_count,
		  struct nm_error *err);

/* The same into memory of the caller's (codec.h). */
struct nm_words;
int nm_trace_words(struct nm_trace *trace, struct nm_words *words, struct nm_error *err);

#endif
