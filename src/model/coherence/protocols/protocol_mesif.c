/* SPDX-License-Identifier: MIT
 *
 * protocol_mesif.c - MESIF (Goodman and Hum, 2009; Intel's QPI): of the shared copies, the latest reader's
 * supplies the next reader.
 *
 * Once that copy is evicted, memory supplies the next reader.
 */
#include "protocol.h"

static void mesif_read(struct nm_coherence *c, struct nm_copy *copy)
{
	nm_protocol_share(c, copy, NM_OWNERS, NM_COPY_FORWARD, NM_COPY_EXCLUSIVE);
}

const struct nm_protocol nm_protocol_mesif = {.name = "mesif",
					      .summary = "modified, exclusive, shared, invalid, forward",
					      .has_exclusive = 1,
					      .read = mesif_read,
					      .write = nm_protocol_invalidate_others};
