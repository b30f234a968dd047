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

int nm_copy_is_local(const struct nm_coherence *x, const struct nm_copy *copy)
{
	const uint64_t address = copy->block << x->block_shift;

	return nm_homes_find(x->homes, address, copy->core) == nm_homes_node(x->homes, copy->core);
}

static struct nm_contention_pair *pair_with(struct nm_coherence *x, const struct nm_copy *copy, uint32_t by)
{
	struct nm_contention_pair pair = {.by = by, .of = copy->attr};

	if (nm_copy_is_contended(copy)) {
		pair.block = copy->block << x->block_shift;
		pair.touch = x->copy && by == x->attr ? x->touch : 0;
		pair.loading = copy->touch;
	}
	return nm_contention_pair(x->contention, &pair);
}

/* From now on the touches of the copy's block are counted. */
static void contend(struct nm_coherence *x, struct nm_copy *copy)
{
	if (nm_copy_is_contended(copy))
		return;
	copy->page->contended |= nm_directory_bit(copy->block);
	for (struct nm_copy *one = nm_copy_all(copy); one; one = one->next)
		nm_coherence_unclear(x, one);
	if (x->copy && x->copy->block == copy->block && x->bytes)
		x->touch = nm_contention_touch(x->contention, x->address, x->bytes, x->attr);
}

void nm_copy_request(struct nm_coherence *x, enum nm_message request)
{
	x->traffic.count[request]++;
	if (request == NM_MESSAGE_UPGRADE) {
		struct nm_contention_pair *pair = pair_with(x, x->copy, x->attr);

		if (pair)
			pair->upgrades++;
	}
}

void nm_copy_supply(struct nm_coherence *x, struct nm_copy *from)
{
	struct nm_contention_pair *pair;

	x->traffic.count[from ? NM_MESSAGE_DATA_FROM_CORE : NM_MESSAGE_DATA_FROM_MEMORY]++;
	if (!from)
		return;
	x->traffic.count[NM_MESSAGE_FORWARD]++;
	if (from->state == NM_COPY_MODIFIED || from->state == NM_COPY_OWNED)
		contend(x, from);
	pair = pair_with(x, from, x->attr);
	if (pair)
		pair->interventions++;
}

void nm_copy_set_state(struct nm_coherence *x, struct nm_copy *copy, enum nm_copy_state state)
{
	assert(state != NM_COPY_NONE);
	if (copy->state == NM_COPY_NONE) {
		nm_doubts_begin(x, copy, copy->lost);
		if (x->protocol->asks_homes)
			(void)nm_copy_is_local(x, copy);
		copy->attr = x->attr;
		copy->touch = x->touch;
		copy->stale = copy->lost = 0;
		nm_coherence_list(x, copy, state);
	} else if (state < copy->state) {
		nm_coherence_unclear(x, copy);
	}
	copy->state = (uint8_t)state;
}

void nm_copy_publish(struct nm_coherence *x, struct nm_copy *copy)
{
	uint64_t *written = nm_copy_mask(x, copy, NM_MASK_WRITTEN), any = 0;

	nm_coherence_unclear(x, copy);
	for (unsigned w = 0; w < x->words; w++)
		any |= written[w];
	if (!any)
		return;
	for (struct nm_copy *other = nm_copy_all(copy); other; other = other->next) {
		uint64_t *foreign = nm_copy_mask(x, other, NM_MASK_FOREIGN);

		for (unsigned w = 0; other != copy && w < x->words; w++)
			foreign[w] |= written[w];
	}
	if (nm_copy_all(copy)->next)
		contend(x, copy);
	memset(written, 0, x->words * sizeof *written);
}

/* Flushes the deferred work of the running core's levels, before another level sees an event that they do not
 * pass on. */
static void catch_up(struct nm_coherence *x)
{
	if (x->copy)
		x->entry->lookup->catch_up(x->entry);
}

void nm_copy_write_back(struct nm_coherence *x, struct nm_copy *copy)
{
	struct nm_contention_pair *pair = pair_with(x, copy, x->copy ? x->attr : copy->attr);

	catch_up(x);
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

			if (!nm_cache_take(c, (copy->block << shift) + part, by, cause))
				continue;
			for (unsigned w = 0; w < c->words; w++)
				lost[first / 64 + w] |=
				    c->line_shift >= 6 ? ~0ull
						       : ((1ull << (1u << c->line_shift)) - 1) << first % 64;
		}
	}
}

void nm_copy_invalidate(struct nm_coherence *x, struct nm_copy *copy, enum nm_cause cause)
{
	const int by_other = cause == NM_CAUSE_WRITE;
	const uint32_t by = by_other ? x->attr : copy->attr;
	struct nm_contention_pair *pair;

	assert(copy->state != NM_COPY_NONE);
	catch_up(x);
	if (by_other) {
		contend(x, copy);
		x->traffic.count[NM_MESSAGE_INVALIDATE]++;
		x->traffic.count[NM_MESSAGE_ACKNOWLEDGE]++;
		if (x->touch)
			x->contention->touches.at[x->touch - 1].invalidations++;
	} else if (copy->state == NM_COPY_MODIFIED) {
		x->traffic.count[NM_MESSAGE_WRITE_BACK]++;
	}
	pair = pair_with(x, copy, by);
	if (pair)
		pair->invalidations++;
	nm_copy_publish(x, copy);
	nm_doubts_end(x, copy);
	nm_copy_unlist(copy);
	take_lines(x, copy, by, cause);
	copy->lost = 1;
}

void nm_protocol_share(struct nm_coherence *x, struct nm_copy *copy, unsigned owners,
		       enum nm_copy_state shared, enum nm_copy_state alone)
{
	struct nm_copy *owner = nm_copy_other(copy, owners);

	nm_copy_request(x, NM_MESSAGE_READ);
	nm_copy_supply(x, owner);
	if (owner && owner->state == NM_COPY_MODIFIED)
		nm_copy_write_back(x, owner);
	if (owner)
		nm_copy_set_state(x, owner, NM_COPY_SHARED);
	nm_copy_set_state(x, copy, nm_copy_other(copy, NM_VALID) ? shared : alone);
}

void nm_protocol_take(struct nm_coherence *x, struct nm_copy *copy)
{
	struct nm_copy *other;

	if (copy->state == NM_COPY_NONE) {
		nm_copy_request(x, NM_MESSAGE_WRITE);
		nm_copy_supply(x, nm_copy_other(copy, NM_OWNERS));
	} else if (copy->state != NM_COPY_EXCLUSIVE) {
		nm_copy_request(x, NM_MESSAGE_UPGRADE);
	}
	while ((other = nm_copy_other(copy, NM_VALID)))
		nm_copy_invalidate(x, other, NM_CAUSE_WRITE);
	nm_copy_set_state(x, copy, NM_COPY_MODIFIED);
}

static void load_untold(struct nm_coherence *x, struct nm_copy *copy, enum nm_message request)
{
	if (copy->state == NM_COPY_NONE) {
		nm_copy_request(x, request);
		nm_copy_supply(x, NULL);
	}
}

void nm_protocol_read_untold(struct nm_coherence *x, struct nm_copy *copy)
{
	load_untold(x, copy, NM_MESSAGE_READ);
	nm_copy_set_state(x, copy, NM_COPY_SHARED);
}

void nm_protocol_write_untold(struct nm_coherence *x, struct nm_copy *copy)
{
	load_untold(x, copy, NM_MESSAGE_WRITE);
	nm_copy_set_state(x, copy, NM_COPY_MODIFIED);
}
