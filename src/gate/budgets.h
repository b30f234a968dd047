/* SPDX-License-Identifier: MIT
 *
 * budgets.h - the budgets of a file nearmiss.yaml (docs/man/nearmiss-gate.1.md has its keys).
 *
 *     budgets:
 *       - {level: L1d, relative: 1%}
 */
#ifndef NM_GATE_BUDGETS_H
#define NM_GATE_BUDGETS_H

#include "arena.h"
#include "facts.h"
#include "vector.h"

enum nm_budget_rule {
	NM_BUDGET_RELATIVE, /* a rise over the base */
	NM_BUDGET_ABSOLUTE, /* a count */
	NM_BUDGET_PER_ITEM  /* a count for each of `items` */
};

struct nm_budget {
	const char *level;                               /* NULL: the first that takes data */
	const char *program, *object, *function, *field; /* what it is for; NULL: all */
	enum nm_diff_metric metric;
	enum nm_budget_rule rule;
	double allowed; /* of NM_BUDGET_RELATIVE a share: 0.01 */
	double slack;   /* a rise of so many counts is allowed in any case */
	double items;
	const char *ignore; /* why it may be broken; NULL: it may not */
	int line;           /* in the file */
};

struct nm_budgets {
	const char *path; /* borrowed */
	struct nm_vec(struct nm_budget) at;
	struct nm_strings pool;
};

/* Reads a file; *ret_budgets must be {0}; call nm_budgets_done in any case. NM_EINVAL names the line of a
 * mistake. */
int nm_budgets_read(struct nm_budgets *ret_budgets, const char *path, struct nm_error *err);
void nm_budgets_done(struct nm_budgets *budgets);

#endif
