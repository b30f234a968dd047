/* SPDX-License-Identifier: MIT */
#include "summary_parts.h"

#include <stdio.h>
#include <string.h>

#include "table.h"

/* By line: what waits, greatest first, and of how much. */
static const char sql[] =
    "WITH c AS MATERIALIZED (SELECT place, sum(reads + writes) AS refs FROM cells WHERE level = "
    "(SELECT level FROM levels WHERE side <> 'instruction' ORDER BY position, level LIMIT 1) "
    "AND (?1 IS NULL OR process = ?1) AND (?2 = 0 OR thread = ?2) GROUP BY place) "
    "SELECT p.user_file, p.user_line, sum(c.refs), sum(sum(c.refs)) OVER (), (SELECT sum(refs) FROM c) "
    "FROM c CROSS JOIN places p ON p.place = c.place WHERE p.user_function = '" NM_WAITING_IN_MPI "' "
    "GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 1";

static void take_row(struct nm_rows *rows, struct nm_mpi_waits *ret)
{
	const char *file = nm_rows_text(rows, 0), *slash = file ? strrchr(file, '/') : NULL;
	const double all = (double)nm_rows_integer(rows, 3);

	ret->references = all / (double)nm_rows_integer(rows, 4);
	ret->at_place = (double)nm_rows_integer(rows, 2) / all;
	if (file)
		snprintf(ret->place, sizeof ret->place, "%s:%lld", slash ? slash + 1 : file,
			 (long long)nm_rows_integer(rows, 1));
}

/* Whether some pair waits, or that is not known. */
static int may_wait(const struct nm_selection *selection)
{
	const struct nm_level_cube *pairs = selection->pairs;

	if (!pairs || !selection->leaves_apart)
		return 1;
	for (size_t row = 0; row < pairs->cube.row_count; row++)
		if (nm_cube_keys(&pairs->cube, row)[NM_PAIR_APART] == NM_APART_WAITING + 1)
			return 1;
	return 0;
}

int nm_mpi_waits_fill(struct nm_profile *profile, const struct nm_selection *selection,
		      struct nm_mpi_waits *ret_waits, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status;

	*ret_waits = (struct nm_mpi_waits){0};
	if (!may_wait(selection))
		return 0;
	status = nm_profile_query(profile, sql, &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, selection->request.process);
		nm_rows_bind_integer(rows, 2, selection->request.thread);
		status = nm_rows_next(rows, err);
	}
	if (status > 0 && nm_rows_integer(rows, 3) > 0)
		take_row(rows, ret_waits);
	nm_rows_free(rows);
	return status < 0 ? status : 0;
}

void nm_mpi_waits_print(const struct nm_mpi_waits *waits, unsigned width, FILE *out)
{
	char text[512];
	size_t used;

	if (waits->references <= 0)
		return;
	used =
	    (size_t)snprintf(text, sizeof text, "in MPI's progress loops: at least %.2g %% of the references",
			     100 * waits->references);
	if (*waits->place)
		snprintf(text + used, sizeof text - used, ", most at %s (%.0f %% of them)", waits->place,
			 100 * waits->at_place);
	nm_print_wrapped("waiting     ", text, width, out);
}
