/* SPDX-License-Identifier: MIT
 *
 * settle.c - after the parts are simulated: rank 0 follows them all for the keys of the whole run; each rank settles
 * what its part left open; rank 0 adds up.
 *
 * Rank 0 goes on in the session of its own part. What it counts while it follows is dropped: the parts have counted it.
 * It takes part in the sum of every stream; in settling, only if its part has the stream.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "chain_priv.h"
#include "slices.h"

enum { NOBODY = -1 };

/* One stream in the part of one rank, as rank 0 sees it. */
struct share {
	unsigned rank;
	uint32_t stream;
	int32_t previous, next;       /* ranks that have the stream, too, or NOBODY */
	struct nm_vec(uint32_t) keys; /* of the whole run, by the rank's */
};

/* Of rank 0. */
struct sum {
	struct nm_rank_chain *chain;
	struct nm_vec(struct share) shares;          /* by rank, then in order */
	struct nm_vec(struct nm_part_counts) counts; /* by index in chain->part.streams */
};

/* What a rank is told of its share; the keys follow. */
struct share_head {
	int32_t previous, next;
	uint64_t key_count; /* of the whole run */
};

/* ---- rank 0: keys ---- */

static struct share *find_share(struct sum *s, unsigned rank, uint32_t stream)
{
	for (size_t i = s->shares.count; i-- > 0;)
		if (s->shares.at[i].rank == rank && s->shares.at[i].stream == stream)
			return &s->shares.at[i];
	return NULL;
}

static struct share *make_share(struct sum *s, unsigned rank, uint32_t stream)
{
	struct share *known = find_share(s, rank, stream);
	struct share share = {.rank = rank, .stream = stream, .previous = NOBODY, .next = NOBODY};

	if (known)
		return known;
	for (size_t i = 0; i < s->shares.count; i++)
		if (s->shares.at[i].stream == stream) {
			share.previous = (int32_t)s->shares.at[i].rank;
			s->shares.at[i].next =
			    s->shares.at[i].next == NOBODY ? (int32_t)rank : s->shares.at[i].next;
		}
	return nm_vec_push(&s->shares, share) ? NULL : &s->shares.at[s->shares.count - 1];
}

/* The keys of a piece here are those that the rank had, one by one. */
static int match_keys(const struct sum *s, struct share *share, const struct piece *piece,
		      struct nm_error *err)
{
	const struct nm_part_keys *mine = &s->chain->part.keys;
	int agree = mine->count == piece->key_count;

	for (size_t i = 0; i < piece->key_count && agree; i++) {
		const uint32_t key = piece->keys[i];

		if (nm_vec_reach(&share->keys, (size_t)key + 1))
			return nm_fail_memory(err);
		agree = !share->keys.at[key] || share->keys.at[key] == mine->at[i];
		share->keys.at[key] = mine->at[i];
	}
	return agree
		   ? 0
		   : nm_fail(
			 err, NM_EINVAL,
			 "rank %u names memory otherwise than the run does, so parts would not be exact: use "
			 "nearmiss replay",
			 share->rank);
}

static int collect_piece(struct sum *s, unsigned rank, const struct piece *piece, struct nm_error *err)
{
	struct nm_rank_chain *c = s->chain;
	struct share *share = make_share(s, rank, piece->stream);
	int is_new, status;

	if (!share)
		return nm_fail_memory(err);
	c->part.manner = piece->is_whole ? NM_PART_COLLECT : NM_PART_FOLLOW;
	status = nm_part_feed(&c->part, c->session, piece->stream, piece->words, piece->count, &is_new, err);
	return status || !piece->is_whole ? status : match_keys(s, share, piece, err);
}

static int collect_block(struct sum *s, unsigned rank, const struct packed_block *block, struct nm_error *err)
{
	struct outline_reader reader;
	struct piece piece;
	int status = outline_reader_begin(&reader, block);

	if (status)
		nm_fail(err, (enum nm_code)status, "an outline from rank %u is damaged", rank);
	while (!status && outline_reader_next(&reader, &piece))
		status = collect_piece(s, rank, &piece, err);
	outline_reader_done(&reader);
	return status;
}

