/* SPDX-License-Identifier: MIT
 *
 * decode_sampling.c - decoders of the records of sampled recordings.
 */
#include "decode.h"

enum { PC_BITS = 48, CLOCK_BITS = 48 };

_Static_assert(sizeof(struct nm_wire_call) == 16, "calls are read where they lie");

/* Whether a record has this number of words and no arg. */
static int is_plain(const struct nm_wire_record *r, size_t words, struct nm_error *err)
{
	if (r->words != words)
		return nm_wire_fault(r, err, "wrong number of words");
	return r->arg ? nm_wire_fault(r, err, "value out of range") : 0;
}

static struct nm_wire_code code_of(uint64_t word)
{
	return (struct nm_wire_code){word & ((1ull << PC_BITS) - 1), word >> PC_BITS & NM_WIRE_CODE_MAX_BYTES,
				     (word & NM_WIRE_CODE_WRITES) != 0};
}

NM_WIRE_DECODER(sampling)
{
	enum { UNIT = 1000000000, LONGEST = 1 << 16 };
	const uint64_t *w = r->payload;
	int status = is_plain(r, 3, err);

	if (status)
		return status;
	if (!w[0] || w[0] > UNIT || !w[1] || w[1] > LONGEST || w[1] & (w[1] - 1) || w[2] > UINT32_MAX)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_sampling){(uint32_t)w[0], (uint32_t)w[1], (uint32_t)w[2]};
	return 0;
}

NM_WIRE_DECODER(sample)
{
	const uint64_t *w = r->payload;
	int status = is_plain(r, 3, err);

	if (status)
		return status;
	if (!code_of(w[2]).bytes || w[0] >> CLOCK_BITS)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_sample){w[0], w[1], code_of(w[2])};
	return 0;
}

NM_WIRE_DECODER(reuse)
{
	const uint64_t *w = r->payload;
	int status = is_plain(r, 4, err);

	if (status)
		return status;
	if (!code_of(w[2]).bytes || w[0] >> CLOCK_BITS || w[3] >= w[0])
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_reuse){w[0], w[1], code_of(w[2]), w[3]};
	return 0;
}

NM_WIRE_DECODER(frames)
{
	if (!(r->words & 1))
		return nm_wire_fault(r, err, "wrong number of words");
	if (r->arg)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_frames){r->payload[0], (const struct nm_wire_call *)(r->payload + 1),
				       (uint32_t)(r->words / 2)};
	return 0;
}

NM_WIRE_DECODER(clock)
{
	int status = is_plain(r, 1, err);

	if (status)
		return status;
	if (r->payload[0] >> CLOCK_BITS)
		return nm_wire_fault(r, err, "value out of range");
	ret->references = r->payload[0];
	return 0;
}
