/* SPDX-License-Identifier: MIT
 *
 * record.c - the memory that moments share (struct nm_shared_record).
 */
#include <sys/mman.h>

#include "debugger_priv.h"

enum { BINS = 1 << 16, INTERVALS = 128 };

/* The least power of two from `least` on, of which `most` pieces hold all references. */
static uint64_t piece(uint64_t references, uint64_t most, uint64_t least)
{
	while (least * most < references)
		least *= 2;
	return least;
}

/* misses, left, reached: in this order, in one mapping. */
static size_t size_of(const struct nm_shared_record *r)
{
	return (r->bins + r->intervals * (NM_LEFT_BITS / 64) + 1) * sizeof(uint64_t);
}

int nm_record_new(struct nm_shared_record *ret, uint64_t references, struct nm_error *err)
{
	struct nm_shared_record r = {.bin = piece(references, BINS, 1),
				     .interval = piece(references, INTERVALS, NM_LEAST_INTERVAL)};

	r.bins = references / r.bin + 1;
	r.intervals = references / r.interval + 1;
	r.misses = mmap(NULL, size_of(&r), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	if (r.misses == MAP_FAILED)
		return nm_fail_errno(err, "no memory for the record of the run");
	r.left = r.misses + r.bins;
	r.reached = r.left + r.intervals * (NM_LEFT_BITS / 64);
	*ret = r;
	return 0;
}

void nm_record_free(struct nm_shared_record *r)
{
	if (r->misses)
		munmap(r->misses, size_of(r));
}

uint64_t nm_record_misses(const struct nm_shared_record *r, uint64_t bins)
{
	return bins ? r->misses[bins - 1] : 0;
}
