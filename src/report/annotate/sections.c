/* SPDX-License-Identifier: MIT
 *
 * sections.c - what annotations of lines and of instructions share: parameters of queries, and which sections
 * and rows are heavy enough to be shown.
 */
#include <assert.h>
#include <stdlib.h>

#include "annotate_priv.h"

void nm_annotate_bind(const struct nm_annotation *a, struct nm_rows *rows)
{
	const struct nm_annotate_request *r = a->request;

	nm_rows_bind_text(rows, 1, a->level);
	if (r->report.process)
		nm_rows_bind_text(rows, 2, r->report.process);
	if (r->report.thread)
		nm_rows_bind_integer(rows, 3, r->report.thread);
	if (r->object)
		nm_rows_bind_text(rows, 4, r->object);
}

int nm_read_number(struct nm_annotation *a, const char *sql, const char *first, int64_t *ret_number)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(a->profile, sql, &rows, a->err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, first);
	status = nm_rows_next(rows, a->err);
	*ret_number = status > 0 ? nm_rows_integer(rows, 0) : -1;
	nm_rows_free(rows);
	return status < 0 ? status : 0;
}

int nm_is_heavy(const struct nm_annotation *a, int64_t part, int64_t whole)
{
	return part > 0 && 100.0 * (double)part >= a->request->threshold * (double)whole;
}

void nm_keep_heavy_sections(struct nm_annotation *a, int64_t whole, int (*order)(const void *, const void *))
{
	size_t kept = 0;

	if (a->sections.count)
		qsort(a->sections.at, a->sections.count, sizeof *a->sections.at, order);
	while (kept < a->sections.count && nm_is_heavy(a, a->sections.at[kept].weight, whole))
		kept++;
	for (size_t i = kept; i < a->sections.count; i++) {
		a->left_out += a->sections.at[i].weight > 0;
		nm_sums_add(&a->left_out_sum, &a->sections.at[i].sum);
	}
	a->sections.count = kept;
}

int nm_in_section(const struct nm_section *section, const struct nm_annotate_row *row)
{
	return row->file == section->file && (!section->function || row->function == section->function);
}

size_t nm_next_file(const struct nm_annotate_rows *rows, size_t from)
{
	size_t i = from;

	assert(from <= rows->count);
	while (i < rows->count && rows->at[i].file == rows->at[from].file)
		i++;
	return i;
}
