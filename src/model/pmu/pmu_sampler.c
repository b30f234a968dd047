/* SPDX-License-Identifier: MIT
 *
 * pmu_sampler.c - the rules by which a PMU samples; see simulated_pmu.h.
 */
#include <assert.h>

#include "map.h"
#include "simulated_pmu.h"

/* The counter's next start. */
static uint64_t draw_start(struct nm_pmu_sampler *s)
{
	const uint64_t n = s->request.period;

	if (!s->random)
		return n;
	return n - n / 2 + nm_mix64(s->stream + ++s->drawn) % (2 * (n / 2) + 1);
}

void nm_pmu_sampler_init(struct nm_pmu_sampler *s, const struct nm_pmu *pmu, unsigned index)
{
	assert(index < pmu->count);
	*s = (struct nm_pmu_sampler){.request = pmu->samplers[index],
				     .random = pmu->random,
				     .shadow = pmu->shadow,
				     .stream = nm_mix64(pmu->seed << 8 | index)};
	s->left = draw_start(s);
	s->next = s->left; /* ibs */
}

/* Takes a sample, and starts the counter again. */
static int take_sample(struct nm_pmu_sampler *s)
{
	s->interrupts++;
	s->left = draw_start(s);
	return 1;
}

static int see_shadowed(struct nm_pmu_sampler *s, const struct nm_pmu_occurrence *o)
{
	if (!s->left)
		return o->instruction >= s->next && take_sample(s);
	if (!--s->left)
		s->next = o->instruction + s->shadow;
	return 0;
}

/* Instructions without an access were tagged in between. */
static int see_tagged(struct nm_pmu_sampler *s, const struct nm_pmu_occurrence *o)
{
	for (; s->next < o->instruction; s->next += draw_start(s))
		s->interrupts++;
	if (s->next != o->instruction)
		return 0;
	s->interrupts++;
	s->tagged_accesses++;
	s->next += draw_start(s);
	return o->is_fill;
}

int nm_pmu_sampler_see(struct nm_pmu_sampler *s, const struct nm_pmu_occurrence *o)
{
	const int misses = o->is_fill && o->is_load && !o->is_further;

	switch (s->request.rule) {
	case NM_PMU_MISS: return o->is_fill && !--s->left && take_sample(s);
	case NM_PMU_PRECISE: return misses && !--s->left && take_sample(s);
	case NM_PMU_PEBS: return misses && see_shadowed(s, o);
	default: return o->is_access && !o->is_further && see_tagged(s, o);
	}
}
