/* SPDX-License-Identifier: MIT
 *
 * mpi_code.h - the code of MPI libraries, and where it waits.
 *
 * A rank that waits for another one spins: it calls a progress function again and again, which polls the
 * transports. What runs in a progress function, or below one, waits for a message or moves it; of this, the code
 * of MPI itself is counted as waiting, and the C library's copies are not (user_calls.h).
 *
 * Stripped libraries name only what others call. OpenMPI's and UCX's progress functions are among that; MPICH's
 * are not, but with UCX as transport they call UCX's.
 */
#ifndef NM_MPI_CODE_H
#define NM_MPI_CODE_H

/* What a site that waits shows as its function, at the line of the user's call. */
extern const char nm_mpi_waiting[];

/* Is a module (the last component of its path) of OpenMPI, MPICH, their run-time systems or transports? */
int nm_is_mpi_library(const char *module);

/* Is it the MPI library itself? */
int nm_is_mpi_proper(const char *module);

/* Does a function of an MPI library poll until something arrives, or once for its caller, which repeats that? */
int nm_is_progress_function(const char *function);

#endif
