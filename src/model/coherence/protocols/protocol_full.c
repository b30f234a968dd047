/* SPDX-License-Identifier: MIT
 *
 * protocol_full.c - FULL (paper 3, section 4): a core that synchronises loses all its copies.
 *
 * A form of release consistency, as systems with distributed shared memory use it. Between two
 * synchronisations a core requests nothing for blocks that it has, and sees no writes of others in them.
 */
#include "protocol.h"

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