/* Follows the other parts. */
static int collect_keys(struct sum *s, struct nm_error *err)
{
	int status = 0;

	for (unsigned k = 1; k < s->chain->transport->ranks && !status;) {
		struct packed_block block;

		status = chain_receive(s->chain, k, &block.bytes, &block.count, err);
		if (status)
			break;
		if (block.count)
			status = collect_block(s, k, &block, err);
		else
			k++;
		free(block.bytes);
	}
	return status;
}

/* What rank 0's own part has counted, before it goes on. */
static int keep_own_counts(struct sum *s, struct nm_error *err)
{
	struct nm_rank_chain *c = s->chain;

	for (size_t i = 0; i < c->streams.count; i++)
		if (!make_share(s, 0, c->streams.at[i]))
			return nm_fail_memory(err);
	if (nm_vec_reach(&s->counts, c->part.streams.count))
		return nm_fail_memory(err);
	for (size_t i = 0; i < c->part.streams.count; i++)
		if (nm_part_counts_take(c->part.streams.at[i], &s->counts.at[i]))
			return nm_fail_memory(err);
	return 0;
}

static int tell_shares(const struct sum *s, struct nm_error *err)
{
	int status = 0;

	for (size_t i = 0; i < s->shares.count && !status; i++) {
		const struct share *share = &s->shares.at[i];
		const struct share_head head = {
		    share->previous, share->next,
		    nm_part_key_count(nm_part_stream(&s->chain->part, share->stream))};

		if (!share->rank)
			continue;
		status = chain_send(s->chain, share->rank, &head, sizeof head, err);
		if (!status)
			status = chain_send(s->chain, share->rank, share->keys.at,
					    share->keys.count * sizeof *share->keys.at, err);
	}
	return status;
}

/* ---- each rank: what is open ---- */

static int receive_state(const struct nm_rank_chain *c, unsigned from, struct nm_run_slice_state *state,
			 struct nm_error *err)
{
	void *bytes;
	size_t count;
	int status = chain_receive(c, from, &bytes, &count, err);

	if (status)
		return status;
	status = nm_run_slice_state_decode(state, bytes, count);
	free(bytes);
	return status == NM_ENOMEM ? nm_fail_memory(err)
	       : status            ? nm_fail(err, NM_EINVAL, "rank %u is of another build of nearmiss", from)
				   : 0;
}

static int send_state(const struct nm_rank_chain *c, unsigned to, const struct nm_run_slice_state *state,
		      struct nm_error *err)
{
	void *bytes;
	size_t count;
	int status = nm_run_slice_state_encode(state, &bytes, &count) ? nm_fail_memory(err) : 0;

	if (status)
		return status;
	status = chain_send(c, to, bytes, count, err);
	free(bytes);
	return status;
}

static int settle_depth(const struct nm_rank_chain *c, struct nm_run_slice *slice,
			const struct share_head *head, struct nm_run_slice_state *state, struct nm_error *err)
{
	int status = head->previous == NOBODY ? 0 : receive_state(c, (unsigned)head->previous, state, err);

	if (!status && nm_run_slice_resolve(slice, state))
		status = nm_fail_memory(err);
	if (!status && head->next != NOBODY)
		status = send_state(c, (unsigned)head->next, state, err);
	return status ? status : nm_run_slice_advance(slice) ? nm_fail_memory(err) : 0;
}

/* keys: [count], of the whole run; NULL: the slice has them. */
static int settle_slice(const struct nm_rank_chain *c, struct nm_run_slice *slice,
			const struct share_head *head, const uint32_t *keys, size_t count,
			struct nm_error *err)
{
	const unsigned depths = nm_run_slice_depths(slice);
	struct nm_run_slice_state *states[NM_MAX_LEVELS] = {NULL};
	int status = nm_run_slice_end(slice, keys, count, (size_t)head->key_count) ? nm_fail_memory(err) : 0;

	assert(depths <= NM_MAX_LEVELS);
	for (unsigned d = 0; d < depths && !status; d++) {
		states[d] = nm_run_slice_state_new(slice, d);
		status = states[d] ? settle_depth(c, slice, head, states[d], err) : nm_fail_memory(err);
	}
	if (!status && head->next == NOBODY)
		nm_run_slice_finish(slice, states);
	for (unsigned d = 0; d < depths; d++)
		if (states[d])
			nm_run_slice_state_free(states[d]);
	return status;
}

/* ---- counts ---- */

