/* SPDX-License-Identifier: MIT
 *
 * cmd_sweep.h - what nearmiss-mpi changes of nearmiss sweep.
 */
#ifndef NM_CMD_SWEEP_H
#define NM_CMD_SWEEP_H

#include "options.h"
#include "transport.h"

extern const struct nm_command nm_cmd_sweep;

/* The workers; NULL: processes of this machine, which the command starts. */
extern const struct nm_sweep_transport *nm_sweep_ranks;

#endif
