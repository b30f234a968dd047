/* SPDX-License-Identifier: MIT
 *
 * replay_ranks.h - nearmiss replay on all ranks of an MPI job (chain.h).
 */
#ifndef NM_REPLAY_RANKS_H
#define NM_REPLAY_RANKS_H

/* Returns the command's status. A rank that fails alone ends the job. */
int nm_replay_on_ranks(int argc, char **argv, int rank, int ranks);

#endif
