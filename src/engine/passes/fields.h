/* SPDX-License-Identifier: MIT
 *
 * fields.h - the fields pass: which fields of structures are accessed, miss, and are used together; and which
 * lines of objects are hot. It takes four kinds of samples:
 *   - accesses per attribution and field, from bursts (bursts.h);
 *   - *visits*: which fields of an element (a structure in its variable or block) one burst touches;
 *   - misses per attribution and field, and *residencies*: which fields of an element are used while a line
 *     with a part of it is in the first level; both from the sampler of that level (sampler.h);
 *   - accesses and residencies of the single lines that the sampler follows.
 *
 * Samples are read at fixed times, a whole queue of batches late, because the simulation may run late. Freed
 * blocks are remembered until then. So figures depend neither on the number of threads nor on whether a
 * program or its trace is analysed.
 *
 * elements.h finds the structure at an address; a range that the program named is what the memory under it
 * is. An access counts for each field that it touches, a miss for that of its first byte. Visits and
 * residencies know the first NM_FIELDS_TOGETHER fields of a structure.
 *
 * Dropped: keeping the frames of the last batches, which costs every run what few local variables need.
 */
#ifndef NM_FIELDS_H
#define NM_FIELDS_H

#include <stdint.h>

#include "elements.h"
#include "map.h"
#include "pass.h"
#include "symbol.h"
#include "vector.h"

enum { NM_FIELDS_TOGETHER = 64, NM_VISITS_BITS = 9 };

/* Sampled, and weighted. */
struct nm_fields_use {
	uint32_t attr, field;
	uint64_t accesses[2]; /* reads, writes */
	uint64_t references;  /* of these, those that touch it first */
	uint64_t misses[NM_FIELD_DEPTHS][2];
};

/* How many residencies of lines, or visits, held these fields of an element and used those. */
struct nm_fields_sight {
	uint32_t object, attr; /* attr: that loaded the line, or began the visit */
	uint64_t there, used;  /* a bit a field; there: 0 for visits */
	uint64_t count;
};

struct nm_fields_visit {
	uint64_t element; /* address, 0: none */
	uint32_t object, attr;
	uint64_t used;
};

struct nm_fields_line {
	uint64_t line;
	uint32_t object;
	uint64_t residencies, accesses, bytes; /* bytes: used, summed over residencies */
};

struct nm_fields {
	struct nm_elements elements;
	struct nm_map use_of, sight_of, line_of;
	struct nm_vec(struct nm_fields_use) uses;
	struct nm_vec(struct nm_fields_sight) sights;
	struct nm_vec(struct nm_fields_line) lines;
	uint64_t chosen;                    /* lines whose hash is at most this are in the list */
	uint64_t burst;                     /* of the visits */
	uint64_t read;                      /* batches of which the samples were read */
	uint32_t line_bytes;                /* of the first level */
	uint32_t at_depth[NM_FIELD_DEPTHS]; /* levels of the first machine, as bits */
	struct nm_fields_visit visits[1 << NM_VISITS_BITS];
	struct nm_sampler *sampler; /* the engine's */
};

/* fields_merge.c: the pass's `finish`. */
int nm_fields_merge(void *fields, const struct nm_pass_merge *merge, struct nm_result *result);

/* fields_affinity.c: adds residencies to the result's fields, and its affinities. first: the engine's object -> its
 * first field in the result. 0 or NM_ENOMEM. */
int nm_fields_merge_affinity(const struct nm_fields *fields, const struct nm_pass_merge *merge,
			     const uint32_t *first, struct nm_result *result);

#endif
