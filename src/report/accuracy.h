/* SPDX-License-Identifier: MIT
 *
 * accuracy.h - how far the samples of a simulated PMU can be trusted for this run (record --pmu).
 *
 * A sampler *suffices* for objects, lines or pairs if it, and each shorter period of its rule in the profile, has
 * samples, has no part's share off by more than `within` points, and swaps no two parts that differ by more, of
 * those that struct nm_accuracy takes in.
 */
#ifndef NM_REPORT_ACCURACY_H
#define NM_REPORT_ACCURACY_H

#include "pmu_estimates.h"
#include "report.h"

struct nm_accuracy_request {
	enum nm_accuracy_by by;
	const char *sampler; /* show what it says of each part, beside the truth; NULL: judge all samplers */
	const char *process; /* NULL: all */
	double within;       /* points */
	int64_t limit;       /* parts; 0: all */
};

/* NM_EINVAL: no PMU was simulated; no such sampler or process; the sampler does not tell such parts. */
int nm_accuracy_run(struct nm_profile *profile, const struct nm_accuracy_request *request,
		    const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
