/* SPDX-License-Identifier: MIT
 *
 * codec.h - transforms the words of one stream so that zstd can compress them well.
 *
 * A chunk is encoded when it is complete. Executions of blocks become ranks in lists of successors. The
 * addresses of each access become distances from the base that makes them vary least (its own last address,
 * another access of the same execution, the stack), in a separate column. Most columns are one constant. zstd
 * compresses the rest. docs/format/trace.md has the rules; encoder.c and columns.c must change together with
 * decoder_tables.c and decoder.c.
 *
 * Decoding is fast because it does not adapt: an address is the sum of two or three numbers that the tables
 * point to.
 */
#ifndef NM_TRACE_CODEC_H
#define NM_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "vector.h"

/* The streams of a chunk. */
enum nm_part {
	NM_PART_TABLES,  /* paths, successors, slots */
	NM_PART_FLOW,    /* a rank for each execution or other record */
	NM_PART_INDICES, /* columns of slots that take few values */
	NM_PART_OFFSETS, /* columns of all others */
	NM_PART_RECORDS, /* words of all records but BLOCK */
	NM_PARTS
};

enum { NM_PART_SLACK = 8 }; /* bytes behind a part that may be read and have no meaning */

struct nm_chunk_bytes nm_vec(uint8_t);
struct nm_words nm_vec(uint64_t);

struct nm_encoder;
int encoder_new(struct nm_encoder **ret_encoder, struct nm_error *err);
void encoder_free(struct nm_encoder *encoder);

/* Appends whole, well-formed records. 0, NM_ENOMEM or NM_EFORMAT. */
int encoder_add(struct nm_encoder *encoder, const uint64_t *words, size_t count, struct nm_error *err);

/* What has been added since the last encoder_reset. */
uint64_t encoder_words(const struct nm_encoder *encoder);
uint64_t encoder_references(const struct nm_encoder *encoder);

/* Completes the chunk and returns its parts, which the encoder owns until it is reset. Call encoder_reset
 * next: it begins a new chunk, independent of this one. */
int encoder_finish(struct nm_encoder *encoder, const struct nm_chunk_bytes *ret_parts[NM_PARTS]);
void encoder_reset(struct nm_encoder *encoder);

struct nm_chunk_decoder;
int decoder_new(struct nm_chunk_decoder **ret_decoder, struct nm_error *err);
void decoder_free(struct nm_chunk_decoder *decoder);

/* Begins a chunk of `words` words. The parts are borrowed until its end, with NM_PART_SLACK bytes of room
 * behind each. 0, NM_ENOMEM or NM_EFORMAT. */
int decoder_begin(struct nm_chunk_decoder *decoder, const struct nm_chunk_bytes parts[NM_PARTS],
		  uint64_t words, struct nm_error *err);

/* 1 and the next whole records, which replace the contents of `words`; 0 at the end of the chunk; NM_EFORMAT
 * if it is damaged: the records before are good. */
int decoder_next(struct nm_chunk_decoder *decoder, struct nm_words *words, struct nm_error *err);

#endif
