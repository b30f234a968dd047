/* SPDX-License-Identifier: MIT
 *
 * core_grid.c - which core takes lines from which, as a grid, if it fits into the width.
 */
#include <stdlib.h>

#include "sharing_priv.h"

static void print_cell(int64_t value, int width, FILE *out)
{
	char text[NM_GROUPED_ROOM];

	nm_format_grouped(value, text);
	fprintf(out, "%*s", width, text);
}

static void print_row(int64_t head, const int64_t *cells, int64_t count, int width, FILE *out)
{
	print_cell(head, 7, out);
	for (int64_t i = 0; i < count; i++)
		print_cell(cells[i], width, out);
	fputs("\n", out);
}

static void print_grid(const int64_t *taken, int64_t cores, int width, FILE *out)
{
	fprintf(out, "\nCopies taken, by the core at the left from the core above:\n%7s", "");
	for (int64_t core = 0; core < cores; core++)
		print_cell(core, width, out);
	fputs("\n", out);
	for (int64_t core = 0; core < cores; core++)
		print_row(core, taken + core * cores, cores, width, out);
}

/* Sums to taken[by * cores + from]. 0 or an error. */
static int sum_takes(struct nm_profile *profile, const struct nm_selection *selection, int64_t cores,
		     int64_t *taken, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile,
	    "SELECT core, victim_core, sum(invalidations) FROM contenders WHERE level = ?1 AND "
	    "(?2 IS NULL OR " NM_DONE_BY_PROCESS ") GROUP BY 1, 2",
	    &rows, err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, selection->request.level);
	nm_rows_bind_text(rows, 2, selection->request.process);
	while ((status = nm_rows_next(rows, err)) > 0) {
		const int64_t by = nm_rows_integer(rows, 0), from = nm_rows_integer(rows, 1);

		if (by >= 0 && by < cores && from >= 0 && from < cores)
			taken[by * cores + from] = nm_rows_integer(rows, 2);
	}
	nm_rows_free(rows);
	return status;
}

int nm_sharing_core_grid(struct nm_profile *profile, const struct nm_selection *selection,
			 const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int64_t cores = 0, most = 0, *taken;
	char text[NM_GROUPED_ROOM];
	int width;
	int status = nm_profile_query(profile, "SELECT max(core) + 1 FROM threads", &rows, err);

	if (!status && (status = nm_rows_next(rows, err)) > 0)
		cores = nm_rows_bounded(rows, 0);
	nm_rows_free(rows);
	if (status < 0 || cores < 2 || cores > NM_MAX_CORES)
		return status < 0 ? status : 0;
	taken = calloc((size_t)(cores * cores), sizeof *taken);
	if (!taken)
		return nm_fail_memory(err);
	status = sum_takes(profile, selection, cores, taken, err);
	for (int64_t i = 0; i < cores * cores; i++)
		most = taken[i] > most ? taken[i] : most;
	width = nm_format_grouped(most, text) + 2;
	if (!status && (!style->width || 7 + cores * width <= style->width))
		print_grid(taken, cores, width, out);
	free(taken);
	return status;
}
