/* SPDX-License-Identifier: MIT
 *
 * protocol_msi.c - MSI: a copy is modified, shared or invalid.
 *
 * The first write to what was read asks for the right to it, even if nobody else has a copy.
 */
#include "protocol.h"

static void read(struct nm_coherence *x, struct nm_copy *copy)
{
	struct nm_copy *owner = nm_copy_other(copy, 1u << NM_COPY_MODIFIED);

	nm_copy_request(x, NM_MESSAGE_READ);
	nm_copy_supply(x, owner);
	if (owner) {
		nm_copy_write_back(x, owner);
		nm_copy_set_state(x, owner, NM_COPY_SHARED);
	}
	nm_copy_set_state(x, copy, NM_COPY_SHARED);
}

const struct nm_protocol nm_protocol_msi = {
    .name = "msi", .summary = "modified, shared, invalid", .read = read, .write = nm_protocol_take};
