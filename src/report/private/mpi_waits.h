/* SPDX-License-Identifier: MIT
 *
 * mpi_waits.h - how much of a run waits in MPI: the line of the first screen on it. Progress loops hit the first
 * level, so misses say nothing of them; references do. Where a library has no symbols, not all loops are known.
 */
#ifndef NM_REPORT_MPI_WAITS_H
#define NM_REPORT_MPI_WAITS_H

#include "report_selection.h"

struct nm_mpi_waits {
	double references; /* share of the references, 0 to 1 */
	char place[256];   /* the user's line or function that waits most; "": unknown */
	double at_place;   /* its share of what waits */
};

/* 0 or a code. */
int nm_mpi_waits_fill(struct nm_profile *profile, const struct nm_report_request *request,
		      struct nm_mpi_waits *ret_waits, struct nm_error *err);

/* Prints nothing where nothing waits. */
void nm_mpi_waits_print(const struct nm_mpi_waits *waits, unsigned width, FILE *out);

#endif
