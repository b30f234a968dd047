/* SPDX-License-Identifier: MIT
 *
 * output.c - the merged batch that is being filled, with the turns of cores in it.
 */
#include <string.h>

#include "interleave_priv.h"

int nm_output_send(struct nm_interleave *m)
{
	struct nm_merged batch = {.refs = m->refs,
				  .count = m->count,
				  .turns = m->turns,
				  .turn_count = m->turn_count,
				  .clock = m->setup.clocked ? m->clock : NULL};

	m->count = m->turn_count = 0;
	return batch.count ? m->setup.output(m->setup.arg, &batch) : 0;
}

int nm_output_put(struct nm_interleave *m, struct stream *s, const struct nm_ref *refs, const uint64_t *clock,
		  size_t count)
{
	while (count) {
		size_t n = NM_BATCH - m->count < count ? NM_BATCH - m->count : count;
		struct nm_turn *last = m->turn_count ? &m->turns[m->turn_count - 1] : NULL;
		int status;

		memcpy(m->refs + m->count, refs, n * sizeof *refs);
		if (m->setup.clocked)
			memcpy(m->clock + m->count, clock, n * sizeof *clock);
		m->count += n;
		if (!last || last->core != s->core || s->synchronised) {
			last = &m->turns[m->turn_count++];
			*last = (struct nm_turn){0, (uint16_t)s->core, s->synchronised != 0};
			s->synchronised = 0;
		}
		last->end = (uint16_t)m->count;
		if (m->count == NM_BATCH && (status = nm_output_send(m)))
			return status;
		refs += n;
		clock += n;
		count -= n;
	}
	return 0;
}
