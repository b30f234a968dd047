/* SPDX-License-Identifier: MIT
 *
 * rank.h - this process as one of many that a launcher of parallel jobs (mpirun, srun, flux) has started, and
 * names of files that tell these apart.
 */
#ifndef NM_RANK_H
#define NM_RANK_H

#include "errors.h"

/* The rank that the launcher gave this process, "0" or greater; NULL: no launcher has started it. */
const char *nm_rank(void);

/* The number of ranks of the job; NULL: that is not known. */
const char *nm_ranks(void);

/* Whether a list such as "0,7-9" has the rank. NM_EINVAL, with a message: it is no such list, or there is no rank. */
int nm_rank_is_in(const char *list, int *ret_chosen, struct nm_error *err);

/* A file's name with each %p replaced by the process id, %h by the host's name, %r by the rank ("0" without a
 * launcher), %q{NAME} by an environment variable and %% by %, as Valgrind has them. *ret_name is the caller's
 * (malloc). NM_EINVAL, with a message, or NM_ENOMEM. */
int nm_rank_file_name(const char *pattern, char **ret_name, struct nm_error *err);

#endif
