/* SPDX-License-Identifier: MIT
 *
 * inner_frames.c - for a line of the user's code, the line of inlined code with most of its misses.
 *
 * A table expression for ranking.c, and the columns that come from it:
 *
 *     m   for each place, the innermost frame with the most misses
 */
#include "columns.h"

#include "ranking.h"
#include <assert.h>

static const struct nm_ranked_column inner_columns[] = {
    {{.name = "inner_file", .kind = NM_COLUMN_NAME}, "m.inner_file"},
    {{.name = "inner_line"}, "m.inner_line"},
    {{.name = "inner_function", .kind = NM_COLUMN_NAME}, "m.inner_function"},
    {{.name = "library"}, "m.library"},
    {{.name = "module", .kind = NM_COLUMN_NAME}, "m.module"},
};

const struct nm_ranked_column *nm_inner_columns(unsigned *ret_count)
{
	*ret_count = sizeof inner_columns / sizeof *inner_columns;
	return inner_columns;
}

/* Each key behind a text. */
static void write_keys(const struct nm_inner_frames *f, const char *before, FILE *sql)
{
	for (unsigned i = 0; i < f->key_count; i++)
		fprintf(sql, "%s%s", before, f->keys[i]);
}

/* max(n) makes SQLite take the other columns of its group from the row that has it. */
void nm_inner_frames_expression(const struct nm_inner_frames *f, FILE *sql)
{
	static const char inner[] = "inner_file, inner_line, inner_function, library, module";
	const char *process = f->of_process ? " AND counts.process = ?2" : "";

	assert(f->key_count <= sizeof f->keys / sizeof *f->keys);
	fputs(", m AS MATERIALIZED (SELECT level", sql);
	write_keys(f, ", ", sql);
	fprintf(sql, ", %s, max(n) AS n FROM (SELECT counts.level AS level", inner);
	write_keys(f, f->among_chosen ? ", places." : ", counts.", sql);
	fprintf(sql, ", %s, sum(read_misses + write_misses) AS n FROM ", inner);
	if (f->among_chosen) {
		fprintf(sql,
			"cells AS counts CROSS JOIN places ON places.place = counts.place "
			"WHERE counts.place IN (SELECT place FROM a)%s GROUP BY counts.level, counts.place)",
			process);
	} else {
		fprintf(sql, "%s WHERE counts.level IN (SELECT level FROM c)%s", f->counts, process);
		for (unsigned i = 0; i < f->key_count; i++)
			fprintf(sql, " AND coalesce(counts.%s, '') IN (SELECT coalesce(%s, '') FROM c)",
				f->keys[i], f->keys[i]);
		fputs(" GROUP BY counts.level", sql);
		write_keys(f, ", counts.", sql);
		fprintf(sql, ", %s)", inner);
	}
	fputs(" GROUP BY level", sql);
	write_keys(f, ", ", sql);
	fputc(')', sql);
}
