/* SPDX-License-Identifier: MIT */
#include "record.h"

#include "shared_memory.h"

enum { BINS = 1 << 16 };

/* log2 of the length of a part such that at most `most` parts hold all references; at least `least`. */
static uint64_t shift_of(uint64_t references, uint64_t most, uint64_t least)
{
	while (references >> least >= most)
		least++;
	return least;
}

/* The misses, followed by the filters, in one mapping. */
uint64_t nm_record_bytes(const struct nm_shared_record *r)
{
	return (r->bins + r->pieces * NM_FILTER_WORDS) * sizeof(uint64_t);
}

int nm_record_new(struct nm_shared_record *ret, uint64_t references, struct nm_error *err)
{
	struct nm_shared_record r = {
	    .bin_shift = shift_of(references, BINS, 0),
	    .piece_shift = shift_of(references, NM_PIECES, (uint64_t)__builtin_ctz(NM_PIECE_REFERENCES))};

	r.bins = (references >> r.bin_shift) + 1;
	r.pieces = (references >> r.piece_shift) + 1;
	r.misses = nm_shared_memory(nm_record_bytes(&r));
	if (!r.misses)
		return nm_fail_errno(err, "no memory for the record of the run");
	r.left = r.misses + r.bins;
	*ret = r;
	return 0;
}

void nm_record_free(struct nm_shared_record *r)
{
	if (r->misses)
		nm_shared_memory_free(r->misses, nm_record_bytes(r));
}
