/* SPDX-License-Identifier: MIT
 *
 * actions.c - the actions of protocol.h: they change the states of copies, count the necessary
 * messages, and charge these to the key that causes them and the key that loaded the copy.
 */
#include <assert.h>
#include <string.h>

#include "cache.h"
#include "general.h"
#include "protocol.h"

struct nm_copy *nm_copy_other(const struct nm_copy *copy, unsigned states)
{
	struct nm_copy *other = nm_copy_all(copy);

	while (other && (other == copy || !(states >> other->state & 1)))
		other = other->next;
	return other;
}

int nm_copy_is_local(const struct nm_coherence *c, const struct nm_copy *copy)
{
	const uint64_t address = copy->block << c->block_shift;

	return nm_homes_find(c->homes, address, copy->core) == nm_homes_node(c->homes, copy->core);
}

static struct nm_contention_pair *pair_with(struct nm_coherence *c, const struct nm_copy *copy, uint32_t by)
{
	struct nm_contention_pair pair = {.by = by, .of = copy->attr};

	if (nm_copy_is_contended(copy)) {
		pair.block = copy->block << c->block_shift;
		pair.touch = c->copy && by == c->attr ? c->touch : 0;
		pair.loading = copy->touch;
	}
	return nm_contention_pair(c->contention, &pair);
}

/* From now on the touches of the copy's block are counted. */
static void count_contention(struct nm_coherence *c, struct nm_copy *copy)
{
	if (nm_copy_is_contended(copy))
		return;
	copy->page->contended |= nm_directory_bit(copy->block);
	for (struct nm_copy *one = nm_copy_all(copy); one; one = one->next)
		nm_coherence_unclear(c, one);
	if (c->copy && c->copy->block == copy->block && c->bytes)
		c->touch = nm_contention_touch(c->contention, c->address, c->bytes, c->attr);
}

void nm_copy_request(struct nm_coherence *c, enum nm_message request)
{
	assert(request <= NM_MESSAGE_UPGRADE);
	c->traffic.count[request]++;
	if (request == NM_MESSAGE_UPGRADE) {
		struct nm_contention_pair *pair = pair_with(c, c->copy, c->attr);

		if (pair)
			pair->upgrades++;
	}
}

void nm_copy_supply(struct nm_coherence *c, struct nm_copy *from)
{
	struct nm_contention_pair *pair;

	assert(!from || from->state != NM_COPY_NONE);
	c->traffic.count[from ? NM_MESSAGE_DATA_FROM_CORE : NM_MESSAGE_DATA_FROM_MEMORY]++;
	if (!from)
		return;
	c->traffic.count[NM_MESSAGE_FORWARD]++;
	if (from->state == NM_COPY_MODIFIED || from->state == NM_COPY_OWNED)
		count_contention(c, from);
	pair = pair_with(c, from, c->attr);
	if (pair)
		pair->interventions++;
}

void nm_copy_set_state(struct nm_coherence *c, struct nm_copy *copy, enum nm_copy_state state)
{
	assert(state != NM_COPY_NONE);
	if (copy->state == NM_COPY_NONE) {
		nm_doubts_begin(c, copy, copy->lost);
		if (c->protocol->asks_homes)
			(void)nm_copy_is_local(c, copy);
		copy->attr = c->attr;
		copy->touch = c->touch;
		copy->stale = copy->lost = 0;
		nm_coherence_list(c, copy, state);
	} else if (state < copy->state) {
		nm_coherence_unclear(c, copy);
	}
	copy->state = (uint8_t)state;
}

void nm_copy_publish(struct nm_coherence *c, struct nm_copy *copy)
{
	uint64_t *written = nm_copy_mask(c, copy, NM_MASK_WRITTEN), any = 0;

	nm_coherence_unclear(c, copy);
	for (unsigned w = 0; w < c->words; w++)
		any |= written[w];
	if (!any)
		return;
	for (struct nm_copy *other = nm_copy_all(copy); other; other = other->next) {
		uint64_t *foreign = nm_copy_mask(c, other, NM_MASK_FOREIGN);

		for (unsigned w = 0; other != copy && w < c->words; w++)
			foreign[w] |= written[w];
	}
	if (nm_copy_all(copy)->next)
		count_contention(c, copy);
	memset(written, 0, c->words * sizeof *written);
}

/* Flushes the deferred work of the running core's levels, before another level sees an event that they do not
 * pass on. */
static void flush_deferred_misses(struct nm_coherence *c)
{
	if (c->copy)
		c->entry->lookup->flush_deferred_misses(c->entry);
}

