/* SPDX-License-Identifier: MIT
 *
 * csv.c - a table as comma-separated values (RFC 4180, lines ended by a line feed): a line of names, a
 * line for each row, NULL as an empty field.
 */
#include <inttypes.h>

#include "table.h"
#include "text.h"

static void write_value(const struct nm_value *v, FILE *out)
{
	switch (v->type) {
	case NM_VALUE_NULL: break;
	case NM_VALUE_INTEGER: fprintf(out, "%" PRId64, v->integer); break;
	case NM_VALUE_REAL: fprintf(out, "%.10g", v->real); break;
	case NM_VALUE_TEXT: nm_csv_field(v->text, out); break;
	}
}

void nm_table_csv_rows(const struct nm_table *table, FILE *out)
{
	for (size_t row = 0; row < table->row_count; row++) {
		const char *comma = "";

		for (unsigned i = 0; i < table->column_count; i++) {
			if (table->columns[i].compose)
				continue;
			fputs(comma, out);
			write_value(nm_table_at(table, row, i), out);
			comma = ",";
		}
		fputc('\n', out);
	}
}

int nm_table_csv(const struct nm_table *table, FILE *out)
{
	const char *comma = "";

	for (unsigned i = 0; i < table->column_count; i++) {
		if (table->columns[i].compose)
			continue;
		fputs(comma, out);
		nm_csv_field(table->columns[i].name, out);
		comma = ",";
	}
	fputc('\n', out);
	nm_table_csv_rows(table, out);
	return 0;
}
