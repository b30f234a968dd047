/* SPDX-License-Identifier: MIT
 *
 * plan_priv.h - shared by the files that read a plan: plan.c what it says, inputs.c and caches.c what that means.
 */
#ifndef NM_PLAN_PRIV_H
#define NM_PLAN_PRIV_H

#include "plan.h"
#include "yaml_load.h"

struct nm_sweep_nest_entry {
	char *file, **set;
	unsigned set_count;
};

/* The document as libcyaml fills it; lists that are absent have no entries. */
struct nm_sweep_document {
	char **traces, **machines, **sizes, **policies, *level;
	struct nm_sweep_nest_entry *nests;
	unsigned traces_count, machines_count, sizes_count, policies_count, nests_count;
};

struct nm_sweep_reading {
	struct nm_sweep_plan *plan;
	const struct nm_sweep_document *document;
	yaml_document_t *lines;
	struct nm_error *err;
};

/* A fault in entry i of a list. NM_EINVAL. */
int nm_sweep_fault(const struct nm_sweep_reading *r, const char *list, size_t i, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Inputs and caches are tasks of which the other half is missing. */
struct nm_sweep_halves nm_vec(struct nm_sweep_task);

int nm_sweep_inputs(const struct nm_sweep_reading *reading, struct nm_sweep_halves *inputs);
int nm_sweep_caches(const struct nm_sweep_reading *reading, struct nm_sweep_halves *caches);

/* A path of the plan, which starts at the plan's folder. NULL: out of memory. */
const char *nm_sweep_path(const struct nm_sweep_reading *reading, const char *path);

#endif
