/* SPDX-License-Identifier: MIT */
#include "part.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "session.h"
#include "slices.h"

void nm_part_done(struct nm_run_part *p)
{
	for (size_t i = 0; i < p->streams.count; i++) {
		assert(!p->streams.at[i]->engine);
		nm_run_slice_free(p->streams.at[i]->slice);
		free(p->streams.at[i]);
	}
	nm_vec_free(&p->streams);
	nm_vec_free(&p->keys);
}

struct nm_part_stream *nm_part_stream(const struct nm_run_part *p, uint32_t number)
{
	for (size_t i = p->streams.count; i-- > 0;)
		if (p->streams.at[i]->number == number)
			return p->streams.at[i];
	return NULL;
}

size_t nm_part_key_count(const struct nm_part_stream *s) { return nm_engine_attr_count(s->engine); }

/* What only grows when code or keys are new. */
static size_t known(const struct nm_run_part *p, uint32_t number)
{
	const struct nm_part_stream *s = nm_part_stream(p, number);

	return s ? nm_engine_attr_count(s->engine) + s->engine->replay.decoder.decoded.count : 0;
}

int nm_part_feed(struct nm_run_part *p, struct nm_session *session, uint32_t stream, const uint64_t *words,
		 size_t count, int *ret_is_new, struct nm_error *err)
{
	const size_t before = known(p, stream);
	int status;

	assert(words || !count);
	p->stream = stream;
	p->keys.count = 0;
	status = nm_session_feed(session, stream, words, count, err);
	if (p->has_hints)
		return nm_fail(
		    err, NM_EINVAL,
		    "the program prefetches, or stores past the caches, which parts of a run cannot "
		    "follow: use nearmiss replay");
	if (!status && !nm_part_stream(p, stream))
		return nm_fail(err, NM_EINVAL, "process %u has no parent in the trace: use nearmiss replay",
			       stream);
	*ret_is_new = known(p, stream) != before;
	return status;
}

int nm_part_slice(const struct nm_run_part *p, struct nm_part_stream *s)
{
	if (s->slice)
		return 0;
	if (nm_run_slice_new(&s->slice, p->machine, 1, NULL))
		return NM_ENOMEM;
	nm_hierarchy_set_data_only(nm_run_slice_hierarchy(s->slice));
	return 0;
}

int nm_part_counts_take(const struct nm_part_stream *s, struct nm_part_counts *ret)
{
	struct nm_engine *e = s->engine;
	struct nm_replay *r = &e->replay;
	const size_t keys = e->attrs.list.count;

	nm_replay_count_runs(r);
	nm_resolver_credit_members(&r->resolver);
	ret->references = r->builder.references;
	ret->string_instructions = r->strings.instructions;
	ret->string_bytes = r->strings.bytes;
	ret->of_key.count = 0;
	if (nm_vec_reserve(&ret->of_key, keys))
		return NM_ENOMEM;
	memcpy(ret->of_key.at, e->attrs.references, keys * sizeof *ret->of_key.at);
	ret->of_key.count = keys;
	return 0;
}

int nm_part_counts_set(const struct nm_part_stream *s, const struct nm_part_counts *counts)
{
	struct nm_engine *e = s->engine;
	struct nm_replay *r = &e->replay;
	struct nm_part_counts unused = {0};
	const int status = nm_part_counts_take(s, &unused); /* nothing is left to be counted */

	nm_vec_free(&unused.of_key);
	assert(counts->of_key.count <= e->attrs.list.count);
	r->builder.references = counts->references;
	r->strings.instructions = counts->string_instructions;
	r->strings.bytes = counts->string_bytes;
	memset(e->attrs.references, 0, e->attrs.list.count * sizeof *e->attrs.references);
	memcpy(e->attrs.references, counts->of_key.at, counts->of_key.count * sizeof *counts->of_key.at);
	return status;
}
