/* SPDX-License-Identifier: MIT
 *
 * writer_priv.h - a trace that is being written: its open chunks, and the index of those that are in the file.
 */
#ifndef NM_TRACE_WRITER_PRIV_H
#define NM_TRACE_WRITER_PRIV_H

#include <zstd.h>

#include "format.h"

/* Larger chunks compress hardly better and are packed more slowly. */
enum { CHUNK_WORDS = 1 << 20 };

struct open_stream {
	uint32_t number;
	struct nm_encoder *encoder;
	int full, forked;
};

struct nm_trace_writer {
	int fd;
	uint64_t at; /* bytes written */
	ZSTD_CCtx *zstd;
	struct nm_chunk_bytes packed;
	struct nm_vec(struct open_stream) streams;
	struct nm_vec(struct index_entry) index;
	struct nm_vec(struct nm_encoder *) idle; /* of streams that have ended */
};

/* Whether the chunks of the index fill the file, and each stream is open once, one at most since it forked. */
int trace_writer_is_valid(const struct nm_trace_writer *writer);

#endif
