/* SPDX-License-Identifier: MIT
 *
 * index.c - from the number of a line to its set.
 *
 * modulo: the line number modulo the sets, of which there may be any number. xor: the index bits, each
 * combined by exclusive or with the tag bit that lies as far above the index as it lies above the line;
 * prime: modulo the largest prime that is not above the number of sets, so that a few sets are never used
 * (both as compared in Kharbutli, Irwin, Solihin and Lee, "Using Prime Numbers for Cache Indexing to
 * Eliminate Conflict Misses", HPCA 2004). slices: the last level of an Intel processor with 2, 4 or 8 slices:
 * bit k of the slice is the parity of the address bits in mask k (Maurice, Le Scouarnec, Neumann, Heen and
 * Francillon, "Reverse Engineering Intel Last-Level Cache Complex Addressing Using Performance Counters",
 * RAID 2015), and modulo within the slice. The hardware takes physical addresses where we have virtual ones.
 */
#include "index.h"

#include <assert.h>

static const uint64_t slice_masks[3] = {0x1b5f575440, 0x2eb5faa880, 0x3cccc93100};

static uint64_t modulo_index(const struct nm_index_geometry *p, uint64_t line) { return line % p->sets; }

static uint64_t exclusive_or(const struct nm_index_geometry *g, uint64_t line)
{
	return (line ^ line >> g->set_bits) & (g->sets - 1);
}

static uint64_t prime_index(const struct nm_index_geometry *p, uint64_t line) { return line % p->modulus; }

static uint64_t sliced_index(const struct nm_index_geometry *g, uint64_t line)
{
	uint64_t address = line << g->line_shift, slice = 0;

	for (unsigned bit = 0; bit < g->slice_bits; bit++)
		slice |= (uint64_t)__builtin_parityll(address & slice_masks[bit]) << bit;
	return slice * g->modulus + line % g->modulus;
}

static const char *lacks_power(const struct nm_level_spec *spec)
{
	return spec->sets & (spec->sets - 1) ? "index=xor takes a power of two of sets" : NULL;
}

static const char *lacks_prime(const struct nm_level_spec *spec)
{
	return spec->sets < 2 ? "index=prime takes two sets or more" : NULL;
}

static const char *lacks_slices(const struct nm_level_spec *spec)
{
	if (spec->line > 64)
		return "index=slices takes lines of at most 64 bytes";
	return spec->slices && spec->sets % spec->slices == 0
		   ? NULL
		   : "index=slices takes a number of sets that the slices divide";
}

const struct nm_index nm_indexes[NM_INDEX_COUNT] = {
    [NM_INDEX_MODULO] = {"modulo", "line number modulo sets", modulo_index, NULL},
    [NM_INDEX_XOR] = {"xor", "index bits xor the tag bits above them", exclusive_or, lacks_power},
    [NM_INDEX_PRIME] = {"prime", "line number modulo the largest prime not above sets", prime_index,
			lacks_prime},
    [NM_INDEX_SLICES] = {"slices", "a parity of address bits per bit of the slice", sliced_index,
			 lacks_slices},
};

static uint64_t largest_prime(uint64_t most)
{
	for (uint64_t n = most;; n--) {
		uint64_t d = 2;

		while (d * d <= n && n % d)
			d++;
		if (d * d > n)
			return n;
	}
}

void nm_index_geometry_init(struct nm_index_geometry *g, const struct nm_level_spec *spec)
{
	assert(spec->sets && spec->line);
	assert(spec->index != NM_INDEX_XOR || !(spec->sets & (spec->sets - 1)));
	assert(spec->index != NM_INDEX_SLICES || spec->sets % spec->slices == 0);
	*g = (struct nm_index_geometry){.sets = spec->sets,
					.modulus = spec->sets,
					.set_bits = (unsigned)__builtin_ctzll(spec->sets),
					.line_shift = (unsigned)__builtin_ctz(spec->line)};
	if (spec->index == NM_INDEX_PRIME)
		g->modulus = largest_prime(spec->sets);
	if (spec->index == NM_INDEX_SLICES) {
		g->modulus = spec->sets / spec->slices;
		g->slice_bits = (unsigned)__builtin_ctz(spec->slices);
	}
}
