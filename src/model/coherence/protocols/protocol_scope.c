/* SPDX-License-Identifier: MIT
 *
 * protocol_scope.c - SCOPE (CacheIn, section 4): a core that synchronises loses its copies of remote data.
 *
 * Data are remote if their home is another node (homes.h). Local copies are written back and kept: the
 * write-backs of other cores pass through the home node.
 */
#include "protocol.h"

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
