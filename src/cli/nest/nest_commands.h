/* SPDX-License-Identifier: MIT
 *
 * nest_commands.h - the tables of `nearmiss nest`: its references as written (--print) or as executed
 * (--list), and misses over a range of a parameter (--sweep).
 */
#ifndef NM_NEST_COMMANDS_H
#define NM_NEST_COMMANDS_H

#include <stdio.h>

#include "nest.h"
#include "report.h"
#include "run.h"

struct nm_nest_request {
	const char *path;
	const char *const *settings; /* "NAME=VALUE", ended by NULL */
	size_t setting_count;
	const struct nm_run_request *run; /* for sweeps: the machine, threads, feedback */
};

struct nm_sweep {
	const char *range; /* "N=200:300:4": values of a parameter, or addresses of an array */
	const char *level; /* or NULL: the first that takes data */
	int by_reference;
};

/* Each returns a status, after a message if it is not 0. */
int nm_nest_print(const struct nm_nest_request *request, const struct nm_style *style, FILE *out);
int nm_nest_list(const struct nm_nest_request *request, const char *range, const struct nm_style *style,
		 FILE *out);
int nm_nest_sweep(const struct nm_nest_request *request, const struct nm_sweep *sweep,
		  const struct nm_style *style, FILE *out);

#endif
