/* SPDX-License-Identifier: MIT
 *
 * gate.h - whether profiles keep their budgets, and how that is told to people and to machines.
 *
 * Counts of one build differ between layouts of memory. So each count is an interval: over all profiles of a
 * side, the base or the new one. A budget is broken only if the intervals are apart by more than it allows.
 */
#ifndef NM_GATE_H
#define NM_GATE_H

#include <stdio.h>

#include "budgets.h"

enum { NM_GATE_PROFILES = 64 };

struct nm_gate_input {
	const char *path;
	struct nm_profile *profile;
};

struct nm_gate_request {
	const struct nm_budgets *budgets;
	const struct nm_gate_input *inputs; /* first those of the base */
	unsigned base_count, count;
	const char *root; /* of the sources: files below it are named relative to it */
	const char *name; /* of this gate, where a report replaces the one before */
};

struct nm_gate;

/* NM_EINVAL: a budget names what no profile has, or needs a base. The request must outlive the gate. */
int nm_gate_judge(struct nm_gate **ret_gate, const struct nm_gate_request *request, struct nm_error *err);
void nm_gate_free(struct nm_gate *gate);
int nm_gate_is_met(const struct nm_gate *gate); /* ignored budgets count as met */

/* formats.c: how a gate is told. */
struct nm_gate_format {
	const char *name, *summary;
	int (*write)(const struct nm_gate *gate,
		     FILE *out); /* 0 or NM_ENOMEM; the caller checks ferror(out) */
};
const struct nm_gate_format *nm_gate_format_at(unsigned i); /* NULL behind the last; the first is text */
const struct nm_gate_format *nm_gate_format_named(const char *name);

#endif
