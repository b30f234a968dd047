/* SPDX-License-Identifier: MIT
 *
 * protocol_opt.c - OPT (CacheIn, section 4): a copy is invalidated when it is read, and only if the block
 * was modified.
 *
 * An oracle, so it needs no messages. A write only makes the copies of others stale; stale copies may be
 * written, and the bytes that several cores wrote are merged in memory. A copy is MODIFIED while its core
 * is the latest writer and all other copies are stale.
 */
#include "protocol.h"

/* Writes the latest writer's bytes back. */
static void write_back_latest(struct nm_coherence *c, struct nm_copy *copy)
{
	struct nm_copy *owner = nm_copy_other(copy, 1u << NM_COPY_MODIFIED);

	if (owner) {
		nm_copy_write_back(c, owner);
		nm_copy_set_state(c, owner, NM_COPY_SHARED);
	}
}

static void opt_read(struct nm_coherence *c, struct nm_copy *copy)
{
	if (copy->state != NM_COPY_NONE)
		nm_copy_invalidate(c, copy, NM_CAUSE_READ);
	write_back_latest(c, copy);
	nm_protocol_read_untold(c, copy);
}

static void opt_write(struct nm_coherence *c, struct nm_copy *copy)
{
	write_back_latest(c, copy);
	for (struct nm_copy *other = nm_copy_all(copy); other; other = other->next) {
		if (other == copy || other->state == NM_COPY_NONE)
			continue;
		other->stale = 1;
		nm_coherence_unclear(c, other);
	}
	nm_protocol_write_untold(c, copy);
}

const struct nm_protocol nm_protocol_opt = {.name = "opt",
					    .summary =
						"invalidated when read, and only if modified: an oracle",
					    .read = opt_read,
					    .write = opt_write};
