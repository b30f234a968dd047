/* SPDX-License-Identifier: MIT
 *
 * outlive.h - lets the recorder of a rank outlive its launcher.
 *
 * When a rank fails or mpirun is interrupted, launchers kill the process group of each rank, and leave a second or less
 * to write a profile. So nearmiss becomes two processes: the launcher's one passes signals on, waits and exits as the
 * program did; the other, in a process group of its own, records. The program stays in the launcher's group. If the
 * launcher's process is killed, the recorder gets SIGTERM as if it were sent to it, which ends the program; it writes
 * what was recorded until then.
 */
#ifndef NM_OUTLIVE_H
#define NM_OUTLIVE_H

#include <sys/types.h>

/* Called by a function that warns if the recorder was killed: its profile is lost. */
typedef void nm_outlive_lost(const char *signal_name);

/* Returns in the process that records; the other one exits. The process group that the program belongs to; 0: this
 * process's own, as it could not become two. */
pid_t nm_outlive(nm_outlive_lost *lost);

#endif
