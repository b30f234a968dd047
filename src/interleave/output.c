/* SPDX-License-Identifier: MIT
 *
 * output.c - the merged batch that is being filled, with the turns of cores in it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interleave_priv.h"

int nm_output_send(struct nm_interleave *i)
{
	struct nm_merged batch = {.refs = i->refs,
				  .count = i->count,
				  .hints = i->hints,
				  .hint_count = i->hint_count,
				  .time_slices = i->time_slices,
				  .time_slice_count = i->time_slice_count,
				  .clock = i->setup.clocked ? i->clock : NULL};

	assert(!i->count == !i->time_slice_count);
	if (!batch.count && !batch.hint_count)
		return 0;
	if (!batch.count) {
		i->time_slices[0] = (struct nm_time_slice){.core = i->hints[0].core};
		batch.time_slice_count = 1;
	}
	i->count = i->time_slice_count = i->hint_count = 0;
	return i->setup.output(i->setup.arg, &batch);
}

static int put_hint(struct nm_interleave *i, const struct stream *s, const struct nm_cache_hint *hint)
{
	struct nm_cache_hint *to;
	int status = 0;

	if (!i->hints && !(i->hints = malloc(NM_BATCH * sizeof *i->hints)))
		return NM_ENOMEM;
	if (i->hint_count == NM_BATCH)
		status = nm_output_send(i);
	to = &i->hints[i->hint_count++];
	*to = *hint;
	to->before = (uint16_t)i->count;
	to->core = (uint16_t)s->core;
	return status;
}

int nm_output_hint(struct nm_interleave *i, struct stream *s, const struct nm_cache_hint *hint)
{
	if (!hint->is_store)
		return put_hint(i, s, hint);
	s->is_next_store = 1;
	return 0;
}

int nm_output_put(struct nm_interleave *i, struct stream *s, const struct nm_ref *refs, const uint64_t *clock,
		  size_t count)
{
	assert(i->count < NM_BATCH && s->core < i->cores.count);
	if (count && s->is_next_store) {
		int status = put_hint(i, s, &(struct nm_cache_hint){.is_store = 1});

		if (status)
			return status;
		s->is_next_store = 0;
	}
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
