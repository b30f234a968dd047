/* SPDX-License-Identifier: MIT
 *
 * protocol_moesi.c - MOESI (Sweazey and Smith, ISCA 1986): a modified copy that others read is owned, and
 * not written back.
 *
 * The owner supplies all further readers; memory gets the data when the owner loses its copy, unless a
 * writer takes it.
 */
#include "protocol.h"

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
