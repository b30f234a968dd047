/* SPDX-License-Identifier: MIT
 *
 * protocol_mesi.c - MESI (Papamarcos and Patel, ISCA 1984): a reader that is alone may write later without
 * asking.
 *
 * Who is alone hands the data to the next reader itself, as in the paper; copies that are shared leave it to
 * memory.
 */
#include "protocol.h"

static void read(struct nm_coherence *x, struct nm_copy *copy)
{
	struct nm_copy *owner = nm_copy_other(copy, 1u << NM_COPY_MODIFIED | 1u << NM_COPY_EXCLUSIVE);

	nm_copy_request(x, NM_MESSAGE_READ);
	nm_copy_supply(x, owner);
	if (owner && owner->state == NM_COPY_MODIFIED)
		nm_copy_write_back(x, owner);
	if (owner)
		nm_copy_set_state(x, owner, NM_COPY_SHARED);
	nm_copy_set_state(x, copy, nm_copy_other(copy, NM_VALID) ? NM_COPY_SHARED : NM_COPY_EXCLUSIVE);
}

const struct nm_protocol nm_protocol_mesi = {.name = "mesi",
					     .summary = "modified, exclusive, shared, invalid",
					     .read = read,
					     .write = nm_protocol_take};
