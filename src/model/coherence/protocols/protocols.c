/* SPDX-License-Identifier: MIT
 *
 * protocols.c - the coherence protocols, and their table.
 */
#include "protocol.h"

const struct nm_protocol nm_protocol_none = {.name = "none",
					     .summary = "what a core writes is not seen by others"};

const struct nm_protocol *const nm_protocols[] = {
    &nm_protocol_none,  &nm_protocol_msi,   &nm_protocol_mesi,
    &nm_protocol_moesi, &nm_protocol_mesif, &nm_protocol_full,
    &nm_protocol_scope, &nm_protocol_opt,   NULL,
};

/* ---- protocol msi ---- */

/* MSI: a copy is modified, shared or invalid.
 *
 * The first write to a block that was read needs an upgrade, even if no other core has a copy.
 */

static void msi_read(struct nm_coherence *c, struct nm_copy *copy)
{
	nm_protocol_share(c, copy, 1u << NM_COPY_MODIFIED, NM_COPY_SHARED, NM_COPY_SHARED);
}

const struct nm_protocol nm_protocol_msi = {.name = "msi",
					    .summary = "modified, shared, invalid",
					    .read = msi_read,
					    .write = nm_protocol_invalidate_others};

/* ---- protocol mesi ---- */

/* MESI (Papamarcos and Patel, ISCA 1984): the only reader may later write without a
 * message.
 *
 * As in the paper, the only core with a block supplies the next reader; memory supplies shared blocks.
 */

static void mesi_read(struct nm_coherence *c, struct nm_copy *copy)
{
	nm_protocol_share(c, copy, 1u << NM_COPY_MODIFIED | 1u << NM_COPY_EXCLUSIVE, NM_COPY_SHARED,
			  NM_COPY_EXCLUSIVE);
}

const struct nm_protocol nm_protocol_mesi = {.name = "mesi",
					     .summary = "modified, exclusive, shared, invalid",
					     .has_exclusive = 1,
					     .read = mesi_read,
					     .write = nm_protocol_invalidate_others};

/* ---- protocol moesi ---- */

/* MOESI (Sweazey and Smith, ISCA 1986): a modified copy that others read is owned, and
 * not written back.
 *
 * The owner supplies all further readers; memory gets the data when the owner loses its copy, unless a
 * writer takes it.
 */

static void moesi_read(struct nm_coherence *c, struct nm_copy *copy)
{
	struct nm_copy *owner = nm_copy_other(copy, NM_OWNERS);

	nm_copy_request(c, NM_MESSAGE_READ);
	nm_copy_supply(c, owner);
	if (owner && owner->state == NM_COPY_MODIFIED) {
		nm_copy_publish(c, owner);
		nm_copy_set_state(c, owner, NM_COPY_OWNED);
	} else if (owner && owner->state == NM_COPY_EXCLUSIVE) {
		nm_copy_set_state(c, owner, NM_COPY_SHARED);
	}
	nm_copy_set_state(c, copy, nm_copy_other(copy, NM_VALID) ? NM_COPY_SHARED : NM_COPY_EXCLUSIVE);
}

const struct nm_protocol nm_protocol_moesi = {.name = "moesi",
					      .summary = "modified, owned, exclusive, shared, invalid",
					      .has_exclusive = 1,
					      .read = moesi_read,
					      .write = nm_protocol_invalidate_others};

/* ---- protocol mesif ---- */

/* MESIF (Goodman and Hum, 2009; Intel's QPI): of the shared copies, the latest reader's
 * supplies the next reader.
 *
 * Once that copy is evicted, memory supplies the next reader.
 */

static void mesif_read(struct nm_coherence *c, struct nm_copy *copy)
{
	nm_protocol_share(c, copy, NM_OWNERS, NM_COPY_FORWARD, NM_COPY_EXCLUSIVE);
}

const struct nm_protocol nm_protocol_mesif = {.name = "mesif",
					      .summary = "modified, exclusive, shared, invalid, forward",
					      .has_exclusive = 1,
					      .read = mesif_read,
					      .write = nm_protocol_invalidate_others};

/* ---- protocol full ---- */

/* FULL (paper 3, section 4): a core that synchronises loses all its copies.
 *
 * A form of release consistency, as systems with distributed shared memory use it. Between two
 * synchronisations a core requests nothing for blocks that it has, and sees no writes of others in them.
 */

static void full_synchronise(struct nm_coherence *c, unsigned core)
{
	struct nm_copy *copy;

	while ((copy = nm_copy_first(c, core)))
		nm_copy_invalidate(c, copy, NM_CAUSE_SYNCHRONISATION);
}

const struct nm_protocol nm_protocol_full = {.name = "full",
					     .summary = "everything is invalidated where a core synchronises",
					     .read = nm_protocol_read_untold,
					     .write = nm_protocol_write_untold,
					     .synchronise = full_synchronise};

/* ---- protocol scope ---- */

/* SCOPE (CacheIn, section 4): a core that synchronises loses its copies of remote data.
 *
 * Data are remote if their home is another node (homes.h). Local copies are written back and kept: the
 * write-backs of other cores pass through the home node.
 */

static void scope_synchronise(struct nm_coherence *c, unsigned core)
{
	for (struct nm_copy *copy = nm_copy_first(c, core), *after; copy; copy = after) {
		const uint64_t departures = c->departures;

		after = nm_copy_after(copy);
		if (!nm_copy_is_local(c, copy)) {
			nm_copy_invalidate(c, copy, NM_CAUSE_SYNCHRONISATION);
		} else if (copy->state == NM_COPY_MODIFIED) {
			nm_copy_write_back(c, copy);
			nm_copy_set_state(c, copy, NM_COPY_SHARED);
		}
		if (c->departures != departures) /* the next one may be gone */
			after = nm_copy_first(c, core);
	}
}

const struct nm_protocol nm_protocol_scope = {.name = "scope",
					      .summary =
						  "remote data are invalidated where a core synchronises",
					      .asks_homes = 1,
					      .read = nm_protocol_read_untold,
					      .write = nm_protocol_write_untold,
					      .synchronise = scope_synchronise};

/* ---- protocol opt ---- */

/* OPT (CacheIn, section 4): a copy is invalidated when it is read, and only if the block
 * was modified.
 *
 * An oracle, so it needs no messages. A write only makes the copies of others stale; stale copies may be
 * written, and the bytes that several cores wrote are merged in memory. A copy is MODIFIED while its core
 * is the latest writer and all other copies are stale.
 */

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
