/* SPDX-License-Identifier: MIT
 *
 * host.h - the caches of this machine, and their latencies, measured once and kept.
 */
#ifndef NM_HOST_H
#define NM_HOST_H

#include "machine.h"

/* The host's caches as Linux reports them for processor 0; else as sysconf reports them; else those of the
 * machine "cachegrind". The description says which. Named "host" in any case. */
int nm_machine_host(struct nm_machine *ret_machine, struct nm_error *err);

/* The same from another directory in the shape of /sys/devices/system/cpu/cpu0/cache. NM_ENOENT if it
 * lists no caches that can be simulated. */
int nm_machine_from_sysfs(const char *directory, struct nm_machine *ret_machine, struct nm_error *err);

/* latencies.c: completes the host's machine by its latencies: from the cache folder (cache_folder.h), where they are
 * measured and kept first if need be. Without such a folder they stay unknown. */
void nm_latencies_know(struct nm_machine *host);

#endif
