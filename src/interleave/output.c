/* SPDX-License-Identifier: MIT
 *
 * output.c - the merged batch that is being filled, with the turns of cores in it.
 */
#include <string.h>

#include "interleave_priv.h"

int nm_output_send(struct nm_interleave *i)
{
	struct nm_merged batch = {.refs = i->refs,
				  .count = i->count,
				  .time_slices = i->time_slices,
				  .time_slice_count = i->time_slice_count,
				  .clock = i->setup.clocked ? i->clock : NULL};

	i->count = i->time_slice_count = 0;
	return batch.count ? i->setup.output(i->setup.arg, &batch) : 0;
}

int nm_output_put(struct nm_interleave *i, struct stream *s, const struct nm_ref *refs, const uint64_t *clock,
		  size_t count)
{
	while (count) {
		size_t n = NM_BATCH - i->count < count ? NM_BATCH - i->count : count;
		struct nm_time_slice *last =
		    i->time_slice_count ? &i->time_slices[i->time_slice_count - 1] : NULL;
		int status;

		memcpy(i->refs + i->count, refs, n * sizeof *refs);
		if (i->setup.clocked)
			memcpy(i->clock + i->count, clock, n * sizeof *clock);
		i->count += n;
		if (!last || last->core != s->core || s->synchronised) {
			last = &i->time_slices[i->time_slice_count++];
			*last = (struct nm_time_slice){0, (uint16_t)s->core, s->synchronised != 0};
			s->synchronised = 0;
		}
		last->end = (uint16_t)i->count;
		if (i->count == NM_BATCH && (status = nm_output_send(i)))
			return status;
		refs += n;
		clock += n;
		count -= n;
	}
	return 0;
}
