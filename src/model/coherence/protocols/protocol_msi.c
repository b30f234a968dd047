/* SPDX-License-Identifier: MIT
 *
 * protocol_msi.c - MSI: a copy is modified, shared or invalid.
 *
 * The first write to a block that was read needs an upgrade, even if no other core has a copy.
 */
#include "protocol.h"

static void msi_read(struct nm_coherence *c, struct nm_copy *copy)
{
	nm_protocol_share(c, copy, 1u << NM_COPY_MODIFIED, NM_COPY_SHARED, NM_COPY_SHARED);
}

const struct nm_protocol nm_protocol_msi = {.name = "msi",
					    .summary = "modified, shared, invalid",
					    .read = msi_read,
					    .write = nm_protocol_invalidate_others};
