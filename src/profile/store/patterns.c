/* SPDX-License-Identifier: MIT
 *
 * patterns.c - stores the strides of sites: sums the counts of equal strides of their attribution keys, and
 * keeps the stride that most accesses follow. Of strides with equal counts the shorter one wins, then the one
 * that goes forward. Walks of loads are not summed: of those of a site's keys, the longest is stored.
 */
#include <assert.h>
#include <stdlib.h>

#include "profile_priv.h"

struct entry {
	uint32_t place;
	int64_t bytes;
	uint64_t count, sampled, halved;
};

static int compare_patterns(const void *a, const void *b)
{
	const struct entry *e = a, *y = b;

	if (e->place != y->place)
		return e->place > y->place ? 1 : -1;
	return (e->bytes > y->bytes) - (e->bytes < y->bytes);
}

static uint64_t stride_length(int64_t bytes) { return bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes; }

static int is_better(const struct nm_result_stride *s, const struct nm_result_stride *r)
{
	if (s->count != r->count)
		return s->count > r->count;
	if (stride_length(s->bytes) != stride_length(r->bytes))
		return stride_length(s->bytes) < stride_length(r->bytes);
	return s->bytes > r->bytes;
}

/* Lists the strides of each attribution key; the first entry of a key has its number of samples. */
static size_t list_entries(const struct nm_result *result, const struct nm_place_index *index,
			   struct entry *entries)
{
	size_t n = 0;

	for (size_t i = 0; i < result->stride_count; i++) {
		const struct nm_result_strides *s = &result->strides[i];

		for (unsigned k = 0; k < NM_RESULT_STRIDES; k++)
			if (!k || s->strides[k].count)
				entries[n++] = (struct entry){index->place_of[s->attr], s->strides[k].bytes,
							      s->strides[k].count, k ? 0 : s->sampled,
							      k ? 0 : s->halved};
	}
	assert(n <= result->stride_count * NM_RESULT_STRIDES);
	return n;
}

int nm_place_patterns(const struct nm_result *result, const struct nm_place_index *index,
		      struct nm_place_pattern **ret_list, size_t *ret_count)
{
	size_t room = result->stride_count + 1, n, places = 0;
	struct entry *entries = malloc(room * NM_RESULT_STRIDES * sizeof *entries);
	struct nm_place_pattern *list = malloc(room * sizeof *list);

	if (!entries || !list) {
		free(entries);
		free(list);
		return SQLITE_NOMEM;
	}
	n = list_entries(result, index, entries);
	qsort(entries, n, sizeof *entries, compare_patterns);
	for (size_t i = 0; i < n;) {
		struct nm_place_pattern *p = &list[places ? places - 1 : 0];
		struct nm_result_stride sum = {entries[i].bytes, 0};
		uint32_t place = entries[i].place;

		if (!places || p->place != place) {
			p = &list[places++];
			*p = (struct nm_place_pattern){.place = place};
		}
		for (; i < n && entries[i].place == place && entries[i].bytes == sum.bytes; i++) {
			sum.count += entries[i].count;
			p->sampled += entries[i].sampled;
			p->halved += entries[i].halved;
		}
		if (is_better(&sum, &p->stride))
			p->stride = sum;
	}
	free(entries);
	*ret_list = list;
	*ret_count = places;
	return 0;
}

int nm_place_walks(const struct nm_result *result, const struct nm_place_index *index,
		   struct nm_walk **ret_walks)
{
	struct nm_walk *walks = calloc(index->place_count + 1, sizeof *walks);

	assert(index->place_count <= result->attr_count);
	for (size_t i = 0; walks && i < result->attr_count; i++) {
		struct nm_walk *to = &walks[index->place_of[i]];

		if (result->walks[i].loads > to->loads)
			*to = result->walks[i];
	}
	*ret_walks = walks;
	return walks ? 0 : SQLITE_NOMEM;
}
