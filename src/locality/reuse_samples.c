/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "estimator.h"
#include "map.h"
#include "vector.h"

int nm_reuse_samples_add(struct nm_reuse_samples *s, const struct nm_reuse_sample *sample)
{
	const uint64_t last = sample->start + (sample->distance == NM_NO_REUSE ? 0 : sample->distance + 1);

	assert(sample->start && sample->weight >= 1);
	s->references = last > s->references ? last : s->references;
	return nm_vec_push(s, (struct nm_kept_sample){sample->start, sample->distance, sample->starter,
						      sample->key, (float)sample->weight,
						      sample->further != 0, sample->aside != 0});
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
	s->references = 0;
}

/* ---- replicates ---- */

unsigned nm_replicate_without(const struct nm_kept_sample *at)
{
	return 1 + (unsigned)(nm_mix64(at->start) % NM_REPLICATES);
}

double nm_replicate_loss(const struct nm_kept_sample *at) { return sqrt(1 - 1 / fmax(1, at->weight)); }

double nm_replicate_weight(const struct nm_kept_sample *at, unsigned replicate)
{
	const double loss = replicate ? nm_replicate_loss(at) : 0;

	assert(replicate <= NM_REPLICATES);
	return at->weight *
	       (nm_replicate_without(at) == replicate ? 1 - loss : 1 + loss / (NM_REPLICATES - 1));
}

double nm_replicate_variance(const double changes[NM_REPLICATES])
{
	double sum = 0;

	for (unsigned i = 0; i < NM_REPLICATES; i++)
		sum += changes[i] * changes[i];
	return sum * (NM_REPLICATES - 1) / NM_REPLICATES;
}
