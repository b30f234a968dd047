/* SPDX-License-Identifier: MIT
 *
 * nesting.h - what `nearmiss nest` does: it makes a profile, lists a nest's references as they are written or as
 * they are made, and tabulates misses over a parameter.
 */
#ifndef NM_NESTING_H
#define NM_NESTING_H

#include "machine.h"
#include "nest.h"
#include "report.h"

struct nm_nesting {
	const char *path;
	const char *const *settings; /* ended by NULL */
	size_t setting_count;
	struct nm_machine machine;
	unsigned threads;
	int progress;
	const struct nm_sift_request *sift; /* what is to be kept of single events, or NULL */
};

/* A range of a parameter's values or of an array's addresses. */
struct nm_sweep {
	const char *range; /* "N=200:300:4" */
	const char *level; /* or NULL: the first that takes data */
	int by_reference;
};

/* All return a status; the fault was told.  trace: a file to keep the stream in, or NULL. */
int nm_nest_record(const struct nm_nesting *nesting, const char *output, const char *trace, int quiet);
int nm_nest_print(const struct nm_nesting *nesting, const struct nm_style *style, FILE *out);
int nm_nest_list(const struct nm_nesting *nesting, const char *range, const struct nm_style *style,
		 FILE *out);
int nm_nest_sweep(const struct nm_nesting *nesting, const struct nm_sweep *sweep,
		  const struct nm_style *style, FILE *out);

#endif
