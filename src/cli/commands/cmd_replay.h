/* SPDX-License-Identifier: MIT
 *
 * cmd_replay.h - what nearmiss-mpi changes of nearmiss replay.
 */
#ifndef NM_CMD_REPLAY_H
#define NM_CMD_REPLAY_H

#include "chain.h"
#include "options.h"

extern const struct nm_command nm_cmd_replay;

/* This process as one of several; NULL: it replays alone. */
extern struct nm_chain_request *nm_replay_ranks;

#endif