static int send_counts(struct nm_rank_chain *c, struct nm_part_stream *stream, struct nm_error *err)
{
	struct nm_part_counts counts = {0};
	void *bytes = NULL;
	size_t count;
	uint64_t totals[3];
	int status = nm_part_counts_take(stream, &counts) ||
			     nm_hierarchy_encode_counts(nm_run_slice_hierarchy(stream->slice), &bytes, &count)
			 ? nm_fail_memory(err)
			 : 0;

	totals[0] = counts.references;
	totals[1] = counts.string_instructions;
	totals[2] = counts.string_bytes;
	c->work.references += counts.references;
	c->work.open += nm_run_slice_work(stream->slice).open;
	if (!status)
		status = chain_send(c, 0, bytes, count, err);
	if (!status)
		status = chain_send(c, 0, totals, sizeof totals, err);
	if (!status)
		status =
		    chain_send(c, 0, counts.of_key.at, counts.of_key.count * sizeof *counts.of_key.at, err);
	free(bytes);
	nm_vec_free(&counts.of_key);
	return status;
}

static int add_references(struct nm_part_counts *to, const struct share *share,
			  const struct nm_attr_references *rows, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const uint32_t key = i < share->keys.count ? share->keys.at[i] : 0;

		if (!rows[i].count[0] && !rows[i].count[1])
			continue;
		assert(key);
		if (nm_vec_reach(&to->of_key, (size_t)key + 1))
			return NM_ENOMEM;
		to->of_key.at[key].count[0] += rows[i].count[0];
		to->of_key.at[key].count[1] += rows[i].count[1];
	}
	return 0;
}

/* The three messages of send_counts. */
static int add_share(struct sum *s, const struct share *share, struct nm_part_stream *stream,
		     struct nm_part_counts *to, struct nm_error *err)
{
	void *bytes[3] = {NULL};
	size_t count[3];
	uint64_t totals[3];
	int status = 0;

	for (unsigned i = 0; i < 3 && !status; i++)
		status = chain_receive(s->chain, share->rank, &bytes[i], &count[i], err);
	if (!status && nm_hierarchy_decode_counts(nm_run_slice_hierarchy(stream->slice), bytes[0], count[0]))
		status = nm_fail(err, NM_EINVAL, "rank %u is of another build of nearmiss", share->rank);
	if (!status) {
		memcpy(totals, bytes[1], sizeof totals);
		to->references += totals[0];
		to->string_instructions += totals[1];
		to->string_bytes += totals[2];
		if (add_references(to, share, bytes[2], count[2] / sizeof(struct nm_attr_references)))
			status = nm_fail_memory(err);
	}
	for (unsigned i = 0; i < 3; i++)
		free(bytes[i]);
	return status;
}

/* Rank 0 has a slice of every stream, perhaps an empty one, to which the others' counts are added. */
static int settle_at_sum(struct sum *s, struct nm_error *err)
{
	const struct nm_rank_chain *c = s->chain;
	int status = 0;

	for (size_t i = 0; i < c->part.streams.count && !status; i++) {
		struct nm_part_stream *stream = c->part.streams.at[i];
		const struct share *share = find_share(s, 0, stream->number);
		const struct share_head head = {NOBODY, share ? share->next : NOBODY,
						nm_part_key_count(stream)};

		status = nm_part_slice(&c->part, stream)
			     ? nm_fail_memory(err)
			     : settle_slice(c, stream->slice, &head, NULL, 0, err);
	}
	return status;
}

static size_t index_of(const struct nm_run_part *part, uint32_t stream)
{
	size_t i = 0;

	while (part->streams.at[i]->number != stream)
		i++;
	return i;
}

static int add_up(struct sum *s, struct nm_error *err)
{
	struct nm_rank_chain *c = s->chain;
	int status = nm_vec_reach(&s->counts, c->part.streams.count) ? nm_fail_memory(err) : 0;

	for (size_t i = 0; i < c->part.streams.count && !status; i++) {
		c->work.references += s->counts.at[i].references;
		c->work.open += nm_run_slice_work(c->part.streams.at[i]->slice).open;
	}
	for (size_t i = 0; i < s->shares.count && !status; i++) {
		const size_t at = index_of(&c->part, s->shares.at[i].stream);

		if (s->shares.at[i].rank)
			status =
			    add_share(s, &s->shares.at[i], c->part.streams.at[at], &s->counts.at[at], err);
	}
	for (size_t i = 0; i < c->part.streams.count && !status; i++)
		status =
		    nm_part_counts_set(c->part.streams.at[i], &s->counts.at[i]) ? nm_fail_memory(err) : 0;
	return status;
}

