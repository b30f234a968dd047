/* SPDX-License-Identifier: MIT
 *
 * csv.c - the view counts as comma-separated values, row by row: all columns under their own names.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "export_priv.h"
#include "text.h"

static int write_field(struct nm_rows *rows, unsigned column, FILE *out)
{
	char *clean;

	switch (nm_rows_type(rows, column)) {
	case NM_VALUE_NULL: return 0;
	case NM_VALUE_INTEGER: fprintf(out, "%" PRId64, nm_rows_integer(rows, column)); return 0;
	case NM_VALUE_REAL: fprintf(out, "%.10g", nm_rows_real(rows, column)); return 0;
	case NM_VALUE_TEXT: break;
	}
	clean = nm_utf8_clean(nm_rows_text(rows, column));
	if (!clean)
		return NM_ENOMEM;
	nm_csv_field(clean, out);
	free(clean);
	return 0;
}

static int write_rows(struct nm_rows *rows, FILE *out, struct nm_error *err)
{
	unsigned n = nm_rows_columns(rows);
	int status;

	for (unsigned i = 0; i < n; i++) {
		nm_csv_field(nm_rows_name(rows, i), out);
		fputc(i + 1 < n ? ',' : '\n', out);
	}
	while ((status = nm_rows_next(rows, err)) > 0)
		for (unsigned i = 0; i < n; i++) {
			if (write_field(rows, i, out))
				return nm_fail_memory(err);
			fputc(i + 1 < n ? ',' : '\n', out);
		}
	return status;
}

static int write_csv(struct nm_export *e, FILE *out, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_facts_query(e, "SELECT * FROM counts", NM_BY_PROCESS | NM_BY_THREAD | NM_BY_LEVEL, "",
				    &rows, err);

	if (!status)
		status = write_rows(rows, out, err);
	nm_rows_free(rows);
	return status;
}

const struct nm_exporter nm_exporter_csv = {
    .name = "csv",
    .summary = "the view counts as comma-separated values",
    .flags = NM_EXPORTER_WHOLE | NM_EXPORTER_ALL_LEVELS,
    .write = write_csv,
};
