/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int take_text(struct nm_table *table, const char *text, const char **ret_text)
{
	char *clean = text ? nm_utf8_clean(text) : NULL;
	const char *kept = clean ? nm_intern(&table->pool, clean) : NULL;

	free(clean);
	*ret_text = kept;
	return text && !kept ? NM_ENOMEM : 0;
}

/* Of a blob only the size is shown. */
static int take_value(struct nm_table *table, const struct nm_rows *rows, unsigned column,
		      const char **ret_text)
{
	const void *blob;
	char text[40];
	size_t bytes;

	if (!nm_rows_blob(rows, column, &blob, &bytes))
		return take_text(table, nm_rows_text(rows, column), ret_text);
	snprintf(text, sizeof text, "<%zu bytes>", bytes);
	return take_text(table, text, ret_text);
}

static int take_row(struct nm_table *table, struct nm_rows *rows)
{
	unsigned i, from = 0;

	if (nm_vec_reserve(&table->values, table->column_count))
		return NM_ENOMEM;
	for (i = 0; i < table->column_count; i++) {
		struct nm_value *value = &table->values.at[table->values.count + i];

		memset(value, 0, sizeof *value);
		if (table->columns[i].compose || table->columns[i].derive)
			continue;
		value->type = nm_rows_type(rows, from);
		value->integer = table->is_query ? nm_rows_integer(rows, from) : nm_rows_bounded(rows, from);
		value->real = nm_rows_real(rows, from);
		if (value->type == NM_VALUE_TEXT && take_value(table, rows, from, &value->text))
			return NM_ENOMEM;
		from++;
	}
	table->values.count += table->column_count;
	table->row_count++;
	return 0;
}

static void derive_cells(struct nm_table *table, size_t row)
{
	unsigned i;

	for (i = 0; i < table->column_count; i++) {
		struct nm_value *value = &table->values.at[row * table->column_count + i];

		if (!table->columns[i].derive)
			continue;
		value->text = table->columns[i].derive(table, row);
		value->type = value->text ? NM_VALUE_TEXT : NM_VALUE_NULL;
	}
}

int nm_table_fill(struct nm_table *table, struct nm_rows *rows, struct nm_error *err)
{
	size_t row = table->row_count;
	int status;

	while ((status = nm_rows_next(rows, err)) > 0)
		if (take_row(table, rows))
			return nm_fail_memory(err);
	for (; !status && row < table->row_count; row++)
		derive_cells(table, row);
	return !status && table->is_exhausted ? nm_fail_memory(err) : status;
}

void nm_table_cut(struct nm_table *table, size_t rows)
{
	assert(rows <= table->row_count);
	table->row_count = rows;
	table->values.count = rows * table->column_count;
}

int nm_table_append(struct nm_table *table)
{
	assert(table->column_count > 0);
	if (nm_vec_reserve(&table->values, table->column_count))
		return NM_ENOMEM;
	for (unsigned i = 0; i < table->column_count; i++)
		table->values.at[table->values.count++] = (struct nm_value){.type = NM_VALUE_NULL};
	table->row_count++;
	return 0;
}

void nm_table_set(struct nm_table *table, const char *name, struct nm_value value)
{
	for (unsigned i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].name, name))
			table->values.at[(table->row_count - 1) * table->column_count + i] = value;
}

void nm_table_done(struct nm_table *table)
{
	nm_vec_free(&table->values);
	nm_strings_done(&table->pool);
	nm_map_done(&table->file_components);
}

const struct nm_value *nm_table_at(const struct nm_table *table, size_t row, unsigned column)
{
	assert(row < table->row_count && column < table->column_count);
	return &table->values.at[row * table->column_count + column];
}

static const struct nm_value *find_value(const struct nm_table *table, size_t row, const char *name)
{
	unsigned i;

	for (i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].name, name))
			return nm_table_at(table, row, i);
	return NULL;
}

int nm_table_has(const struct nm_table *table, const char *name)
{
	for (unsigned i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].name, name))
			return 1;
	return 0;
}

const struct nm_value *nm_table_named(const struct nm_table *table, size_t row, const char *name)
{
	const struct nm_value *value = find_value(table, row, name);

	assert(row < table->row_count);
	assert(value && "a composer asks for a column that its table has");
	return value ? value : (abort(), NULL);
}

const struct nm_value *nm_table_find(const struct nm_table *table, size_t row, const char *name)
{
	static const struct nm_value none = {.type = NM_VALUE_NULL};
	const struct nm_value *value = find_value(table, row, name);

	assert(row < table->row_count);
	return value ? value : &none;
}

const char *nm_table_keep(struct nm_table *table, char *text)
{
	const char *kept = text ? nm_intern(&table->pool, text) : NULL;

	free(text);
	if (!kept)
		table->is_exhausted = 1;
	return kept;
}