void nm_copy_write_back(struct nm_coherence *x, struct nm_copy *copy)
{
	struct nm_contention_pair *pair = pair_with(x, copy, x->copy ? x->attr : copy->attr);

	assert(copy->state == NM_COPY_MODIFIED);
	flush_deferred_misses(x);
	if (pair)
		pair->writebacks++;
	x->traffic.count[NM_MESSAGE_WRITE_BACK]++;
	nm_copy_publish(x, copy);
	for (unsigned i = 0; i < x->level_count; i++) {
		struct nm_cache *c = x->core[copy->core].level[i];
		const unsigned shift = c ? x->block_shift - c->line_shift : 0;

		for (uint64_t part = 0; c && part < 1ull << shift; part++)
			nm_cache_clean(c, (copy->block << shift) + part);
	}
}

/* Removes the lines of the copy from the core's private levels, L1 first. */
static void take_lines(struct nm_coherence *x, struct nm_copy *copy, uint32_t by, enum nm_cause cause)
{
	for (unsigned i = 0; i < x->level_count; i++) {
		struct nm_cache *c = x->core[copy->core].level[i];
		const unsigned shift = c ? x->block_shift - c->line_shift : 0;
		uint64_t *lost = nm_copy_mask(x, copy, NM_MASK_LOST + i);

		for (uint64_t part = 0; c && part < 1ull << shift; part++) {
			const uint64_t first = part << c->line_shift;

			if (!nm_cache_invalidate(c, (copy->block << shift) + part, by, cause))
				continue;
			for (unsigned w = 0; w < c->words; w++)
				lost[first / 64 + w] |=
				    c->line_shift >= 6 ? ~0ull
						       : ((1ull << (1u << c->line_shift)) - 1) << first % 64;
		}
	}
}

void nm_copy_invalidate(struct nm_coherence *c, struct nm_copy *copy, enum nm_cause cause)
{
	const int by_other = cause == NM_CAUSE_WRITE;
	const uint32_t by = by_other ? c->attr : copy->attr;
	struct nm_contention_pair *pair;

	assert(copy->state != NM_COPY_NONE);
	flush_deferred_misses(c);
	if (by_other) {
		count_contention(c, copy);
		c->traffic.count[NM_MESSAGE_INVALIDATE]++;
		c->traffic.count[NM_MESSAGE_ACKNOWLEDGE]++;
		if (c->touch)
			c->contention->touches.at[c->touch - 1].invalidations++;
	} else if (copy->state == NM_COPY_MODIFIED) {
		c->traffic.count[NM_MESSAGE_WRITE_BACK]++;
	}
	pair = pair_with(c, copy, by);
	if (pair)
		pair->invalidations++;
	nm_copy_publish(c, copy);
	nm_doubts_end(c, copy);
	nm_copy_unlist(copy);
	take_lines(c, copy, by, cause);
	copy->lost = 1;
}

void nm_protocol_share(struct nm_coherence *c, struct nm_copy *copy, unsigned owners,
		       enum nm_copy_state shared, enum nm_copy_state alone)
{
	struct nm_copy *owner = nm_copy_other(copy, owners);

	assert(copy->state == NM_COPY_NONE);
	nm_copy_request(c, NM_MESSAGE_READ);
	nm_copy_supply(c, owner);
	if (owner && owner->state == NM_COPY_MODIFIED)
		nm_copy_write_back(c, owner);
	if (owner)
		nm_copy_set_state(c, owner, NM_COPY_SHARED);
	nm_copy_set_state(c, copy, nm_copy_other(copy, NM_VALID) ? shared : alone);
}

void nm_protocol_invalidate_others(struct nm_coherence *c, struct nm_copy *copy)
{
	struct nm_copy *other;

	assert(copy->state != NM_COPY_MODIFIED);
	if (copy->state == NM_COPY_NONE) {
		nm_copy_request(c, NM_MESSAGE_WRITE);
		nm_copy_supply(c, nm_copy_other(copy, NM_OWNERS));
	} else if (copy->state != NM_COPY_EXCLUSIVE) {
		nm_copy_request(c, NM_MESSAGE_UPGRADE);
	}
	while ((other = nm_copy_other(copy, NM_VALID)))
		nm_copy_invalidate(c, other, NM_CAUSE_WRITE);
	nm_copy_set_state(c, copy, NM_COPY_MODIFIED);
}

static void load_untold(struct nm_coherence *c, struct nm_copy *copy, enum nm_message request)
{
	if (copy->state == NM_COPY_NONE) {
		nm_copy_request(c, request);
		nm_copy_supply(c, NULL);
	}
}

void nm_protocol_read_untold(struct nm_coherence *c, struct nm_copy *copy)
{
	load_untold(c, copy, NM_MESSAGE_READ);
	nm_copy_set_state(c, copy, NM_COPY_SHARED);
}

void nm_protocol_write_untold(struct nm_coherence *c, struct nm_copy *copy)
{
	load_untold(c, copy, NM_MESSAGE_WRITE);
	nm_copy_set_state(c, copy, NM_COPY_MODIFIED);
}
