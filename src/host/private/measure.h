/* SPDX-License-Identifier: MIT
 *
 * measure.h - measures how long loads wait on this machine.
 */
#ifndef NM_HOST_MEASURE_H
#define NM_HOST_MEASURE_H

#include "machine.h"

/* Sets the latencies of the levels behind the first, of memory and of a page walk, in cycles; what the host does
 * not let us measure stays. Takes about half a second and 128 MB. */
void nm_measure_latencies(struct nm_machine *machine);

#endif
