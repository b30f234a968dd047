/* SPDX-License-Identifier: MIT
 *
 * local.h - workers that are processes of this machine. One that is killed is replaced; all end with their master.
 */
#ifndef NM_SWEEP_LOCAL_H
#define NM_SWEEP_LOCAL_H

#include "transport.h"

struct nm_sweep_local;

/* Starts the workers. Call it before files and databases are opened. */
int nm_sweep_local_new(struct nm_sweep_local **ret_local, unsigned workers, struct nm_error *err);

/* The transport to them, which lives as long as they do. */
const struct nm_sweep_transport *nm_sweep_local_transport(const struct nm_sweep_local *local);

/* Ends them. */
void nm_sweep_local_free(struct nm_sweep_local *local);

#endif
