/* SPDX-License-Identifier: MIT */
#include "histograms.h"

#include <assert.h>
#include <stdlib.h>

#include "bins.h"
#include "errors.h"
#include "hash_index.h"
#include "map.h"
#include "vector.h"

enum { FOUND_BITS = 12, PART_BINS = 16, UNIT_BIT = 7 };

_Static_assert(NM_BIN_COLD / PART_BINS < 1 << UNIT_BIT, "a part's number and its unit do not overlap");

/* Whose part it is: key and previous toucher; its number, from bin 0 on, and its unit. */
struct identity {
	uint64_t pair;
	uint32_t part;
};

struct part {
	uint32_t key, previous;
	uint16_t part;
	uint16_t counts[PART_BINS]; /* without the multiples of 2^16, which are in `overflows` */
};

/* Where a part was found last. */
struct found {
	uint64_t pair; /* 0: free; no key is 0 */
	uint32_t part, index;
};

struct nm_histograms {
	struct found found[1 << FOUND_BITS];
	struct nm_vec(struct part) parts;
	struct nm_hash_index index; /* of the parts, by their identity */
	struct nm_map overflows; /* PART_BINS * index of the part + its bin -> how often the count was 2^16 */
};

struct nm_histograms *nm_histograms_new(void) { return calloc(1, sizeof(struct nm_histograms)); }

void nm_histograms_free(struct nm_histograms *h)
{
	if (!h)
		return;
	nm_map_done(&h->overflows);
	nm_vec_free(&h->parts);
	nm_hash_index_done(&h->index);
	free(h);
}

/* ---- finding a part ---- */

static uint64_t hash_identity(const struct identity *id)
{
	return nm_mix64(id->pair ^ (id->part + 1) * 0x9e3779b97f4a7c15);
}

static struct identity identity_of(const struct part *p)
{
	return (struct identity){(uint64_t)p->key << 32 | p->previous, p->part};
}

static int is_part(const struct part *p, const struct identity *id)
{
	const struct identity own = identity_of(p);

	return own.pair == id->pair && own.part == id->part;
}

/* Finds a part, or makes it. */
static int find_part(struct nm_histograms *h, const struct identity *id, struct found *found)
{
	const struct part p = {(uint32_t)(id->pair >> 32), (uint32_t)id->pair, (uint16_t)id->part, {0}};
	const uint64_t hash = hash_identity(id);
	uint32_t index;

	for (size_t at = 0; nm_hash_index_next(&h->index, hash, &at, &index);)
		if (is_part(&h->parts.at[index], id)) {
			*found = (struct found){id->pair, id->part, index};
			return 0;
		}
	if (h->parts.count == UINT32_MAX - 1 || nm_vec_push(&h->parts, p) ||
	    nm_hash_index_add(&h->index, hash, (uint32_t)h->parts.count - 1))
		return NM_ENOMEM;
	*found = (struct found){id->pair, id->part, (uint32_t)h->parts.count - 1};
	return 0;
}

/* ---- counting ---- */

static int count_overflow(struct nm_histograms *h, uint32_t index, unsigned bin)
{
	const uint64_t at = (uint64_t)index * PART_BINS + bin;

	return nm_map_put(&h->overflows, at, nm_map_get(&h->overflows, at, 0) + 1);
}

/* Parts of one pair lie side by side in `found`. */
static int count_bin(struct nm_histograms *h, uint64_t pair, enum nm_distance_unit unit, unsigned bin)
{
	const struct identity id = {pair, bin / PART_BINS | (uint32_t)unit << UNIT_BIT};
	const uint64_t home = (pair * 0x9e3779b97f4a7c15 >> (64 - FOUND_BITS)) + id.part;
	struct found *found = &h->found[home & ((1u << FOUND_BITS) - 1)];

	if ((found->pair != pair || found->part != id.part) && find_part(h, &id, found))
		return NM_ENOMEM;
	if (!++h->parts.at[found->index].counts[bin % PART_BINS])
		return count_overflow(h, found->index, bin % PART_BINS);
	return 0;
}

static unsigned bin_of(uint64_t distance)
{
	return distance == NM_STACK_COLD     ? NM_BIN_COLD
	       : distance == NM_STACK_BEYOND ? NM_BIN_BEYOND
					     : nm_bin_of(distance);
}

int nm_histograms_add(struct nm_histograms *h, const struct nm_touch *touches, size_t n)
{
	for (size_t i = 0; i < n;) {
		const struct nm_touch *most = &touches[i];

		for (i++; i < n && touches[i].first == most->first; i++)
			if (touches[i].stack > most->stack)
				most = &touches[i];
		if (count_bin(h, (uint64_t)most->key << 32 | most->previous, NM_DISTANCE_LINES,
			      bin_of(most->stack)) ||
		    count_bin(h, (uint64_t)most->key << 32, NM_DISTANCE_REFERENCES, bin_of(most->reuse)))
			return NM_ENOMEM;
	}
	return 0;
}

/* ---- the result ---- */

static uint64_t count_of(const struct nm_histograms *h, size_t index, unsigned bin)
{
	assert(index < h->parts.count);
	return (nm_map_get(&h->overflows, index * PART_BINS + bin, 0) << 16) + h->parts.at[index].counts[bin];
}

int nm_histograms_list(const struct nm_histograms *h, struct nm_bin_count **ret_counts, size_t *ret_count)
{
	struct nm_vec(struct nm_bin_count) list = {0};

	for (size_t i = 0; i < h->parts.count; i++) {
		const struct part *p = &h->parts.at[i];
		const unsigned first = p->part % (1u << UNIT_BIT) * PART_BINS;

		for (unsigned k = 0; k < PART_BINS; k++) {
			const uint64_t n = count_of(h, i, k);
			const struct nm_bin_count row = {p->key, p->previous, (uint16_t)(first + k),
							 (uint8_t)(p->part >> UNIT_BIT), n};

			if (n && nm_vec_push(&list, row)) {
				nm_vec_free(&list);
				return NM_ENOMEM;
			}
		}
	}
	*ret_counts = list.at;
	*ret_count = list.count;
	return 0;
}
