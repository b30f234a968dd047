/* SPDX-License-Identifier: MIT
 *
 * report_table.h - the rows of a report and their columns.
 */
#ifndef NM_REPORT_TABLE_H
#define NM_REPORT_TABLE_H

#include "ranking.h"
#include "table.h"

/* Initialise with {0}; call nm_report_table_done in any case. */
struct nm_report_table {
	struct nm_table table;
	struct nm_query query;
};

int nm_report_fill(const struct nm_report *report, struct nm_profile *profile,
		   const struct nm_selection *selection, struct nm_report_table *ret_filled,
		   struct nm_error *err);
void nm_report_table_done(struct nm_report_table *filled);

#endif
