/* SPDX-License-Identifier: MIT
 *
 * ranked_rows.h - the rows of a ranked report: counts summed by its keys, their metrics, and which of them are first.
 *
 * They become a table of the profile's reader, from which the report's query (ranking.c) takes them, and to which it
 * joins what else is known of each.
 */
#ifndef NM_RANKED_ROWS_H
#define NM_RANKED_ROWS_H

#include <string.h>

#include "level_cube.h"

struct nm_ranked_request {
	const struct nm_selection *selection;
	const struct nm_level_key *keys; /* "level" among them: each level, else that of the selection */
	unsigned key_count;
	int of_fields, needs_fields; /* counts by field; without those that have none */
	int has_types;
	int of_pairs; /* the keys are object, or object, function, file and line, which pairs.h can tell */
	const char *rank;    /* the metric by which the first rows come first; NULL: all rows are made */
	const char *metrics; /* those that the table has, by commas; NULL: all */
};

/* The table: the keys, `level`, each of the metrics that has a value, `touched` (bytes of an object's lines that were
 * touched), the columns of selection.machines, and `site` and `name` where pairs have numbers. */
#define NM_RANKED "ranked"

/* Whether a list by commas has a name. NULL: it is empty. */
static inline int nm_is_listed(const char *list, const char *name)
{
	const size_t n = strlen(name);

	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (!strncmp(list, name, n) && (list[n] == ',' || !list[n]))
			return 1;
	return 0;
}

/* Makes the table: of all rows, or of the first, and of those that are equal to the last of these. 0 or a code. */
int nm_ranked_rows_make(struct nm_profile *profile, const struct nm_ranked_request *request,
			struct nm_error *err);

#endif
