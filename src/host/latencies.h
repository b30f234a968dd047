/* SPDX-License-Identifier: MIT
 *
 * latencies.h - the latencies of this machine, measured once and kept.
 */
#ifndef NM_HOST_LATENCIES_H
#define NM_HOST_LATENCIES_H

#include "machine.h"

/* Completes the host's machine by its latencies: from the cache folder (cache_folder.h), where they are measured
 * and kept first if need be. Without such a folder they stay unknown. */
void nm_latencies_know(struct nm_machine *host);

#endif
