/* SPDX-License-Identifier: MIT
 *
 * protocol_mesi.c - MESI (Papamarcos and Patel, ISCA 1984): the only reader may later write without a
 * message.
 *
 * As in the paper, the only core with a block supplies the next reader; memory supplies shared blocks.
 */
#include "protocol.h"

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
