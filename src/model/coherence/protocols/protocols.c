/* SPDX-License-Identifier: MIT
 *
 * protocols.c - the table of coherence protocols.
 */
#include "protocol.h"

const struct nm_protocol nm_protocol_none = {.name = "none",
					     .summary = "what a core writes is not seen by others"};

const struct nm_protocol *const nm_protocols[] = {
    &nm_protocol_none,  &nm_protocol_msi,   &nm_protocol_mesi,
    &nm_protocol_moesi, &nm_protocol_mesif, &nm_protocol_full,
    &nm_protocol_scope, &nm_protocol_opt,   NULL,
};
