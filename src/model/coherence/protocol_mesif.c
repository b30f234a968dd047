/* SPDX-License-Identifier: MIT
 *
 * protocol_mesif.c - MESIF (Goodman and Hum, 2009; Intel's QPI): of the shared copies one, the latest
 * reader's, supplies the next.
 *
 * If it is evicted, memory supplies until somebody reads again.
 */
#include "protocol.h"

static void read(struct nm_coherence *x, struct nm_copy *copy)
{
	struct nm_copy *owner = nm_copy_other(copy, NM_OWNERS);

	nm_copy_request(x, NM_MESSAGE_READ);
	nm_copy_supply(x, owner);
	if (owner && owner->state == NM_COPY_MODIFIED)
		nm_copy_write_back(x, owner);
	if (owner)
		nm_copy_set_state(x, owner, NM_COPY_SHARED);
	nm_copy_set_state(x, copy, nm_copy_other(copy, NM_VALID) ? NM_COPY_FORWARD : NM_COPY_EXCLUSIVE);
}

const struct nm_protocol nm_protocol_mesif = {.name = "mesif",
					      .summary = "modified, exclusive, shared, invalid, forward",
					      .read = read,
					      .write = nm_protocol_take};
