/* SPDX-License-Identifier: MIT
 *
 * list.c - nearmiss nest --list: the references of a nest as executed, with the loop indices. As CSV it is
 * a trace in terms of the source.
 */
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "nest/nest_commands.h"
#include "table.h"

enum { MAX_LISTED = 1000000, INDICES_ROOM = 600 };

static const struct nm_column columns[] = {
    {.name = "number", .title = "number"},
    {.name = "function", .title = "reference", .kind = NM_COLUMN_TEXT},
    {.name = "rw", .title = "rw", .kind = NM_COLUMN_TEXT},
    {.name = "addr", .title = "address"},
    {.name = "size", .title = "size"},
    {.name = "object"},
    {.name = "line", .title = "line"},
    {.name = "indices", .title = "indices", .kind = NM_COLUMN_TEXT},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct list {
	struct nm_table table;
	const struct nm_nest *nest;
};

static struct nm_value integer_value(int64_t n)
{
	return (struct nm_value){.type = NM_VALUE_INTEGER, .integer = n};
}

static struct nm_value text_value(const char *s)
{
	return (struct nm_value){.type = NM_VALUE_TEXT, .text = s};
}

static int list_step(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	struct list *l = self;
	struct nm_nest_reference_info r;
	char indices[INDICES_ROOM] = "";
	struct nm_value row[COLUMNS];
	size_t n = 0;

	for (unsigned i = 0; i < step->loops && n < sizeof indices; i++)
		n += (size_t)snprintf(indices + n, sizeof indices - n, "%s%s=%lld", i ? " " : "",
				      step->index[i], (long long)step->value[i]);
	nm_nest_reference_at(l->nest, step->reference, &r);
	row[0] = integer_value((int64_t)step->number);
	row[1] = text_value(r.name);
	row[2] = text_value(r.is_write ? "w" : "r");
	row[3] = integer_value((int64_t)step->address);
	row[4] = integer_value(r.bytes);
	row[5] = text_value(r.array);
	row[6] = integer_value(r.line);
	row[7] = text_value(nm_intern(&l->table.pool, indices));
	if (!row[7].text)
		return nm_fail_memory(err);
	for (unsigned k = 0; k < COLUMNS; k++)
		if (nm_vec_push(&l->table.values, row[k]))
			return nm_fail_memory(err);
	l->table.row_count++;
	return 0;
}

/* "FROM:TO" or one number. */
static int read_numbers(const char *range, uint64_t *ret_first, uint64_t *ret_last, struct nm_error *err)
{
	char *end;
	long long first = strtoll(range, &end, 10), last = first;

	if (end != range && *end == ':')
		last = strtoll(end + 1, &end, 10);
	if (end == range || *end || end[-1] == ':')
		return nm_fail_at(err, range, (int)(end - range), "--list takes FROM:TO");
	if (first < 1 || last < first || last - first >= MAX_LISTED)
		return nm_fail_at(err, range, 0, "--list goes up from 1, over at most %d references",
				  MAX_LISTED);
	*ret_first = (uint64_t)first;
	*ret_last = (uint64_t)last;
	return 0;
}

int nm_nest_list(const struct nm_nest_request *request, const char *range, const struct nm_style *style,
		 FILE *out)
{
	struct list l = {.table = {.columns = columns, .column_count = COLUMNS}};
	struct nm_nest_visitor visitor = {list_step, &l};
	uint64_t first = 0, last = 0;
	struct nm_nest *nest;
	struct nm_error err;
	int status;

	if (read_numbers(range, &first, &last, &err))
		return nm_failed(&err, NM_STATUS_USAGE);
	if (nm_nest_load(&nest, request->path, request->settings, &err))
		return nm_failed(&err, NM_STATUS_BAD_INPUT);
	l.nest = nest;
	status = nm_nest_walk(nest, first, last, &visitor, &err);
	if (!status)
		status = nm_table_show(&l.table, "references", NULL, style, out, &err);
	nm_table_done(&l.table);
	nm_nest_free(nest);
	return status ? nm_failed(&err, NM_STATUS_BAD_INPUT) : 0;
}
