/* SPDX-License-Identifier: MIT
 *
 * file_names.c - the files of a table's rows by their last component; those that share it with another file of the
 * table by as many more as tell them apart: "src/solver.c" and "lib/solver.c".
 */
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* Where the last `count` components of a path begin. */
static const char *last_components(const char *path, unsigned count)
{
	const char *at = path + strlen(path);

	while (at > path && (at[-1] != '/' || --count))
		at--;
	return at;
}

static int holds_files(const struct nm_column *column)
{
	const size_t n = strlen(column->name), end = strlen("file");

	return !column->compose && n >= end && !strcmp(column->name + n - end, "file");
}

/* How many components of a path no other file of the table ends with. */
static unsigned components_to_show(const struct nm_table *table, const char *path)
{
	unsigned count = 1;

	for (unsigned i = 0; i < table->column_count; i++) {
		if (!holds_files(&table->columns[i]))
			continue;
		for (size_t row = 0; row < table->row_count; row++) {
			const char *other = nm_table_at(table, row, i)->text;

			if (!other || other == path)
				continue;
			while (last_components(path, count) > path &&
			       !strcmp(last_components(path, count), last_components(other, count)))
				count++;
		}
	}
	return count;
}

const char *nm_table_file_name(struct nm_table *table, const char *path)
{
	uint64_t known;

	if (!path)
		return NULL;
	known = nm_map_get(&table->file_components, (uintptr_t)path, 0);
	if (!known) {
		known = components_to_show(table, path);
		(void)nm_map_put(&table->file_components, (uintptr_t)path, known); /* else counted again */
	}
	return last_components(path, (unsigned)known);
}
