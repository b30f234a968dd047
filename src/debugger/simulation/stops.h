/* SPDX-License-Identifier: MIT
 *
 * stops.h - whether a run has to stop after the last reference.
 */
#ifndef NM_DEBUG_STOPS_H
#define NM_DEBUG_STOPS_H

#include "checkpoint.h"
#include "nest.h"

/* Whether a stop holds; `step` has the loops around the reference, or is NULL. *ret_left: see the report. */
int nm_stop_holds(const struct nm_stop *stop, const struct nm_caches *caches, const struct nm_nest_step *step,
		  struct nm_effect *ret_left);

/* Whether one of the stops uses loop indices. */
int nm_stops_ask_loops(const struct nm_stop *stops, unsigned count);

#endif
