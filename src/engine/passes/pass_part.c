/* SPDX-License-Identifier: MIT
 *
 * pass_part.c - the memory hierarchy of one part of a run (part.h). There is no timeline, and there are no samples:
 * they need the whole run in its order.
 */
#include <stdlib.h>

#include "level_counts.h"
#include "part.h"
#include "slices.h"

/* What the engine has as the pass; the part has the stream. */
struct stream_pass {
	struct nm_run_part *part;
	struct nm_part_stream *stream;
	const struct nm_coalesced_table *coalesced;
};

static int part_make(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	struct nm_run_part *part = setup->options->pass_arg;
	struct stream_pass *p = calloc(1, sizeof *p);
	struct nm_part_stream *s = calloc(1, sizeof *s);

	if (!p || !s || nm_vec_push(&part->streams, s)) {
		free(p);
		free(s);
		return nm_fail_memory(err);
	}
	*s = (struct nm_part_stream){.number = part->stream, .engine = setup->program};
	*p = (struct stream_pass){part, s, setup->coalesced};
	*ret_self = p;
	return 0;
}

static int note_keys(struct stream_pass *p, const struct nm_pass_batch *b)
{
	struct nm_ref single[NM_COALESCED_MAX];

	for (size_t i = 0; i < b->count; i++) {
		const unsigned n = nm_pass_expand(p->coalesced, &b->refs[i], single);

		if (nm_vec_reserve(&p->part->keys, n))
			return NM_ENOMEM;
		for (unsigned k = 0; k < n; k++)
			p->part->keys.at[p->part->keys.count++] = single[k].attr;
	}
	return 0;
}

static int part_batch(void *self, const struct nm_pass_batch *b)
{
	struct stream_pass *p = self;
	const int is_first = !p->stream->slice;
	struct nm_hierarchy *h;

	if (b->hint_count) {
		p->part->has_hints = 1;
		return NM_EINVAL;
	}
	if (note_keys(p, b))
		return NM_ENOMEM;
	if (p->part->manner != NM_PART_SIMULATE)
		return 0;
	if (nm_part_slice(p->part, p->stream))
		return NM_ENOMEM;
	h = nm_run_slice_hierarchy(p->stream->slice);
	if (is_first && nm_hierarchy_set_coalesced(h, p->coalesced))
		return NM_ENOMEM;
	if (b->uncounted)
		nm_hierarchy_allow_uncounted(h);
	return nm_hierarchy_run(h, b->refs, b->count);
}

static int part_finish(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	const struct stream_pass *p = self;
	struct nm_level_counts levels[NM_MAX_LEVELS] = {{0}};
	int status = nm_level_counts_take(levels, nm_run_slice_hierarchy(p->stream->slice), merge, result);

	return nm_level_counts_merge(levels, merge, result, status);
}

static void part_free(void *self)
{
	struct stream_pass *p = self;

	p->stream->engine = NULL;
	free(p);
}

const struct nm_pass nm_pass_part = {
    .name = "part", .make = part_make, .batch = part_batch, .finish = part_finish, .free = part_free};
