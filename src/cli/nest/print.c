/* SPDX-License-Identifier: MIT
 *
 * print.c - nearmiss nest --print: the references of a nest as written, with the formula of each address.
 */
#include <stdio.h>

#include "message.h"
#include "nest/nest_commands.h"
#include "table.h"

static const char *row_number(struct nm_table *table, size_t row)
{
	char text[40];

	snprintf(text, sizeof text, "%lld.%lld", (long long)nm_table_named(table, row, "statement")->integer,
		 (long long)nm_table_named(table, row, "part")->integer);
	return nm_intern(&table->pool, text);
}

static const struct nm_column columns[] = {
    {.name = "statement"},
    {.name = "part"},
    {.name = "number", .title = "number", .kind = NM_COLUMN_TEXT, .compose = row_number},
    {.name = "reference", .title = "reference", .kind = NM_COLUMN_TEXT},
    {.name = "array", .title = "array", .kind = NM_COLUMN_TEXT},
    {.name = "line", .title = "line"},
    {.name = "column", .title = "column"},
    {.name = "kind", .title = "kind", .kind = NM_COLUMN_TEXT},
    {.name = "bytes", .title = "bytes"},
    {.name = "address", .title = "address", .kind = NM_COLUMN_TEXT},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static struct nm_value integer_value(int64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = n};
}

static int add_row(struct nm_table *table, const struct nm_nest *nest, size_t i,
		   const struct nm_nest_reference_info *r)
{
	char address[1024];
	struct nm_value row[COLUMNS] = {[0] = integer_value(r->statement),
					[1] = integer_value(r->part),
					[3] = {.type = NM_VALUE_TEXT, .text = r->name},
					[4] = {.type = NM_VALUE_TEXT, .text = r->array},
					[5] = integer_value(r->line),
					[6] = integer_value(r->column),
					[7] = {.type = NM_VALUE_TEXT, .text = r->is_write ? "write" : "read"},
					[8] = integer_value(r->bytes),
					[9] = {.type = NM_VALUE_TEXT}};

	nm_nest_reference_address(nest, i, address, sizeof address);
	row[9].text = nm_intern(&table->pool, address);
	if (!row[9].text)
		return NM_ENOMEM;
	for (unsigned k = 0; k < COLUMNS; k++)
		if (nm_vec_push(&table->values, row[k]))
			return NM_ENOMEM;
	table->row_count++;
	return 0;
}

int nm_nest_print(const struct nm_nest_request *request, const struct nm_style *style, FILE *out)
{
	struct nm_table table = {.columns = columns, .column_count = COLUMNS};
	struct nm_nest_reference_info r;
	struct nm_nest *nest = NULL;
	struct nm_error err;
	int status = nm_nest_load(&nest, request->path, request->settings, &err);

	if (status)
		return nm_failed(&err, NM_STATUS_BAD_INPUT);
	for (size_t i = 0; !status && nm_nest_reference_at(nest, i, &r); i++)
		status = add_row(&table, nest, i, &r);
	if (status)
		nm_fail_memory(&err);
	else
		status = nm_table_show(&table, "nest", NULL, style, out, &err);
	nm_table_done(&table);
	nm_nest_free(nest);
	return status ? nm_failed(&err, NM_STATUS_FAILED) : 0;
}
