/* SPDX-License-Identifier: MIT
 *
 * reuse_samples.c - see estimator.h.
 */
#include <assert.h>
#include <stdlib.h>

#include "bins.h"
#include "estimator.h"
#include "vector.h"

int nm_reuse_samples_add(struct nm_reuse_samples *s, const struct nm_reuse_sample *sample)
{
	const uint64_t slot = (sample->start - 1) / s->slot;
	const unsigned bin = sample->distance == NM_NO_REUSE ? NM_BIN_COLD : nm_bin_of(sample->distance);
	const uint64_t last = sample->start + (sample->distance == NM_NO_REUSE ? 0 : sample->distance + 1);

	assert(sample->start && slot <= UINT32_MAX && sample->weight >= 1);
	s->sorted = 0;
	s->last = last > s->last ? last : s->last;
	return nm_vec_push(s, (struct nm_kept_sample){(uint32_t)slot, sample->starter, sample->key,
						      (uint16_t)bin, sample->further != 0, sample->aside != 0,
						      (float)sample->weight});
}

static int compare(const void *a, const void *b)
{
	const struct nm_kept_sample *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot > y->slot ? 1 : -1;
	return (x->bin > y->bin) - (x->bin < y->bin);
}

void nm_reuse_samples_sort(struct nm_reuse_samples *s)
{
	if (!s->sorted && s->count)
		qsort(s->at, s->count, sizeof *s->at, compare);
	s->sorted = 1;
}

double nm_reuse_samples_effective(const struct nm_reuse_samples *s)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < s->count; i++) {
		sum += s->at[i].weight;
		squares += (double)s->at[i].weight * s->at[i].weight;
	}
	return squares > 0 ? sum * sum / squares : 0;
}

void nm_reuse_samples_free(struct nm_reuse_samples *s)
{
	nm_vec_free(s);
	s->sorted = 0;
}
