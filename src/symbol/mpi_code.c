/* SPDX-License-Identifier: MIT */
#include "mpi_code.h"

#include <stddef.h>
#include <string.h>

const char nm_mpi_waiting[] = "waiting in MPI";

int nm_is_mpi_library(const char *module)
{
	static const char *const prefixes[] = {
	    "libmpi.so",    "libmpi_",     "libmpich",   "libmpifort",  "libmpicxx",     "libpmpi",
	    "libopen-pal",  "libopen-rte", "libpmix.so", "libprrte",    "mca_",          "pmix_mca_",
	    "libucp.so",    "libuct",      "libucs",     "libucm",      "libfabric.so",  "libpsm2",
	    "libpsm_",      "libibverbs",  "librdmacm",  "libhwloc.so", "libevent_core", "libevent_pthreads",
	    "libevent-2.1", NULL};

	for (const char *const *prefix = prefixes; *prefix; prefix++)
		if (!strncmp(module, *prefix, strlen(*prefix)))
			return 1;
	return 0;
}

int nm_is_mpi_proper(const char *module)
{
	return !strncmp(module, "libmpi", 6) && nm_is_mpi_library(module);
}

int nm_is_progress_function(const char *function)
{
	static const char *const names[] = {
	    /* OpenMPI */
	    "opal_progress", "ompi_sync_wait_mt", "PMIx_Progress",
	    /* MPICH */
	    "MPID_Progress_wait", "MPID_Progress_test", "MPIDI_Progress_test", "MPIDI_progress_test",
	    "MPIDI_CH3I_Progress", "MPIDI_CH3I_Progress_wait", "MPIDI_CH3I_Progress_test",
	    "MPIDU_Init_shm_barrier",
	    /* UCX, libfabric, PSM */
	    "ucp_worker_progress", "uct_worker_progress", "ofi_cq_progress", "ofi_cq_readfrom", "psm2_poll",
	    "psm2_mq_wait", "psm2_mq_wait2", "psm_poll", "__psm_poll", "psm_mq_wait", "__psm_mq_wait", NULL};

	for (const char *const *name = names; *name; name++)
		if (!strcmp(function, *name))
			return 1;
	return 0;
}
