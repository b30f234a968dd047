/* SPDX-License-Identifier: MIT
 *
 * diff.h - what changed between profiles: counts of the same place beside each other, sorted by what the
 * change costs.
 *
 * Two or more profiles are compared with the first: before and after a change, or one program on several
 * machines. Objects, functions and lines are matched through edits of the source (match.h).
 */
#ifndef NM_REPORT_DIFF_H
#define NM_REPORT_DIFF_H

#include "report.h"

enum { NM_DIFF_SIDES = 9 };

enum nm_diff_layout { NM_DIFF_TEXT, NM_DIFF_CSV, NM_DIFF_JSON, NM_DIFF_MARKDOWN };

/* A total that may rise by `allowed`, of the first profile's total if `percent`, else in counts. */
struct nm_diff_budget {
	const char *metric; /* "misses", "cycles", "references" or "loads"; NULL: there is no budget */
	double allowed;
	int percent;
};

struct nm_diff_request {
	const char *level;     /* NULL: the first level of each profile that takes data */
	const char *process;   /* NULL: all */
	const char *by;        /* keys by commas; NULL: "object,line" */
	const char *sort;      /* "cycles" (NULL), "misses", "references" or "loads": by what changed most */
	int64_t offset, limit; /* rows; limit 0: all */
	enum nm_diff_layout layout;
	enum nm_shown_frame frame; /* which frame of inlined calls lines and functions name */
	struct nm_shown_part part; /* of each run */
	struct nm_diff_budget budget;
	int of_candidates; /* all but the first are candidate layouts of its data; their paths are the candidates */
};

struct nm_diff_input {
	const char *path;
	struct nm_profile *profile;
};

/* Parses "METRIC:N" or "METRIC:N%"; the metric points to a constant. NM_EINVAL. */
int nm_diff_budget_parse(const char *text, struct nm_diff_budget *ret_budget, struct nm_error *err);

/* Writes the comparison of 2 to NM_DIFF_SIDES profiles. *ret_over becomes a sentence (malloc'ed) if the total
 * of the last profile is over the budget, else NULL. NM_EINVAL: no such level, process or key in one of
 * them. */
int nm_diff_run(const struct nm_diff_input *inputs, unsigned count, const struct nm_diff_request *request,
		const struct nm_style *style, FILE *out, char **ret_over, struct nm_error *err);

#endif
