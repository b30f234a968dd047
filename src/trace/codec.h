/* SPDX-License-Identifier: MIT
 *
 * codec.h - the words of one stream, made small: the transform that comes before zstd.
 *
 * A run of a program repeats itself.  Blocks are predicted by the two blocks before them, addresses by what
 * the same access did before; what is written is only where a prediction fails, spread over five streams of
 * alike bytes that a general compressor then takes apart easily.  docs/format/trace.md has the rules; encode.c
 * and decode.c keep the same books (struct nm_books) and must change together.
 *
 * Measured over thirteen streams of programs: 10 to 16 bytes a reference become 0.01 to 0.62, 0.2 in the middle
 * (docs/format/trace.md).
 */
#ifndef NM_TRACE_CODEC_H
#define NM_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "vector.h"

/* The streams of a chunk. */
enum nm_part {
	NM_PART_FLOW,      /* blocks that were not predicted, with the run of predicted ones before them */
	NM_PART_RUNS,      /* lengths of runs of predicted addresses */
	NM_PART_CODES,     /* how each other address is told */
	NM_PART_DISTANCES, /* bytes of those that nothing predicts */
	NM_PART_RECORDS,   /* words of all records but BLOCK */
	NM_PARTS
};

struct nm_bytes nm_vec(uint8_t);

struct nm_encoder;
int nm_encoder_new(struct nm_encoder **ret_encoder, struct nm_error *err);
void nm_encoder_free(struct nm_encoder *encoder);

/* Appends whole, well-formed records.  0, NM_ENOMEM or NM_EFORMAT. */
int nm_encoder_add(struct nm_encoder *encoder, const uint64_t *words, size_t count, struct nm_error *err);

/* What has been added since the last nm_encoder_reset. */
uint64_t nm_encoder_words(const struct nm_encoder *encoder);
uint64_t nm_encoder_references(const struct nm_encoder *encoder);

/* Completes the chunk and gives its streams, which are the encoder's until it is reset.  Then only
 * nm_encoder_reset, which begins a new chunk that knows nothing of this one. */
int nm_encoder_finish(struct nm_encoder *encoder, const struct nm_bytes *ret_parts[NM_PARTS]);
void nm_encoder_reset(struct nm_encoder *encoder);

struct nm_decoder;
int nm_decoder_new(struct nm_decoder **ret_decoder, struct nm_error *err);
void nm_decoder_free(struct nm_decoder *decoder);

/* Begins a chunk of `words` words.  The parts are borrowed until its end. */
void nm_decoder_begin(struct nm_decoder *decoder, const struct nm_bytes parts[NM_PARTS], uint64_t words);

/* 1 and the next whole records, valid until the next call; 0 at the end of the chunk; NM_EFORMAT if it is damaged: what
 * was given before stands. */
int nm_decoder_next(struct nm_decoder *decoder, const uint64_t **ret_words, size_t *ret_count,
		    struct nm_error *err);

#endif
