/* SPDX-License-Identifier: MIT
 *
 * eviction_title.c - one sentence above lists of evictions: how many lines there are, and of how many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "evictions_priv.h"

/* Lines that the chosen evictors took (all if !by_evictor) from the chosen victims (all if !of_victim). */
static int count_lines(struct nm_profile *profile, const struct nm_selection *selection, int by_evictor,
		       int of_victim, int64_t *ret_count, struct nm_error *err)
{
	const char *evictor = by_evictor ? selection->object.pattern : NULL;
	const char *victim = of_victim ? selection->function.pattern : NULL;
	struct nm_rows *rows = NULL;
	char *sql = NULL;
	int status;

	if (asprintf(&sql,
		     "SELECT sum(count) FROM evictions WHERE level = ?1 AND (?2 IS NULL OR process = ?2) AND "
		     "(?4 IS NULL OR evictor %s ?4) AND (?5 IS NULL OR victim %s ?5) AND "
		     "(?6 IS NULL OR function %s ?6)",
		     evictor ? selection->object.operator_ : "=",
		     victim ? selection->function.operator_ : "=",
		     selection->file.pattern ? selection->file.operator_ : "=") < 0)
		return nm_fail_memory(err);
	status = nm_profile_query(profile, sql, &rows, err);
	free(sql);
	if (!status) {
		nm_rows_bind_text(rows, 1, selection->request.level);
		nm_rows_bind_text(rows, 2, selection->request.process);
		nm_rows_bind_text(rows, 4, evictor);
		nm_rows_bind_text(rows, 5, victim);
		nm_rows_bind_text(rows, 6, selection->file.pattern);
		status = nm_rows_next(rows, err);
		if (status > 0)
			*ret_count = nm_rows_bounded(rows, 0);
	}
	nm_rows_free(rows);
	return status > 0 ? 0 : status;
}

int nm_eviction_title(struct nm_profile *profile, const struct nm_selection *selection, const char *more,
		      unsigned width, FILE *out, struct nm_error *err)
{
	const char *evictor = selection->object.pattern, *victim = selection->function.pattern;
	char lines[NM_GROUPED_ROOM], share[48] = "";
	int64_t pair = 0, whole = 0;
	int status = count_lines(profile, selection, 1, 1, &pair, err);

	if (!status)
		status = count_lines(profile, selection, 0, 1, &whole, err);
	if (status)
		return status;
	nm_format_grouped(pair, lines);
	if (evictor && whole)
		snprintf(share, sizeof share, ": %.1f %% of all that ", 100.0 * (double)pair / (double)whole);
	status =
	    nm_print_sentence("", width, out, "%s evicted %s line%s%s%s from %s%s%s%s%s",
			      evictor ? evictor : "All objects", lines, pair == 1 ? "" : "s",
			      victim ? " of " : "", victim ? victim : "", selection->request.level, share,
			      !*share  ? ""
			      : victim ? victim
				       : "any object",
			      *share ? " lost" : "", more);
	fputc('\n', out);
	return status ? nm_fail_memory(err) : 0;
}
