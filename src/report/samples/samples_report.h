/* SPDX-License-Identifier: MIT
 *
 * samples_report.h - what a processor's samples show: where data came from and how long that took, by any keys.
 *
 * Samples of instructions that access no memory are in no row. Each share has the interval that chance leaves: that
 * of a binomial proportion at 95 % (E. B. Wilson, JASA 22, 1927).
 */
#ifndef NM_REPORT_SAMPLES_H
#define NM_REPORT_SAMPLES_H

#include "report_priv.h"

/* Of the view `samples`: where data came from, also if only a level is known that did not have them. */
#define NM_SERVED_SQL "CASE WHEN missed THEN 'beyond ' || served ELSE served END"

/* Shows a report of a profile of samples: the summary, or rows by the keys of a ranking. NM_EINVAL: a report that
 * needs what samples do not tell. */
int nm_samples_report(const struct nm_report *report, struct nm_profile *profile,
		      const struct nm_report_request *request, const struct nm_style *style, FILE *out,
		      struct nm_error *err);

/* samples_query.c: the ends of the interval of k of n samples, as parts of 1. */
void nm_samples_interval(double k, double n, double *ret_low, double *ret_high);

/* samples_query.c: the query of such rows. Call nm_query_done in any case. */
int nm_samples_query_make(struct nm_query *ret_query, const struct nm_report *report,
			  const struct nm_selection *selection, struct nm_error *err);

#endif
