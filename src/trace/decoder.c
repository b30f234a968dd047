/* SPDX-License-Identifier: MIT
 *
 * No input is trusted. Everything that the loop over the executions relies on was checked when the tables
 * were read (decoder_tables.c): how often each path may run, and so how long each column is and how many
 * words come out. The loop itself counts paths down and compares ranks, and has no other branch for an
 * address than the end of the block.
 *
 * Dropped: adaptive predictors. A quarter of the addresses was mispredicted,
 * and each of those cost a branch misprediction of the processor.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "decoder_priv.h"
#include "nearmiss/wire.h"

enum { ENOUGH_WORDS = 1 << 14 };

int decoder_new(struct nm_chunk_decoder **ret_decoder, struct nm_error *err)
{
	*ret_decoder = calloc(1, sizeof **ret_decoder);
	return *ret_decoder ? 0 : nm_fail_memory(err);
}

void decoder_free(struct nm_chunk_decoder *d)
{
	if (!d)
		return;
	nm_vec_free(&d->paths);
	nm_vec_free(&d->blocks);
	nm_vec_free(&d->block_of);
	nm_vec_free(&d->steps);
	nm_vec_free(&d->successors);
	nm_vec_free(&d->escapes);
	nm_vec_free(&d->slots);
	nm_vec_free(&d->values);
	free(d);
}

int decoder_begin(struct nm_chunk_decoder *d, const struct nm_chunk_bytes parts[NM_PARTS], uint64_t words,
		  struct nm_error *err)
{
	d->broken = decoder_read_tables(d, parts, words);
	d->flow = parts[NM_PART_FLOW].at;
	d->flow_end = d->flow + parts[NM_PART_FLOW].count;
	d->records = parts[NM_PART_RECORDS].at;
	d->records_end = d->records + parts[NM_PART_RECORDS].count;
	d->last = d->broken ? (struct step){0} : d->steps.at[0];
	d->escaped = 0;
	return d->broken ? nm_fail(err, d->broken,
				   d->broken == NM_ENOMEM ? "out of memory" : "the chunk is damaged")
			 : 0;
}

/* The step that a rank beyond the list means, or NULL. */
static const struct step *escaped_step(struct nm_chunk_decoder *d, unsigned rank)
{
	return rank == NM_MAX_RANKS && d->escaped < d->escapes.count
		   ? &d->steps.at[d->escapes.at[d->escaped++]]
		   : NULL;
}

/* The addresses of one execution; the last of them, or `before`. */
static inline uint64_t put_addresses(struct slot *slots, const struct step *step, uint64_t *out,
				     uint64_t before)
{
	struct slot *s = slots + step->slots;

	for (uint32_t i = 0; i < step->count; i++, s++) {
		uint64_t bits;

		memcpy(&bits, s->at, sizeof bits);
		before = (*s->base + s->values[bits & s->index] + (bits & decoder_offsets[s->offset])) &
			 ~NM_WIRE_HEADER_BIT;
		s->at += s->width;
		s->last = before;
		out[i] = before;
	}
	return before;
}

/* The same where no slot has a column. */
static inline uint64_t put_constants(struct slot *slots, const struct step *step, uint64_t *out,
				     uint64_t before)
{
	struct slot *s = slots + step->slots;

	for (uint32_t i = 0; i < step->count; i++, s++) {
		before = (*s->base + s->constant) & ~NM_WIRE_HEADER_BIT;
		s->last = before;
		out[i] = before;
	}
	return before;
}

/* Executions up to the next record or `enough`; returns what comes next. */
static enum next run_blocks(struct nm_chunk_decoder *d, struct nm_words *words, size_t enough)
{
	const struct step *successors = d->successors.at;
	struct slot *slots = d->slots.at;
	struct path *paths = d->paths.at;
	const uint8_t *flow = d->flow, *end = d->flow_end;
	uint64_t *out = words->at + words->count, *stop = words->at + enough;
	uint64_t last = slots[NM_SLOT_BEFORE].last;
	struct step s = d->last;
	enum next next = MORE;

	assert(enough + NM_MAX_ADDRESSES + 1 <= words->room);
	while (out < stop) {
		const struct step *to;

		if (flow == end) {
			next = END;
			break;
		}
		to = *flow < s.successors ? &successors[s.first + *flow] : escaped_step(d, *flow);
		flow++;
		if (!to || !paths[to->path].left--) {
			next = DAMAGE;
			break;
		}
		s = *to;
		if (!s.path) {
			next = RECORD;
			break;
		}
		*out++ = paths[s.path].header;
		last = s.traits & ALL_CONSTANT ? put_constants(slots, &s, out, last)
					       : put_addresses(slots, &s, out, last);
		out += s.count;
		slots[NM_SLOT_BEFORE].last = last;
		slots[s.traits & NOTING_SLOT].last = last;
	}
	d->last = s;
	d->flow = flow;
	words->count = (size_t)(out - words->at);
	return next;
}

static int put_record(struct nm_chunk_decoder *d, struct nm_words *out)
{
	size_t room = (size_t)(d->records_end - d->records) / sizeof(uint64_t), n;
	uint64_t header;

	if (!room)
		return NM_EFORMAT;
	memcpy(&header, d->records, sizeof header);
	n = 1 + nm_wire_words(header);
	if (!nm_wire_is_header(header) || n > room)
		return NM_EFORMAT;
	if (nm_vec_reserve(out, n + ENOUGH_WORDS + NM_MAX_ADDRESSES + 1))
		return NM_ENOMEM;
	memcpy(out->at + out->count, d->records, n * sizeof header);
	out->count += n;
	d->records += n * sizeof header;
	return 0;
}

int decoder_next(struct nm_chunk_decoder *d, struct nm_words *out, struct nm_error *err)
{
	int status = d->broken;

	out->count = 0;
	if (!status && nm_vec_reserve(out, ENOUGH_WORDS + NM_MAX_ADDRESSES + 1))
		status = NM_ENOMEM;
	while (!status && d->flow < d->flow_end && out->count < ENOUGH_WORDS) {
		enum next next = run_blocks(d, out, ENOUGH_WORDS);

		status = next == RECORD ? put_record(d, out) : next == DAMAGE ? NM_EFORMAT : 0;
	}
	d->broken = status;
	if (status && (status == NM_ENOMEM || !out->count))
		return nm_fail(err, status, status == NM_ENOMEM ? "out of memory" : "the chunk is damaged");
	return out->count != 0;
}