static int gather_work(const struct nm_rank_chain *c, struct nm_chain_work *ret_work, struct nm_error *err)
{
	int status = 0;

	ret_work[0] = c->work;
	for (unsigned k = 1; k < c->transport->ranks && !status; k++) {
		void *bytes;
		size_t count;

		status = chain_receive(c, k, &bytes, &count, err);
		if (status)
			break;
		assert(count == sizeof *ret_work);
		memcpy(&ret_work[k], bytes, count);
		free(bytes);
	}
	return status;
}

/* ---- all ---- */

static int settle_first(struct nm_rank_chain *c, struct nm_chain_work *ret_work, struct nm_error *err)
{
	struct sum s = {.chain = c};
	const double begin = chain_seconds();
	int status = keep_own_counts(&s, err);

	if (!status)
		status = collect_keys(&s, err);
	if (!status)
		status = tell_shares(&s, err);
	if (!status)
		status = settle_at_sum(&s, err);
	if (!status)
		status = add_up(&s, err);
	c->work.settle_seconds = chain_seconds() - begin;
	if (!status)
		status = gather_work(c, ret_work, err);
	for (size_t i = 0; i < s.shares.count; i++)
		nm_vec_free(&s.shares.at[i].keys);
	for (size_t i = 0; i < s.counts.count; i++)
		nm_vec_free(&s.counts.at[i].of_key);
	nm_vec_free(&s.shares);
	nm_vec_free(&s.counts);
	return status;
}

/* What rank 0 tells of a stream. */
struct told_share {
	struct share_head *head;
	uint32_t *keys;
	size_t key_bytes;
};

/* All at once, before any state: rank 0 waits until they are taken. */
static int receive_shares(const struct nm_rank_chain *c, struct told_share *ret_shares, struct nm_error *err)
{
	size_t bytes;
	int status = 0;

	for (size_t i = 0; i < c->streams.count && !status; i++) {
		status = chain_receive(c, 0, (void **)&ret_shares[i].head, &bytes, err);
		if (!status)
			status =
			    chain_receive(c, 0, (void **)&ret_shares[i].keys, &ret_shares[i].key_bytes, err);
	}
	return status;
}

static int settle_stream(struct nm_rank_chain *c, uint32_t number, const struct told_share *told,
			 struct nm_error *err)
{
	struct nm_part_stream *stream = nm_part_stream(&c->part, number);
	int status = nm_part_slice(&c->part, stream) ? nm_fail_memory(err) : 0;

	if (!status)
		status = settle_slice(c, stream->slice, told->head, told->keys,
				      told->key_bytes / sizeof *told->keys, err);
	return status ? status : send_counts(c, stream, err);
}

static int settle_later(struct nm_rank_chain *c, struct nm_error *err)
{
	struct told_share *shares = calloc(c->streams.count + 1, sizeof *shares);
	int status = shares ? receive_shares(c, shares, err) : nm_fail_memory(err);

	for (size_t i = 0; i < c->streams.count && !status; i++)
		status = settle_stream(c, c->streams.at[i], &shares[i], err);
	for (size_t i = 0; i < c->streams.count && shares; i++) {
		free(shares[i].head);
		free(shares[i].keys);
	}
	free(shares);
	return status;
}

int chain_settle(struct nm_rank_chain *c, struct nm_chain_work *ret_work, struct nm_error *err)
{
	const double begin = chain_seconds();
	int status = 0;

	if (!c->transport->rank)
		return settle_first(c, ret_work, err);
	for (size_t i = 0; i < c->told.blocks.count && !status; i++)
		status = chain_send(c, 0, c->told.blocks.at[i].bytes, c->told.blocks.at[i].count, err);
	if (!status)
		status = chain_send(c, 0, NULL, 0, err);
	if (!status)
		status = settle_later(c, err);
	c->work.settle_seconds = chain_seconds() - begin;
	return status ? status : chain_send(c, 0, &c->work, sizeof c->work, err);
}
