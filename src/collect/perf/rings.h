/* SPDX-License-Identifier: MIT
 *
 * rings.h - the buffers into which the kernel writes samples of running threads, one for each processor.
 *
 * The kernel also writes what names them: mappings, names of processes, forks, ends, and how much was lost for
 * want of room. Whoever watches empties the buffers while the program runs.
 */
#ifndef NM_RINGS_H
#define NM_RINGS_H

#include <stdio.h>

#include "sampled_events.h"

struct nm_rings;

/* Buffers for the event, which nothing fills yet. */
int nm_rings_new(struct nm_rings **ret_rings, const struct nm_sampled_event *event, struct nm_error *err);
void nm_rings_free(struct nm_rings *rings);

/* Samples a thread, and all that it starts from then on: now, or from when it executes a program. NM_ENOENT: there is
 * no such thread. */
int nm_rings_watch(struct nm_rings *rings, pid_t thread, int now, struct nm_error *err);

/* Waits until there is something to read, at most `ms`. 1 when all that was watched has ended. */
int nm_rings_wait(struct nm_rings *rings, int ms);

/* Moves the records of all buffers to `out`: 0, or -1 if writing fails (errno). */
int nm_rings_drain(struct nm_rings *rings, FILE *out);

/* After the last nm_rings_drain: lost records that no record told of. */
uint64_t nm_rings_untold(const struct nm_rings *rings);

#endif
